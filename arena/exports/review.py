"""A review as text and as JSON."""

import shlex
from typing import Any

import pandas as pd

from arena.exports.files import table_rows
from arena.exports.text import number, table_text
from arena.ratings.columns import Column
from arena.ratings.reviews import worst_decisions
from arena.records.review import Judge

BOTS = (
    Column("bot", "Bot", style="name"),
    Column("games", "Games"),
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


def review_text(
    run: str,
    judge: Judge,
    bots: pd.DataFrame,
    decisions: pd.DataFrame,
    worst: int,
    width: int | None = None,
) -> str:
    """The review for people, with so many of the worst decisions, on a terminal of this width."""
    shown = [bots_text(bots, width), judge_text(judge)]
    if worst:
        shown += ["", worst_text(worst_decisions(decisions, worst), run)]
    return "\n".join(shown)


def bots_text(bots: pd.DataFrame, width: int | None = None) -> str:
    """What the decisions of each bot cost."""
    return f"{table_text(BOTS, bots, width=width)}\n{MEANING}"


def worst_text(worst: pd.DataFrame, run: str) -> str:
    """The worst decisions, each with the command that shows it."""
    if worst.empty:
        return "No decision cost more than its error."
    lines = ["The decisions that cost most, in % of a win:"]
    for row in worst.to_dict("records"):
        figures = f"{100 * row['cost']:5.1f} +/- {100 * row['error']:.1f}"
        moves = f"{row['played']} -> {row['better']}"
        who = f"turn {row['turn']}, seat {row['seat']}, {row['bot']}"
        command = ["arena", "replay", run, row["game"], "--turn", str(row["turn"])]
        lines += [f"{figures}  {moves}  {who}", f"    {shlex.join(command)}"]
    return "\n".join(lines)


def judge_text(judge: Judge) -> str:
    """Who graded, and what that is worth."""
    named = f"{judge.name} named the better moves.\n" if judge.by else ""
    return (
        f"{named}{judge.judge} finished the games, on {judge.deals} deals a decision. It is a judge"
        " of a\ncertain strength: of bots that are stronger it knows less than they do."
    )


def review_object(
    run: str, judge: Judge, bots: pd.DataFrame, decisions: pd.DataFrame, held_back: int
) -> dict[str, Any]:
    """The review for programs; shares of the win are from 0 to 1."""
    return {
        "run": run,
        "judge": judge,
        "held_back": held_back,
        "bots": table_rows(bots),
        "decisions": table_rows(decisions),
    }
