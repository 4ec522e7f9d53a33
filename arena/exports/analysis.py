"""Writes the results of `arena analyse`, `arena review` and `arena league history` as text, as CSV
and as JSON.
"""

import shlex
from collections.abc import Iterator
from math import isfinite
from typing import Any

import pandas as pd

from arena.errors import counted, printable
from arena.exports.files import csv_text, table_rows
from arena.exports.grid import number
from arena.exports.text import pairs_text, seats_text, table_text
from arena.ratings.analysis import Analysis, worst_decisions
from arena.ratings.columns import HISTORY, Column, placed
from arena.ratings.history import History
from arena.ratings.model import FEW_DEALS
from arena.ratings.notes import company_note
from arena.ratings.regressions import RegressionResult
from arena.records.grades import Judge
from arena.records.league import STATUS_TEXT
from arena.tournament.placing import FOUNDER_ELO

LEVEL = 0.01
"""The corrected p value below which a gain on deals that a bot met again is shown. At .05, honest
bots were accused in two of three runs.
"""
BOT = Column("bot", "Bot", style="name")
GAMES = Column("games", "Games")
ENDINGS = (
    Column("board", "Board", style="name"),
    Column("players", "Players"),
    GAMES,
    Column("turns", "Turns", 0, spare=3),
    Column(
        "range", "5-95%", of=lambda row: f"{row['turns_low']:.0f}-{row['turns_high']:.0f}", spare=1
    ),
    Column("last_pagoda", "Pagoda%", 1),
    Column("by_other", "Other%", 1, spare=2),
    Column("no_tiles", "Tiles%", 1),
    Column("no_space", "Space%", 1),
    Column("forfeit", "Forfeit%", 1),
)
MET_AGAIN = (
    BOT,
    Column("gain", "Win% more", of=lambda row: f"{100 * row['gain']:+.1f}"),
    Column("error", "+/-", of=lambda row: f"{100 * row['error']:.1f}"),
    Column("p_all", "p all", 4),
    Column("deals", "Deals", spare=1),
    GAMES,
)
ENDINGS_MEANING = """\
Pagoda%: somebody placed the last pagoda, Other%: of these on a rival's turn,
Tiles% and Space%: there were no more tiles, or no place for one"""
TIMES = (
    BOT,
    GAMES,
    Column("moves", "Moves"),
    Column("move_ms", "ms/move", 1),
    Column("game_ms", "ms/game", 1),
    Column("slowest_ms", "Slowest ms", 1),
)
MACHINES = (
    Column("host", "Machine", style="name"),
    Column("known", "Speed/s", of=lambda row: "" if pd.isna(row["speed"]) else row["speed"]),
    GAMES,
    Column("faults", "Faults"),
    Column("move_ms", "ms/move", 1),
)


REVIEWED = (
    BOT,
    GAMES,
    Column("decisions", "Decisions", spare=1),
    Column("cost", "Cost%", 2),
    Column("error", "+/-", of=lambda row: number(100 * row["error"], 2)),
    Column("blunders", "Blunders"),
    Column("agreed", "Agreed%", 1),
)
MEANING = """\
Cost% is what a decision costs, in % of a win, with its 95 % error, clustered by
deal. A blunder costs 10 % or more. Agreed% is how often the judge would have
played the same."""
VOID_MEANING = """\
A void game broke off for a reason outside the bots. It does not count, and is
played again. voids.jsonl in the run's folder has each attempt."""
CONTENT = ("seats", "met_again", "times", "endings", "machines", "opponents", "voids")


def analysis_object(analysis: Analysis) -> dict[str, Any]:
    """An analysis as an object for JSON; unknown values are None."""
    tables = {name: getattr(analysis, name) for name in CONTENT}
    return {
        "games": analysis.games,
        "deals": analysis.deals,
        "notes": analysis.notes,
        "company": analysis.company and table_rows(pd.DataFrame([analysis.company]))[0],
        **{name: table_rows(table) for name, table in tables.items() if table is not None},
    }


def analysis_text(analysis: Analysis, width: int | None = None) -> str:
    """An analysis as text for a terminal of this width (None: any width)."""
    parts = [f"note: {note}" for note in (*analysis.notes, *company_note(analysis.company))]
    slowest = [
        f"  {row['bot']}: {row['slowest_game']}" for row in analysis.times.to_dict("records")
    ]
    times = table_text(TIMES, analysis.times, width=width)
    parts += [
        f"Seats\n{seats_text(analysis.seats, width)}",
        *_met_again(analysis.met_again, width),
        f"How games end\n{table_text(ENDINGS, analysis.endings, width=width)}\n{ENDINGS_MEANING}",
        "\n".join(["Time to think", times, "the slowest answer was given in", *slowest]),
    ]
    if len(analysis.machines) > 1:
        parts.append(
            f"Where games were played\n{table_text(MACHINES, analysis.machines, width=width)}"
        )
    if analysis.opponents is not None:
        parts.append(f"Opponents\n{pairs_text(analysis.opponents, width=width)}")
    if len(analysis.voids):
        parts.append(_voids_text(analysis.voids))
    return "\n\n".join(parts)


def _met_again(reunions: pd.DataFrame, width: int | None = None) -> list[str]:
    """The section on bots that do better or worse on deals that they have met before; ``reunions``
    is the table of `reunions_table`, ``width`` is that of the terminal (None: any width). Empty if
    chance may explain the gains.
    """
    sure = reunions[reunions["p_all"] < LEVEL].sort_values("gain", ascending=False)
    if sure.empty:
        return []
    explanation = (
        "A bot that does better on deals that it met before may remember them, or be told of them."
        "\nIts rivals then do worse. 'arena run --seatings single' gives every game its own deck."
    )
    return [f"Deals met again\n{table_text(MET_AGAIN, sure, width=width)}\n{explanation}"]


def _voids_text(voids: pd.DataFrame) -> str:
    """The section on void games; ``voids`` is the table of `voids_table`. Each reason has its
    number of attempts and games, and its first game.
    """
    lines = ["Void games"]
    for row in voids.to_dict("records"):
        times = counted(row["attempts"], "time")
        games = counted(row["games"], "game")
        line = f"{printable(row['reason'])}: {times} in {games}, first in {row['game']}"
        if row["unplayed"]:
            line += f"; not played since: {counted(row['unplayed'], 'game')}"
        lines.append(line)
    lines.append(VOID_MEANING)
    return "\n".join(lines)


def review_text(
    run: str,
    judge: Judge,
    bots: pd.DataFrame,
    decisions: pd.DataFrame,
    worst: int,
    width: int | None = None,
) -> str:
    """A review of the run called ``run`` by ``judge`` as text for a terminal of this width:
    ``bots`` is the table of `bots_table`, ``decisions`` that of `decisions_table`, of which at most
    ``worst`` of the worst ones are shown.
    """
    shown = [table_text(REVIEWED, bots, width=width), MEANING]
    shown += [f"{judge.name} named the better moves."] if judge.by else []
    shown.append(
        f"{judge.judge} finished the games, on {judge.deals} deals a decision. It is a judge of a\n"
        "certain strength: of bots that are stronger it knows less than they do."
    )
    if worst:
        shown += ["", *_worst_lines(worst_decisions(decisions, worst), run)]
    return "\n".join(shown)


def _worst_lines(worst: pd.DataFrame, run: str) -> Iterator[str]:
    """The decisions in ``worst``, each with the command that shows it in the run called ``run``."""
    if worst.empty:
        yield "No decision cost more than its error."
        return
    yield "The decisions that cost most, in % of a win:"
    for row in worst.to_dict("records"):
        figures = f"{100 * row['cost']:5.1f} +/- {100 * row['error']:.1f}"
        # Decisions count placements from 0, the turns of 'arena replay' from 1: its turn 0 is the
        # start.
        turn = row["turn"] + 1
        who = f"turn {turn}, seat {row['seat']}, {row['bot']}"
        yield f"{figures}  {row['played']} -> {row['better']}  {who}"
        yield f"    {shlex.join(['arena', 'replay', run, row['game'], '--turn', str(turn)])}"


def review_object(
    run: str, judge: Judge, bots: pd.DataFrame, decisions: pd.DataFrame, held_back: int
) -> dict[str, Any]:
    """A review of the run called ``run`` by ``judge`` as an object for JSON: ``bots`` is the table
    of `bots_table`, ``decisions`` that of `decisions_table`. Shares of the win are from 0 to 1.
    ``held_back`` is the number of games that are not graded because their deal is still being
    played.
    """
    return {
        "run": run,
        "judge": judge,
        "held_back": held_back,
        "bots": table_rows(bots),
        "decisions": table_rows(decisions),
    }


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
        table_text(columns, shown, width=width),
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
    empty if ``leader`` is.
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
    """The rows of a table with ratings, ``rows``, whose rating has an interval with two ends. All
    other rows have a bound or no rating.
    """
    return rows[rows["elo_low"].notna() & rows["elo_high"].notna()]


def status_text(row: Any) -> str:
    """The word that people see for the status of a league's version, given its ``row`` in the
    history.
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
        "mean_gain": round(history.mean_gain, 2) if isfinite(history.mean_gain) else None,
        "versions": table_rows(history.table),
        "sentences": history.sentences,
        "leader": history.leader or None,
        "regressions": [_regression_object(test) for test in history.regressions],
    }


def _regression_object(test: RegressionResult) -> dict[str, Any]:
    """A regression test as an object for JSON; a figure that is not known is None."""
    figures = {
        name: round(value, 2) if isfinite(value) else None
        for name, value in (
            ("gain", test.gain),
            ("gain_error", test.gain_error),
            ("claimed", test.claimed),
            ("claimed_error", test.claimed_error),
        )
    }
    return {
        "version": test.bot,
        "against": test.old,
        "games": test.games,
        "planned": test.planned,
        **figures,
        "verdict": test.verdict or None,
        "sentence": test.sentence,
    }


def regress_command(run: str, bot: str, before: str) -> str:
    """The command that lists the decisions in which the version ``bot`` differs from the version
    ``before`` in the run called ``run``.
    """
    return shlex.join(["arena", "regress", run, "--bot", bot, "--old", before])
