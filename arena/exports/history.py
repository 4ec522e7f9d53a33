"""The history of a league as text, CSV and JSON, and its curves as pictures."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from arena.exports.files import csv_text, table_rows
from arena.exports.report.scales import linear
from arena.exports.report.svg import element, path, picture
from arena.exports.report.words import number
from arena.exports.text import table_text
from arena.ratings.columns import HISTORY, placed
from arena.ratings.history import History

DAY = len("2026-11-22")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 400, 200, 44, 16, 12, 28
DOT = 4


def history_text(history: History) -> str:
    """The table for people, and what each version gained."""
    shown = history.table.assign(joined=history.table["joined"].str[:DAY])
    columns = [column for column in placed(HISTORY, "text") if column.name != "placed_games"]
    parts = [table_text(columns, shown)]
    parts += ["\n".join(history.sentences)] if history.sentences else []
    parts += [] if history.scale else [NO_SCALE]
    return "\n\n".join(parts)


def versions(history: History) -> dict[str, Any]:
    """What a page shows: the rows with written ratings, and the curves."""
    error = next(column for column in HISTORY if column.of)
    elo = next(column for column in HISTORY if column.name == "elo")
    rows: list[dict[Any, Any]] = history.table.to_dict("records")
    for row in rows:
        row |= {"error": error.value(row), "joined": row["joined"][:DAY]}
        row["elo"] = elo.written(row, number)
    return {"rows": rows, "curves": curves(history)}


NO_SCALE = "the benchmarks do not hold the scale yet: their mean is 0 until each has 40 games"


def history_csv(history: History) -> str:
    """The table as CSV."""
    return csv_text(history.table, [column.name for column in placed(HISTORY, "file")])


def history_object(history: History) -> dict[str, Any]:
    """All of it for JSON."""
    return {
        "scale": dict(history.scale),
        "versions": table_rows(history.table),
        "sentences": history.sentences,
    }


def curves(history: History) -> list[dict[str, Any]]:
    """For each bot with several rated versions: its name, and its curve over versions."""
    found = []
    for bot, rows in history.table.groupby("bot", sort=False):
        rated = rows[rows["elo_low"].notna() & rows["elo_high"].notna()]
        if len(rated) > 1:
            found.append({"bot": str(bot), "picture": _curve(str(bot), rated)})
    return found


def _curve(bot: str, rows: pd.DataFrame) -> Markup:
    """A bot's versions from left to right, in the order of joining, each with its interval."""
    scale = linear([*rows["elo_low"], *rows["elo_high"]], HEIGHT - BOTTOM, TOP)
    across = np.linspace(LEFT + DOT, WIDTH - RIGHT, len(rows))
    grid = [
        part
        for tick in scale.ticks
        for part in (
            element("line", x1=LEFT, x2=WIDTH, y1=scale(tick), y2=scale(tick), class_="grid"),
            element("text", f"{tick:g}", x=LEFT - 8, y=scale(tick) + 4, text_anchor="end"),
        )
    ]
    places = list(zip(across.tolist(), rows.to_dict("records"), strict=True))
    points = [(x, scale(row["elo"])) for x, row in places]
    marks = [part for x, row in places for part in _version(x, row, scale)]
    names = _names([(x, str(row["version"])) for x, row in places])
    label = f"{bot} over {len(rows)} versions"
    line = element("path", d=path(points), class_="line")
    return picture(WIDTH, HEIGHT, label, *grid, line, *marks, *names)


def _version(x: float, row: Any, scale: Any) -> Sequence[Markup]:
    low, high = scale(row["elo_low"]), scale(row["elo_high"])
    words = f"{row['version']}: {row['elo']:.0f} ± {(row['elo_high'] - row['elo_low']) / 2:.0f}"
    return (
        element("line", x1=x, x2=x, y1=low, y2=high, class_="whisker"),
        element("circle", element("title", words), cx=x, cy=scale(row["elo"]), r=DOT, class_="dot"),
    )


MOST_NAMES = 10


def _names(places: Sequence[tuple[float, str]]) -> list[Markup]:
    """The versions under the curve, as many as there is room for, the last one always."""
    step = -(-len(places) // MOST_NAMES)
    return [
        element("text", name.partition("@")[2], x=x, y=HEIGHT - 8, text_anchor="middle")
        for x, name in places[::-step]
    ]
