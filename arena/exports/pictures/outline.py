"""The border of an area of squares as one path, a little inside it and with round corners."""

from collections.abc import Iterator

from arena.exports.pictures.parts import SIDE
from arena.rules.boards import Board, squares_of

Point = tuple[int, int]


def outline(board: Board, mask: int, inset: float, radius: float) -> str:
    """The ``d`` of a path around every part of the mask, holes included."""
    return "".join(_loop(corners, inset, radius) for corners in _loops(board, mask))


def number(value: float) -> str:
    """A coordinate, as short as it can be written."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def _loops(board: Board, mask: int) -> Iterator[list[tuple[Point, Point, Point]]]:
    """Each border clockwise: its corners with the directions in which it comes and goes."""
    ends = _edges(board, mask)
    while ends:
        start = point = next(iter(ends))
        first = way = ends[start][0]
        corners: list[tuple[Point, Point, Point]] = []
        while True:
            _take(ends, point, way)
            point = (point[0] + way[0], point[1] + way[1])
            ways = [*ends.get(point, []), *([first] if point == start else [])]
            # Two areas may meet at a corner: turning right there keeps them apart.
            following = (-way[1], way[0]) if (-way[1], way[0]) in ways else ways[0]
            if following != way:
                corners.append((point, way, following))
            if point == start and following == first:
                break
            way = following
        yield corners


def _take(ends: dict[Point, list[Point]], point: Point, way: Point) -> None:
    ends[point].remove(way)
    if not ends[point]:
        del ends[point]


def _edges(board: Board, mask: int) -> dict[Point, list[Point]]:
    """From each corner point the ways that a border takes, with the area to its right."""
    ends: dict[Point, list[Point]] = {}
    for square in squares_of(mask):
        y, x = divmod(square, board.stride)
        for (dx, dy), start, way in (
            ((0, -1), (x, y), (1, 0)),
            ((1, 0), (x + 1, y), (0, 1)),
            ((0, 1), (x + 1, y + 1), (-1, 0)),
            ((-1, 0), (x, y + 1), (0, -1)),
        ):
            beside = (y + dy) * board.stride + x + dx
            if beside < 0 or not mask >> beside & 1:
                ends.setdefault(start, []).append(way)
    return ends


def _loop(corners: list[tuple[Point, Point, Point]], inset: float, radius: float) -> str:
    parts = list[str]()
    for (x, y), (dx, dy), (tx, ty) in corners:
        at_x, at_y = x * SIDE + inset * (-dy - ty), y * SIDE + inset * (dx + tx)
        near_x, near_y = at_x - dx * radius, at_y - dy * radius
        line = (
            f"M{number(near_x)} {number(near_y)}"
            if not parts
            else f"H{number(near_x)}"
            if dx
            else f"V{number(near_y)}"
        )
        bend = (dx * radius, dy * radius, (dx + tx) * radius, (dy + ty) * radius)
        parts.append(f"{line}q{' '.join(map(number, bend))}")
    return "".join(parts) + "z"
