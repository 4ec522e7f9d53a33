"""What lies on a board: tiles, borders of provinces and villages, the ring around the last tile,
and pagodas.

A scene is a list of elements, each of which says the same wherever it is drawn: in a file by its
text, on a page by its fields. So a game is its first scene and, move by move, which elements came
and which went.
"""

from collections.abc import Sequence
from typing import NamedTuple

from arena.exports.pictures.outline import number, outline
from arena.exports.pictures.parts import SIDE
from arena.rules import State
from arena.rules.boards import COLOURS, Board, squares_of
from arena.rules.notation import PASS, split_move
from arena.rules.terms import NOBODY, OwnedProvince

Pair = tuple[int, int]
"""The two squares of a tile in reading order."""
TILES, BORDERS, LAST, PAGODAS = range(4)
"""The layers of a scene, the lowest first."""


def pair_of(board: Board, move: int) -> list[Pair]:
    """The squares that a move covers; none for a pass."""
    if move == PASS:
        return []
    _, square, _, other = split_move(board, move)
    return [(square, other)]


class Piece(NamedTuple):
    """A part at a place; ``x`` and ``y`` are its corner from that of the board."""

    layer: int
    part: str
    x: float
    y: float

    def __str__(self) -> str:
        return f'<use href="#{self.part}" x="{number(self.x)}" y="{number(self.y)}"/>'


class Border(NamedTuple):
    """A line in the colour of a seat, over a broader one that sets it off."""

    layer: int
    seat: int
    path: str

    def __str__(self) -> str:
        return (
            f'<g class="q{self.seat}"><path class="q-casing" d="{self.path}"/>'
            f'<path class="q-border" d="{self.path}"/></g>'
        )


Element = Piece | Border


class Scene:
    """The elements of a position, and of those that follow it."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._homes: dict[int, int] = {}
        self._paths: dict[tuple[int, int], str] = {}

    def show(self, state: State, tiles: Sequence[Pair], last: int = PASS) -> list[Element]:
        """The elements, the lowest first. ``tiles`` are the squares of each tile; a space on none
        of them is drawn as a start. ``last`` is the move with the ring.
        """
        return [
            *self._tiles(state, tiles),
            *self._borders(state),
            *self._last(last),
            *self._pagodas(state),
        ]

    def _tiles(self, state: State, tiles: Sequence[Pair]) -> list[Element]:
        colours = {
            square: letter
            for colour, letter in enumerate(COLOURS)
            for square in squares_of(state.spaces(colour))
        }
        pieces = [
            self._piece(TILES, f"q{colours.pop(one)}{colours.pop(other)}{way(one, other)}", one)
            for one, other in tiles
        ]
        starts = (self._piece(TILES, f"q{letter}s", at) for at, letter in sorted(colours.items()))
        return [*starts, *pieces]

    def _borders(self, state: State) -> list[Element]:
        provinces = (
            Border(BORDERS, province.owner, self._path(province.mask, 6))
            for _, province in state.provinces()
        )
        villages = (
            Border(BORDERS, owner, self._path(village, 7))
            for village, owner in zip(self._board.villages, state.villages, strict=True)
            if owner != NOBODY
        )
        return [*provinces, *villages]

    def _path(self, area: int, radius: int) -> str:
        """The border of an area, most of which stay as they are from one position to the next."""
        path = self._paths.get((area, radius))
        if path is None:
            path = self._paths[area, radius] = outline(self._board, area, 2.5, radius)
        return path

    def _last(self, last: int) -> list[Element]:
        if last == PASS:
            return []
        _, one, _, other = split_move(self._board, last)
        return [self._piece(LAST, f"qlast{way(one, other)}", one)]

    def _pagodas(self, state: State) -> list[Element]:
        """One on each province, higher by a storey where it is a major, and one on each taken
        village.
        """
        board = self._board
        pieces: list[Element] = [
            self._piece(PAGODAS, f"q{province.pagodas}{province.owner}", square)
            for square, province in self.homes(state)
        ]
        for village, owner in zip(board.villages, state.villages, strict=True):
            if owner != NOBODY:
                pieces.append(Piece(PAGODAS, f"q1{owner}", *middle(board, village)))
        return pieces

    def homes(self, state: State) -> list[tuple[int, OwnedProvince]]:
        """Each province with the square that its pagodas stand on, in the next position the same
        where it can be.
        """
        before = self._homes
        homes = [(self._home(province, before), province) for _, province in state.provinces()]
        self._homes = {square: province.owner for square, province in homes}
        return homes

    def _home(self, province: OwnedProvince, before: dict[int, int]) -> int:
        """Where a province's pagodas stand: where they stood, or deepest inside it."""
        around = self._board.around
        return min(
            squares_of(province.mask),
            key=lambda at: (
                before.get(at) != province.owner,
                -(around(1 << at) & province.mask).bit_count(),
                at,
            ),
        )

    def _piece(self, layer: int, part: str, square: int) -> Piece:
        y, x = divmod(square, self._board.stride)
        return Piece(layer, part, x * SIDE, y * SIDE)


def way(one: int, other: int) -> str:
    """Whether a tile lies or stands, as the names of parts have it."""
    return "h" if other - one == 1 else "v"


def middle(board: Board, squares: int) -> tuple[float, float]:
    """The corner of a part that stands in the middle of the squares."""
    places = [divmod(square, board.stride) for square in squares_of(squares)]
    rows, columns = zip(*places, strict=True)
    return sum(columns) * SIDE / len(places), sum(rows) * SIDE / len(places)
