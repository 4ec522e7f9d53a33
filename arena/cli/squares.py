"""The squares of a board as coloured characters, four to a square: on one line, or on two, which
makes a square about as high as it is wide.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from arena.cli.colours import Colour
from arena.rules.boards import COLOURS, VILLAGE, Board

WIDTH = 4
LAKE, GRASS = "~", "."
DARK, LIGHT = Colour((29, 31, 37), 234, 0), Colour((251, 248, 239), 231, 15)
SEATS = (DARK, LIGHT, Colour((156, 84, 214), 134, 13), Colour((20, 166, 146), 36, 14))
"""The colours of the seats: those of pictures, but lighter, since nothing sets them off here."""
ON_SEATS = (LIGHT, DARK, LIGHT, DARK)
"""What can be read on them."""


class Ground(NamedTuple):
    """A kind of square: its colour, another one when it is marked, that of what is written on it,
    and that of the line between two tiles.
    """

    plain: Colour
    lit: Colour
    ink: Colour
    seam: Colour = DARK


RED = Ground(
    Colour((185, 59, 43), 124, 1),
    Colour((226, 112, 92), 203, 9),
    Colour((250, 222, 212), 224, 15),
    Colour((112, 28, 18), 52, 0),
)
YELLOW = Ground(
    Colour((230, 180, 67), 220, 3),
    Colour((252, 222, 140), 228, 11),
    Colour((84, 56, 4), 58, 0),
    Colour((146, 102, 14), 136, 0),
)
BLUE = Ground(
    Colour((55, 107, 167), 25, 4),
    Colour((110, 160, 216), 74, 12),
    Colour((222, 234, 248), 195, 15),
    Colour((22, 52, 94), 17, 0),
)
GROUNDS: Mapping[str, Ground] = {
    **dict(zip(COLOURS, (RED, YELLOW, BLUE), strict=True)),
    VILLAGE: Ground(
        Colour((205, 166, 106), 180, 8),
        Colour((232, 206, 160), 223, 7),
        Colour((84, 52, 20), 58, 15),
    ),
    LAKE: Ground(
        Colour((128, 180, 200), 110, 6),
        Colour((164, 208, 224), 153, 14),
        Colour((240, 249, 252), 231, 15),
    ),
    GRASS: Ground(
        Colour((170, 182, 114), 107, 2),
        Colour((226, 236, 178), 193, 10),
        Colour((95, 112, 56), 58, 0),
    ),
}
OTHER_GRASS = Colour((180, 192, 126), 108, 2)
"""Grass alternates, so that squares can be counted."""
NORTH, EAST, SOUTH, WEST = (0, -1), (1, 0), (0, 1), (-1, 0)


class Glyphs(NamedTuple):
    """The characters of a square on one line: a pagoda, a wave, the seam between two tiles."""

    pagoda: str = "▲"
    seam: str = "▏"


ASCII = Glyphs("^", "|")


class Sign(NamedTuple):
    """A character in its colours."""

    text: str
    ink: Colour
    ground: Colour
    is_bold: bool = False


class Plot(NamedTuple):
    """What the squares of a position are drawn from.

    ``cells``   as `draw` writes them, by row
    ``homes``   the squares that pagodas stand on, with the number of storeys
    ``mates``   the other square of the tile that lies on a square
    ``marked``  the mask of the squares that are set off
    """

    board: Board
    cells: Sequence[Sequence[str]]
    homes: Mapping[int, int]
    mates: Mapping[int, int]
    marked: int

    def small(self, x: int, y: int, glyphs: Glyphs) -> list[list[Sign]]:
        """A square on one line: ``" R0 "``, with pagodas ``" ▲0 "``, and those of a major province
        ``" ▲▲ "``.
        """
        cell, storeys = self.cells[y][x], self.homes.get(self._square(x, y), 0)
        base = self._base(x, y)
        middle = [base._replace(text=sign) for sign in f"{cell:<2}".replace(GRASS, " ")]
        if storeys:
            signs = glyphs.pagoda + (glyphs.pagoda if storeys > 1 else cell[1])
            middle = [on_seat(int(cell[1]), sign) for sign in signs]
        left = right = base
        if seam := self._edge(x, y, WEST):
            left = base._replace(text=glyphs.seam, ink=seam)
        if self._is_rim(x, y, WEST):
            left = base._replace(text="[", is_bold=True)
        if self._is_rim(x, y, EAST):
            right = base._replace(text="]", is_bold=True)
        return [[left, *middle, right]]

    def large(self, x: int, y: int) -> list[list[Sign]]:
        """A square on two lines, with a line to where it ends."""
        cell, storeys = self.cells[y][x], self.homes.get(self._square(x, y), 0)
        base = self._base(x, y)
        lines = [[base._replace(text=sign) for sign in line] for line in _written(cell, x + y)]
        if storeys:
            seat = base._replace(ink=SEATS[int(cell[1])])
            lines = [[seat._replace(text=sign) for sign in line] for line in PAGODAS[storeys - 1]]
            if cell[0] == VILLAGE:
                lines[0][3] = base._replace(text=cell[1])
        for side, places, glyph in EDGES:
            if ink := self._edge(x, y, side):
                _rule(lines, places, base._replace(text=glyph, ink=ink))
        return lines

    def _edge(self, x: int, y: int, side: tuple[int, int]) -> Colour | None:
        """The colour of the line at one side of a square, if there is one."""
        if self._is_rim(x, y, side):
            return LIGHT if self.cells[y][x][0] in "RB" else DARK
        is_seam = side in (NORTH, WEST) and self._is_seam(x, y, side)
        return GROUNDS[self.cells[y][x][0]].seam if is_seam else None

    def _base(self, x: int, y: int) -> Sign:
        ground = GROUNDS[self.cells[y][x][0]]
        plain = OTHER_GRASS if self.cells[y][x] == GRASS and (x + y) % 2 else ground.plain
        is_lit = self.marked >> self._square(x, y) & 1
        return Sign(" ", ground.ink, ground.lit if is_lit else plain)

    def _square(self, x: int, y: int) -> int:
        return y * self.board.stride + x

    def _is_rim(self, x: int, y: int, side: tuple[int, int]) -> bool:
        """Whether the mark ends at this side of the square."""
        if not self.marked >> self._square(x, y) & 1:
            return False
        x, y = x + side[0], y + side[1]
        is_inside = 0 <= x < self.board.width and 0 <= y < self.board.height
        return not (is_inside and self.marked >> self._square(x, y) & 1)

    def _is_seam(self, x: int, y: int, side: tuple[int, int]) -> bool:
        """Whether one tile ends at this side and another begins."""
        there_x, there_y = x + side[0], y + side[1]
        if min(there_x, there_y) < 0 or self.cells[y][x][0] not in COLOURS:
            return False
        mate = self.mates.get(self._square(x, y))
        return self.cells[there_y][there_x][0] in COLOURS and mate != self._square(there_x, there_y)


EDGES = (
    (WEST, ((0, 0), (1, 0)), "▏"),
    (EAST, ((0, 3), (1, 3)), "▕"),
    (NORTH, ((0, 1), (0, 2), (0, 0), (0, 3)), "▔"),
    (SOUTH, ((1, 1), (1, 2), (1, 0), (1, 3)), "▁"),
)
PAGODAS = ((" ▗▖ ", "▝▛▜▘"), (" ▜▛ ", "▝▛▜▘"))
"""One storey, and the two of a major province."""


def on_seat(seat: int, text: str) -> Sign:
    """Text on the colour of a seat."""
    return Sign(text, ON_SEATS[seat], SEATS[seat], is_bold=True)


def _rule(lines: list[list[Sign]], places: Sequence[tuple[int, int]], sign: Sign) -> None:
    """Puts a line to one side of a square, where nothing else stands."""
    for row, column in places:
        if lines[row][column].text == " ":
            lines[row][column] = sign


def _written(cell: str, parity: int) -> tuple[str, str]:
    """What stands on a large square without a pagoda."""
    if cell == GRASS:
        return "    ", "    "
    if cell == LAKE:
        return ("~   ", "  ~ ") if parity % 2 else ("  ~ ", "~   ")
    if cell == VILLAGE:
        return "    ", " ⌂V "
    return "    ", f" {cell:<2} "
