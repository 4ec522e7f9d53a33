"""How ratings settled: a chart of all bots with a few of them chosen, and one of each bot."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from arena.exports.report.charts import PANEL_HEIGHT, PANEL_WIDTH, Point, course
from arena.exports.report.material import Material
from arena.exports.report.scales import Scale, between, linear
from arena.exports.report.svg import element, path
from arena.exports.report.words import counted, number, with_error

FEWEST_POINTS = 2
MOST = 60
CHOSEN = 5
"""The bots that stand out at first: the best ones."""
WIDTH, HEIGHT, MARGIN = 1000, 340, 12
"""The width is stretched to that of the page."""
FAR = 1.5
"""Beyond so many times the range of the middle half, a bot does not widen the scale for all."""
LEAST_RANGE = 100.0
POINT_COLUMNS = ["deals", "elo", "elo_low", "elo_high"]


class Courses(NamedTuple):
    """The chart with its axes, and its bots, best first: each with its rating after all deals.

    ``bots`` are (name, rating, whether it stands out at first). ``panels`` has a small chart of
    each. All empty if there are too few deals.
    """

    plot: Markup
    up: Markup
    across: Markup
    bots: list[tuple[str, str, bool]]
    left_out: int
    panels: dict[str, Markup]


def courses_of(material: Material) -> Courses:
    """The courses of a run's ratings."""
    table = material.convergence
    if table["deals"].nunique() < FEWEST_POINTS:
        return Courses(Markup(), Markup(), Markup(), [], 0, {})
    known = {str(name): rows for name, rows in table.groupby("bot")}
    names = [name for name in material.bots if name in known]
    points = {name: _points(known[name]) for name in names[:MOST]}
    deals = int(table["deals"].max())
    across = between(int(table["deals"].min()), deals, 0, WIDTH)
    up = _scale([course[-1] for course in points.values()], HEIGHT - MARGIN, MARGIN)
    lines = [_line(at, points[name], across, up) for at, name in enumerate(points)]
    label = f"Ratings of {counted(len(points), 'bot')} after the first deals, up to {deals}"
    return Courses(
        plot=element(
            "svg",
            *(_level(up(tick), "zero" if tick == 0 else "grid") for tick in up.ticks),
            *reversed(lines),
            viewBox=f"0 0 {WIDTH} {HEIGHT}",
            preserveAspectRatio="none",
            class_="chart plot",
            role="img",
            aria_label=label,
        ),
        up=_up_axis(up),
        across=_across_axis(across),
        bots=[
            (name, _rating(course[-1]), at < CHOSEN)
            for at, (name, course) in enumerate(points.items())
        ],
        left_out=len(names) - len(points),
        panels={name: _panel(course, deals) for name, course in points.items()},
    )


def _points(rows: pd.DataFrame) -> list[Point]:
    return [Point(*row) for row in rows[POINT_COLUMNS].itertuples(index=False)]


def _scale(last: list[Point], start: float, end: float) -> Scale:
    """A scale that holds the final intervals and as much again on both sides, but for bots far from
    most.
    """
    elo = np.array([point.elo for point in last])
    low, high = np.quantile(elo, (0.25, 0.75))
    reach = max(FAR * (high - low), LEAST_RANGE)
    near = [point for point in last if low - reach <= point.elo <= high + reach]
    halves = [np.nan_to_num(point.high - point.elo, nan=LEAST_RANGE) for point in near]
    bottom = min(point.elo - 2 * half for point, half in zip(near, halves, strict=True))
    top = max(point.elo + 2 * half for point, half in zip(near, halves, strict=True))
    whole = linear([bottom, top], start, end)
    return whole._replace(
        low=bottom,
        high=max(top, bottom + 1),
        ticks=tuple(tick for tick in whole.ticks if bottom <= tick <= top),
    )


def _line(at: int, points: list[Point], across: Scale, up: Scale) -> Markup:
    """A bot's line with its band, which is seen while the bot stands out."""
    banded = [point for point in points if np.isfinite(point.low)]
    band = [(across(point.deals), up(point.high)) for point in banded] + [
        (across(point.deals), up(point.low)) for point in banded[::-1]
    ]
    line = [(across(point.deals), up(point.elo)) for point in points]
    return element(
        "g",
        element("path", d=path(band, closed=True), class_="band"),
        element("path", d=path(line), class_="line"),
        class_=f"course k{at}" if at < CHOSEN else "course",
        data_at=str(at),
    )


def _level(y: float, class_: str) -> Markup:
    return element("line", x1=0, x2=WIDTH, y1=y, y2=y, class_=class_)


def _up_axis(up: Scale) -> Markup:
    marks = [
        element("text", number(tick), x="100%", y=up(tick) + 4, text_anchor="end")
        for tick in up.ticks
    ]
    return element("svg", *marks, height=HEIGHT, class_="chart up", aria_hidden="true")


def _across_axis(across: Scale) -> Markup:
    """The numbers of deals; where they stand is a share of the width."""
    last = len(across.ticks) - 1
    marks = [
        element(
            "text",
            number(tick),
            x=f"{across(tick) / WIDTH:.1%}",
            y=14,
            text_anchor="start" if not at else "end" if at == last else "middle",
        )
        for at, tick in enumerate(across.ticks)
    ]
    return element("svg", *marks, height=18, class_="chart across", aria_hidden="true")


def _rating(point: Point) -> str:
    return with_error(number(point.elo), point.high - point.elo)


def _panel(points: list[Point], deals: int) -> Markup:
    """A bot's own chart."""
    across = (
        between(points[0].deals, deals, 48, PANEL_WIDTH - 10)
        if points[0].deals < deals
        else (linear([0, deals], 48, PANEL_WIDTH - 10))
    )
    up = _scale(points[-1:], PANEL_HEIGHT - 26, 10)
    shown = [points[0], points[len(points) // 2], points[-1]]
    words = "; ".join(
        f"after {counted(point.deals, 'deal')} {number(point.elo)} Elo, {number(point.low)} to"
        f" {number(point.high)}"
        for point in shown
    )
    return course(points, across, up, words)
