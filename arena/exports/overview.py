"""The standings at a glance: rank, bot, rating, its interval drawn in characters, and the share of
the wins.
"""

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from arena.errors import printable
from arena.exports.pen import Pen
from arena.exports.report.scales import Scale, linear
from arena.exports.text import footer_lines, table_text
from arena.exports.width import padded, width_of
from arena.ratings.columns import STANDINGS, in_whole_elo, placed

if TYPE_CHECKING:
    import pandas as pd

    from arena.ratings.tables import Tables

PAPER = 80
"""The width of a table that goes into a file or a pipe."""
GAP = "  "
LEFT = 40
"""The columns left of the drawing need so much with names that are cut a little."""
LEAST, MOST = 13, 61
"""The width of the drawing, in characters; with less room than that there is none."""
FURTHER = 1.5
"""How far a drawing of bounds alone reaches, as many times as they do: the rest is for arrows."""
TICK_WIDTH = 7
"""A number on the axis needs about so many characters."""


def overview_text(tables: "Tables", width: int | None = None, pen: Pen | None = None) -> str:
    """The standings at a glance, and below them what they say and what to know about them."""
    lines = overview_lines(tables, width, pen or Pen())
    return "\n".join([*lines, "", *map(printable, footer_lines(tables))])


def overview_lines(tables: "Tables", width: int | None, pen: Pen) -> list[str]:
    """The table alone, its head first. Where the terminal is too narrow for the drawing, or no bot
    has an interval, it is left out. No ``width`` is a file, in which names are never cut.
    """
    table = tables.standings
    right = _beside(table, 2)
    taken = max(map(len, right)) + len(GAP)
    left = _left(table, width and width - taken)
    wide = max(map(width_of, left))
    room = min((width or PAPER) - wide - taken - len(GAP), MOST)
    left = [padded(line, wide) for line in left]
    if room < LEAST or not table[["elo_low", "elo_high"]].notna().any(axis=None):
        return [f"{start}{GAP}{end}".rstrip() for start, end in zip(left, right, strict=True)]
    head, *bars = _drawing(table, room, pen, is_anchored=bool(tables.anchors))
    right = [line.rjust(max(map(len, right))) for line in right]
    return [
        pen.paint(f"{left[0]}{GAP}{head}{GAP}{right[0]}", "head"),
        *(GAP.join(parts) for parts in zip(left[1:], bars, right[1:], strict=True)),
    ]


def _left(table: "pd.DataFrame", room: int | None) -> list[str]:
    """The columns left of the drawing, with names cut a little if that makes room for it, or as far
    as they must be.
    """
    if room is None:
        return _beside(table, 1)
    lines = _beside(table, 1, max(room - LEAST - len(GAP), LEFT))
    return lines if max(map(width_of, lines)) <= room else _beside(table, 1, room)


def _beside(table: "pd.DataFrame", side: int, width: int | None = None) -> list[str]:
    """The columns left or right of the drawing, with ratings as whole numbers."""
    columns = [
        in_whole_elo(column) for column in placed(STANDINGS, "brief") if column.brief == side
    ]
    return table_text(columns, table, width=width).split("\n")


def _drawing(table: "pd.DataFrame", room: int, pen: Pen, *, is_anchored: bool) -> list[str]:
    """The axis and a bar for each row, all of this width."""
    scale = _scale(table, room, is_anchored=is_anchored)
    zero = round(scale(0)) if scale.low <= 0 <= scale.high else None
    return [
        _axis(scale, room),
        *(_painted(_bar(row, scale, room, pen), zero, pen) for row in table.to_dict("records")),
    ]


def _scale(table: "pd.DataFrame", room: int, *, is_anchored: bool) -> Scale:
    values = ends_of(table, is_anchored=is_anchored)
    scale = linear(values, 0, room - 1, count=max(room // TICK_WIDTH, 2))
    low, high = min(values, default=0.0), max(values, default=0.0)
    if low == high:
        return scale
    ticks = tuple(tick for tick in scale.ticks if low <= tick <= high)
    return scale._replace(low=low, high=high, ticks=ticks)


def ends_of(table: "pd.DataFrame", *, is_anchored: bool) -> list[float]:
    """The numbers that a drawing of these standings must hold: the ends of intervals, and 0 unless
    a bot is held somewhere else. A bound may lie outside, so that it leaves room for what is known.
    """
    closed = table[table["elo_low"].notna() & table["elo_high"].notna()]
    ends = [*closed["elo_low"], *closed["elo_high"]]
    if not closed["elo_low"].lt(closed["elo_high"]).any():  # bounds alone
        middle = closed["elo"].mean() if len(closed) else 0.0
        ends += [middle + FURTHER * (elo - middle) for elo in table["elo"]]
    return [end for end in [*ends, *([] if is_anchored else [0.0])] if isfinite(end)]


def _axis(scale: Scale, room: int) -> str:
    """The numbers of the scale, each above its place."""
    line, free = "", 0
    for tick in scale.ticks:
        text = f"{tick:g}"
        start = min(max(round(scale(tick)) - len(text) // 2, 0), room - len(text))
        if start >= free:
            line = line.ljust(start) + text
            free = len(line) + 1
    return line.ljust(room)


def _bar(row: Mapping[Any, Any], scale: Scale, room: int, pen: Pen) -> str:
    """The interval of a row: an arrow if it is open at one end, nothing if there is none."""
    low, middle, high = row["elo_low"], row["elo"], row["elo_high"]
    if not isfinite(low) and not isfinite(high):
        return " " * room
    first = round(scale(low)) if isfinite(low) else 0
    last = round(scale(high)) if isfinite(high) else room - 1
    cells = [" "] * room
    cells[first : last + 1] = pen.line * (last + 1 - first)
    cells[first], cells[last] = pen.start, pen.end
    if not isfinite(low):
        cells[first] = pen.down
    elif not isfinite(high):
        cells[last] = pen.up
    else:
        cells[round(scale(middle))] = pen.dot
    return "".join(cells)


def _painted(bar: str, zero: int | None, pen: Pen) -> str:
    """The bar in its colour, with the line of 0 where there is room for it."""
    start = len(bar) - len(bar.lstrip())
    end = max(len(bar.rstrip()), start)
    inside = pen.paint(bar[start:end], "bar") if start < end else ""
    if zero is None or start <= zero < end:
        return f"{bar[:start]}{inside}{bar[end:]}"
    line = pen.paint(pen.zero, "zero")
    if zero < start:
        return f"{bar[:zero]}{line}{bar[zero + 1 : start]}{inside}{bar[end:]}"
    return f"{bar[:start]}{inside}{bar[end:zero]}{line}{bar[zero + 1 :]}"
