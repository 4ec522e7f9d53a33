"""Draws charts for web pages: SVG elements as escaped text, scales, charts for table rows, and the
rating curve of a bot's versions. Colours are classes in style.css, because the page's policy
forbids inline styles. Lengths are in pixels.
"""

import math
from collections.abc import Iterable, Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup, escape

from arena.exports.grid import figure, visible
from arena.ratings.column import half_width

if TYPE_CHECKING:
    import pandas as pd

ROW_WIDTH, ROW_HEIGHT = 190, 33
BARS_HEIGHT = 42
LETTER = 6.5
"""The width of a digit on an axis, in pixels."""
EDGE = 8
"""The width of the margin to the left and right of a row's scale."""
END, START = ROW_WIDTH - EDGE, EDGE
ARROW_ROOM = 8
"""The length of the arrow at the edge of a chart that stands for an interval beyond it."""
STEPS = (1, 2, 2.5, 5, 10)


def element(name: str, /, *children: str, **attributes: str | float | None) -> Markup:
    """The text of an SVG or HTML element with this name, these ``children`` (texts, which are
    escaped, and other elements) and attributes. The attribute ``class_`` is written ``class``,
    ``stroke_width`` is written ``stroke-width``, and attributes that are None are left out.
    """
    # A report has thousands of elements: joining plain strings takes a third of the time that
    # Markup.format does.
    parts = [name]
    for key, value in attributes.items():
        if value is not None:
            written = escape(visible(value)) if isinstance(value, str) else _number(value)
            parts.append(f'{key.rstrip("_").replace("_", "-")}="{written}"')
    head = " ".join(parts)
    inside = "".join(map(_escaped, children))
    return Markup(f"<{head}>{inside}</{name}>" if inside else f"<{head}/>")  # noqa: S704 - escaped


def _escaped(text: str) -> Markup:
    """``text`` as it is if it is `Markup`; else escaped, with control characters made visible."""
    return text if isinstance(text, Markup) else escape(visible(text))


def picture(width: float, height: float, label: str, *children: str, class_: str = "") -> Markup:
    """An SVG image of this width and height in pixels, with the elements ``children``, which
    shrinks with its column. Screen readers read ``label`` instead. ``class_`` has further classes
    for styles.
    """
    return element(
        "svg",
        *children,
        viewBox=f"0 0 {_number(width)} {_number(height)}",
        width=width,
        height=height,
        class_=f"chart {class_}".strip(),
        role="img",
        aria_label=label,
    )


def path(points: Sequence[tuple[float, float]]) -> str:
    """The ``d`` of an SVG path through ``points``; empty without points."""
    steps = "L".join(f"{_number(x)} {_number(y)}" for x, y in points)
    return f"M{steps}" if points else ""


def line(start: float, top: float, end: float, bottom: float, class_: str) -> Markup:
    """A straight line from (start, top) to (end, bottom), with this class."""
    return element("line", x1=start, x2=end, y1=top, y2=bottom, class_=class_)


def _number(value: float) -> str:
    """``value`` as the text of an attribute, with at most one decimal."""
    return f"{round(value, 1):g}"


class Scale(NamedTuple):
    """Maps the values from ``low`` to ``high`` onto the pixels from ``start`` to ``end``, linearly,
    or logarithmically if ``is_log``. ``ticks`` are the values to mark.
    """

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """The position of ``value`` in pixels; values outside the scale are placed at its end."""
        inside = min(max(value, self.low), self.high)
        low = self.low
        high = self.high
        if self.is_log:
            low, high, inside = map(math.log10, (low, high, inside))
        return self.start + (self.end - self.start) * (inside - low) / (high - low)


def linear(
    values: Iterable[float], start: float, end: float, count: int = 4, least: float = 0.0
) -> Scale:
    """A linear scale for the finite ones among ``values``, or for 0 to 1 without any. It is drawn
    from ``start`` to ``end``, in the drawing's units. It has about ``count`` steps of a round size,
    which is at least ``least``, and round values at its ends.
    """
    known = list(filter(isfinite, values)) or [0.0, 1.0]
    low = min(known)
    high = max(known)
    if high - low < 1e-9:  # noqa: PLR2004 - all the same
        low = low - 1
        high = high + 1
    width = max((high - low) / count, least)
    power = 10.0 ** math.floor(math.log10(width))
    wide_enough = [step for step in STEPS if step * power >= width * (1 - 1e-9)]
    step = wide_enough[0] * power
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    ticks = tuple(number * step for number in range(first, last + 1))
    return Scale(first * step, last * step, start, end, ticks)


def logarithmic(values: Iterable[float], start: float, end: float) -> Scale:
    """A logarithmic scale that covers the positive finite ones among ``values`` with whole powers
    of ten, which are its ticks; from 1 to 10 if there is no such value. ``start`` and ``end`` are
    the pixels of its lower and its upper end.
    """
    known = [value for value in filter(isfinite, values) if value > 0] or [1.0]
    first = math.floor(math.log10(min(known)))
    last = math.ceil(math.log10(max(known)))
    ticks = tuple(10.0**power for power in range(first, max(last, first + 1) + 1))
    return Scale(ticks[0], ticks[-1], start, end, ticks, is_log=True)


def _tick_text(tick: float) -> str:
    """The number ``tick`` of an axis, with one decimal place if it lies between -1 and 1."""
    return figure(tick, 0 if abs(tick) >= 1 or tick == 0 else 1)


def axis(scale: Scale, label: str, names: Sequence[str] = ()) -> Markup:
    """The axis above a column of charts, with the numbers of the scale's ticks or the texts
    ``names`` in their place. ``label`` says what is drawn.
    """
    texts = names or list(map(_tick_text, scale.ticks))
    marks = list[Markup]()
    end = -LETTER
    for tick, text in zip(scale.ticks, texts, strict=True):
        half = len(text) * LETTER / 2
        x = min(max(scale(tick), half), ROW_WIDTH - half)
        if x - half >= end + LETTER:
            marks.append(element("text", text, x=x, y=12, text_anchor="middle"))
            end = x + half
    return picture(ROW_WIDTH, 20, label, *marks, *_grid(scale, 16, 20), class_="axis")


def interval(
    scale: Scale, low: float, middle: float, high: float, label: str, *, is_plain: bool = False
) -> Markup:
    """A chart of a table row, on ``scale``: a dot at ``middle`` with its interval from ``low`` to
    ``high``. If only one end is finite, or the interval lies outside the scale, it is an arrow
    without a dot. If nothing is finite, it is an open dot, which says that nothing is known.
    ``is_plain`` leaves out the grid. Screen readers read ``label`` instead.
    """
    y = ROW_HEIGHT / 2
    parts = [] if is_plain else _grid(scale, 0, ROW_HEIGHT)
    if scale.low <= 0 <= scale.high:
        parts.append(line(scale(0), 0, scale(0), ROW_HEIGHT, "zero"))
    ends = [scale(end) for end in (low, high) if isfinite(end)]
    is_outside = len(ends) > 1 and ends[0] == ends[1] and low < high
    if is_outside:
        inside = ends[0] + ARROW_ROOM * (1 if high < scale.low else -1)
        parts += _arrow(inside, ends[0], y)
    elif len(ends) == 1:
        parts += _arrow(ends[0], scale.end if isfinite(low) else scale.start, y)
        parts.append(line(ends[0], y - 4, ends[0], y + 4, "range"))
    elif ends:
        first, last = (_number(end) for end in ends)
        top = _number(y - 4)
        strokes = f"M{first} {_number(y)}H{last}M{first} {top}v8M{last} {top}v8"
        parts.append(element("path", d=strokes, class_="range"))
    if isfinite(middle) and len(ends) != 1 and not is_outside:
        parts.append(element("circle", cx=scale(middle), cy=y, r=5, class_="dot"))
    elif not ends:
        middle = (scale.start + scale.end) / 2
        parts.append(element("circle", cx=middle, cy=y, r=4.5, class_="open-dot"))
    return picture(ROW_WIDTH, ROW_HEIGHT, label, *parts, class_="row")


def spread(scale: Scale, ends: Sequence[float], longest: float, label: str) -> Markup:
    """A chart of a table row, on ``scale``: a bar from the 5 % to the 95 % quantile with a dot at
    the median, and a small mark at the ``longest`` value. ``ends`` are the quantiles of 5, 50 and
    95 %. Screen readers read ``label`` instead.
    """
    y = ROW_HEIGHT / 2
    last = scale(longest)
    low, middle, high = (scale(end) for end in ends)
    parts = [
        *_grid(scale, 0, ROW_HEIGHT),
        line(high, y, last, y, "whisker"),
        element("rect", x=low, y=y - 4, width=max(high - low, 1), height=8, rx=4, class_="span"),
        element("circle", cx=middle, cy=y, r=5, class_="dot"),
        element("path", d=path([(last, y - 5), (last, y + 5)]), class_="range"),
    ]
    return picture(ROW_WIDTH, ROW_HEIGHT, label, *parts, class_="row")


def bars(scale: Scale, counts: Sequence[int], label: str) -> Markup:
    """A histogram for a table row, on ``scale``: ``counts`` has the number of times that 0, 1, 2
    and so on occurred. The highest bar fills the row. Screen readers read ``label`` instead.
    """
    highest = max(counts, default=1) or 1
    parts = _grid(scale, 0, BARS_HEIGHT)
    outline = []
    for value, count in enumerate(counts):
        if count:
            top = BARS_HEIGHT - max(count / highest * (BARS_HEIGHT - 4), 1)
            x = scale(value)
            right = max(scale(value + 1) - 0.8, x + 0.8)
            outline.append(
                f"M{_number(x)} {BARS_HEIGHT}V{_number(top)}H{_number(right)}V{BARS_HEIGHT}"
            )
    parts.append(element("path", d="".join(outline), class_="bar"))
    base = BARS_HEIGHT - 0.5
    parts.append(line(scale.start, base, scale.end, base, "base"))
    return picture(ROW_WIDTH, BARS_HEIGHT, label, *parts, class_="row")


def _arrow(start: float, end: float, y: float) -> list[Markup]:
    """A line from ``start`` to ``end`` at the height ``y``, with an arrowhead that lies beyond the
    end of the scale.
    """
    way = 1 if end > start or (end == start and end > ROW_WIDTH / 2) else -1
    tip = end + way * (EDGE - 1)
    head = [(tip - way * 6, y - 5), (tip, y), (tip - way * 6, y + 5)]
    return [line(start, y, tip, y, "range"), element("path", d=path(head), class_="range")]


def _grid(scale: Scale, top: float, bottom: float) -> list[Markup]:
    """Vertical lines from ``top`` to ``bottom`` at the scale's ticks, as one path."""
    lines = "".join(f"M{_number(scale(tick))} {top}V{bottom}" for tick in scale.ticks)
    return [element("path", d=lines, class_="grid")]


CURVE_WIDTH, CURVE_HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 400, 216, 44, 36, 28, 28
DOT, NAME_LETTER = 4, 7


def versions_curve(bot: str, rows: "pd.DataFrame") -> Markup:
    """The ratings of the versions of ``bot`` from left to right, in the order of joining, each with
    its interval. ``rows`` are at least two rows of `history_table`.
    """
    scale = linear([*rows["elo_low"], *rows["elo_high"]], CURVE_HEIGHT - BOTTOM, TOP)
    parts = [element("text", "Elo", x=LEFT - 8, y=TOP - 16, text_anchor="end")]
    for tick in scale.ticks:
        parts.append(line(LEFT, scale(tick), CURVE_WIDTH, scale(tick), "grid"))
        parts.append(element("text", f"{tick:g}", x=LEFT - 8, y=scale(tick) + 4, text_anchor="end"))
    step = (CURVE_WIDTH - RIGHT - LEFT - DOT) / (len(rows) - 1)
    versions = [(LEFT + DOT + at * step, row) for at, row in enumerate(rows.to_dict("records"))]
    places = [(x, scale(row["elo"])) for x, row in versions]
    parts.append(element("path", d=path(places), class_="line"))
    for x, row in versions:
        words = f"{row['version']}, {row['joined'][:10]}: {row['elo']:.0f} ± {half_width(row):.0f}"
        title = element("title", words)
        y = scale(row["elo"])
        parts.append(line(x, scale(row["elo_low"]), x, scale(row["elo_high"]), "whisker"))
        parts.append(element("circle", title, cx=x, cy=y, r=DOT, class_="dot"))
    # names are drawn where there is room, from the last version backwards
    free = inf
    for x, row in reversed(versions):
        name = f"@{row['version'].partition('@')[2]}"
        half = len(name) * NAME_LETTER / 2
        if x + half <= free:
            parts.append(element("text", name, x=x, y=CURVE_HEIGHT - 8, text_anchor="middle"))
            free = x - half - NAME_LETTER
    return picture(CURVE_WIDTH, CURVE_HEIGHT, f"{bot} over {len(rows)} versions", *parts)
