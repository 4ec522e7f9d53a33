"""The place of a version in a league, for who has just submitted it."""

import logging
import time
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli import DONE, FAILED, INTERRUPTED, NO, UNDECIDED
from arena.cli.league import Evening
from arena.cli.place import Conduct
from arena.cli.terminal import say, tell
from arena.commands.allowing import SandboxChoice
from arena.commands.league import Budget
from arena.commands.members import is_now
from arena.ratings.columns import BOUNDS
from arena.records.league import Member, read_league, versions_before
from arena.records.linefile import BusyError
from arena.tournament.place import Place
from arena.tournament.request import RunOptions

if TYPE_CHECKING:
    from arena.ratings.history import History

WAIT_S = 1.0
NEAR_ELO = 300
"""Who is farther apart wins six games in seven, of which each tells half as much."""
MORE_GAMES = 400
"""A number to suggest: with two that are about equal, it leaves some 30 Elo to either side."""


def find_place(
    home: Path, folder: Path, label: str, choice: SandboxChoice, games: int | None
) -> int:
    """Lets a member of a league play until it is placed, or waits while another arena plays the
    league, and says where it stands; returns the exit status. Then it plays so many more games with
    the version before it, if that plays.
    """
    conduct = Conduct(Place(), choice, adopt=False, quiet=False, log_level=logging.INFO)
    evening = Evening(home, folder, (label,), RunOptions(), conduct)
    is_said = False
    while True:
        try:
            if evening.play(None, Budget(placing=label)) == INTERRUPTED:
                say(f"interrupted: 'arena league run {folder.name}' goes on placing {label}")
                return INTERRUPTED
            before = versions_before(read_league(folder).members).get(label, "")
            if games and _may_meet(folder, label, before):
                meeting = Budget(games=games, between=(before, label))
                if evening.play(None, meeting) == INTERRUPTED:
                    return INTERRUPTED
            evening.end(is_shown=False)
            break
        except BusyError:
            if not is_said:
                say(f"another arena plays {folder}: waiting until it has placed {label}")
            is_said = True
            time.sleep(WAIT_S)
            if not _member(folder, label).is_waiting:
                break
    return _told(folder, _member(folder, label))


def _may_meet(folder: Path, label: str, before: str) -> bool:
    """Whether games can be drawn between a version and the one before it; says so if not."""
    if before and not _member(folder, before).plays:
        say(f"note: {before} is {is_now(_member(folder, before).status)}, so the two do not meet")
        return False
    return bool(before) and _member(folder, label).plays


def _member(folder: Path, label: str) -> Member:
    return read_league(folder).members[label]


def _told(folder: Path, member: Member) -> int:
    """Says where a version stands, and what it gained."""
    if not member.plays:
        why = f": {member.why}" if member.why else ""
        say(f"error: {member.bot} is {is_now(member.status)}{why}")
        say(f"hint: {folder / 'faults'} has the evidence of its faults")
        return FAILED
    # Pandas: nothing before this needs it.
    from arena.ratings.history import read_history  # noqa: PLC0415

    history = read_history(folder)
    (row,) = history.of(member.bot).table.to_dict("records")
    tell("\n".join([_place_text(history, row, folder.name), *history.of(member.bot).sentences]))
    if _is_far_from_benchmarks(history, row):
        say(
            f"note: no benchmark is within {NEAR_ELO} Elo of {member.bot}, so its games tell"
            " little: 'arena league benchmark BOT' makes one of a bot that is near"
        )
    if not row["before"]:
        return DONE
    if isfinite(row["gain_error"]) and abs(row["gain"]) > row["gain_error"]:
        return DONE if row["gain"] > 0 else NO
    say(
        f"whether it is better than {row['before']} is not clear yet: repeat this with --games"
        f" {MORE_GAMES}, which lets the two meet, or 'arena league run {folder.name}'"
    )
    return UNDECIDED


def _is_far_from_benchmarks(history: "History", row: Any) -> bool:
    """Whether a rated version is far from everybody whom newcomers meet first."""
    others = history.table[history.table["status"] == "benchmark"]["elo"]
    return isfinite(row["elo"]) and not ((others - row["elo"]).abs() < NEAR_ELO).any()


def _place_text(history: "History", row: Any, league: str) -> str:
    """``my-bot@2 is placed: 312 +/- 48 Elo, place 4 of 12 in ladder, after 208 games``."""
    if not isfinite(row["elo"]):
        return f"{row['version']} has no rating in {league} after {row['games']} games"
    elos = history.table["elo"]
    place, rated = 1 + int((elos > row["elo"]).sum()), int(elos.notna().sum())
    half = (row["elo_high"] - row["elo_low"]) / 2
    bound = f"{row['mark']} " if row["mark"] in BOUNDS else ""
    error = f" +/- {half:.0f}" if isfinite(half) else ""
    return (
        f"{row['version']} is placed: {bound}{row['elo']:.0f}{error} Elo, place {place} of {rated}"
        f" in {league}, after {row['games']} games"
    )
