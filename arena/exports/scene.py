"""Scenes: the elements that are drawn on a board in a position, which are tiles, borders of
provinces and villages, the ring around the last tile, and pagodas.

An element has one look everywhere: an SVG file has its text (``str``), a page has its fields. A
page stores a game as its first scene and then, for each move, the elements that appear and
disappear.
"""

from collections.abc import Sequence
from typing import NamedTuple

from arena.exports.ground import outline
from arena.exports.parts import SIDE, use
from arena.rules import State
from arena.rules.boards import COLOURS, Board, squares_of
from arena.rules.notation import PASS, split_move
from arena.rules.terms import NOBODY, OwnedProvince

Pair = tuple[int, int]
"""The two squares of a tile in reading order."""
TILES, BORDERS, LAST, ON_TOP = range(4)
"""The layers of a scene, the lowest first."""


def pair_of(board: Board, move: int) -> list[Pair]:
    """The two squares of ``board`` that ``move`` covers, as a list with one pair; empty for a
    pass.
    """
    if move == PASS:
        return []
    _, square, _, other = split_move(board, move)
    return [(square, other)]


class Piece(NamedTuple):
    """A part (see `arena.exports.parts`) in a ``layer``, drawn at ``x``, ``y`` from the corner of
    the board.
    """

    layer: int
    part: str
    x: float
    y: float

    def __str__(self) -> str:
        return use(self.part, self.x, self.y)


class Border(NamedTuple):
    """A line along the SVG ``path`` in the colour of ``seat``, in a ``layer`` of the board, drawn
    over a broader line that makes it stand out.
    """

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
    """Draws the positions of a game one after another. Pagodas stay where they stood in the
    previous position, if possible.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._homes: dict[int, int] = {}
        self._paths: dict[tuple[int, int], str] = {}

    def show(self, state: State, tiles: Sequence[Pair], last: int = PASS) -> list[Element]:
        """The elements of the position ``state``, the lowest layer first.

        ``tiles`` are the pairs of squares of all tiles on the board; a coloured space that belongs
        to no tile is drawn as a starting space. ``last`` is the move that gets the ring; PASS means
        none.
        """
        elements = self._tiles(state, tiles) + self._borders(state)
        for one, other in pair_of(self._board, last):
            elements.append(self._piece(LAST, f"qlast{way(one, other)}", one))
        return elements + self._pagodas(state)

    def _tiles(self, state: State, tiles: Sequence[Pair]) -> list[Element]:
        """The elements of the starting spaces and of the ``tiles`` in the position ``state``."""
        colours = {}
        for colour, letter in enumerate(COLOURS):
            for square in squares_of(state.spaces(colour)):
                colours[square] = letter
        pieces: list[Element] = []
        for one, other in tiles:
            part = f"q{colours.pop(one)}{colours.pop(other)}{way(one, other)}"
            pieces.append(self._piece(TILES, part, one))
        starts: list[Element] = []
        for square, letter in sorted(colours.items()):
            starts.append(self._piece(TILES, f"q{letter}s", square))
        return starts + pieces

    def _taken(self, state: State) -> list[tuple[int, int]]:
        """In the position ``state``, for each village that has an owner, the mask of its squares
        and its owner.
        """
        both = zip(self._board.villages, state.villages, strict=True)
        return [(village, owner) for village, owner in both if owner != NOBODY]

    def _borders(self, state: State) -> list[Element]:
        """The borders of owned provinces and villages in the position ``state``."""
        borders: list[Element] = []
        for _, province in state.provinces():
            borders.append(self._border(province.owner, province.mask, 6))
        for village, owner in self._taken(state):
            borders.append(self._border(owner, village, 7))
        return borders

    def _border(self, owner: int, area: int, radius: int) -> Border:
        """The border, in the colour of ``owner``, of the squares in the mask ``area``. ``radius``
        is that of its corners.
        """
        # Most outlines stay the same from one position to the next.
        if (area, radius) not in self._paths:
            self._paths[area, radius] = outline(self._board, area, 2.5, radius)
        return Border(BORDERS, owner, self._paths[area, radius])

    def _pagodas(self, state: State) -> list[Element]:
        """The elements of the pagodas in the position ``state``: one on each province, two
        on a major one, and one on each village that has an owner.
        """
        pieces: list[Element] = []
        for square, province in self.homes(state):
            part = f"q{province.pagodas}{province.owner}"
            pieces.append(self._piece(ON_TOP, part, square))
        for village, owner in self._taken(state):
            places = [divmod(square, self._board.stride) for square in squares_of(village)]
            rows, columns = zip(*places, strict=True)
            y = sum(rows) * SIDE / len(places)
            x = sum(columns) * SIDE / len(places)
            pieces.append(Piece(ON_TOP, f"q1{owner}", x, y))
        return pieces

    def homes(self, state: State) -> list[tuple[int, OwnedProvince]]:
        """For each province in the position ``state``, the square on which its pagodas are drawn:
        the square where its owner's pagodas stood in the previous position, or else the one with
        the most neighbours in the province.
        """
        before = self._homes
        around = self._board.around

        def home(province: OwnedProvince) -> int:
            """The square on which the pagodas of ``province`` are drawn."""
            return min(
                squares_of(province.mask),
                key=lambda at: (
                    before.get(at) != province.owner,
                    -(around(1 << at) & province.mask).bit_count(),
                    at,
                ),
            )

        homes = []
        self._homes = {}
        for _, province in state.provinces():
            square = home(province)
            homes.append((square, province))
            self._homes[square] = province.owner
        return homes

    def _piece(self, layer: int, part: str, square: int) -> Piece:
        """The part with this name on ``square``, in ``layer``."""
        y, x = divmod(square, self._board.stride)
        return Piece(layer, part, x * SIDE, y * SIDE)


def way(one: int, other: int) -> str:
    """``h`` if the tile on the squares ``one`` and ``other`` is horizontal, ``v`` if it is
    vertical, as in the names of parts.
    """
    return "h" if other - one == 1 else "v"


class Change(NamedTuple):
    """The numbers of the elements that appeared with a move (``came``) and of those that
    disappeared (``went``).
    """

    came: list[int]
    went: list[int]


class Film:
    """The scenes of a game, which are added one by one.

    ``elements``  all elements of the scenes, without repetition; an element's index is its number
    ``frames``    for each scene, the numbers of its elements
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._scene = Scene(board)
        self._tiles = list[Pair]()
        self._numbers = dict[Element, int]()
        self.frames = list[list[int]]()

    @property
    def elements(self) -> list[Element]:
        """All elements of the scenes, without repetition; an element's index is its number."""
        return list(self._numbers)

    def add(self, state: State, move: int = PASS) -> Change:
        """Adds the scene ``state``, the position after ``move`` (PASS: no tile was placed), and
        returns what changed since the previous scene.
        """
        self._tiles += pair_of(self._board, move)
        before = set(self.frames[-1]) if self.frames else set[int]()
        frame = []
        for element in self._scene.show(state, self._tiles, move):
            number = self._numbers.setdefault(element, len(self._numbers))
            frame.append(number)
        self.frames.append(frame)
        came = [number for number in frame if number not in before]
        return Change(came, sorted(before.difference(frame)))
