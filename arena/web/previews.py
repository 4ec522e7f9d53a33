"""What a chat or a social network reads from a page to show a preview beside a link (Open Graph):
the address of the page, and that of a picture.
"""

from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request

HOME_PICTURE = "/picture"
"""The address of the picture of every page that has none of its own."""
WIDTH, HEIGHT = 1200, 630
"""The size of all pictures in pixels; see `arena.exports.raster`."""
MAX_TURN = 72
"""The number of tiles of the game: no position has more."""
TAGS = Markup("""\
<meta property="og:url" content="{page}">
<meta property="og:image" content="{picture}">
<meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="{width}">
<meta property="og:image:height" content="{height}">
<meta property="og:image:alt" content="A board of Qin with its tiles and pagodas">
<meta name="twitter:card" content="summary_large_image">""")


def preview_of(request: Request, picture: str) -> Markup:
    """The tags for the preview of the requested page, with the ``picture`` at this address of the
    server. Addresses in them name the host that the request named.
    """
    host = f"{request.url.scheme}://{request.url.netloc}"
    query = query_of_turn(request)
    return TAGS.format(
        page=f"{host}{quote(request.url.path)}{query}",
        picture=f"{host}{picture}{query if picture != HOME_PICTURE else ''}",
        width=WIDTH,
        height=HEIGHT,
    )


def turn_of(request: Request) -> int | None:
    """The number of tiles after which an address such as ``?t=12`` shows a game, at most
    `MAX_TURN`; None if the address does not say so.
    """
    text = request.query_params.get("t", "")
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_TURN))
    return min(int(text), MAX_TURN) if is_number else None


def query_of_turn(request: Request) -> str:
    """The query ``?t=12`` of an address that shows a game after some tiles; else empty."""
    turn = turn_of(request)
    return "" if turn is None else f"?t={turn}"
