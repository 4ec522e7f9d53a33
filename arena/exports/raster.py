"""Draws a position as a PNG file, the picture that a chat or a social network shows beside a link.
These take no SVG. The drawing is simpler than the SVG of a board: it has no textures and no text.
"""

import struct
import zlib
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.exports.parts import CASINGS, PLACES_OF_TWO, SCALE_OF_TWO, SEATS, SIDE
from arena.exports.scene import Pair, Scene, pair_of
from arena.match.replay import replay, start_state
from arena.records.record import GameRecord
from arena.rules import State
from arena.rules.boards import COLOURS, LAKE, Board, squares_of
from arena.rules.notation import PASS
from arena.rules.terms import NOBODY, PAGODAS

WIDTH, HEIGHT = 1200, 630
"""The size of the picture in pixels, the one that is asked for beside links."""
FINENESS = 3
"""The picture is drawn this many times as large in each direction, and then made smaller, so that
its edges are smooth.
"""
MARGIN = 30.0
"""The space around the board, in pixels."""
COLUMNS = 8
"""The number of columns of the pagodas that a seat has left."""
TABLE, FRAME, GRASS, GRID, WATER, PLATE, HOUSE = (
    "#2b1d12", "#49331f", "#c1c98f", "#a8b174", "#86b4c6", "#ecdcbb", "#8a5f33",
)  # fmt: skip
"""The colours of the table, the frame, and what is on the ground."""
TILES = ("#b93b2b", "#e6b443", "#376ba7")
"""The colour of a space, in the order of `COLOURS`."""
PLACED = "#5d4330"
"""The colour of the dot for a pagoda that was placed."""
LAST = "#ffab00"
"""The colour of the ring around the last tile."""
ROOFS = (
    ((0.5, 0.06), (0.86, 0.42), (0.14, 0.42)),
    ((0.5, 0.26), (0.94, 0.68), (0.06, 0.68)),
    ((0.26, 0.64), (0.74, 0.64), (0.74, 0.9), (0.26, 0.9)),
)
"""The polygons of a pagoda, as shares of the side of its square."""
HOUSE_SHAPE = ((0.5, 0.26), (0.76, 0.5), (0.68, 0.74), (0.32, 0.74), (0.24, 0.5))
"""The polygon of the house on a square of a village, as shares of the side of its square."""
_Point = tuple[float, float]


class Canvas:
    """A picture on which shapes are filled. Coordinates are in pixels from the top left corner."""

    def __init__(self, width: int, height: int, colour: str) -> None:
        self._pixels = np.empty((height * FINENESS, width * FINENESS, 3), dtype=np.uint8)
        self._pixels[:] = _rgb(colour)

    def box(
        self, x: float, y: float, width: float, height: float, colour: str, radius: float = 0.0
    ) -> None:
        """Fill a rectangle whose top left corner is at (x, y) with ``colour``. Its size, and the
        ``radius`` of its corners, are in pixels; with the radius 0, the corners are square.
        """
        area, across, down = self._area(x, y, x + width, y + height)
        if not radius:
            area[:] = _rgb(colour)
            return
        beside = np.maximum(np.abs(across - x - width / 2) - (width / 2 - radius), 0)
        above = np.maximum(np.abs(down - y - height / 2) - (height / 2 - radius), 0)
        area[np.hypot(beside, above) <= radius] = _rgb(colour)

    def polygon(self, points: Sequence[_Point], colour: str) -> None:
        """Fill a convex polygon, whose ``points`` go round it clockwise, with ``colour``."""
        columns, rows = zip(*points, strict=True)
        area, across, down = self._area(min(columns), min(rows), max(columns), max(rows))
        is_inside = np.ones(area.shape[:2], dtype=np.bool_)
        for (x, y), (to_x, to_y) in zip(points, [*points[1:], points[0]], strict=True):
            is_inside &= (to_x - x) * (down - y) - (to_y - y) * (across - x) >= 0
        area[is_inside] = _rgb(colour)

    def png(self) -> bytes:
        """The picture as the content of a PNG file."""
        height, width, _ = (size // FINENESS for size in self._pixels.shape)
        sums = np.zeros((height, width, 3), dtype=np.uint16)
        for row in range(FINENESS):
            for column in range(FINENESS):
                sums += self._pixels[row::FINENESS, column::FINENESS]
        smooth = sums // FINENESS**2
        # Each line begins with the number of its filter: 0 is none.
        lines = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
        lines[:, 1:] = smooth.reshape(height, 3 * width)
        head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        data = zlib.compress(lines.tobytes(), 9)
        chunks = (_chunk(b"IHDR", head), _chunk(b"IDAT", data), _chunk(b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)

    def _area(
        self, left: float, top: float, right: float, bottom: float
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.float64]]:
        """The fine pixels (h, w, 3) of a part of the picture, and the coordinates of their middles:
        those across (1, w) and those down (h, 1).
        """
        first_row, first_column = max(0, round(top * FINENESS)), max(0, round(left * FINENESS))
        area = self._pixels[
            first_row : round(bottom * FINENESS), first_column : round(right * FINENESS)
        ]
        rows, columns, _ = area.shape
        across = (np.arange(columns) + first_column + 0.5) / FINENESS
        down = (np.arange(rows) + first_row + 0.5) / FINENESS
        return area, across[np.newaxis, :], down[:, np.newaxis]


def _rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue, from 0 to 255, of a colour such as ``#b93b2b``."""
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def _chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG file: its length, its kind, its data and their checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


class _BoardArea(NamedTuple):
    """Where a ``board`` lies on a ``canvas``: its top left corner, and the ``side`` of a square."""

    canvas: Canvas
    board: Board
    x: float
    y: float
    side: float

    def corner(self, square: int) -> _Point:
        """The top left corner of a square."""
        row, column = divmod(square, self.board.stride)
        return self.x + column * self.side, self.y + row * self.side

    def space(self, square: int, colour: str, inset: float, radius: float = 0.0) -> None:
        """Fill a square of the board with ``colour``, except for a margin of ``inset`` on each
        side; the corners are rounded with ``radius``. Both are shares of the square's side.
        """
        x, y = self.corner(square)
        size = self.side * (1 - 2 * inset)
        self.canvas.box(
            x + inset * self.side, y + inset * self.side, size, size, colour, radius * self.side
        )

    def pair(self, pair: Pair, colours: Sequence[str], inset: float, radius: float = 0.1) -> None:
        """Fill the two squares of a tile except for a margin of ``inset``, a share of a square's
        side, around both. The first square gets the first of two ``colours``; the outer corners are
        rounded with ``radius``, also a share of a square's side.
        """
        (x, y), (to_x, to_y) = map(self.corner, pair)
        margin = inset * self.side
        size = self.side - 2 * margin
        wide, high = to_x - x, to_y - y
        self.canvas.box(x + margin, y + margin, size, size, colours[0], radius * self.side)
        self.canvas.box(to_x + margin, to_y + margin, size, size, colours[1], radius * self.side)
        # Between the rounded corners the halves meet in the middle.
        half = self.side / 2
        for at_x, at_y, colour in (
            (x + (half if wide else margin), y + (half if high else margin), colours[0]),
            (x + (wide or margin), y + (high or margin), colours[1]),
        ):
            self.canvas.box(at_x, at_y, half if wide else size, half if high else size, colour)


def _pagoda(canvas: Canvas, x: float, y: float, side: float, seat: int) -> None:
    """Draw a pagoda of ``seat`` in the square at (x, y) with this ``side``."""
    for polygon in ROOFS:
        for growth, colour in ((0.06, CASINGS[seat]), (0.0, SEATS[seat])):
            points = [_grown(point, polygon, growth, x, y, side) for point in polygon]
            canvas.polygon(points, colour)


def _grown(
    point: _Point, polygon: Sequence[_Point], growth: float, x: float, y: float, side: float
) -> _Point:
    """Where ``point``, a corner of ``polygon``, is drawn in the square at (x, y), in pixels. The
    polygon is enlarged: its corners move away from its middle by ``growth``, a share of the
    square's side.
    """
    xs, ys = zip(*polygon, strict=True)
    middle_x = sum(xs) / len(polygon)
    middle_y = sum(ys) / len(polygon)
    away_x, away_y = point[0] - middle_x, point[1] - middle_y
    length = float(np.hypot(away_x, away_y))
    across = point[0] + growth * away_x / length
    down = point[1] + growth * away_y / length
    return x + side * across, y + side * down


def picture_of_position(
    board: Board, state: State | None = None, moves: Iterable[int] = ()
) -> bytes:
    """A PNG picture of the position ``state`` on ``board``; of the empty board if ``state`` is
    None. ``moves`` are the moves that led to ``state``: they say which spaces are halves of one
    tile, and the last one gets a ring.
    """
    canvas = Canvas(WIDTH, HEIGHT, TABLE)
    side = min((HEIGHT - 2 * MARGIN) / board.height, (WIDTH * 0.66 - MARGIN) / board.width)
    y = (HEIGHT - side * board.height) / 2
    x = MARGIN if state else (WIDTH - side * board.width) / 2
    ground = _BoardArea(canvas, board, x, y, side)
    _draw_ground(ground)
    if state:
        pairs: list[Pair] = []
        for move in moves:
            pairs += pair_of(board, move)
        _draw_position(ground, state, pairs)
        _draw_left(canvas, state, x + side * board.width + MARGIN)
    return canvas.png()


def _draw_ground(ground: _BoardArea) -> None:
    """Draw a board without tiles."""
    canvas, board, x, y, side = ground
    wide, high, edge = side * board.width, side * board.height, MARGIN / 3
    canvas.box(x - edge, y - edge, wide + 2 * edge, high + 2 * edge, FRAME, edge)
    canvas.box(x, y, wide, high, GRID)
    villages = set(chain.from_iterable(map(squares_of, board.villages)))
    for row, line in enumerate(board.rows):
        for column, sign in enumerate(line):
            square = row * board.stride + column
            ground.space(square, WATER if sign == LAKE else GRASS, 0.02)
            if square in villages:
                ground.space(square, PLATE, 0.05, 0.15)
                corner_x, corner_y = ground.corner(square)
                points = []
                for across, down in HOUSE_SHAPE:
                    points.append((corner_x + across * side, corner_y + down * side))
                canvas.polygon(points, HOUSE)


def _draw_position(ground: _BoardArea, state: State, pairs: Sequence[Pair]) -> None:
    """Draw what lies on the board in the position ``state``, whose tiles cover these ``pairs``."""
    colours = {}
    for colour in range(len(COLOURS)):
        for square in squares_of(state.spaces(colour)):
            colours[square] = TILES[colour]
            ground.space(square, TILES[colour], 0.06, 0.12)
    for pair in pairs:
        ground.pair(pair, [colours[square] for square in pair], 0.06)
    board = ground.board
    owned = [(province.owner, province.mask) for _, province in state.provinces()]
    homes = [
        (square, province.owner, province.pagodas) for square, province in Scene(board).homes(state)
    ]
    for village, owner in zip(board.villages, state.villages, strict=True):
        if owner != NOBODY:
            owned.append((owner, village))
            homes.append((next(iter(squares_of(village))), owner, 1))
    for owner, mask in owned:
        _draw_border(ground, mask, CASINGS[owner], 0.13)
        _draw_border(ground, mask, SEATS[owner], 0.07)
    if pairs:
        one, other = pairs[-1]
        _draw_border(ground, 1 << one | 1 << other, LAST, 0.1)
    for square, owner, pagodas in homes:
        _draw_pagodas(ground, square, owner, pagodas)


def _draw_pagodas(ground: _BoardArea, square: int, owner: int, pagodas: int) -> None:
    """Draw the one or two ``pagodas`` of ``owner`` on a square."""
    x, y = ground.corner(square)
    if pagodas == 1:
        _pagoda(ground.canvas, x, y, ground.side, owner)
        return
    for across, down in PLACES_OF_TWO:
        at = (x + across / SIDE * ground.side, y + down / SIDE * ground.side)
        _pagoda(ground.canvas, *at, SCALE_OF_TWO * ground.side, owner)


def _draw_border(ground: _BoardArea, mask: int, colour: str, share: float) -> None:
    """Draw a line inside the border of the squares of ``mask``, as thick as this ``share`` of the
    side of a square.
    """
    side = ground.side
    thick = share * side
    squares = set(squares_of(mask))
    for square in squares:
        x, y = ground.corner(square)
        if square - 1 not in squares:
            ground.canvas.box(x, y, thick, side, colour)
        if square + 1 not in squares:
            ground.canvas.box(x + side - thick, y, thick, side, colour)
        if square - ground.board.stride not in squares:
            ground.canvas.box(x, y, side, thick, colour)
        if square + ground.board.stride not in squares:
            ground.canvas.box(x, y + side - thick, side, thick, colour)


def _draw_left(canvas: Canvas, state: State, x: float) -> None:
    """Draw the pagodas that each seat has left, from ``x`` to the right edge, with a dot for each
    that it has placed.
    """
    seats = len(state.left)
    high = (HEIGHT - 2 * MARGIN) / seats
    rows = -(-PAGODAS[seats] // COLUMNS)
    side = min((high - MARGIN / 2) / rows, (WIDTH - MARGIN - x) / COLUMNS)
    dot = side / 6
    for seat, left in enumerate(state.left):
        top = MARGIN + seat * high + (high - rows * side) / 2
        for number in range(PAGODAS[seats]):
            row, column = divmod(number, COLUMNS)
            at_x, at_y = x + column * side, top + row * side
            if number < left:
                _pagoda(canvas, at_x, at_y, side, seat)
            else:
                middle = (side - dot) / 2
                canvas.box(at_x + middle, at_y + middle, dot, dot, PLACED, dot / 2)


def picture_of_game(record: GameRecord, board: Board, turn: int | None = None) -> bytes:
    """A PNG picture of the game of ``record``, played on ``board``, after its first ``turn`` tiles;
    None shows its end. Raises RunError if the record does not follow from its deck and moves.
    """
    shown = start_state(record, board)
    moves = list[int]()
    for step in replay(record, board):
        if turn is not None and step.state.turns > turn:
            break
        shown = step.state.copy()
        if step.move != PASS:
            moves.append(step.move)
    return picture_of_position(board, shown, moves)
