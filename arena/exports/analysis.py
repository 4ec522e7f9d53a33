"""Writes the result of `arena analyse` as text and as JSON."""

from typing import Any

import pandas as pd

from arena.errors import counted, printable
from arena.exports.files import table_rows
from arena.exports.text import frame_text, pairs_text, seats_text
from arena.ratings.analysis import Analysis
from arena.ratings.column import Column
from arena.ratings.notes import company_note

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
VOID_MEANING = """\
A void game broke off for a reason outside the bots. It does not count, and is
played again. voids.jsonl in the run's folder has each attempt."""
CONTENT = ("seats", "met_again", "times", "endings", "machines", "opponents", "voids")


def analysis_object(analysis: Analysis) -> dict[str, Any]:
    """An analysis as an object for JSON; unknown values are None."""
    tables = {}
    for name in CONTENT:
        table = getattr(analysis, name)
        if table is not None:
            tables[name] = table_rows(table)
    return {
        "games": analysis.games,
        "deals": analysis.deals,
        "notes": analysis.notes,
        "company": analysis.company and table_rows(pd.DataFrame([analysis.company]))[0],
        **tables,
    }


def analysis_text(analysis: Analysis, width: int | None = None) -> str:
    """An analysis as text for a terminal of this width (None: any width)."""
    parts = [f"note: {note}" for note in (*analysis.notes, *company_note(analysis.company))]
    slowest = []
    for row in analysis.times.to_dict("records"):
        slowest.append(f"  {row['bot']}: {row['slowest_game']}")
    times = frame_text(TIMES, analysis.times, width)
    parts += [
        f"Seats\n{seats_text(analysis.seats.to_dict('records'), width)}",
        *_met_again(analysis.met_again, width),
        f"How games end\n{frame_text(ENDINGS, analysis.endings, width)}\n{ENDINGS_MEANING}",
        "\n".join(["Time to think", times, "the slowest answer was given in", *slowest]),
    ]
    if len(analysis.machines) > 1:
        parts.append(f"Where games were played\n{frame_text(MACHINES, analysis.machines, width)}")
    if analysis.opponents is not None:
        parts.append(f"Opponents\n{pairs_text(analysis.opponents.to_dict('records'), width=width)}")
    if len(analysis.voids):
        parts.append(_voids_text(analysis.voids))
    return "\n\n".join(parts)


def _met_again(reunions: pd.DataFrame, width: int | None = None) -> list[str]:
    """The section on bots that clearly do better or worse on deals that they have met before, as a
    list with one text; an empty list if chance may explain all gains. ``reunions`` is the table of
    `reunions_table`, ``width`` is that of the terminal (None: any width).
    """
    sure = reunions[reunions["p_all"] < LEVEL].sort_values("gain", ascending=False)
    if sure.empty:
        return []
    explanation = (
        "A bot that does better on deals that it met before may remember them, or be told of them."
        "\nIts rivals then do worse. 'arena run --seatings single' gives every game its own deck."
    )
    return [f"Deals met again\n{frame_text(MET_AGAIN, sure, width)}\n{explanation}"]


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
