"""arena regress: whether a new version of a bot makes the same decisions as the old one."""

import csv
import io
import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from arena.cli import DONE, FAILED, NO
from arena.cli.options import as_json, jobs_option, run_argument, sandbox_options
from arena.cli.showing import check_output, tell_json
from arena.cli.terminal import say, tell
from arena.commands.allowing import SandboxChoice
from arena.commands.asking import bot_to_ask, note_bank
from arena.commands.folders import run_folder
from arena.errors import UserError, counted, printable
from arena.match.retrace import Decision
from arena.players.folder import Bot, renamed
from arena.players.sandbox.tiers import Sandbox
from arena.ratings.columns import cell_of
from arena.records.regular import write_durably
from arena.tournament.pool import available_cores
from arena.tournament.regress import Compared, compare_decisions
from arena.tournament.scripts import Scripts

SHOWN = 20
COLUMNS = ("game", "seat", "turn", "old", "new", "fault", "detail", "spent_ms", "command")


@click.command()
@run_argument
@click.option(
    "--bot", "bot_text", required=True, metavar="BOT", help="The new version, a name or path."
)
@click.option(
    "--old",
    metavar="NAME",
    help="The bot in the run to compare with.  [default: the one with the same name]",
)
@click.option(
    "--games",
    type=click.IntRange(1),
    help="Use only this many of its games, the first in the journal.  [default: all]",
)
@jobs_option
@click.option(
    "--csv",
    "csv_path",
    metavar="FILE|-",
    help="Write the differences as CSV to a file, or '-' for stdout.",
)
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
    csv_path: str | None,
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
    arena regress league --bot ./my-bot --csv differences.csv
    """  # noqa: D301 - \b is click's mark for lines to keep
    check_output(csv_path, as_json=as_json)

    folder = run_folder(home, run)
    say(f"run {folder}")
    scripts = Scripts(folder)
    note_bank(scripts, say)
    with bot_to_ask(home, scripts, bot_text, "", choice) as (bot, sandbox):
        old = scripts.bot_info(old or _namesake(scripts, bot)).name
        found = Regression(folder.name if run is None else run, bot_text)
        for compared in _with_progress(scripts, old, bot, sandbox, **extent):
            found.add(compared)
    _show(found, old, bot.label, csv_path, as_json=as_json)
    return FAILED if found.voids else NO if found.differences else DONE


class Regression:
    """The results so far. ``differences`` are rows of COLUMNS."""

    def __init__(self, run: str, bot: str) -> None:
        self._run, self._bot = run, bot
        self.games = self.decisions = self.faults = self.not_asked = 0
        self.old_ms = self.new_ms = self.slowest_ms = 0.0
        self.differences: list[dict[str, Any]] = []
        self.voids: list[str] = []

    def add(self, compared: Compared) -> None:
        """Counts a game."""
        if compared.void:
            self.voids.append(f"{compared.game}: {compared.void}")
            return
        self.games += 1
        self.not_asked += max(0, compared.old_decisions - len(compared.decisions))
        for decision in compared.decisions:
            self.decisions += 1
            self.faults += bool(decision.fault)
            self.old_ms += compared.old_ms
            self.new_ms += decision.spent_ms
            self.slowest_ms = max(self.slowest_ms, decision.spent_ms)
            if decision.fault or decision.new != decision.old:
                self.differences.append(self._row(compared, decision))

    def _row(self, compared: Compared, decision: Decision) -> dict[str, Any]:
        place = [
            self._run,
            compared.game,
            "--turn",
            str(decision.turn),
            "--seat",
            str(compared.seat),
        ]
        command = shlex.join(["arena", "replay", *place, "--bot", self._bot])
        return {
            "game": compared.game,
            "seat": compared.seat,
            **decision._asdict(),
            "command": command,
        }

    def summary(self) -> dict[str, Any]:
        """The figures; times are averages per decision in ms, None if there are none."""
        count = self.decisions
        return {
            "games": self.games,
            "decisions": count,
            "same": count - len(self.differences),
            "differ": len(self.differences) - self.faults,
            "faults": self.faults,
            "not_asked": self.not_asked,
            "old_ms": round(self.old_ms / count, 3) if count else None,
            "new_ms": round(self.new_ms / count, 3) if count else None,
            "new_slowest_ms": self.slowest_ms,
        }


def _namesake(scripts: Scripts, bot: Bot) -> str:
    """The name of the bot without a version, with its options if a bot of the run has the same."""
    same = renamed(bot, bot.manifest.name).label
    return same if same in [there.name for there in scripts.info.bots] else bot.manifest.name


def _with_progress(
    scripts: Scripts, old: str, bot: Bot, sandbox: Sandbox, jobs: int | None, games: int | None
) -> Iterator[Compared]:
    """The games while they are compared, with a progress bar on stderr."""
    total = sum(1 for _ in islice(scripts.games_of(old), games))
    if not total:
        raise UserError(
            f"expected games of {old} in {scripts.run}, found none yet",
            "try again when some have been played",
        )
    tqdm.monitor_interval = 0
    asked = islice(scripts.games_of(old), games)
    compared = compare_decisions(
        scripts, asked, bot, sandbox, min(jobs or available_cores(), total)
    )
    with tqdm(compared, total=total, unit="game", disable=None, leave=False) as bar:
        yield from bar


def _show(found: Regression, old: str, new: str, csv_path: str | None, *, as_json: bool) -> None:
    if csv_path == "-":
        click.echo(_csv_text(found.differences), nl=False)
    elif as_json:
        content = {
            "old": old,
            "new": new,
            **found.summary(),
            "voids": found.voids,
            "differences": found.differences,
        }
        tell_json(content)
    else:
        _show_text(found, old, new)
    if csv_path and csv_path != "-":
        write_durably(Path(csv_path), _csv_text(found.differences).encode())
        say(f"differences: {csv_path}")
    for void in found.voids:
        say(f"error: {printable(void)}")


def _show_text(found: Regression, old: str, new: str) -> None:
    for row in found.differences[:SHOWN]:
        then = row["old"] or "forfeit"
        now = row["new"] or f"{row['fault']} ({row['detail']})"
        click.echo(
            printable(
                f"{row['game']}, turn {row['turn']}: {then} -> {now}\n    {row['command']}",
                keep="\n",
            )
        )
    if len(found.differences) > SHOWN:
        tell(f"and {len(found.differences) - SHOWN} more; use --json or --csv to list them")
    summary = found.summary()
    counts = ", ".join(
        f"{summary[key]} {key.replace('_', ' ')}"
        for key in ("same", "differ", "faults", "not_asked")
    )
    asked = (
        f"{counted(found.decisions, 'decision')} of {old} in {counted(found.games, 'game')} asked"
        f" of {new}"
    )
    tell(printable(f"{asked}: {counts}"))
    if found.decisions:
        times = (
            f"{summary['old_ms']:.1f} ms then, {summary['new_ms']:.1f} ms now, slowest"
            f" {summary['new_slowest_ms']:.1f} ms"
        )
        tell(f"a decision took {times}")


def _csv_text(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {key: cell_of(value) if isinstance(value, str) else value for key, value in row.items()}
        for row in rows
    )
    return text.getvalue()
