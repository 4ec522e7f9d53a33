"""Writes the history of a league, for `arena league history` and its page, as text, as CSV and as
JSON.
"""

from math import isfinite
from typing import Any

import pandas as pd

from arena.exports.files import csv_text, table_rows
from arena.exports.text import frame_text
from arena.ratings.column import placed
from arena.ratings.columns import HISTORY
from arena.ratings.history import History
from arena.ratings.model import FEW_DEALS
from arena.ratings.regressions import RegressionResult
from arena.records.league import STATUS_TEXT
from arena.tournament.placing import FOUNDER_ELO

DAY = len("2026-11-22")
MARKS = {
    "?": f"?: fewer than {FEW_DEALS} deals tell of it, so the error is rough",
    "<": "<: it won nothing from the rated bots, and is below this with 95 % confidence",
    ">": ">: it lost nothing to the rated bots, and is above this with 95 % confidence",
}
"""The meaning of each mark before a rating, for the line below a table."""
NO_SCALE = (
    "the benchmarks do not fix the scale yet: until most of them are known to"
    f" {FOUNDER_ELO:.0f} Elo, their mean is 0"
)


def history_text(history: History, width: int | None = None) -> str:
    """The history of a league's versions as a table for people, at most ``width`` wide if possible
    (None: any width), with what each version gained and the results of regression tests.
    """
    table = history.table
    status = [status_text(row) for row in table.to_dict("records")]
    shown = table.assign(joined=table["joined"].str[:DAY], status=status)
    columns = [column for column in placed(HISTORY, "text") if column.name != "placed_games"]
    has_likely = table["gain_likely"].notna().any()
    if not has_likely:
        columns = [column for column in columns if column.name != "gain_likely"]
    notes = [note for mark, note in MARKS.items() if (table["mark"] == mark).any()]
    notes += [f"Likely: {likely_text(history)}"] if has_likely else []
    parts = [
        frame_text(columns, shown, width),
        "\n".join(history.sentences),
        "\n".join(test.sentence for test in history.regressions),
        leader_note(history.leader),
        _scale_note(history),
        "\n".join(notes),
    ]
    return "\n\n".join(part for part in parts if part)


def likely_text(history: History) -> str:
    """What the likely gains of ``history`` are: a text that goes on after "Likely: "."""
    mean = f", {history.mean_gain:+.0f}" if isfinite(history.mean_gain) else ""
    return (
        f"the gain, moved towards the mean gain of this league{mean}; the less is known of a gain,"
        " the more it moves, because a large one is partly luck and a small one partly bad luck"
    )


def leader_note(leader: str) -> str:
    """A sentence that ``leader``, the version with the highest rating, is probably rated too high;
    an empty text if ``leader`` is empty.
    """
    if not leader:
        return ""
    return (
        f"{leader} has the highest rating here, and is probably rated too high: of several versions"
        " that are about equally strong, the one with the most luck comes first"
    )


def _scale_note(history: History) -> str:
    """A note if a league has no scale yet, or if only one benchmark on the scale has a rating;
    empty otherwise, and for a part of a history.
    """
    if not history.scale:
        return NO_SCALE
    founders = history.scale.elo
    holders = [bot for bot in rated_rows(history.table)["version"] if bot in founders]
    is_whole = {*founders} <= {*history.table["version"]}
    if not is_whole or len(holders) != 1:
        return ""
    return f"of the benchmarks, only {holders[0]} has a rating: the scale rests on it alone"


def rated_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table with ratings (``rows``) in which the rating has an interval with two
    ends. The other rows have a bound or no rating.
    """
    return rows[rows["elo_low"].notna() & rows["elo_high"].notna()]


def status_text(row: Any) -> str:
    """The word that people see for the status of a league's version, given its ``row`` in the
    history: ``waiting`` for a candidate without games of its placing, else the word in
    `STATUS_TEXT`.
    """
    is_placed = row["status"] != "candidate" or row["placed_games"]
    return STATUS_TEXT[row["status"]] if is_placed else "waiting"


def history_csv(history: History) -> str:
    """The history of a league's versions as CSV."""
    return csv_text(history.table, [column.name for column in placed(HISTORY, "file")])


def history_object(history: History) -> dict[str, Any]:
    """The history of a league's versions as an object for JSON."""
    return {
        "scale": dict(history.scale.elo),
        "weights": dict(history.scale.weights),
        "mean_gain": _figure(history.mean_gain),
        "versions": table_rows(history.table),
        "sentences": history.sentences,
        "leader": history.leader or None,
        "regressions": [_regression_object(test) for test in history.regressions],
    }


def _figure(value: float) -> float | None:
    """A figure in Elo with two decimals; None if it is not known."""
    return round(value, 2) if isfinite(value) else None


def _regression_object(test: RegressionResult) -> dict[str, Any]:
    """A regression test as an object for JSON; a figure that is not known is None."""
    return {
        "version": test.bot,
        "against": test.old,
        "games": test.games,
        "planned": test.planned,
        "gain": _figure(test.gain),
        "gain_error": _figure(test.gain_error),
        "claimed": _figure(test.claimed),
        "claimed_error": _figure(test.claimed_error),
        "verdict": test.verdict or None,
        "sentence": test.sentence,
    }
