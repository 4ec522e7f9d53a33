"""The charts of a report: small ones, one per table row, on a scale shared by all rows."""

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from markupsafe import Markup

from arena.exports.report.scales import Scale
from arena.exports.report.svg import element, path, picture
from arena.exports.report.words import number

ROW_WIDTH, ROW_HEIGHT = 190, 33
BARS_HEIGHT = 42
LETTER = 6.5
"""The width of a number on an axis, in pixels."""
PANEL_WIDTH, PANEL_HEIGHT = 300, 170
EDGE = 8
"""Pixels to the left and right of a row's scale."""


class Point(NamedTuple):
    """A rating after the first ``deals`` deals, with its interval; NaN if there is none."""

    deals: int
    elo: float
    low: float
    high: float


def axis(scale: Scale, label: str, names: Sequence[str] = ()) -> Markup:
    """The axis above a column of charts: the scale's numbers, or the labels given for them."""
    texts = names or [number(tick, 0 if abs(tick) >= 1 or tick == 0 else 1) for tick in scale.ticks]
    marks, end = list[Markup](), -LETTER
    for tick, text in zip(scale.ticks, texts, strict=True):
        half = len(text) * LETTER / 2
        x = min(max(scale(tick), half), ROW_WIDTH - half)
        if x - half >= end + LETTER:
            marks.append(element("text", text, x=x, y=12, text_anchor="middle"))
            end = x + half
    ends = [_upright(scale(tick), 16, 20, "grid") for tick in scale.ticks]
    return picture(ROW_WIDTH, 20, label, *marks, *ends, class_="axis")


def interval(
    scale: Scale, low: float, middle: float, high: float, label: str, *, is_plain: bool = False
) -> Markup:
    """A dot with its interval; an arrow from the one end that is known, and a dot alone if none
    is. A plain one has no grid.
    """
    y = ROW_HEIGHT / 2
    parts = [*(() if is_plain else _grid(scale, ROW_HEIGHT)), *_zero(scale, ROW_HEIGHT)]
    ends = [scale(end) for end in (low, high) if isfinite(end)]
    if len(ends) == 1:
        parts += _arrow(ends[0], scale.end if isfinite(low) else scale.start, y)
        parts.append(_upright(ends[0], y - 4, y + 4, "range"))
    elif ends:
        parts.append(_whiskers(ends[0], ends[1], y))
    if isfinite(middle) and len(ends) != 1:
        parts.append(element("circle", cx=scale(middle), cy=y, r=5, class_="dot"))
    return picture(ROW_WIDTH, ROW_HEIGHT, label, *parts, class_="row")


def spread(scale: Scale, quantiles: Sequence[float], longest: float, label: str) -> Markup:
    """A bar from the 5 % to the 95 % quantile, with a dot at the median and a small mark at the
    longest.

    ``quantiles`` are those of 5, 50 and 95 %.
    """
    y = ROW_HEIGHT / 2
    low, middle, high = (scale(value) for value in quantiles)
    parts = [
        *_grid(scale, ROW_HEIGHT),
        _level(high, scale(longest), y, "whisker"),
        element("rect", x=low, y=y - 4, width=max(high - low, 1), height=8, rx=4, class_="span"),
        element("circle", cx=middle, cy=y, r=5, class_="dot"),
        element("path", d=path([(scale(longest), y - 5), (scale(longest), y + 5)]), class_="range"),
    ]
    return picture(ROW_WIDTH, ROW_HEIGHT, label, *parts, class_="row")


def bars(scale: Scale, counts: Sequence[tuple[float, int]], width: float, label: str) -> Markup:
    """A histogram of (left end, count), with bars of the given ``width`` on the scale; the highest
    bar fills the row.
    """
    highest = max((count for _, count in counts), default=1) or 1
    parts = list(_grid(scale, BARS_HEIGHT))
    for left, count in counts:
        if count:
            height = max(count / highest * (BARS_HEIGHT - 4), 1)
            x, end = scale(left), scale(left + width)
            parts.append(
                element(
                    "rect",
                    x=x,
                    y=BARS_HEIGHT - height,
                    width=max(end - x - 0.8, 0.8),
                    height=height,
                    class_="bar",
                )
            )
    parts.append(_level(scale.start, scale.end, BARS_HEIGHT - 0.5, "base"))
    return picture(ROW_WIDTH, BARS_HEIGHT, label, *parts, class_="row")


def course(points: Sequence[Point], across: Scale, up: Scale, label: str) -> Markup:
    """A rating over the deals with its band, cut off at the edges of the scale."""
    known = [point for point in points if isfinite(point.elo)]
    banded = [point for point in known if isfinite(point.low)]
    band = [(across(point.deals), up(point.high)) for point in banded] + [
        (across(point.deals), up(point.low)) for point in banded[::-1]
    ]
    line = [(across(point.deals), up(point.elo)) for point in known]
    parts = [
        *_panel_frame(across, up),
        element("path", d=path(band, closed=True), class_="band"),
        element("path", d=path(line), class_="line"),
    ]
    if line:
        parts.append(element("circle", cx=line[-1][0], cy=line[-1][1], r=3.5, class_="dot"))
    return picture(PANEL_WIDTH, PANEL_HEIGHT, label, *parts, class_="panel")


def _panel_frame(across: Scale, up: Scale) -> list[Markup]:
    levels = [
        _level(across.start, across.end, up(tick), "grid" if tick else "zero") for tick in up.ticks
    ]
    beside = [
        element("text", number(tick), x=across.start - 6, y=up(tick) + 4, text_anchor="end")
        for tick in up.ticks
    ]
    below = [
        element(
            "text",
            number(tick),
            x=across(tick),
            y=up.start + 16,
            text_anchor=_anchor(place, len(across.ticks)),
        )
        for place, tick in enumerate(across.ticks)
    ]
    return levels + beside + below


def _level(start: float, end: float, y: float, class_: str) -> Markup:
    return element("line", x1=start, x2=end, y1=y, y2=y, class_=class_)


def _whiskers(start: float, end: float, y: float) -> Markup:
    """A line with an upright at both ends."""
    lines = ([(start, y), (end, y)], *([(x, y - 4), (x, y + 4)] for x in (start, end)))
    return element("path", d="".join(path(line) for line in lines), class_="range")


def _arrow(start: float, end: float, y: float) -> list[Markup]:
    """A line with a head at its end, which is beyond the scale."""
    way = 1 if end > start or (end == start and end > ROW_WIDTH / 2) else -1
    tip = end + way * (EDGE - 1)
    head = [(tip - way * 6, y - 5), (tip, y), (tip - way * 6, y + 5)]
    return [_level(start, tip, y, "range"), element("path", d=path(head), class_="range")]


def _upright(x: float, top: float, bottom: float, class_: str) -> Markup:
    return element("line", x1=x, x2=x, y1=top, y2=bottom, class_=class_)


def _grid(scale: Scale, height: float) -> list[Markup]:
    return [_upright(scale(tick), 0, height, "grid") for tick in scale.ticks]


def _zero(scale: Scale, height: float) -> list[Markup]:
    return [_upright(scale(0), 0, height, "zero")] if scale.low <= 0 <= scale.high else []


def _anchor(place: int, count: int) -> str:
    """The anchor of a label: the first starts at its mark and the last ends there, so that none is
    cut off.
    """
    return "start" if place == 0 else "end" if place == count - 1 else "middle"
