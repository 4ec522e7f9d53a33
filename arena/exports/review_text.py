"""Writes the result of `arena review` as text and as JSON, with the commands that show more."""

import shlex
from collections.abc import Iterator
from typing import Any

import pandas as pd

from arena.exports.analysis import BOT, GAMES
from arena.exports.files import table_rows
from arena.exports.grid import number
from arena.exports.text import frame_text
from arena.ratings.analysis import worst_decisions
from arena.ratings.column import Column
from arena.records.grades import Judge

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


def review_text(
    run: str,
    judge: Judge,
    bots: pd.DataFrame,
    decisions: pd.DataFrame,
    worst: int,
    width: int | None = None,
) -> str:
    """A review of the run called ``run`` by ``judge`` as text for a terminal of this width (None:
    any width). ``bots`` is the table of `bots_table`, ``decisions`` that of `decisions_table`, of
    which at most ``worst`` of the costliest ones are listed; 0 leaves the list out.
    """
    shown = [frame_text(REVIEWED, bots, width), MEANING]
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


def regress_command(run: str, bot: str, before: str) -> str:
    """The command that lists the decisions in which the version ``bot`` differs from the version
    ``before`` in the run called ``run``.
    """
    return shlex.join(["arena", "regress", run, "--bot", bot, "--old", before])
