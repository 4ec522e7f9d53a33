"""What lies on a board, and how it looks: tiles, borders of provinces and villages, the ring around
the last tile, and pagodas.

A scene is a list of elements, each of which says the same wherever it is drawn: in a file by its
text, on a page by its fields. So a game is its first scene and, move by move, which elements came
and which went. The parts that elements refer to are written once into a file or page. Their names
begin with ``q``, as those of classes do, so that they go with any page.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import product
from typing import NamedTuple

from markupsafe import Markup

from arena.exports.report.charts import element
from arena.rules import State
from arena.rules.boards import COLOURS, GRASS, LAKE, Board, squares_of
from arena.rules.notation import PASS, split_move
from arena.rules.terms import NOBODY, OwnedProvince

SIDE = 40
"""The side of a square."""

SEATS = ("#1d1f25", "#fbf8ef", "#7d3bb0", "#12897b")
"""The colours of the seats; the casing of each stands out from it."""
CASINGS = ("#f3ead6", "#2b241c", "#f3ead6", "#f3ead6")
SIGNS = (
    "",
    "",
    "M20 20.400l4.600 4.600-4.600 4.600-4.600-4.600z",
    "M14 22.500h12v2H14zM14 26h12v2H14z",
)
"""Without colours the pagodas of the third and fourth seat look alike but for these."""
HALVES = {"h": ("left", "right", "x"), "v": ("top", "bottom", "y")}
"""Of a tile that lies and of one that stands: its halves, and in which direction the second is."""
DOORS = ("#8b8b8b", "#9c917c", "#d9c4ec", "#bfe3dc")

STYLE = (
    ".q-frame{fill:url(#qwood)}.q-edge{fill:none;stroke:#86643f;stroke-width:2}"
    ".q-names{font:600 11px system-ui,sans-serif;fill:#e6d6b5;text-anchor:middle}"
    ".q-lake{fill:url(#qwater);stroke:#4f8299;stroke-width:1.5}"
    ".q-waves{fill:none;stroke:#e4f2f6;stroke-width:1.6;stroke-linecap:round}"
    ".q-plate{fill:#ecdcbb;stroke:#a98c5c;stroke-width:1.2}"
    ".q-last{fill:none;stroke:#ffab00;stroke-width:4}.q-broken{stroke-dasharray:9 5}"
    ".q-refused{fill:none;stroke:#d0021b;stroke-width:4;stroke-linecap:round}"
    ".q-starts{fill:none;stroke:#fff;stroke-width:1.6;opacity:.9}.q-arrow{fill:#8d7f68}"
    ".q-casing{stroke-width:4.6}.q-border{stroke-width:2.6}"
)
NAMES = ".q-seat{font:600 15px system-ui,sans-serif;fill:#3a3024}.q-left{text-anchor:end}"
"""The style of the lines below a board that plays itself."""
BORDER = ".q{0}{{fill:none;stroke:{1}}}.q{0}>.q-casing{{stroke:{2}}}"


def picture_file(extent: tuple[int, int], title: str, content: str, more_style: str = "") -> str:
    """The file, with those parts written into it that the content refers to."""
    width, height = extent
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img">'
        f"<title>{escape(title)}</title><style>{style(content)}{more_style}</style>"
        f"<defs>{used_parts(content)}</defs>{content}</svg>\n"
    )


def style(content: str | None = None) -> str:
    """The style of a drawing: what all have, and the borders of the seats in it, or of all."""
    return STYLE + "".join(
        BORDER.format(seat, *colours)
        for seat, colours in enumerate(zip(SEATS, CASINGS, strict=True))
        if content is None or f'class="q{seat}"' in content
    )


def used_parts(content: str) -> str:
    """The parts that the content refers to, and those that they refer to in turn."""
    parts = every_part()
    used, rest = set[str](), [content, STYLE]
    while rest:
        named = set(re.findall(r'(?:href="|url\()#(q\w+)', rest.pop())) - used
        used |= named
        rest += [parts[name] for name in named]
    return "".join(parts[name] for name in parts if name in used)


@cache
def every_part() -> dict[str, str]:
    """All parts by name: those drawn by hand in parts.svg, and the tiles and pagodas made of
    them.
    """
    drawn = files("arena.exports").joinpath("parts.svg").read_text(encoding="utf-8")
    parts = {line.split('"', 2)[1]: line for line in drawn.splitlines() if ' id="' in line}
    made = {
        f"q{one}{other}{way}": _tile(one, other, way)
        for one, other, way in product(COLOURS, COLOURS, HALVES)
    }
    made |= {f"q{colour}s": _start(colour) for colour in COLOURS}
    # ``q10`` is the first player's pagoda, and ``q20`` the higher one of a major province
    for storeys, shape in ((1, "one"), (2, "two")):
        made |= {f"q{storeys}{seat}": _pagoda(shape, seat) for seat in range(len(SEATS))}
    return parts | {name: f'<g id="{name}">{content}</g>' for name, content in made.items()}


def _tile(one: str, other: str, way: str) -> str:
    """Its shadow, two halves, and light and fold."""
    first, second, place = HALVES[way]
    return _lit(
        way,
        f'<use href="#q{first}" fill="url(#q{one})"/>'
        f'<use href="#q{second}" {place}="{SIDE}" fill="url(#q{other})"/>',
    )


def _start(colour: str) -> str:
    """One space with a ring."""
    return _lit("s", f'<use href="#qspace" fill="url(#q{colour})"/>', '<use href="#qstart"/>')


def _lit(way: str, halves: str, above: str = "") -> str:
    return (
        f'<use href="#qshadow{way}" fill="#0005"/>{halves}'
        f'<use href="#qlight{way}" fill="none" stroke-width="1.2"/>{above}'
    )


def _pagoda(shape: str, seat: int) -> str:
    casing, sign = CASINGS[seat], SIGNS[seat]
    return (
        f'<use href="#qfoot"/><use href="#q{shape}" fill="{SEATS[seat]}" stroke="{casing}"/>'
        f'<use href="#q{shape}" fill="url(#qshade)"/>'
        f'<use href="#qroofs{shape}" stroke="{casing}" stroke-opacity=".5"/>'
        f'<use href="#qdoor{shape}" fill="{DOORS[seat]}"/>'
        + (f'<path d="{sign}" fill="{casing}"/>' if sign else "")
    )


Point = tuple[int, int]
Corner = tuple[Point, Point, Point]
"""A corner of a border, with the directions in which that comes and goes."""
EDGES = (
    ((0, -1), (0, 0), (1, 0)),
    ((1, 0), (1, 0), (0, 1)),
    ((0, 1), (1, 1), (-1, 0)),
    ((-1, 0), (0, 1), (0, -1)),
)
"""The edges of a square clockwise: where the next square is, from which of its corners the edge
goes, and in which direction.
"""


def outline(board: Board, mask: int, inset: float, radius: float) -> str:
    """The ``d`` of a path around every part of the mask, holes included, clockwise."""
    # from each corner point the ways that a border takes, with the area to its right
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
    """The border that begins at a point, whose edges are taken out of ``ends``."""
    point, first = start, ends[start][0]
    way, corners = first, list[Corner]()
    while True:
        ends[point].remove(way)
        point = (point[0] + way[0], point[1] + way[1])
        ways = [*ends.get(point, []), *([first] if point == start else [])]
        # Two areas may meet at a corner: turning right there keeps them apart.
        following = (-way[1], way[0]) if (-way[1], way[0]) in ways else ways[0]
        if following != way:
            corners.append((point, way, following))
        if point == start and following == first:
            return corners
        way = following


def _loop(corners: Sequence[Corner], inset: float, radius: float) -> str:
    path = ""
    for (x, y), (dx, dy), (tx, ty) in corners:
        near_x = number(x * SIDE + inset * (-dy - ty) - dx * radius)
        near_y = number(y * SIDE + inset * (dx + tx) - dy * radius)
        line = f"M{near_x} {near_y}" if not path else f"H{near_x}" if dx else f"V{near_y}"
        bend = (dx * radius, dy * radius, (dx + tx) * radius, (dy + ty) * radius)
        path += f"{line}q{' '.join(map(number, bend))}"
    return f"{path}z"


def number(value: float) -> str:
    """A coordinate, as short as it can be written."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


FRAME = 22
TUFTS = 6
"""One square of grass out of this many has a tuft on it, and another one a few blades."""


def size(board: Board) -> tuple[int, int]:
    """Width and height of a board with its frame."""
    return board.width * SIDE + 2 * FRAME, board.height * SIDE + 2 * FRAME


def framed(board: Board, content: str) -> str:
    """The ground in its frame, the corner of which lies at the origin, and what lies on it."""
    width, height = board.width * SIDE, board.height * SIDE
    ground = f"M0 0h{width}v{height}H0z"
    return (
        f'<rect class="q-frame" width="{width + 2 * FRAME}" height="{height + 2 * FRAME}"'
        f' rx="9"/>{_names(board)}<g transform="translate({FRAME} {FRAME})"><path'
        f' fill="url(#qgrass)" d="{ground}"/><path fill="url(#qsun)" d="{ground}"/>'
        f'<rect class="q-edge" x="-1" y="-1" width="{width + 2}" height="{height + 2}" rx="2"/>'
        f"{_ground(board)}{content}</g>"
    )


def _names(board: Board) -> str:
    below, middle = board.height * SIDE + FRAME + 15, FRAME + SIDE // 2
    names = [(at * SIDE + middle, below, chr(97 + at)) for at in range(board.width)]
    names += [(FRAME // 2, at * SIDE + middle + 4, str(at + 1)) for at in range(board.height)]
    texts = (f'<text x="{x}" y="{y}">{name}</text>' for x, y, name in names)
    return f'<g class="q-names">{"".join(texts)}</g>'


def _ground(board: Board) -> str:
    """Grass here and there, lakes that run together, and villages on their plates."""
    places = [
        (row * board.stride + column, letter)
        for row, line in enumerate(board.rows)
        for column, letter in enumerate(line)
    ]
    grass = [((at * at * 31 + at * 17) % 97 % TUFTS, at) for at, sign in places if sign == GRASS]
    lakes = [at for at, sign in places if sign == LAKE]
    shore = outline(board, sum(1 << at for at in lakes), 2, 10)
    parts = [
        _uses("qtuft", board, (at for chance, at in grass if chance == 0)),
        _uses("qblades", board, (at for chance, at in grass if chance == 1)),
        f'<path class="q-lake" d="{shore}"/>' if lakes else "",
        _uses("qwave", board, lakes),
    ]
    for village in board.villages:
        parts.append(f'<path class="q-plate" d="{outline(board, village, 3, 7)}"/>')
        parts.append(_uses("qhouses", board, squares_of(village)))
    return "".join(parts)


def _uses(part: str, board: Board, squares: Iterable[int]) -> str:
    """References to a part, one on each square."""
    places = (divmod(square, board.stride) for square in squares)
    return "".join(str(Piece(0, part, column * SIDE, row * SIDE)) for row, column in places)


Pair = tuple[int, int]
"""The two squares of a tile in reading order."""
TILES, BORDERS, LAST, ON_TOP = range(4)
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
        rings = [
            self._piece(LAST, f"qlast{way(one, other)}", one)
            for one, other in pair_of(self._board, last)
        ]
        return [*self._tiles(state, tiles), *self._borders(state), *rings, *self._pagodas(state)]

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

    def _taken(self, state: State) -> list[tuple[int, int]]:
        """The villages that have an owner."""
        both = zip(self._board.villages, state.villages, strict=True)
        return [(village, owner) for village, owner in both if owner != NOBODY]

    def _borders(self, state: State) -> list[Element]:
        areas = [(province.owner, province.mask, 6) for _, province in state.provinces()]
        areas += [(owner, village, 7) for village, owner in self._taken(state)]
        for _, area, radius in areas:
            # most stay as they are from one position to the next
            if (area, radius) not in self._paths:
                self._paths[area, radius] = outline(self._board, area, 2.5, radius)
        return [Border(BORDERS, owner, self._paths[area, radius]) for owner, area, radius in areas]

    def _pagodas(self, state: State) -> list[Element]:
        """One on each province, higher by a storey where it is a major, and one on each taken
        village.
        """
        pieces: list[Element] = [
            self._piece(ON_TOP, f"q{province.pagodas}{province.owner}", square)
            for square, province in self.homes(state)
        ]
        for village, owner in self._taken(state):
            places = [divmod(square, self._board.stride) for square in squares_of(village)]
            y, x = (sum(places) * SIDE / len(places) for places in zip(*places, strict=True))
            pieces.append(Piece(ON_TOP, f"q1{owner}", x, y))
        return pieces

    def homes(self, state: State) -> list[tuple[int, OwnedProvince]]:
        """Each province with the square that its pagodas stand on: where they stood before, or
        deepest inside it.
        """
        before, around = self._homes, self._board.around

        def home(province: OwnedProvince) -> int:
            return min(
                squares_of(province.mask),
                key=lambda at: (
                    before.get(at) != province.owner,
                    -(around(1 << at) & province.mask).bit_count(),
                    at,
                ),
            )

        homes = [(home(province), province) for _, province in state.provinces()]
        self._homes = {square: province.owner for square, province in homes}
        return homes

    def _piece(self, layer: int, part: str, square: int) -> Piece:
        y, x = divmod(square, self._board.stride)
        return Piece(layer, part, x * SIDE, y * SIDE)


def way(one: int, other: int) -> str:
    """Whether a tile lies or stands, as the names of parts have it."""
    return "h" if other - one == 1 else "v"


class Change(NamedTuple):
    """Which elements came and which went, by their numbers, the lowest first."""

    came: list[int]
    went: list[int]


class Film:
    """The positions of a game. ``elements`` are all that were ever seen, each once, and ``frames``
    the numbers of those of each position.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._scene = Scene(board)
        self._tiles = list[Pair]()
        self._numbers = dict[Element, int]()
        self.frames = list[list[int]]()

    @property
    def elements(self) -> list[Element]:
        """By number."""
        return list(self._numbers)

    def add(self, state: State, move: int = PASS) -> Change:
        """The next position and the move that led to it; returns what that changed."""
        self._tiles += pair_of(self._board, move)
        before = set(self.frames[-1]) if self.frames else set[int]()
        frame = [
            self._numbers.setdefault(element, len(self._numbers))
            for element in self._scene.show(state, self._tiles, move)
        ]
        self.frames.append(frame)
        came = [number for number in frame if number not in before]
        return Change(came, sorted(before.difference(frame)))


LAYERS = '<g class="live">' + "<g></g>" * (ON_TOP + 1) + "</g>"
"""Where the viewer puts what lies on the board, layer by layer."""


def empty_board(board: Board) -> Markup:
    """The board for a page; the viewer fills its layers."""
    return _drawn(board, LAYERS, f"the board {board.name}")


def _drawn(board: Board, content: str, label: str) -> Markup:
    width, height = size(board)
    inside = Markup(framed(board, content))  # noqa: S704 - our own drawing
    box = f"0 0 {width} {height}"
    return element("svg", inside, viewBox=box, class_="board", role="img", aria_label=label)


def all_parts() -> Markup:
    """All parts, unseen, for a page on which boards, hands and seats are drawn."""
    return Markup("<defs>{}</defs>").format(Markup("".join(every_part().values())))  # noqa: S704
