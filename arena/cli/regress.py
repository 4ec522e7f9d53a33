"""arena regress: compares the decisions of a bot with those of an old version."""

import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from arena.cli import DONE, FAILED, NO
from arena.cli.completion import complete_bots
from arena.cli.numbers import WholeNumber
from arena.cli.options import as_json, jobs_option, run_argument, tell_json
from arena.cli.run import sandbox_options
from arena.cli.sections import BriefCommand
from arena.cli.terminal import say, tell
from arena.commands.playing import SandboxChoice
from arena.commands.review import bot_to_ask, note_bank
from arena.commands.runs import named_run
from arena.errors import UserError, counted, printable
from arena.players.folder import Bot, renamed
from arena.players.sandbox.tiers import Sandbox
from arena.tournament.review import Compared, Scripts, compare_decisions
from arena.tournament.workers import available_cores

SHOWN_DIFFERENCES = 20
"""The most differences that are printed."""
ASKED = (
    "{decisions} of {old} in {games} asked of {new}: {same} same, {differ} differ, {faults}"
    " faults, {not_asked} not asked"
)
"""The line about the decisions."""
TOOK = "a decision took {old_ms:.1f} ms then, {new_ms:.1f} ms now, slowest {new_slowest_ms:.1f} ms"
"""The line about the times."""


@click.command(cls=BriefCommand)
@run_argument
@click.option(
    "--bot",
    "bot_text",
    required=True,
    metavar="BOT",
    shell_complete=complete_bots,
    help="The new version, a name or path.",
)
@click.option(
    "--old",
    metavar="NAME",
    help="The bot in the run to compare with.  [default: the one with the same name]",
)
@click.option(
    "--games",
    type=WholeNumber(1),
    help="Use only this many of its games, the first in the journal.  [default: all]",
)
@jobs_option
@sandbox_options
@as_json
@click.pass_obj
def regress(
    home: Path,
    /,
    run: str | None,
    bot_text: str,
    old: str | None,
    *,
    choice: SandboxChoice,
    as_json: bool,
    **extent: int | None,
) -> int:
    """Compare a bot's decisions with those of an old version. The bot is asked for every decision
    that the old version made in the games of a run, by default the newest one.

    The bot gets the same lines as the old version, and the games go on as recorded, whatever it
    answers. A fault counts as a difference. After a fault other than an illegal move, the rest of
    that game is skipped. A bot that takes random numbers from anything but the seed in start will
    differ from itself.

    The exit status is 0 if no decision differs, 4 if some do, and 1 if a game could not be
    replayed.

    \b
    arena regress league --bot ./my-bot
    arena regress league --bot my-bot --old my-bot@1 --games 20
    arena regress league --bot ./my-bot --json
    """  # noqa: D301 - \b is click's mark for lines to keep
    opened = named_run(home, run)
    say(f"run {opened.folder}")
    scripts = Scripts(opened)
    note_bank(scripts, say)
    with bot_to_ask(home, scripts, bot_text, "", choice) as (bot, sandbox):
        old = scripts.bot_info(old or _namesake(scripts, bot)).name
        regression = Regression(opened.name if run is None else run, bot_text)
        for compared in _with_progress(scripts, old, bot, sandbox, **extent):
            regression.add(compared)
    if as_json:
        tell_json(regression.object(old, bot.label))
    else:
        _show(regression, old, bot.label)
    for void in regression.voids:
        say(f"error: {printable(void)}")
    return FAILED if regression.voids else NO if regression.differences else DONE


def _namesake(scripts: Scripts, bot: Bot) -> str:
    """The name of the old bot to compare with: that of ``bot`` without its version, with its
    options if the run has such a bot, else without them.
    """
    same = renamed(bot, bot.manifest.name).label
    is_there = any(there.name == same for there in scripts.info.bots)
    return same if is_there else bot.manifest.name


def _with_progress(
    scripts: Scripts, old: str, bot: Bot, sandbox: Sandbox, jobs: int | None, games: int | None
) -> Iterator[Compared]:
    """Yields the comparisons of the games of the bot ``old``, at most ``games`` (None for all), and
    shows a progress bar on stderr. ``jobs`` is the number of workers, None for one per core. Raises
    UserError if there is no such game.
    """
    total = sum(1 for _ in islice(scripts.games_of(old), games))
    if not total:
        message = f"{scripts.run.folder} has no games of {old} yet"
        raise UserError(message, "try again when games of this bot have been played")
    tqdm.monitor_interval = 0
    compared_games = islice(scripts.games_of(old), games)
    places = min(jobs or available_cores(), total)
    compared = compare_decisions(scripts, compared_games, bot, sandbox, places)
    with tqdm(compared, total=total, unit="game", disable=None, leave=False) as bar:
        yield from bar


class Regression:
    """The results of a comparison so far. ``old_ms`` and ``new_ms`` are sums over all decisions,
    and ``slowest_ms`` is the longest time of a new decision, all in ms. ``differences`` has the
    form of the JSON output. ``run`` and ``bot`` are the texts that the user typed, for the commands
    in the output.
    """

    def __init__(self, run: str, bot: str) -> None:
        self._run = run
        self._bot = bot
        self.games = self.decisions = self.faults = self.not_asked = 0
        self.old_ms = self.new_ms = self.slowest_ms = 0.0
        self.differences: list[dict[str, Any]] = []
        self.voids: list[str] = []

    def add(self, compared: Compared) -> None:
        """Counts the decisions of a game that has been compared; of a void game, only keeps the
        reason.
        """
        if compared.void:
            self.voids.append(f"{compared.game}: {compared.void}")
            return
        where = shlex.join([self._run, compared.game])
        bot = shlex.quote(self._bot)
        self.games += 1
        self.not_asked += max(0, compared.old_decisions - len(compared.decisions))
        for decision in compared.decisions:
            self.decisions += 1
            self.faults += bool(decision.fault)
            self.old_ms += compared.old_ms
            self.new_ms += decision.spent_ms
            self.slowest_ms = max(self.slowest_ms, decision.spent_ms)
            if decision.fault or decision.new != decision.old:
                place = f"--turn {decision.turn} --seat {compared.seat}"
                command = f"arena replay {where} {place} --bot {bot}"
                about = {"game": compared.game, "seat": compared.seat}
                self.differences.append({**about, **decision._asdict(), "command": command})

    def object(self, old: str, new: str) -> dict[str, Any]:
        """The results as an object for JSON. ``old`` and ``new`` are the labels of the bots. Times
        are means per decision in ms, None if there are no decisions.
        """
        count = self.decisions
        return {
            "old": old,
            "new": new,
            "games": self.games,
            "decisions": count,
            "same": count - len(self.differences),
            "differ": len(self.differences) - self.faults,
            "faults": self.faults,
            "not_asked": self.not_asked,
            "old_ms": round(self.old_ms / count, 3) if count else None,
            "new_ms": round(self.new_ms / count, 3) if count else None,
            "new_slowest_ms": self.slowest_ms,
            "voids": self.voids,
            "differences": self.differences,
        }


def _show(regression: Regression, old: str, new: str) -> None:
    """Prints the differences and figures."""
    for row in regression.differences[:SHOWN_DIFFERENCES]:
        then = row["old"] or "forfeit"
        now = row["new"] or f"{row['fault']} ({row['detail']})"
        text = f"{row['game']}, turn {row['turn']}: {then} -> {now}\n    {row['command']}"
        click.echo(printable(text, keep="\n"))
    more = len(regression.differences) - SHOWN_DIFFERENCES
    if more > 0:
        tell(f"and {more} more; use --json to list them")
    figures = regression.object(old, new)
    decisions = counted(regression.decisions, "decision")
    games = counted(regression.games, "game")
    tell(printable(ASKED.format(**{**figures, "decisions": decisions, "games": games})))
    if regression.decisions:
        tell(TOOK.format(**figures))
