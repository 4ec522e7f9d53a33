"""How wide text is on a terminal, and text made to fit: a sign of Chinese takes two columns, an
accent of its own none.
"""

from collections.abc import Sequence
from os.path import commonprefix
from unicodedata import category, east_asian_width

ELLIPSIS = "…"
SHARES = (0.5, 0.3, 0.7, 0.15, 0.85)
"""How much of what is left of a name may be its beginning, the first choice first."""


def width_of(text: str) -> int:
    """The columns that a line of text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if category(sign) in {"Mn", "Me"} else 1 + (east_asian_width(sign) in "WF")
        for sign in text
    )


def padded(text: str, width: int, *, is_left: bool = True) -> str:
    """The text with blanks on one side, at least as wide as that."""
    blanks = " " * (width - width_of(text))
    return f"{text}{blanks}" if is_left else f"{blanks}{text}"


def shortened(text: str, width: int, ellipsis: str = ELLIPSIS, share: float = SHARES[0]) -> str:
    """The text without its middle if it is wider than that; ``share`` of the rest stands before
    it.
    """
    if width_of(text) <= width:
        return text
    room = max(width - width_of(ellipsis), 0)
    head = _begin(text, round(room * share))
    tail = _begin(text[::-1], room - width_of(head))[::-1]
    return f"{head}{ellipsis}{tail}"


def told_apart(names: Sequence[str], width: int, ellipsis: str = ELLIPSIS) -> list[str]:
    """The names cut to this width, or to the least one at which no two of them become the same: in
    the middle, or around where they begin to differ.
    """
    widest, many = max(map(width_of, names), default=0), len(set(names))
    same = len(commonprefix(list(set(names))))  # noqa: RUF071 - names are no paths
    for room in range(max(width, 1), widest):
        for share in (*SHARES, None):
            cut = {
                name: _around(name, room, ellipsis, same)
                if share is None
                else shortened(name, room, ellipsis, share)
                for name in names
            }
            if len(set(cut.values())) == many:
                return [cut[name] for name in names]
    return list(names)


def _around(text: str, width: int, ellipsis: str, start: int) -> str:
    """The text from a place on, between ellipses."""
    if width_of(text) <= width:
        return text
    rest = ellipsis * (start > 0) + text[start:]
    return rest if width_of(rest) <= width else _begin(rest, width - len(ellipsis)) + ellipsis


def _begin(text: str, width: int) -> str:
    """As much of the beginning as fits."""
    end = taken = 0
    while end < len(text) and taken + width_of(text[end]) <= width:
        taken += width_of(text[end])
        end += 1
    return text[:end]
