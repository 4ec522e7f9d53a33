"""What chats and social networks show of a report's address."""

from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from arena.errors import UserError

MOST_LETTERS = 2000
EXAMPLE = "say where the page will be, such as --url https://example.org/league/report.html"


class Preview(NamedTuple):
    """The page's address, what it is called and says, and the address of its picture, if any."""

    url: str
    title: str
    text: str
    image: str


def checked_address(text: str) -> str:
    """The address, if a page can be there. Raises UserError."""
    try:
        parts = urlsplit(text)
        is_good = bool(
            parts.scheme in ("http", "https")
            and parts.hostname
            and "@" not in parts.netloc
            and not parts.fragment
            and (parts.port is None or parts.port)
        )
    except ValueError:
        is_good = False
    is_plain = text.isascii() and text.isprintable() and not set(text) & set(' "<>\\^`{|}')
    if not is_good or not is_plain or len(text) > MOST_LETTERS:
        raise UserError(f"expected the address of a web page, got {text!r}", EXAMPLE)
    return text


def beside(url: str, name: str) -> str:
    """The address of a file in the same folder as the page."""
    return urljoin(url, quote(name))
