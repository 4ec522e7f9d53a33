"""The path of a search for better settings: as text with plots, as CSV, for JSON and as SVG."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

from markupsafe import Markup

from arena.exports.report.scales import Scale, linear
from arena.exports.report.svg import element
from arena.exports.report.svg import path as line
from arena.tournament.parameters import RESOLUTION, Parameter
from arena.tournament.tuning import SearchPath

CSV, SVG = "path.csv", "path.svg"
"""The files in a run's folder."""
ROWS, COLUMNS, LABEL = 7, 60, 8
"""The signs of a plot, and of the numbers beside it."""
MOST_DECIMALS = 8
PANEL_WIDTH, PANEL_HEIGHT, TITLE_HEIGHT, EDGE, MARGIN = 340, 180, 24, 56, 14
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#575e6b}.title{font-weight:600}"
    ".grid{stroke:#e6e2d8}.line{fill:none;stroke:#0d6570;stroke-width:2}"
    ".dot{fill:#0d6570}.paper{fill:#fff}"
    "@media(prefers-color-scheme:dark){.paper{fill:#15181d}text{fill:#a9b0bc}"
    ".grid{stroke:#2e343e}.line{stroke:#7cc9cf}.dot{fill:#7cc9cf}}"
)


def shown(parameter: Parameter, value: float) -> str:
    """A value on the way, which is a number between two integers for those too."""
    decimals = max(0, RESOLUTION - floor(log10(parameter.width)))
    return f"{value:.{decimals}f}" if decimals < MOST_DECIMALS else f"{value:.{RESOLUTION}g}"


def plots_text(path: SearchPath, games: int, width: int, *, is_plain: bool) -> str:
    """A plot for each parameter, of at most this width."""
    columns = min(COLUMNS, width - LABEL - 3)
    steps = range(path.steps + 1)
    last = f"{games} games"
    return "\n".join(
        line
        for at, parameter in enumerate(path.tuning.parameters)
        for line in (
            parameter.name,
            *_plot(
                parameter,
                [path.values(step)[at] for step in steps],
                columns,
                mark="*" if is_plain else "•",
            ),
            f"{'':{LABEL}}  0{last:>{columns - 1}}",
        )
    )


def _plot(parameter: Parameter, values: Sequence[float], columns: int, mark: str) -> Iterator[str]:
    """The lines of a plot over the whole range; each column is the mean of some steps."""
    ends = [len(values) * column // columns for column in range(columns + 1)]
    means = [
        sum(values[begin : max(end, begin + 1)]) / max(end - begin, 1)
        for begin, end in pairwise(ends)
    ]
    rows = [min(ROWS - 1, int((mean - parameter.low) / parameter.width * ROWS)) for mean in means]
    labels = {ROWS - 1: parameter.text(parameter.high), 0: parameter.text(parameter.low)}
    for row in reversed(range(ROWS)):
        line = "".join(mark if here == row else " " for here in rows)
        yield f"{labels.get(row, ''):>{LABEL}.{LABEL}} |{line}".rstrip()


def values_text(path: SearchPath, step: int) -> str:
    """The place after a step, in a line."""
    pairs = zip(path.tuning.parameters, path.values(step), strict=True)
    return ", ".join(f"{parameter.name} {shown(parameter, value)}" for parameter, value in pairs)


def parameter_lines(path: SearchPath) -> Iterator[str]:
    """What was tuned: from where, to where, in which range."""
    widest = max(len(parameter.name) for parameter in path.tuning.parameters)
    for parameter, value in zip(path.tuning.parameters, path.suggestion(), strict=True):
        yield (
            f"{parameter.name:<{widest}}  {parameter.text(parameter.start)} ->"
            f" {parameter.text(value)}  (from {parameter.text(parameter.low)} to"
            f" {parameter.text(parameter.high)})"
        )


def games_after(path: SearchPath, step: int, games: int) -> int:
    """How many games have been played after a step of a search with so many ``games``."""
    return min(step * path.games_a_step, games)


def path_rows(path: SearchPath, games: int) -> list[dict[str, Any]]:
    """The path for JSON."""
    return [
        {
            "step": step,
            "games": games_after(path, step, games),
            "values": {
                parameter.name: float(shown(parameter, value))
                for parameter, value in zip(path.tuning.parameters, path.values(step), strict=True)
            },
        }
        for step in range(path.steps + 1)
    ]


def path_csv(path: SearchPath, games: int) -> str:
    """The path as CSV: a row for each step and option."""
    # A bot may call its options "step" and "games", so they are no columns.
    lines = ["step,games,option,value"]
    for row in path_rows(path, games):
        lines += [
            f"{row['step']},{row['games']},{name},{value}" for name, value in row["values"].items()
        ]
    return "\n".join([*lines, ""])


def parameter_rows(path: SearchPath) -> list[dict[str, Any]]:
    """The parameters for JSON, with the values that the path suggests."""
    return [
        {
            "name": parameter.name,
            "type": parameter.type,
            "min": parameter.value(parameter.low),
            "max": parameter.value(parameter.high),
            "start": parameter.value(parameter.start),
            "suggested": parameter.value(value),
        }
        for parameter, value in zip(path.tuning.parameters, path.suggestion(), strict=True)
    ]


def path_svg(path: SearchPath) -> str:
    """The path as a picture that stands alone, with a panel for each parameter."""
    panels = [_panel(path, at, parameter) for at, parameter in enumerate(path.tuning.parameters)]
    across, height = min(2, len(panels)), TITLE_HEIGHT + PANEL_HEIGHT + MARGIN
    placed = [
        element(
            "g",
            panel,
            transform=f"translate({MARGIN + place % across * (PANEL_WIDTH + MARGIN)}"
            f" {MARGIN + place // across * height})",
        )
        for place, panel in enumerate(panels)
    ]
    width = MARGIN + across * (PANEL_WIDTH + MARGIN)
    whole = MARGIN + ceil(len(panels) / across) * height
    picture = element(
        "svg",
        element("style", STYLE),
        element("rect", width=width, height=whole, class_="paper"),
        *placed,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {whole}",
        width=width,
        height=whole,
    )
    return f"{picture}\n"


def _panel(path: SearchPath, at: int, parameter: Parameter) -> Markup:
    steps = range(path.steps + 1)
    across = linear([0, max(path.steps, 1)], EDGE, PANEL_WIDTH - 10, least=1)
    up = linear([parameter.low, parameter.high], PANEL_HEIGHT - 24, 10)
    points = [(across(step), up(path.values(step)[at])) for step in steps]
    title = f"{parameter.name} after each step"
    return element(
        "g",
        element("text", title, x=0, y=14, class_="title"),
        element(
            "g",
            *_levels(up),
            *_below(across),
            element("path", d=line(points), class_="line"),
            element("circle", cx=points[-1][0], cy=points[-1][1], r=3.5, class_="dot"),
            transform=f"translate(0 {TITLE_HEIGHT})",
        ),
    )


def _levels(up: Scale) -> Iterator[Markup]:
    for tick in up.ticks:
        at = up(tick)
        yield element("line", x1=EDGE, x2=PANEL_WIDTH - 10, y1=at, y2=at, class_="grid")
        yield element("text", f"{tick:.6g}", x=EDGE - 6, y=at + 4, text_anchor="end")


def _below(across: Scale) -> Iterator[Markup]:
    for tick in across.ticks:
        yield element("text", f"{tick:g}", x=across(tick), y=PANEL_HEIGHT - 8, text_anchor="middle")
