"""Positions as text that people and programs read (protocol/NOTATION.md, "Diagrams").

One line per row of the board and one cell per square: the terrain or colour, then the seat that
owns the province or village.
"""

from typing import TYPE_CHECKING

from arena.errors import NotationError
from arena.rules.boards import COLOURS, VILLAGE, Board, squares_of
from arena.rules.notation import deck_text, parse_tile
from arena.rules.terms import MAJOR, NOBODY

if TYPE_CHECKING:
    from arena.rules.pure import State


def draw(state: "State") -> list[list[str]]:
    """The cells of the board by row: ``.``, ``~``, ``V``, ``R`` and so on, with the owner's seat
    appended if there is one.
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


def state_text(state: "State") -> str:
    """Everything about a state as text: equal states have equal texts, in either core."""
    rows = [" ".join(f"{cell:<2}" for cell in row).rstrip() for row in draw(state)]
    return "\n".join(
        [
            *rows,
            f"left {' '.join(map(str, state.left))}",
            f"placed {' '.join(str(state.placed(seat)) for seat in range(state.players))}",
            f"hands {' '.join(deck_text(hand) or '-' for hand in state.hands)}",
            f"pile {deck_text(state.pile_tiles()) or '-'}",
            f"mover {state.mover} turns {state.turns} end {state.end or '-'}",
        ]
    )


def read_cells(
    name: str, text: str
) -> tuple[Board, list[int], list[tuple[int, int, int, int]], list[int]]:
    """A drawn board in the form that ``State.set_up`` takes: the board, spaces by colour,
    provinces, owners of villages.

    Every drawn colour counts as a start of the board, so that the free squares are the same. Raises
    NotationError, BoardError.
    """
    cells = [line.split() for line in text.strip().splitlines()]
    owners: dict[tuple[int, int], int] = {}
    for row, line in enumerate(cells):
        for column, cell in enumerate(line):
            if len(cell) > 1:
                if cell[0] not in COLOURS + VILLAGE or cell[1:] not in tuple("0123"):
                    raise NotationError(
                        f"row {row + 1}, column {column + 1}: expected a cell such as R, R0, V or"
                        f" V1, got {cell!r}"
                    )
                owners[row, column] = int(cell[1])
    board = Board(name, tuple("".join(cell[0] for cell in line) for line in cells))
    seats = {row * board.stride + column: owner for (row, column), owner in owners.items()}
    for square in seats:
        mask = 1 << square
        if mask & (board.starts[0] | board.starts[1] | board.starts[2]) and not board.founding_at(
            mask
        ):
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


def read_hand(text: str) -> tuple[int, ...]:
    """The tiles of a hand written ``RRYB`` or ``RR YB``; ``-`` is empty. Raises NotationError."""
    letters = "" if text == "-" else "".join(text.split())
    return tuple(parse_tile(letters[at : at + 2]) for at in range(0, len(letters), 2))


def _mark(board: Board, cells: list[list[str]], mask: int, text: str) -> None:
    for square in squares_of(mask):
        row, column = divmod(square, board.stride)
        cells[row][column] = text
