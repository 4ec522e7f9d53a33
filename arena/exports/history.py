"""The history of a league as text, CSV and JSON, and its curves as pictures."""

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from arena.exports.files import csv_text, table_rows
from arena.exports.report.scales import linear
from arena.exports.report.svg import element, path, picture
from arena.exports.report.words import number
from arena.exports.text import table_text
from arena.ratings.columns import HISTORY, half_width, placed
from arena.ratings.components import Floats
from arena.ratings.history import History
from arena.ratings.outside import FEW_DEALS
from arena.records.league import STATUS_TEXT

DAY = len("2026-11-22")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 400, 216, 44, 36, 28, 28
DOT, LETTER = 4, 7
FEWEST = 2
MARKS = {
    "?": f"?: fewer than {FEW_DEALS} deals tell of it, so the error is rough",
    "<": "<: it won nothing from the rated bots, and is below this with 95 % confidence",
    ">": ">: it lost nothing to the rated bots, and is above this with 95 % confidence",
}
"""What the marks before a rating mean."""


def history_text(history: History) -> str:
    """The table for people, and what each version gained."""
    shown = history.table.assign(
        joined=history.table["joined"].str[:DAY],
        status=[_status(row) for row in history.table.to_dict("records")],
    )
    columns = [column for column in placed(HISTORY, "text") if column.name != "placed_games"]
    parts = [table_text(columns, shown)]
    parts += ["\n".join(history.sentences)] if history.sentences else []
    parts += _scale_notes(history)
    if notes := [note for mark, note in MARKS.items() if (history.table["mark"] == mark).any()]:
        parts.append("\n".join(notes))
    return "\n\n".join(parts)


def _scale_notes(history: History) -> list[str]:
    """Who holds the scale, where that is not all benchmarks; of all, not of one bot's versions."""
    if not history.scale:
        return [NO_SCALE]
    rated = history.table[history.table["elo_low"].notna() & history.table["elo_high"].notna()]
    holders = [bot for bot in rated["version"] if bot in history.scale]
    is_whole = {*history.scale} <= {*history.table["version"]}
    alone = f"of the benchmarks, only {''.join(holders)} has a rating: the scale rests on it alone"
    return [alone] if is_whole and len(holders) == 1 else []


def _status(row: Any) -> str:
    """What a version is, in the tables for people."""
    is_placed = row["status"] != "candidate" or row["placed_games"]
    return STATUS_TEXT[row["status"]] if is_placed else "waiting"


def versions(history: History) -> dict[str, Any]:
    """What a page shows: the rows with written ratings, and the curves."""
    return {"rows": version_rows(history), "curves": curves(history)}


def version_rows(history: History) -> list[dict[Any, Any]]:
    """A row for each version as people see it, with its rating in ``elo`` and its ``error``."""
    error = next(column for column in HISTORY if column.of)
    elo = next(column for column in HISTORY if column.name == "elo")
    rows: list[dict[Any, Any]] = history.table.to_dict("records")
    for row in rows:
        row |= {"error": error.value(row), "joined": row["joined"][:DAY], "status": _status(row)}
        row["elo"] = elo.written(row, number)
    return rows


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
    """For each bot with several rated versions: its name, and its curve over versions; over time
    too, if they did not all join on one day.
    """
    found = []
    for bot, rows in history.table.groupby("bot", sort=False):
        rated = rows[rows["elo_low"].notna() & rows["elo_high"].notna()]
        if len(rated) < FEWEST:
            continue
        names = ["@" + str(version).partition("@")[2] for version in rated["version"]]
        steps = np.arange(len(rated), dtype=np.float64)
        pictures = [_curve(f"{bot} over {len(rated)} versions", rated, steps, names)]
        days = [str(joined)[:DAY] for joined in rated["joined"]]
        times = _times(rated["joined"])
        if len({*days}) > 1 and times is not None:
            pictures.append(_curve(f"{bot} from {days[0]} to {days[-1]}", rated, times, days))
        found.append({"bot": str(bot), "pictures": pictures})
    return found


def _times(joined: "pd.Series[str]") -> Floats | None:
    """When versions joined, in days; None where clocks went back or a time cannot be read."""
    times = pd.to_datetime(joined, errors="coerce", utc=True).astype("int64").to_numpy()
    days = (times - times[0]) / pd.Timedelta(days=1).value
    return np.asarray(days, dtype=np.float64) if (np.diff(days) >= 0).all() else None


def _curve(label: str, rows: pd.DataFrame, places: Floats, names: Sequence[str]) -> Markup:
    """A bot's versions from left to right, in the order of joining, each with its interval."""
    scale = linear([*rows["elo_low"], *rows["elo_high"]], HEIGHT - BOTTOM, TOP)
    grid = [
        part
        for tick in scale.ticks
        for part in (
            element("line", x1=LEFT, x2=WIDTH, y1=scale(tick), y2=scale(tick), class_="grid"),
            element("text", f"{tick:g}", x=LEFT - 8, y=scale(tick) + 4, text_anchor="end"),
        )
    ]
    room = WIDTH - RIGHT - LEFT - DOT
    across = [LEFT + DOT + float(place) / float(places[-1]) * room for place in places]
    versions = list(zip(across, rows.to_dict("records"), strict=True))
    line = element("path", d=path([(x, scale(row["elo"])) for x, row in versions]), class_="line")
    marks = [part for x, row in versions for part in _version(x, row, scale)]
    elo = element("text", "Elo", x=LEFT - 8, y=TOP - 16, text_anchor="end")
    return picture(WIDTH, HEIGHT, label, elo, *grid, line, *marks, *_names(across, names))


def _version(x: float, row: Any, scale: Any) -> Sequence[Markup]:
    low, high = scale(row["elo_low"]), scale(row["elo_high"])
    words = f"{row['version']}, {row['joined'][:DAY]}: {row['elo']:.0f} ± {half_width(row):.0f}"
    return (
        element("line", x1=x, x2=x, y1=low, y2=high, class_="whisker"),
        element("circle", element("title", words), cx=x, cy=scale(row["elo"]), r=DOT, class_="dot"),
    )


def _names(across: Sequence[float], names: Sequence[str]) -> list[Markup]:
    """The names under the curve for which there is room, from the last one on."""
    found, free = list[Markup](), inf
    for x, name in zip(reversed(across), reversed(names), strict=True):
        half = len(name) * LETTER / 2
        if x + half <= free:
            found.append(element("text", name, x=x, y=HEIGHT - 8, text_anchor="middle"))
            free = x - half - LETTER
    return found
