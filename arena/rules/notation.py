"""Squares, tiles, hands, moves and decks as text and as ints (the contract is
protocol/NOTATION.md). Lines for whole positions are in `arena.rules.positions`.

A *colour* is 0, 1 or 2 for R, Y, B. A *tile* is an index into ``TILES``; a *hand* is a sorted tuple
of tiles. A *move* is one int, ``kind << 10 | square``: ``square`` is the tile's first square in
reading order, and ``kind`` is ``(first colour * 3 + second colour) * 2 + vertical``. Moves are
ordered by these ints. ``PASS`` is not a placement and sorts before all of them.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache, reduce
from operator import index, or_
from typing import TYPE_CHECKING, NoReturn

from arena.errors import IllegalMoveError, InvalidMoveError, NotationError
from arena.rules.boards import COLOURS, GRASS, VILLAGE, Board, squares_of
from arena.rules.terms import HAND, MAJOR, NOBODY, Event

if TYPE_CHECKING:
    from arena.rules.pure import State

TILES = ("RR", "YY", "BB", "RY", "YB", "RB")
COPIES = 12
DECK_SIZE = COPIES * len(TILES)
UNKNOWN = len(TILES)
"""The number that stands for a hidden tile, in another seat's hand or in the draw pile."""

CACHED_MOVES = 1 << 14
"""The number of moves whose texts are cached, which covers more than two boards of the
usual size.
"""
CACHED_DECKS = 64
"""The number of decks that are cached: each deck is played several times within a few games."""

PASS = -1
"""The move of a seat that can place no tile."""
PASSED = "pass"
"""The text of `PASS`."""
QUOTED = 40
KIND_SHIFT = 10
SQUARE_MASK = (1 << KIND_SHIFT) - 1

TILE_OF_COLOURS = tuple(
    tuple(
        next(tile for tile, name in enumerate(TILES) if sorted(name) == sorted(a + b))
        for b in COLOURS
    )
    for a in COLOURS
)
"""For each two colours, in either order, the tile that shows them."""

_TILE_OF_TEXT = {
    a + b: TILE_OF_COLOURS[one][other]
    for one, a in enumerate(COLOURS)
    for other, b in enumerate(COLOURS)
}
TILE_OF_KIND = tuple(TILE_OF_COLOURS[kind // 6][kind // 2 % 3] for kind in range(18))
KINDS_OF_TILE = tuple(
    tuple(kind for kind in range(18) if TILE_OF_KIND[kind] == tile) for tile in range(len(TILES))
)

_MOVE = re.compile(r"([RYB])([a-z])([1-9][0-9]?)([RYB])([a-z])([1-9][0-9]?)", re.ASCII)
_SQUARE = re.compile(r"([a-z])([1-9][0-9]?)", re.ASCII)


def make_move(first: int, second: int, square: int, *, vertical: bool) -> int:
    """The move that puts colour ``first`` on ``square`` and colour ``second`` on the square right
    of it, or below it if ``vertical``.
    """
    return ((first * 3 + second) * 2 + vertical) << KIND_SHIFT | square


def split_move(board: Board, move: int) -> tuple[int, int, int, int]:
    """The parts of a move: first colour, its square, second colour, its square."""
    kind = move >> KIND_SHIFT
    square = move & SQUARE_MASK
    return kind // 6, square, kind // 2 % 3, square + (board.stride if kind & 1 else 1)


def tile_of(move: int) -> int:
    """The tile that a placement uses."""
    return TILE_OF_KIND[move >> KIND_SHIFT]


@lru_cache(maxsize=CACHED_MOVES)
def move_text(board: Board, move: int) -> str:
    """The move in canonical notation, such as ``Rc4Yd4``, or ``pass``."""
    if move == PASS:
        return PASSED
    first, square, second, other = split_move(board, move)
    return f"{COLOURS[first]}{board.name_of(square)}{COLOURS[second]}{board.name_of(other)}"


def parse_square(board: Board, text: str) -> int:
    """The square of the board that the text names. Raises NotationError."""
    match = _SQUARE.fullmatch(text)
    if not match:
        raise NotationError(f"expected a square such as c4, got {text!r}")
    column = ord(match[1]) - 97
    row = int(match[2]) - 1
    if column >= board.width or row >= board.height:
        last = board.name_of((board.height - 1) * board.stride + board.width - 1)
        raise NotationError(f"expected a square from a1 to {last}, got {text!r}")
    return row * board.stride + column


@lru_cache(maxsize=CACHED_MOVES)
def parse_move(board: Board, text: str) -> int:
    """The move that the text stands for, legal or not; its halves may be in either order. Raises
    InvalidMoveError.
    """
    if text == PASSED:
        return PASS
    match = _MOVE.fullmatch(text)
    if not match:
        raise InvalidMoveError(f"expected a move such as Rc4Yd4, got {quoted(text)}")
    try:
        one = parse_square(board, match[2] + match[3])
        other = parse_square(board, match[5] + match[6])
    except NotationError as error:
        raise InvalidMoveError(f"{error} in the move {text!r}") from None
    first = COLOURS.index(match[1])
    second = COLOURS.index(match[4])
    if one > other:
        one, other, first, second = other, one, second, first
    if other - one not in (1, board.stride):
        raise InvalidMoveError(f"expected two squares that share an edge, got {text!r}")
    return make_move(first, second, one, vertical=other - one != 1)


def legal_move(state: "State", text: str) -> int:
    """The move that the text stands for. Raises MoveError unless the mover may play it."""
    move = parse_move(state.board, text)
    if not state.is_legal(move):
        raise IllegalMoveError(state.why_illegal(move))
    return move


def play_text(state: "State", text: str, events: list[Event] | None = None) -> int:
    """Plays the move or pass that the text stands for, and returns it. The events that it causes
    are appended to ``events``. Raises MoveError.
    """
    move = parse_move(state.board, text)
    state.play(move, events)
    return move


def parse_tile(text: str) -> int:
    """The tile that the text names, with its letters in either order. Raises NotationError."""
    try:
        return _TILE_OF_TEXT[text]
    except KeyError:
        raise NotationError(
            f"expected a tile out of {' '.join(TILES)}, got {quoted(text)}"
        ) from None


@lru_cache(maxsize=CACHED_DECKS)
def parse_deck(text: str) -> tuple[int, ...]:
    """The tiles of a deck in draw order; they must be the 72 tiles of R1.2. Raises
    NotationError.
    """
    deck = tuple([parse_tile(text[at : at + 2]) for at in range(0, len(text), 2)])
    for tile, name in enumerate(TILES):
        if (count := deck.count(tile)) != COPIES:
            raise NotationError(f"expected {COPIES} tiles {name} in the deck, got {count}")
    return deck


def deck_text(deck: tuple[int, ...]) -> str:
    """The text of a deck or a hand: the names of its tiles, joined."""
    return "".join(TILES[tile] if tile != UNKNOWN else HIDDEN for tile in deck)


def deck_sorted(key: Callable[[int], bytes | int]) -> str:
    """The text of a deck with all tiles sorted by ``key``. The key is called with numbers from 0 to
    71, which stand for RR twelve times, then YY, and so on.
    """
    return "".join(TILES[number // COPIES] for number in sorted(range(DECK_SIZE), key=key))


def quoted(text: str) -> str:
    """An unreadable text, quoted and shortened for a message."""
    if len(text) <= QUOTED:
        return repr(text)
    return f"{text[:QUOTED]!r}... ({len(text)} characters)"


Hand = tuple[int, ...]


@cache
def with_tile(hand: Hand, tile: int) -> Hand:
    """The hand plus one tile, sorted."""
    return tuple(sorted((*hand, tile)))


@cache
def without_tile(hand: Hand, tile: int) -> Hand:
    """The hand minus one tile. If the hand does not show this tile, an unknown tile is
    taken out.
    """
    at = hand.index(tile if tile in hand else UNKNOWN)
    return hand[:at] + hand[at + 1 :]


@cache
def kinds_of(tiles: Hand) -> tuple[int, ...]:
    """The kinds of move that these tiles allow, in ascending order."""
    return tuple(
        sorted({kind for tile in tiles if tile != UNKNOWN for kind in KINDS_OF_TILE[tile]})
    )


def checked_tiles(tiles: Iterable[int]) -> Hand:
    """The tiles as a tuple of plain ints. Raises ValueError for anything that is not a tile."""
    checked = tuple(map(index, tiles))
    if checked and not (min(checked) >= 0 and max(checked) <= UNKNOWN):
        wrong = next(tile for tile in checked if not 0 <= tile <= UNKNOWN)
        raise ValueError(f"expected tiles from 0 to {UNKNOWN}, got {wrong}")
    return checked


NONE = "-"
"""The sign for an empty hand, an empty pile or no owner; as the seat to move, it says that the game
is over.
"""
HIDDEN = "??"
_COUNT = "(?:0|[1-9][0-9]?)"
_COUNTS = f"{_COUNT}(?:,{_COUNT})*"
_TILES = f"(?:{NONE}|(?:[^,]{{2}})+)"
FIELDS = {
    "board": (".*", ""),
    "seat to move": (f"[0-3{NONE}]", "the seat to move, 0 to 3"),
    "left": (_COUNTS, "numbers in the field left, such as 24,24"),
    "hands": (f"{_TILES}(?:,{_TILES})*", "tiles such as RRYB in the field hands, or -"),
    "pile": (f"{_COUNT}|{_TILES}", "tiles such as RRYB in the field pile, or -"),
    "placed": (_COUNTS, "numbers in the field placed, such as 24,24"),
    "out": (f"{NONE}|(?=.)0?1?2?3?", "the seats that have left in the field out, such as 02, or -"),
}
"""For each field of a position's line, the pattern of its text and a description for error
messages.
"""
OVER = "expected a position in which somebody is to move, got one of a game that is over"
MOST_CHARACTERS = 2000
"""More characters than any position's line has: two for each of 676 squares, and two for each of 72
tiles.
"""
_CELL = re.compile(r"\.(2[0-6]|1[0-9]|[2-9])?|[RYBV][0-3]?|~", re.ASCII)


def draw(state: "State") -> list[list[str]]:
    """The cells of the board by row: ``.``, ``~``, ``V``, ``R`` and so on, ``R0`` if seat 0 owns
    the space.
    """
    board = state.board
    cells = [list(row) for row in board.rows]
    for colour, letter in enumerate(COLOURS):
        _mark(board, cells, state.spaces(colour), letter)
    for colour, province in state.provinces():
        _mark(board, cells, province.mask, f"{COLOURS[colour]}{province.owner}")
    for village, owner in zip(board.villages, state.villages, strict=True):
        if owner != NOBODY:
            _mark(board, cells, village, f"{VILLAGE}{owner}")
    return cells


def read_cells(
    name: str, text: str
) -> tuple[Board, list[int], list[tuple[int, int, int, int]], list[int]]:
    """The board and the arguments of ``State.set_up`` that a drawing shows: the board, spaces by
    colour, provinces, owners of villages.

    Every drawn colour counts as a starting space of the board, so that the free squares are equal.
    Raises NotationError, BoardError.
    """
    cells = [line.split() for line in text.strip().splitlines()]
    owned = [
        (row, column, cell)
        for row, line in enumerate(cells)
        for column, cell in enumerate(line)
        if len(cell) > 1
    ]
    for row, column, cell in owned:
        if cell[0] not in COLOURS + VILLAGE or cell[1:] not in tuple("0123"):
            where = f"row {row + 1}, column {column + 1}"
            raise NotationError(f"{where}: expected a cell such as R, R0, V or V1, got {cell!r}")
    board = Board(name, tuple("".join(cell[0] for cell in line) for line in cells))
    seats = {row * board.stride + column: int(cell[1]) for row, column, cell in owned}
    single = reduce(or_, board.starts) & ~reduce(or_, board.founding, 0)
    for square in seats:
        if single >> square & 1:
            raise NotationError(
                f"{board.name_of(square)}: expected a province of two or more spaces, got a single"
                " one with an owner"
            )
    provinces = [
        (colour, area, seats[next(squares_of(area))], 2 if area.bit_count() >= MAJOR else 1)
        for colour in range(len(COLOURS))
        for area in board.founding
        if area & board.starts[colour] and next(squares_of(area)) in seats
    ]
    villages = [seats.get(next(squares_of(village)), NOBODY) for village in board.villages]
    return board, list(board.starts), provinces, villages


def _mark(board: Board, cells: list[list[str]], mask: int, text: str) -> None:
    """Writes a text into the cells of all squares in the mask."""
    for square in squares_of(mask):
        row, column = divmod(square, board.stride)
        cells[row][column] = text


def position_text(state: "State", seat: int | None = None) -> str:
    """The line of the position as the referee sees it, or as ``seat`` sees it. Two positions that
    are equal for the seat have equal lines.
    """
    hands = [
        HIDDEN * len(hand) if seat not in (None, own) else deck_text(hand)
        for own, hand in enumerate(state.hands)
    ]
    pile = state.pile_tiles()
    is_hidden = seat is not None or all(tile == UNKNOWN for tile in pile)
    return " ".join(
        [
            "/".join(map(_row_text, draw(state))),
            NONE if state.end else str(state.mover),
            ",".join(map(str, state.left)),
            ",".join(hand or NONE for hand in hands),
            (str(len(pile)) if is_hidden else deck_text(pile)) if pile else NONE,
            ",".join(map(str, state.tiles_placed())),
            "".join(str(own) for own, left in enumerate(state.retired) if left) or NONE,
        ]
    )


def _row_text(cells: list[str]) -> str:
    """The text of a row of cells, in which free squares are counted."""
    joined = "".join(cells)
    return re.sub(r"\.{2,}", lambda run: f".{len(run[0])}", joined)


def parse_position(text: str, core: type["State"]) -> "State":
    """The state, of the class ``core``, that the line stands for. Tiles may be in any order, and so
    may the letters of a tile. Raises NotationError, BoardError.
    """
    rows, mover, left, hands, pile, placed, out = _fields(text)
    board, spaces, provinces, villages = read_cells("position", _drawing(rows))
    if mover == NONE:
        raise NotationError(OVER)
    try:
        state = core.set_up(
            board,
            spaces,
            provinces,
            villages,
            [int(count) for count in left.split(",")],
            [_tiles(hand) for hand in hands.split(",")],
            [UNKNOWN] * int(pile) if re.fullmatch(_COUNT, pile) else _tiles(pile),
            int(mover),
            [int(count) for count in placed.split(",")],
        )
        for seat in out.strip(NONE):
            state.retire(int(seat))
    except (ValueError, IndexError) as error:
        raise NotationError(str(error)) from None
    _check(state, rows)
    return state


def _fields(text: str) -> list[str]:
    """The fields of a line, each of the right form. Raises NotationError."""
    fields = text.split(" ", len(FIELDS)) if len(text) <= MOST_CHARACTERS else []
    if len(fields) != len(FIELDS):
        _refuse(f"{len(FIELDS)} fields with a space between them ({', '.join(FIELDS)})", text)
    for field, (form, expected) in zip(fields, FIELDS.values(), strict=True):
        if not re.fullmatch(form, field):
            _refuse(expected, field)
    return fields


def _drawing(rows: str) -> str:
    """The board's field of a line as a drawing with one line per row. Raises NotationError."""
    lines = []
    for number, row in enumerate(rows.split("/"), 1):
        cells = list[str]()
        at = 0
        while at < len(row) or not row:
            found = _CELL.match(row, at)
            if not found:
                expected = f"cells such as . .13 ~ R V0 in row {number} of the board"
                _refuse(expected, row[at:] or "nothing")
            cells += [GRASS] * int(found[1] or 1) if found[0][0] == GRASS else [found[0]]
            at = found.end()
        lines.append(" ".join(cells))
    return "\n".join(lines)


def _tiles(text: str) -> list[int]:
    """The tiles in a text such as ``RRYB??``; ``-`` stands for none."""
    names = [text[at : at + 2] for at in range(0, len(text.strip(NONE)), 2)]
    return [UNKNOWN if name == HIDDEN else parse_tile(name) for name in names]


def _check(state: "State", rows: str) -> None:
    """Raises NotationError for positions that no game can reach, beyond what `set_up` refuses."""
    cells = [line.split() for line in _drawing(rows).splitlines()]
    drawn = draw(state)
    for line, wanted in zip(cells, drawn, strict=True):
        for got, cell in zip(line, wanted, strict=True):
            if got != cell:
                _refuse(f"{cell} as in the rest of its area on the board", got)
    if any(len(hand) > HAND for hand in state.hands):
        _refuse(f"hands of up to {HAND} tiles", str(max(map(len, state.hands))))
    known = [*state.pile_tiles(), *(tile for hand in state.hands for tile in hand)]
    placed = state.tiles_placed()
    for tile, name in enumerate(TILES):
        count = placed[tile] + known.count(tile)
        if count > COPIES:
            _refuse(f"at most {COPIES} tiles {name}", str(count))
    if sum(placed) + len(known) > DECK_SIZE:
        _refuse(f"at most {DECK_SIZE} tiles", str(sum(placed) + len(known)))
    if state.end is not None:
        raise NotationError(OVER)


def _refuse(expected: str, got: str) -> NoReturn:
    """Raises NotationError with what was expected and what was found."""
    raise NotationError(f"expected {expected}, got {quoted(got)}")
