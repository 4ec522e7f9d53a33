"""Numbers and foreign text as a page shows them."""

import math
import re

from arena.exports.text import MISSING

CUT = " … {} characters left out … "
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]")
"""Control characters, and those that change the direction of what follows: written as escapes, so that text looks as it is."""


def visible(text: str) -> str:
    """The text with what cannot be seen in it written as an escape."""
    return UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def shortened(text: str, length: int) -> str:
    """The text without its middle when it is longer than ``length``."""
    if len(text) <= length:
        return text
    head = length * 2 // 3
    return text[:head] + CUT.format(f"{len(text) - length:,}") + text[head - length :]


def number(value: float, decimals: int = 0) -> str:
    """The value with so many decimals, thousands apart, or a dash where there is none."""
    return f"{value:,.{decimals}f}".replace("-", "−") if math.isfinite(value) else MISSING  # noqa: RUF001 - a minus sign it is


def signed(value: float, decimals: int = 0) -> str:
    """The value with its sign."""
    return ("+" if value > 0 else "") + number(value, decimals)


def milliseconds(value: float) -> str:
    """A time in the unit that suits it."""
    if not math.isfinite(value):
        return MISSING
    if value >= 60_000:  # noqa: PLR2004 - a minute
        return f"{value / 60_000:,.1f} min"
    return f"{value / 1000:,.1f} s" if value >= 1000 else f"{value:.{0 if value >= 10 else 1}f} ms"  # noqa: PLR2004


def counted(count: int, noun: str) -> str:
    """``1 game``, ``2 games``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
