"""Draws a board without tiles as SVG: its frame, its ground with lakes and villages, and outlines
of areas.
"""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from arena.exports.parts import SIDE, number, use
from arena.exports.report.charts import element
from arena.rules.boards import GRASS, LAKE, Board, squares_of

FRAME = 22
"""The width of the frame around the board."""
TUFTS = 6
"""About one square of grass out of this many has a tuft on it, and about as many have a few
blades.
"""
LAYERS = 4
"""The number of layers on the board, see `arena.exports.scene`."""
Point = tuple[int, int]
Corner = tuple[Point, Point, Point]
"""A corner of a border: the point, the direction of the edge that ends there, and the direction of
the edge that begins there.
"""
EDGES = (
    ((0, -1), (0, 0), (1, 0)),
    ((1, 0), (1, 0), (0, 1)),
    ((0, 1), (1, 1), (-1, 0)),
    ((-1, 0), (0, 1), (0, -1)),
)
"""The edges of a square, clockwise. For each: the direction to the square beyond the edge, the
corner at which the edge begins, and the direction in which it runs.
"""


def outline(board: Board, mask: int, inset: float, radius: float) -> str:
    """The ``d`` of an SVG path around each area of ``mask``, clockwise, and around its holes. The
    path runs ``inset`` units inside the area, with corners rounded by ``radius`` units. A square of
    the board is `SIDE` units wide.
    """
    # For each point, the directions in which borders leave it, with the area to their right.
    ends: dict[Point, list[Point]] = {}
    for square in squares_of(mask):
        y, x = divmod(square, board.stride)
        for (dx, dy), (right, down), way in EDGES:
            beside = (y + dy) * board.stride + x + dx
            if beside < 0 or not mask >> beside & 1:
                ends.setdefault((x + right, y + down), []).append(way)
    path = ""
    while start := next((point for point, ways in ends.items() if ways), None):
        path += _loop(_corners(ends, start), inset, radius)
    return path


def _corners(ends: dict[Point, list[Point]], start: Point) -> list[Corner]:
    """The corners of the border that begins at ``start``; its edges are removed from ``ends``,
    which has, for each point, the directions of the edges that begin there.
    """
    first = ends[start][0]
    point = start
    way = first
    corners: list[Corner] = []
    while True:
        ends[point].remove(way)
        point = (point[0] + way[0], point[1] + way[1])
        ways = [*ends.get(point, []), *([first] if point == start else [])]
        # Two areas may meet at a corner: a right turn there keeps their borders apart.
        following = (-way[1], way[0]) if (-way[1], way[0]) in ways else ways[0]
        if following != way:
            corners.append((point, way, following))
        if point == start and following == first:
            return corners
        way = following


def _loop(corners: Sequence[Corner], inset: float, radius: float) -> str:
    """The SVG path of the border with these ``corners``; it runs ``inset`` units inside the area,
    with round corners of this ``radius``.
    """
    path = ""
    for (x, y), (dx, dy), (tx, ty) in corners:
        near_x = number(x * SIDE + inset * (-dy - ty) - dx * radius)
        near_y = number(y * SIDE + inset * (dx + tx) - dy * radius)
        if not path:
            line = f"M{near_x} {near_y}"
        elif dx:
            line = f"H{near_x}"
        else:
            line = f"V{near_y}"
        bend = (dx * radius, dy * radius, (dx + tx) * radius, (dy + ty) * radius)
        path += f"{line}q{' '.join(map(number, bend))}"
    return f"{path}z"


def size(board: Board) -> tuple[int, int]:
    """The width and the height, in SVG units, of the picture of ``board`` with its frame."""
    return board.width * SIDE + 2 * FRAME, board.height * SIDE + 2 * FRAME


def framed(board: Board, content: str) -> str:
    """The SVG of ``board`` in its frame, with the SVG ``content`` on it. The corner of the frame
    lies at the origin; that of the board is the origin of ``content``.
    """
    width = board.width * SIDE
    height = board.height * SIDE
    ground = f"M0 0h{width}v{height}H0z"
    return (
        f'<rect class="q-frame" width="{width + 2 * FRAME}" height="{height + 2 * FRAME}"'
        f' rx="9"/>{_names(board)}<g transform="translate({FRAME} {FRAME})"><path'
        f' fill="url(#qgrass)" d="{ground}"/><path fill="url(#qsun)" d="{ground}"/>'
        f'<rect class="q-edge" x="-1" y="-1" width="{width + 2}" height="{height + 2}" rx="2"/>'
        f"{_ground(board)}{content}</g>"
    )


def _names(board: Board) -> str:
    """The SVG of the letters of columns and the numbers of rows on the frame of ``board``."""
    below = board.height * SIDE + FRAME + 15
    middle = FRAME + SIDE // 2
    texts = []
    for column in range(board.width):
        texts.append(f'<text x="{column * SIDE + middle}" y="{below}">{chr(97 + column)}</text>')
    for row in range(board.height):
        y = row * SIDE + middle + 4
        texts.append(f'<text x="{FRAME // 2}" y="{y}">{row + 1}</text>')
    return f'<g class="q-names">{"".join(texts)}</g>'


def _ground(board: Board) -> str:
    """The SVG of the ground of ``board``: tufts of grass, lakes, and villages on their plates."""
    tufts = []
    blades = []
    lakes = []
    for row, line in enumerate(board.rows):
        for column, letter in enumerate(line):
            square = row * board.stride + column
            chance = (square * square * 31 + square * 17) % 97 % TUFTS
            if letter == LAKE:
                lakes.append(square)
            elif letter == GRASS and chance == 0:
                tufts.append(square)
            elif letter == GRASS and chance == 1:
                blades.append(square)
    water = sum(1 << square for square in lakes)
    shore = outline(board, water, 2, 10)
    parts = [
        _uses("qtuft", board, tufts),
        _uses("qblades", board, blades),
        f'<path class="q-lake" d="{shore}"/>' if lakes else "",
        _uses("qwave", board, lakes),
    ]
    for village in board.villages:
        parts.append(f'<path class="q-plate" d="{outline(board, village, 3, 7)}"/>')
        parts.append(_uses("qhouses", board, squares_of(village)))
    return "".join(parts)


def _uses(part: str, board: Board, squares: Iterable[int]) -> str:
    """The SVG of the part with this name on each of the ``squares``."""
    uses = ""
    for square in squares:
        row, column = divmod(square, board.stride)
        uses += use(part, column * SIDE, row * SIDE)
    return uses


def empty_board(board: Board) -> Markup:
    """The picture of an empty board for a page, with an empty group for each layer.

    The page's scripts fill the groups. They read the sizes of a square and of the frame from the
    picture, so that no script repeats these numbers.
    """
    width, height = size(board)
    layers = '<g class="live">' + "<g></g>" * LAYERS + "</g>"
    inside = Markup(framed(board, layers))  # noqa: S704 - our own drawing
    return element(
        "svg",
        inside,
        viewBox=f"0 0 {width} {height}",
        class_="board",
        role="img",
        aria_label=f"the board {board.name}",
        data_side=SIDE,
        data_frame=FRAME,
    )
