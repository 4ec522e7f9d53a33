"""The parts that a board is drawn from: each is written once into a file or page, and drawn by
reference. Names of parts and classes begin with ``q``, so that they go with any page.
"""

import re
from functools import cache
from html import escape
from importlib.resources import files
from itertools import product

from arena.rules.boards import COLOURS

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
    drawn = files("arena.exports.pictures").joinpath("parts.svg").read_text(encoding="utf-8")
    lines = (line for line in drawn.splitlines() if ' id="' in line)
    return (
        {line.split(' id="', 1)[1].split('"', 1)[0]: line for line in lines} | _tiles() | _pagodas()
    )


def _tiles() -> dict[str, str]:
    """A tile is its shadow, two halves, and light and fold; a start is one space with a ring."""
    tiles = {}
    for one, other in product(COLOURS, repeat=2):
        for way, first, second, place in (("h", "left", "right", "x"), ("v", "top", "bottom", "y")):
            tiles[f"q{one}{other}{way}"] = _lit(
                way,
                f'<use href="#q{first}" fill="url(#q{one})"/>'
                f'<use href="#q{second}" {place}="{SIDE}" fill="url(#q{other})"/>',
            )
    for colour in COLOURS:
        tiles[f"q{colour}s"] = _lit(
            "s", f'<use href="#qspace" fill="url(#q{colour})"/>', '<use href="#qstart"/>'
        )
    return {name: f'<g id="{name}">{tile}</g>' for name, tile in tiles.items()}


def _lit(way: str, halves: str, above: str = "") -> str:
    return (
        f'<use href="#qshadow{way}" fill="#0005"/>{halves}'
        f'<use href="#qlight{way}" fill="none" stroke-width="1.2"/>{above}'
    )


def _pagodas() -> dict[str, str]:
    """A pagoda of one storey, and the higher one of a major province, for each seat: ``q10`` is the
    first player's.
    """
    return {
        f"q{storeys}{seat}": (
            f'<g id="q{storeys}{seat}"><use href="#qfoot"/>'
            f'<use href="#q{shape}" fill="{fill}" stroke="{casing}"/>'
            f'<use href="#q{shape}" fill="url(#qshade)"/>'
            f'<use href="#qroofs{shape}" stroke="{casing}" stroke-opacity=".5"/>'
            f'<use href="#qdoor{shape}" fill="{door}"/>{_sign(seat, casing)}</g>'
        )
        for storeys, shape in ((1, "one"), (2, "two"))
        for seat, (fill, casing, door) in enumerate(zip(SEATS, CASINGS, DOORS, strict=True))
    }


def _sign(seat: int, colour: str) -> str:
    return f'<path d="{SIGNS[seat]}" fill="{colour}"/>' if SIGNS[seat] else ""
