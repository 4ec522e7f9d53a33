"""Positions as one line of text, and drawings of boards (the contract is protocol/NOTATION.md).

A position's line has seven fields: board, seat to move, pagodas left, hands, pile, tiles placed,
seats that have left. The referee's line names every tile; in the line for one seat, the tiles of
other hands are ``??``, and the pile is the number of its tiles. A drawing has a line for each row
and a cell for each square: the terrain or colour, then the seat that owns the province or village.
"""

import re
from functools import reduce
from itertools import chain
from operator import or_
from typing import TYPE_CHECKING, NoReturn

from arena.errors import NotationError
from arena.rules.boards import COLOURS, GRASS, VILLAGE, Board, squares_of
from arena.rules.notation import (
    COPIES,
    DECK_SIZE,
    HIDDEN,
    TILES,
    UNKNOWN,
    deck_text,
    parse_tile,
    quoted,
)
from arena.rules.terms import HAND, MAJOR, NOBODY

if TYPE_CHECKING:
    from arena.rules.pure import State

NONE = "-"
"""The sign for an empty hand, an empty pile, or no seat that has left. As the seat to move, it
means that the game is over.
"""
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
"""By the name of each field of a position's line, a regular expression for its text and a
description for error messages.
"""
OVER = "the game of this position is over: no seat is to move"
MAX_CHARACTERS = 2000
"""The most characters of a position's line that are read; no valid line is as long: at most two for
each of 676 squares, and two for each of 72 tiles.
"""
_CELL = re.compile(r"\.(2[0-6]|1[0-9]|[2-9])?|[RYBV][0-3]?|~", re.ASCII)


def draw(state: "State") -> list[list[str]]:
    """The board of ``state`` as rows of cells: ``.`` grassland without a tile, ``~`` lake, ``V``
    village, ``R``, ``Y`` or ``B`` a space, also a starting space. In a province or village with an
    owner, the number of the owner's seat follows the letter, such as ``R0`` or ``V1``.
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
    """Reads ``text``, a drawing with one line per row and spaces between the cells. Returns a board
    called ``name`` and three arguments of ``State.set_up``: the spaces by colour, the provinces,
    and the owners of the villages.

    Each drawn space becomes a starting space of the returned board, so the free squares are those
    of the drawing. Raises NotationError, BoardError.
    """
    cells = [line.split() for line in text.strip().splitlines()]
    owned = []
    for row, line in enumerate(cells):
        for column, cell in enumerate(line):
            if len(cell) == 1:
                continue
            if cell[0] not in COLOURS + VILLAGE or cell[1:] not in tuple("0123"):
                where = f"row {row + 1}, column {column + 1}"
                expected = "expected a cell such as R, R0, V or V1"
                raise NotationError(f"{where}: {expected}, got {cell!r}")
            owned.append((row, column, int(cell[1])))
    board = Board(name, tuple(map(_first_letters, cells)))
    seats = {row * board.stride + column: seat for row, column, seat in owned}
    single = reduce(or_, board.starts) & ~reduce(or_, board.founding, 0)
    for square in seats:
        if single >> square & 1:
            raise NotationError(
                f"{board.name_of(square)}: expected a province of two or more spaces, got a single"
                " one with an owner"
            )
    provinces = []
    for colour in range(len(COLOURS)):
        for area in board.founding:
            first = next(squares_of(area))
            if area & board.starts[colour] and first in seats:
                pagodas = 2 if area.bit_count() >= MAJOR else 1
                provinces.append((colour, area, seats[first], pagodas))
    villages = [seats.get(next(squares_of(village)), NOBODY) for village in board.villages]
    return board, list(board.starts), provinces, villages


def _first_letters(line: list[str]) -> str:
    """The first letter of each cell of a ``line``, joined."""
    return "".join(cell[0] for cell in line)


def _mark(board: Board, cells: list[list[str]], mask: int, text: str) -> None:
    """Writes ``text`` into the cells of all squares in ``mask``."""
    for square in squares_of(mask):
        row, column = divmod(square, board.stride)
        cells[row][column] = text


def position_text(state: "State", seat: int | None = None) -> str:
    """The line of the position ``state`` as the referee sees it (``seat`` None), or as ``seat``
    sees it, with the other hands and the pile hidden. Two positions that this seat cannot tell
    apart have equal lines.
    """
    hands = []
    for own, hand in enumerate(state.hands):
        text = deck_text(hand) if seat in (None, own) else HIDDEN * len(hand)
        hands.append(text or NONE)
    retired = [str(own) for own, has_left in enumerate(state.retired) if has_left]
    pile = state.pile_tiles()
    is_hidden = seat is not None or all(tile == UNKNOWN for tile in pile)
    return " ".join(
        [
            "/".join(map(_row_text, draw(state))),
            NONE if state.end else str(state.mover),
            ",".join(map(str, state.left)),
            ",".join(hands),
            (str(len(pile)) if is_hidden else deck_text(pile)) if pile else NONE,
            ",".join(map(str, state.tiles_placed())),
            "".join(retired) or NONE,
        ]
    )


def _row_text(cells: list[str]) -> str:
    """Joins the cells of a row, with a run of free squares written as ``.`` and their number."""
    joined = "".join(cells)
    return re.sub(r"\.{2,}", lambda run: f".{len(run[0])}", joined)


def parse_position(text: str, core: type["State"]) -> "State":
    """The state, of the class ``core``, that ``text``, a position's line, stands for. The tiles of
    a hand may be in any order, and so may the two letters of a tile. Raises NotationError, or
    BoardError.
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
            _numbers(left),
            list(map(_tiles, hands.split(","))),
            [UNKNOWN] * int(pile) if re.fullmatch(_COUNT, pile) else _tiles(pile),
            int(mover),
            _numbers(placed),
        )
        for seat in out.strip(NONE):
            state.retire(int(seat))
    except (ValueError, IndexError) as error:
        raise NotationError(str(error)) from None
    _check(state, rows)
    return state


def _fields(text: str) -> list[str]:
    """Splits a position's line into its fields and checks the form of each one. Raises
    NotationError.
    """
    fields = text.split(" ", len(FIELDS)) if len(text) <= MAX_CHARACTERS else []
    if len(fields) != len(FIELDS):
        _refuse(f"{len(FIELDS)} fields with a space between them ({', '.join(FIELDS)})", text)
    for field, (form, expected) in zip(fields, FIELDS.values(), strict=True):
        if not re.fullmatch(form, field):
            _refuse(expected, field)
    return fields


def _drawing(rows: str) -> str:
    """Converts ``rows``, the board's field of a line, to a drawing that `read_cells` reads. Raises
    NotationError.
    """
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


def _numbers(text: str) -> list[int]:
    """Converts a text such as ``12,9`` to numbers. Raises ValueError."""
    return list(map(int, text.split(",")))


def _tiles(text: str) -> list[int]:
    """Converts a text such as ``RRYB??`` to tiles; ``-`` is an empty list. Raises NotationError."""
    names = [text[at : at + 2] for at in range(0, len(text.strip(NONE)), 2)]
    return [UNKNOWN if name == HIDDEN else parse_tile(name) for name in names]


def _check(state: "State", rows: str) -> None:
    """Raises NotationError if ``state``, read from a line whose board is ``rows``, breaks a rule
    that ``State.set_up`` does not check: a cell that does not match its area, too many tiles, or a
    game that is over.
    """
    cells = [line.split() for line in _drawing(rows).splitlines()]
    drawn = draw(state)
    for line, wanted in zip(cells, drawn, strict=True):
        for got, cell in zip(line, wanted, strict=True):
            if got != cell:
                _refuse(f"{cell} as in the rest of its area on the board", got)
    if any(len(hand) > HAND for hand in state.hands):
        _refuse(f"hands of up to {HAND} tiles", str(max(map(len, state.hands))))
    known = [*state.pile_tiles(), *chain.from_iterable(state.hands)]
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
    """Raises NotationError with the message ``expected {expected}, got {got}``."""
    raise NotationError(f"expected {expected}, got {quoted(got)}")
