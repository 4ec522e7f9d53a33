"""The sections of a report, as the templates need them: rows of values with their charts."""

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arena.exports.overview import ends_of
from arena.exports.report.charts import EDGE, ROW_WIDTH, axis, bars, interval, spread
from arena.exports.report.material import Material
from arena.exports.report.scales import Scale, linear, logarithmic
from arena.exports.report.scan import Scan
from arena.exports.report.words import counted, milliseconds, number, signed
from arena.ratings.columns import STANDINGS, Column, in_whole_elo, placed
from arena.rules.terms import PAGODAS

MOST_ROWS = 200
"""The number of bots in tables with charts: the best ones. The standings have all."""
MOST_PAIRED = 60
MOST_NAMED = 8
"""The head-to-head table names its columns up to this many; with more it numbers them."""
QUANTILES = (0.05, 0.5, 0.95)
SHADES = 10
SECOND = 1000
END, START = ROW_WIDTH - EDGE, EDGE
Value = TypeVar("Value", np.int8, np.float64)


def standings(material: Material) -> dict[str, Any]:
    """The standings with their intervals on one scale, by the page's columns."""
    table = material.tables.standings
    columns = [in_whole_elo(column) for column in placed(STANDINGS, "page")]
    scale = linear(ends_of(table, is_anchored=bool(material.tables.anchors)), START, END)
    rows = [
        {
            "cells": [_cell(column, row) for column in columns],
            "picture": interval(
                scale, row["elo_low"], row["elo"], row["elo_high"], _interval_words(row)
            ),
        }
        for row in table.to_dict("records")
    ]
    return {"columns": columns, "rows": rows, "axis": axis(scale, "Elo")}


def _cell(column: Column, row: Any) -> tuple[str, str]:
    """The style of a cell of the standings, and its text."""
    value, style = column.value(row), column.style
    if (style == "warn" and not value) or style == "term":
        style = ""
    if column.of and isinstance(value, str):
        return style, value.replace("-", "–")  # noqa: RUF001 - a dash between figures
    if isinstance(value, str):
        return style, value
    unit = " %" if column.is_percent and np.isfinite(value) else ""
    return style, column.written(row, number) + unit


def _interval_words(row: Any) -> str:
    if not np.isfinite(row["elo_low"]):
        return f"below {number(row['elo_high'])}" if np.isfinite(row["elo_high"]) else "no interval"
    if not np.isfinite(row["elo_high"]):
        return f"above {number(row['elo_low'])}"
    return f"from {number(row['elo_low'])} to {number(row['elo_high'])}"


def pairs(material: Material) -> dict[str, Any]:
    """The score of each bot against each other one, as a square table in the order of the
    standings.
    """
    names = material.bots[:MOST_PAIRED]
    met = {(row["bot"], row["opponent"]): row for row in material.tables.pairs.to_dict("records")}
    rows = [
        {"bot": bot, "cells": [_meeting(met.get((bot, other))) for other in names]} for bot in names
    ]
    return {
        "names": names,
        "rows": rows,
        "is_named": len(names) <= MOST_NAMED,
        "shades": range(SHADES + 1),
        "all": len(material.bots),
    }


def _meeting(row: Any) -> dict[str, Any] | None:
    if row is None:
        return None
    words = f"{row['wins']} better, {row['shared']} equal, {row['losses']} worse"
    return {
        "score": row["score"],
        "games": row["games"],
        "shade": round(row["score"] * SHADES),
        "words": words,
    }


def seats(material: Material) -> dict[str, Any]:
    """The effect of each seat compared with the first, by number of players."""
    table = material.tables.seats
    low, high = table["elo"] - table["elo_error"], table["elo"] + table["elo_error"]
    scale = linear([*table["elo"], *low, *high, 0.0], START, END)
    rows = [
        row
        | {
            "name": f"seat {row['seat']}",
            "picture": interval(scale, below, row["elo"], above, f"{signed(row['elo'])} Elo"),
        }
        for row, below, above in zip(table.to_dict("records"), low, high, strict=True)
    ]
    return {"rows": rows, "axis": axis(scale, "Elo against seat 0")}


def pagodas_left(material: Material) -> dict[str, Any]:
    """The number of pagodas each bot had left at the end of its games."""
    most = max((PAGODAS[len(bots)] for _, bots, _ in material.scan.outcomes), default=PAGODAS[2])
    scale = Scale(0, most + 1, START, END, tuple(range(0, most + 1, 6)))
    rows = [_left_row(name, left, scale) for name, left in _by_bot(material, material.scan.left)]
    return {"rows": rows, "axis": axis(scale, "pagodas left")}


def _left_row(name: str, left: NDArray[np.int8], scale: Scale) -> dict[str, Any]:
    counts = np.bincount(left)
    label = f"{name}: " + ", ".join(
        f"{value} left in {counted(int(count), 'game')}"
        for value, count in enumerate(counts)
        if count
    )
    return {
        "bot": name,
        "games": len(left),
        "none": float((left == 0).mean()),
        "mean": float(left.mean()),
        "median": float(np.median(left)),
        "picture": bars(scale, list(enumerate(counts.tolist())), 1, label),
    }


def lengths(material: Material) -> dict[str, Any]:
    """How long games were, and how they ended, by board and number of players."""
    scan = material.scan
    tables = [(board, len(bots)) for board, bots, _ in scan.outcomes]
    scale = linear([0.0, float(scan.turns.max(initial=0))], START, END, least=1)
    rows = [
        _length_row(*table, scan, scan.by_game(each == table for each in tables) == 1, scale)
        for table in sorted(set(tables))
    ]
    return (
        {"rows": rows, "axis": axis(scale, "turns"), "ends": scan.ends}
        if rows
        else {"rows": [], "ends": []}
    )


def _length_row(
    board: str, seats: int, scan: Scan, games: NDArray[np.bool_], scale: Scale
) -> dict[str, Any]:
    turns = scan.turns[games]
    counts = np.bincount(turns)
    quantiles = np.quantile(turns, QUANTILES)
    return {
        "board": board,
        "players": seats,
        "games": len(turns),
        "ends": (np.bincount(scan.end[games], minlength=len(scan.ends)) / len(turns)).tolist(),
        "quantiles": quantiles.tolist(),
        "picture": bars(
            scale,
            list(enumerate(counts.tolist())),
            1,
            f"median {quantiles[1]:.0f} turns, {turns.min()} to {turns.max()}",
        ),
    }


def thinking(material: Material) -> dict[str, Any]:
    """How long each bot thought in a game, and its slowest answer."""
    longest = material.scan.slowest_ms
    times = dict(_by_bot(material, material.scan.think_ms))
    quantiles = {name: np.quantile(think, QUANTILES).tolist() for name, think in times.items()}
    ends = [value for name in times for value in (*quantiles[name], times[name].max())]
    scale = logarithmic([max(value, 0.1) for value in ends], START, END)
    rows = [
        {
            "bot": name,
            "mean": float(think.mean()),
            "median": quantiles[name][1],
            "high": quantiles[name][2],
            "longest": float(think.max()),
            "slowest": longest[name],
            "picture": spread(
                scale,
                quantiles[name],
                float(think.max()),
                f"median {milliseconds(quantiles[name][1])}",
            ),
        }
        for name, think in times.items()
    ]
    return {
        "rows": rows,
        "axis": axis(scale, "time in a game", [_tick(tick) for tick in scale.ticks]),
    }


def _tick(value: float) -> str:
    return f"{value:g} ms" if value < SECOND else f"{value / SECOND:g} s"


def _by_bot(material: Material, values: NDArray[Value]) -> Iterator[tuple[str, NDArray[Value]]]:
    """The values (N,), which are by game and seat, for each bot that has games, best bot first."""
    number, bot = material.scan.bot_numbers(), material.scan.bots()
    return (
        (name, values[bot == number[name]]) for name in material.bots[:MOST_ROWS] if name in number
    )
