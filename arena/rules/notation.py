"""Squares, tiles, hands, moves, decks and positions as text and as ints (the contract is
protocol/NOTATION.md).

A *colour* is 0, 1 or 2 for R, Y, B. A *tile* is an index into ``TILES``; a *hand* is a sorted tuple
of them. A *move* is one int, ``kind << 10 | square``: ``square`` is the tile's first square in
reading order, and ``kind`` is ``(first colour * 3 + second colour) * 2 + vertical``. The order of
moves is the order of these ints. ``PASS`` is not a placement and sorts before all of them.

A position's line has seven fields: board, seat to move, pagodas left, hands, pile, tiles placed,
seats that have left. The referee's line names every tile; in a seat's line, tiles that the seat
cannot see are ``??``. A drawing has a line for each row and a cell for each square: the terrain or
colour, then the seat that owns the province or village.
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
"""A hidden tile: in another seat's hand, or in the draw pile."""

CACHED_MOVES = 1 << 14
"""More than two boards of the usual size have."""
CACHED_DECKS = 64
"""Each deck is played several times within a few games."""

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
"""The tile that shows two colours, in either order."""

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
    """The move of colour ``first`` on ``square`` and ``second`` right of it, or below it."""
    return ((first * 3 + second) * 2 + vertical) << KIND_SHIFT | square


def split_move(board: Board, move: int) -> tuple[int, int, int, int]:
    """First colour, its square, second colour, its square."""
    kind = move >> KIND_SHIFT
    square = move & SQUARE_MASK
    return kind // 6, square, kind // 2 % 3, square + (board.stride if kind & 1 else 1)


def tile_of(move: int) -> int:
    """The tile that a placement lays."""
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
    """The move that the text names, with its halves in either order. Raises InvalidMoveError."""
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
    """The move that the text stands for, if the mover may play it. Raises MoveError."""
    move = parse_move(state.board, text)
    if not state.is_legal(move):
        raise IllegalMoveError(state.why_illegal(move))
    return move


def play_text(state: "State", text: str, events: list[Event] | None = None) -> int:
    """Plays the move or pass that the text stands for, and returns it; adds what it led to to
    ``events``. Raises MoveError.
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
    """The tiles of a deck in draw order, the 72 of R1.2. Raises NotationError."""
    deck = tuple([parse_tile(text[at : at + 2]) for at in range(0, len(text), 2)])
    for tile, name in enumerate(TILES):
        if (count := deck.count(tile)) != COPIES:
            raise NotationError(f"expected {COPIES} tiles {name} in the deck, got {count}")
    return deck


def deck_text(deck: tuple[int, ...]) -> str:
    """A deck, or a hand, as text: the tiles' names joined."""
    return "".join(TILES[tile] if tile != UNKNOWN else HIDDEN for tile in deck)


def deck_sorted(key: Callable[[int], bytes | int]) -> str:
    """All tiles in the order of a key, as text; the key is given the numbers of the tiles, which
    are RR, twelve times, then YY, and so on.
    """
    return "".join(TILES[number // COPIES] for number in sorted(range(DECK_SIZE), key=key))


def quoted(text: str) -> str:
    """An unreadable text as a message quotes it."""
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
    """The hand minus one tile; minus an unknown tile if it does not show this one."""
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
"""An empty hand, an empty pile, nobody; as the seat to move, that the game is over."""
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
"""The form of each field, and what is expected there."""
OVER = "expected a position in which somebody is to move, got one of a game that is over"
MOST_CHARACTERS = 2000
"""No position has so many characters: two for each of 676 squares, and two for each of 72 tiles."""
_CELL = re.compile(r"\.(2[0-6]|1[0-9]|[2-9])?|[RYBV][0-3]?|~", re.ASCII)


def draw(state: "State") -> list[list[str]]:
    """The cells by row: ``.``, ``~``, ``V``, ``R`` and so on, ``R0`` where a seat owns it."""
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
    """A drawn board in the form that ``State.set_up`` takes: the board, spaces by colour,
    provinces, owners of villages.

    Every drawn colour counts as a start of the board, so that the free squares are the same. Raises
    NotationError, BoardError.
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
    for square in squares_of(mask):
        row, column = divmod(square, board.stride)
        cells[row][column] = text


def position_text(state: "State", seat: int | None = None) -> str:
    """The position as the referee or a seat sees it: equal to a seat, equal as text."""
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
    joined = "".join(cells)
    return re.sub(r"\.{2,}", lambda run: f".{len(run[0])}", joined)


def parse_position(text: str, core: type["State"]) -> "State":
    """The position that the line stands for, in the core given. Tiles may be written in any order,
    and their letters, too. Raises NotationError, BoardError.
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
    """The fields, each in its form. Raises NotationError."""
    fields = text.split(" ", len(FIELDS)) if len(text) <= MOST_CHARACTERS else []
    if len(fields) != len(FIELDS):
        _refuse(f"{len(FIELDS)} fields with a space between them ({', '.join(FIELDS)})", text)
    for field, (form, expected) in zip(fields, FIELDS.values(), strict=True):
        if not re.fullmatch(form, field):
            _refuse(expected, field)
    return fields


def _drawing(rows: str) -> str:
    """The board's field as a diagram. Raises NotationError."""
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
    """Tiles such as ``RRYB??``; ``-`` is none."""
    names = [text[at : at + 2] for at in range(0, len(text.strip(NONE)), 2)]
    return [UNKNOWN if name == HIDDEN else parse_tile(name) for name in names]


def _check(state: "State", rows: str) -> None:
    """Refuses what no game can have, beyond what `set_up` refuses."""
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
    raise NotationError(f"expected {expected}, got {quoted(got)}")
