"""Text for people: numbers and times, and tables that fit a terminal. Widths are in columns of the
terminal.
"""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from os.path import commonprefix
from typing import NamedTuple
from unicodedata import category, east_asian_width

from arena.errors import printable

MISSING = "-"
"""The text for a missing value."""
ELLIPSIS = "…"
CUT = " … {} characters left out … "
SHARES = (0.5, 0.3, 0.7, 0.15, 0.85)
"""Where a name is cut in its middle: the shares of the kept text that are its beginning, in the
order in which they are tried.
"""
GAP = "  "
LONG_NAME, SHORT_NAME = 24, 6
"""Names are first cut to at least LONG_NAME columns. If the table is still too wide, whole columns
are left out, and at last names are cut to SHORT_NAME columns.
"""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def visible(text: str) -> str:
    """``text`` with invisible characters written as escapes, except newlines and tabs."""
    return printable(text, keep="\n\t")


def abridged(text: str, length: int) -> str:
    """``text`` itself if it has at most ``length`` characters. Else the first two thirds of
    ``length`` characters, a note that says how many characters are left out, and the last third of
    ``length`` characters: by the note, the result is longer than ``length``.
    """
    if len(text) <= length:
        return text
    head = length * 2 // 3
    return text[:head] + CUT.format(f"{len(text) - length:,}") + text[head - length :]


def number(value: float, decimals: int) -> str:
    """``value`` with this many decimals for a terminal, or a dash if it is NaN or infinite."""
    return f"{value + 0.0:.{decimals}f}" if math.isfinite(value) else MISSING


def figure(value: float, decimals: int = 0) -> str:
    """``value`` with this many decimals for a web page, with thousands separators and a real minus
    sign; a dash if it is NaN or infinite.
    """
    if not math.isfinite(value):
        return MISSING
    return f"{value:,.{decimals}f}".replace("-", "−")  # noqa: RUF001


def with_error(text: str, error: float) -> str:
    """``text``, a figure, with its error, such as ``1,203 ± 18``; the figure alone if the error is
    NaN or infinite.
    """
    return f"{text} ± {figure(error)}" if math.isfinite(error) else text


def signed(value: float, decimals: int = 0) -> str:
    """``value`` as `figure` writes it, with this number of ``decimals``, and with a plus sign if it
    is above 0.
    """
    return ("+" if value > 0 else "") + figure(value, decimals)


def milliseconds(value: float) -> str:
    """A time, ``value`` in ms, as text in ms, s or min, such as ``1.5 s``; a dash if the value is
    NaN or infinite.
    """
    if not math.isfinite(value):
        return MISSING
    if value >= 60_000:  # noqa: PLR2004 - a minute
        return f"{value / 60_000:,.1f} min"
    if value >= 1000:  # noqa: PLR2004 - a second
        return f"{value / 1000:,.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"  # noqa: PLR2004


def duration_text(seconds: float) -> str:
    """A duration in seconds as a text of about two digits: ``3 min``, ``2 h 20 min``, ``14 h``, ``3
    days``; at least ``1 min``.
    """
    minutes = max(1, round(seconds / 60))
    if minutes < 60:  # noqa: PLR2004 - an hour
        return f"{minutes} min"
    hours, rest = divmod(round(minutes, -1), 60)
    if hours < 10:  # noqa: PLR2004 - minutes still matter
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    return f"{round(minutes / 60)} h" if minutes < 48 * 60 else f"{round(minutes / 1440)} days"


def moment(text: str) -> str:
    """``text``, a time in ISO form, as ``22 Nov 2026, 15:36 UTC``. A text that is no time is
    returned unchanged.
    """
    try:
        time = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return text
    return f"{time.day} {MONTHS[time.month - 1]} {time.year}, {time:%H:%M} UTC"


def counted(count: int, noun: str) -> str:
    """The count and its noun, such as ``1 game`` or ``1,200 games``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def width_of(text: str) -> int:
    """The number of columns that ``text``, one line, takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(map(_width_of_sign, text))


def _width_of_sign(sign: str) -> int:
    """The number of columns that a character takes: 0, 1 or 2."""
    if category(sign) in {"Mn", "Me"}:
        return 0
    return 2 if east_asian_width(sign) in {"W", "F"} else 1


def padded(text: str, width: int, *, is_left: bool = True) -> str:
    """``text``, padded with blanks to at least ``width`` columns: on the right if ``is_left``, else
    on the left.
    """
    blanks = " " * (width - width_of(text))
    return f"{text}{blanks}" if is_left else f"{blanks}{text}"


def shortened(text: str, width: int, ellipsis: str = ELLIPSIS, share: float = SHARES[0]) -> str:
    """``text``, with its middle left out if it is wider than ``width`` columns. ``ellipsis`` takes
    the place of the middle; about ``share`` of the kept text stands before the ellipsis.
    """
    if width_of(text) <= width:
        return text
    room = max(width - width_of(ellipsis), 0)
    head = _begin(text, round(room * share))
    tail = _begin(text[::-1], room - width_of(head))[::-1]
    return f"{head}{ellipsis}{tail}"


def cut_names(names: Sequence[str], width: int, ellipsis: str = ELLIPSIS) -> list[str]:
    """``names`` cut to ``width`` columns, or to the smallest larger width at which no two different
    names become equal. ``ellipsis`` takes the place of what is left out. Names are cut in the
    middle, or before and after the place where they begin to differ.
    """
    # A table of pairs has each name many times.
    different = list(dict.fromkeys(names))
    widest = max(map(width_of, different), default=0)
    same = len(commonprefix(different))  # noqa: RUF071 - names are no paths
    for room in range(max(width, 1), widest):
        for share in (*SHARES, None):
            if share is None:
                cut = [_around(name, room, ellipsis, same) for name in different]
            else:
                cut = [shortened(name, room, ellipsis, share) for name in different]
            if len(set(cut)) == len(different):
                short = dict(zip(different, cut, strict=True))
                return [short[name] for name in names]
    return list(names)


def _around(text: str, width: int, ellipsis: str, start: int) -> str:
    """The part of ``text`` that begins at the index ``start`` and fits into ``width`` columns, with
    an ellipsis at each end where text is left out; all of ``text`` if that fits.
    """
    if width_of(text) <= width:
        return text
    rest = ellipsis * (start > 0) + text[start:]
    return rest if width_of(rest) <= width else _begin(rest, width - len(ellipsis)) + ellipsis


def _begin(text: str, width: int) -> str:
    """The beginning of ``text`` that fits into ``width`` columns."""
    end = taken = 0
    while end < len(text) and taken + width_of(text[end]) <= width:
        taken += width_of(text[end])
        end += 1
    return text[:end]


class Strip(NamedTuple):
    """A column of a text table; the first of its ``cells`` is its head. Texts (``is_text``) are
    aligned left, numbers right; names (``is_name``) may be cut. On a narrow terminal, columns with
    a ``spare`` above 0 are left out, the one with 1 first; one with 0 never is.
    """

    cells: Sequence[str]
    is_text: bool = False
    is_name: bool = False
    spare: int = 0

    @property
    def width(self) -> int:
        """The width of the widest cell, in columns of the terminal."""
        return max(map(width_of, self.cells))

    def lines(self) -> list[str]:
        """The cells, padded to the width of the widest one."""
        width = self.width
        return [padded(cell, width, is_left=self.is_text) for cell in self.cells]

    def cut(self, width: int) -> "Strip":
        """A copy whose names are cut to ``width`` columns, or to the smallest larger width at which
        no two different names become equal; the strip itself if it has no names.
        """
        head, *names = self.cells
        return self._replace(cells=[head, *cut_names(names, width)]) if self.is_name else self


def grid_text(fields: Sequence[Strip], width: int | None = None) -> str:
    """The columns ``fields`` side by side, at most ``width`` wide if possible; None means any
    width.
    """
    if width is not None:
        fields = _narrowed(fields, width)
    rows = zip(*map(Strip.lines, fields), strict=True)
    return "\n".join(GAP.join(row).rstrip() for row in rows)


def columns_text(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: Sequence[str] = (),
    width: int | None = None,
    *,
    names: Sequence[str] = (),
    spare: Sequence[str] = (),
) -> str:
    """A table with these heads and rows. Columns are aligned right, except for those whose heads
    are in ``left`` or ``names``. If the table is wider than ``width`` (None: any width), columns in
    ``names`` are cut, and those in ``spare`` are left out, the first one first.
    """
    fields = []
    for at, head in enumerate(heads):
        cells = [printable(row[at]) for row in rows]
        is_name = head in names
        when_left_out = spare.index(head) + 1 if head in spare else 0
        fields.append(Strip([head, *cells], head in left or is_name, is_name, when_left_out))
    return grid_text(fields, width)


def _narrowed(fields: Sequence[Strip], width: int) -> list[Strip]:
    """The columns of ``fields`` that fit into ``width``, with names cut as little as possible. If
    nothing fits, all spare columns are left out and names are cut, at most to `SHORT_NAME` columns.
    """
    kept = _cut(fields, width, LONG_NAME)
    spare = [field for field in fields if field.spare]
    for field in sorted(spare, key=lambda field: field.spare):
        if _width(kept) <= width:
            break
        fields = [other for other in fields if other is not field]
        kept = _cut(fields, width, LONG_NAME)
    return kept if _width(kept) <= width else _cut(fields, width, SHORT_NAME)


def _cut(fields: Sequence[Strip], width: int, least: int) -> list[Strip]:
    """The columns ``fields``, with their names cut to one width: as wide as fits into ``width``,
    but at least ``least``.
    """
    names = sorted(field.width for field in fields if field.is_name)
    room = width - _width(fields) + sum(names)
    for at, own in enumerate(names):
        share = room // (len(names) - at)
        if own > share:
            return [field.cut(max(share, least)) for field in fields]
        room -= own
    return list(fields)


def _width(fields: Sequence[Strip]) -> int:
    """The width of a table with the columns ``fields``."""
    return sum(field.width for field in fields) + len(GAP) * (len(fields) - 1)


class Pen(NamedTuple):
    """The characters with which intervals are drawn on a terminal.

    ``line``   the line of an interval
    ``start``  its left end
    ``end``    its right end
    ``dot``    the figure in it
    ``down``   its left end if it is open there
    ``up``     its right end if it is open there
    ``zero``   the vertical line for 0
    ``paint``  a function ``paint(text, what)`` that may colour a text; ``what`` is ``head``,
               ``bar`` or ``zero``
    """

    line: str = "─"
    start: str = "├"
    end: str = "┤"
    dot: str = "●"
    down: str = "◄"
    up: str = "►"
    zero: str = "┊"
    paint: Callable[[str, str], str] = lambda text, _: text


ASCII = Pen("-", "|", "|", "o", "<", ">", ":")
