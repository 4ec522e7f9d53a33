"""What lies on the board, in names that people read: squares, provinces and villages."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from arena.rules import State
from arena.rules.boards import COLOURS, GRASS, LAKE, VILLAGE, Board, squares_of
from arena.rules.diagrams import draw
from arena.rules.notation import PASS, parse_square, split_move
from arena.rules.terms import MAJOR, NOBODY

AREAS = 1 << 12
"""Areas whose squares' names are kept: villages never change, and most provinces stay as they are
for some turns.
"""


class Province(NamedTuple):
    """Two or more connected spaces of one colour, which a seat owns.

    Attributes:
        colour: ``R``, ``Y`` or ``B``.
        owner: The seat that owns it.
        pagodas: How many pagodas stand on it: 1, or 2 on a major province.
        squares: Its squares, such as ``("c4", "c5")``, in reading order.
        neighbours: The squares that share an edge with it, in reading order.
    """

    colour: str
    owner: int
    pagodas: int
    squares: tuple[str, ...]
    neighbours: tuple[str, ...]

    @property
    def is_major(self) -> bool:
        """Whether it has five or more spaces. Nobody can take over a major province."""
        return len(self.squares) >= MAJOR


class Village(NamedTuple):
    """A village: one square, or several that share edges. It holds at most one pagoda.

    Attributes:
        owner: The seat whose pagoda stands on it, or None while it is free.
        squares: Its squares in reading order.
        neighbours: The squares that share an edge with it, in reading order. Provinces with a
            square among these compete for it.
    """

    owner: int | None
    squares: tuple[str, ...]
    neighbours: tuple[str, ...]


class Square(NamedTuple):
    """One square of the board, and what lies there. ``str(square)`` is how a drawn board shows it:
    ``.``, ``~``, ``V``, ``R`` or ``R0``.

    Attributes:
        name: Such as ``c4``.
        sign: What lies there: ``.`` free grassland, ``~`` a lake, ``V`` a village, ``R``, ``Y`` or
            ``B`` a space of that colour.
        province: The province it belongs to. None for a single space, a free square, a village and
            a lake.
        village: The village it belongs to, or None.
    """

    name: str
    sign: str
    province: Province | None
    village: Village | None

    @property
    def is_free(self) -> bool:
        """Whether half a tile may lie there: free grassland."""
        return self.sign == GRASS

    @property
    def colour(self) -> str | None:
        """``R``, ``Y`` or ``B`` for a space, None for anything else."""
        return self.sign if self.sign in COLOURS else None

    @property
    def owner(self) -> int | None:
        """The seat that owns the province or village there, or None."""
        area = self.province or self.village
        return area.owner if area else None

    def __str__(self) -> str:
        return self.sign if self.owner is None else f"{self.sign}{self.owner}"


@lru_cache(maxsize=AREAS)
def names_of(board: Board, mask: int) -> tuple[str, ...]:
    """The squares of a mask as text, without those that are off the board."""
    return tuple(board.name_of(square) for square in squares_of(mask) if is_on(board, square))


def is_on(board: Board, square: int) -> bool:
    """Whether a square is on the board, not in the spare column or below the last row."""
    row, column = divmod(square, board.stride)
    return column < board.width and row < board.height


def provinces_of(state: State) -> Iterator[Province]:
    """All provinces of a state, in the reading order of their first squares."""
    for colour, (mask, halo, owner, _, pagodas) in state.provinces():
        board = state.board
        yield Province(
            COLOURS[colour], owner, pagodas, names_of(board, mask), names_of(board, halo & ~mask)
        )


def villages_of(state: State) -> Iterator[Village]:
    """All villages of a state, in the reading order of their first squares."""
    board = state.board
    for mask, beside, owner in zip(board.villages, board.beside, state.villages, strict=True):
        yield Village(
            None if owner == NOBODY else owner, names_of(board, mask), names_of(board, beside)
        )


def square_of(state: State, name: str) -> Square:
    """What lies on a square. Raises NotationError for a name that is no square of the board."""
    board, number = state.board, parse_square(state.board, name)
    province = next(
        (province for province in provinces_of(state) if name in province.squares), None
    )
    village = next((village for village in villages_of(state) if name in village.squares), None)
    return Square(name, _sign(state, board, number), province, village)


def _sign(state: State, board: Board, number: int) -> str:
    for colour, letter in enumerate(COLOURS):
        if state.spaces(colour) >> number & 1:
            return letter
    row, column = divmod(number, board.stride)
    terrain = board.rows[row][column]
    return terrain if terrain in (VILLAGE, LAKE) else GRASS


def halves_of(board: Board, move: int) -> tuple[tuple[str, str], ...]:
    """The two spaces of a placement as (colour, square); none for a pass."""
    if move == PASS:
        return ()
    first, square, second, other = split_move(board, move)
    return (COLOURS[first], board.name_of(square)), (COLOURS[second], board.name_of(other))


def drawn(state: State) -> str:
    """The board as text, with the letters of the columns and the
    numbers of the rows at its edges.
    """
    letters = "".join(f"{chr(ord('a') + column):<3}" for column in range(state.board.width))
    rows = ["".join(f"{cell:<3}" for cell in row) for row in draw(state)]
    return "\n".join(
        f"{label:>2}  {row}".rstrip()
        for label, row in zip(["", *range(1, len(rows) + 1)], [letters, *rows], strict=True)
    )
