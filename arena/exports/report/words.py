"""Numbers and foreign text as a page shows them."""

import math
from datetime import UTC, datetime

from arena.errors import printable
from arena.exports.text import MISSING

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
CUT = " … {} characters left out … "


def visible(text: str) -> str:
    """The text with invisible characters, except newlines and tabs, written as escapes."""
    return printable(text, keep="\n\t")


def shortened(text: str, length: int) -> str:
    """The text without its middle if it is longer than ``length``."""
    if len(text) <= length:
        return text
    head = length * 2 // 3
    return text[:head] + CUT.format(f"{len(text) - length:,}") + text[head - length :]


def number(value: float, decimals: int = 0) -> str:
    """The value with this many decimals and with thousands
    separators, or a dash if there is none.
    """
    # A real minus sign.
    if not math.isfinite(value):
        return MISSING
    return f"{value:,.{decimals}f}".replace("-", "−")  # noqa: RUF001


def with_error(text: str, error: float) -> str:
    """``1,203 ± 18``; the text alone if the error is not known."""
    return f"{text} ± {number(error)}" if math.isfinite(error) else text


def signed(value: float, decimals: int = 0) -> str:
    """The value with its sign."""
    return ("+" if value > 0 else "") + number(value, decimals)


def milliseconds(value: float) -> str:
    """A time in a suitable unit."""
    if not math.isfinite(value):
        return MISSING
    if value >= 60_000:  # noqa: PLR2004 - a minute
        return f"{value / 60_000:,.1f} min"
    if value >= 1000:  # noqa: PLR2004 - a second
        return f"{value / 1000:,.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"  # noqa: PLR2004


def moment(text: str) -> str:
    """A time in UTC as ``22 Nov 2026, 15:36 UTC``; what is no time stays as it is."""
    try:
        time = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return text
    return f"{time.day} {MONTHS[time.month - 1]} {time.year}, {time:%H:%M} UTC"


def counted(count: int, noun: str) -> str:
    """``1 game``, ``2 games``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
