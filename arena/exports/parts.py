"""The parts from which pictures of boards are composed, as SVG: tiles, pagodas, houses, and the
colours of the seats.

A drawing refers to a part by its name, and a file or page has each part once. The names of parts,
and of their classes in the style, begin with ``q``, so that they never clash with a page's own
names.
"""

import re
from functools import cache
from html import escape
from importlib.resources import files
from itertools import product

from markupsafe import Markup

from arena.rules.boards import COLOURS

SIDE = 40
"""The side of a square, in the units of the drawings."""
SEATS = ("#1d1f25", "#fbf8ef", "#7d3bb0", "#12897b")
"""The colour of each seat."""
CASINGS = ("#f3ead6", "#2b241c", "#f3ead6", "#f3ead6")
"""For each seat, the colour of the outline around things in the seat's colour."""
SIGNS = (
    "",
    "",
    "M20 20.400l4.600 4.600-4.600 4.600-4.600-4.600z",
    "M14 22.500h12v2H14zM14 26h12v2H14z",
)
"""For each seat, the SVG path of a sign on its pagodas; only the third and the fourth seat have
one, because their colours look alike for people who see no colours.
"""
HALVES = {"h": ("left", "right", "x"), "v": ("top", "bottom", "y")}
"""For a horizontal (``h``) and a vertical (``v``) tile: the names of its two halves, and the axis
along which the second half is moved.
"""
SCALE_OF_TWO = 0.72
"""The size of each of two pagodas on one square, as a share of the size of a single one."""
PLACES_OF_TWO = ((-1.5, 0.5), (12.7, 9.5))
"""The places of two pagodas on one square, as (x, y); the one in front comes last."""
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
SEAT_NAMES_STYLE = (
    ".q-seat{font:600 15px system-ui,sans-serif;fill:#3a3024}.q-left{text-anchor:end}"
)
"""The style of the seats' names below an animated board."""
BORDER_STYLE = ".q{0}{{fill:none;stroke:{1}}}.q{0}>.q-casing{{stroke:{2}}}"


def picture_file(extent: tuple[int, int], title: str, content: str, more_style: str = "") -> str:
    """The text of an SVG file with the drawing ``content``, its ``title``, and the parts that the
    drawing refers to. ``extent`` is its width and height; ``more_style`` is CSS in addition to
    `style`.
    """
    width, height = extent
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img">'
        f"<title>{escape(title)}</title><style>{style(content)}{more_style}</style>"
        f"<defs>{used_parts(content)}</defs>{content}</svg>\n"
    )


def style(content: str | None = None) -> str:
    """The CSS of a drawing, with the borders of the seats that ``content``, its SVG, uses; of all
    seats if ``content`` is None.
    """
    text = STYLE
    for seat, (colour, casing) in enumerate(zip(SEATS, CASINGS, strict=True)):
        if content is None or f'class="q{seat}"' in content:
            text += BORDER_STYLE.format(seat, colour, casing)
    return text


def used_parts(content: str) -> str:
    """The SVG of the parts to which the drawing ``content`` refers, directly or through other
    parts.
    """
    parts = every_part()
    used: set[str] = set()
    unread = [content, STYLE]
    while unread:
        names = set(re.findall(r'(?:href="|url\()#(q\w+)', unread.pop())) - used
        used |= names
        unread += [parts[name] for name in names]
    return "".join(parts[name] for name in parts if name in used)


@cache
def every_part() -> dict[str, str]:
    """The SVG of each part by its name: the parts in the file parts.svg, and the tiles, starting
    spaces and pagodas composed of them.
    """
    drawn = files("arena.exports").joinpath("parts.svg").read_text(encoding="utf-8")
    parts = {}
    for line in drawn.splitlines():
        if ' id="' in line:
            _, name, _ = line.split('"', 2)
            parts[name] = line
    composed = {}
    for one, other, way in product(COLOURS, COLOURS, HALVES):
        composed[f"q{one}{other}{way}"] = _tile(one, other, way)
    for colour in COLOURS:
        composed[f"q{colour}s"] = _start(colour)
    # ``q10`` is the pagoda of seat 0, and ``q20`` its two pagodas, for a major province.
    for seat in range(len(SEATS)):
        composed[f"q1{seat}"] = _pagoda(seat)
        composed[f"q2{seat}"] = "".join(
            f'<use href="#q1{seat}" transform="translate({x} {y}) scale({SCALE_OF_TWO})"/>'
            for x, y in PLACES_OF_TWO
        )
    for name, content in composed.items():
        parts[name] = f'<g id="{name}">{content}</g>'
    return parts


def _tile(one: str, other: str, way: str) -> str:
    """The SVG of a tile with the colours ``one`` and ``other``; ``way`` is ``h`` for a horizontal
    tile, ``v`` for a vertical one.
    """
    first, second, place = HALVES[way]
    return _lit(
        way,
        f'<use href="#q{first}" fill="url(#q{one})"/>'
        f'<use href="#q{second}" {place}="{SIDE}" fill="url(#q{other})"/>',
    )


def _start(colour: str) -> str:
    """The SVG of a starting space in this colour, a letter of `COLOURS`: one space with a ring."""
    return _lit("s", f'<use href="#qspace" fill="url(#q{colour})"/>', '<use href="#qstart"/>')


def _lit(way: str, halves: str, above: str = "") -> str:
    """The SVG of ``halves``, one or two coloured spaces, with a shadow below them and a highlight
    and the SVG ``above`` on top. ``way`` is ``h``, ``v``, or ``s`` for a single space.
    """
    return (
        f'<use href="#qshadow{way}" fill="#0005"/>{halves}'
        f'<use href="#qlight{way}" fill="none" stroke-width="1.2"/>{above}'
    )


def _pagoda(seat: int) -> str:
    """The SVG of a pagoda of ``seat``."""
    casing = CASINGS[seat]
    sign = f'<path d="{SIGNS[seat]}" fill="{casing}"/>' if SIGNS[seat] else ""
    return (
        f'<use href="#qfoot"/><use href="#qpagoda" fill="{SEATS[seat]}" stroke="{casing}"/>'
        '<use href="#qpagoda" fill="url(#qshade)"/>'
        f'<use href="#qroofs" stroke="{casing}" stroke-opacity=".5"/>'
        f'<use href="#qdoor" fill="{DOORS[seat]}"/>'
        f"{sign}"
    )


def use(part: str, x: float, y: float) -> str:
    """The SVG that draws the part with this name with its top left corner at (x, y)."""
    return f'<use href="#{part}" x="{number(x)}" y="{number(y)}"/>'


def number(value: float) -> str:
    """Writes ``value``, a coordinate in a picture, with at most one decimal and as short as
    possible.
    """
    return f"{value:.1f}".rstrip("0").rstrip(".")


def all_parts() -> Markup:
    """The SVG of all parts as invisible definitions, for a page on which boards, hands and seats
    are drawn.
    """
    return Markup("<defs>{}</defs>").format(Markup("".join(every_part().values())))  # noqa: S704
