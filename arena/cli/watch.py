"""arena watch: follows a run from another terminal while it is being played."""

import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import prior_option, run_argument
from arena.cli.terminal import columns_of, folded
from arena.commands.folders import run_folder
from arena.errors import counted
from arena.exports.text import counted_text
from arena.records.journal import journal_of
from arena.tournament.session import Completeness

if TYPE_CHECKING:
    from arena.ratings.tables import Tables

SHARE_OF_TIME = 10
"""Reading a long journal takes time: the next look waits at least this many times as long as the
last one took.
"""
QUIET_S = 60
ALTERNATE_SCREEN, NORMAL_SCREEN, FRESH = "\x1b[?1049h", "\x1b[?1049l", "\x1b[H\x1b[2J"


@click.command()
@run_argument
@click.option(
    "--every",
    type=click.FloatRange(0.1),
    default=2.0,
    show_default=True,
    help="Seconds between looks.",
)
@click.option("--once", is_flag=True, help="Look once and exit.")
@prior_option
@click.pass_obj
def watch(home: Path, /, run: str | None, every: float, prior: float | None, *, once: bool) -> None:
    """Watch a run that is being played. You see its progress and its standings, by default of the
    newest run, until it is finished or you press Ctrl-C.

    This only reads the journal and does not disturb the run. Without a terminal, each look is
    printed below the last one.

    \b
    arena watch
    arena watch league --every 10
    """  # noqa: D301 - \b is click's mark for lines to keep
    # Late: pandas is slow to load, and --help does not need it.
    from arena.cli.tables import rate_run, screen_text  # noqa: PLC0415

    folder = run_folder(home, run)
    screen = sys.stdout.isatty() and not once
    speed = Speed()
    click.echo(ALTERNATE_SCREEN if screen else "", nl=False, color=True)
    try:
        while True:
            began = time.monotonic()
            tables, plan = rate_run(folder, prior)
            speed.note(tables.played, began)
            head = folded(headline(folder, tables, plan, speed), columns_of(sys.stdout))
            text = f"{head}\n\n{screen_text(tables)}"
            click.echo(FRESH if screen else "", nl=False, color=True)
            click.echo(text if screen else f"{text}\n")
            if once or (plan is not None and not plan.missing):
                break
            time.sleep(max(every, SHARE_OF_TIME * (time.monotonic() - began)))
    finally:
        click.echo(NORMAL_SCREEN if screen else "", nl=False, color=True)
    if screen:
        click.echo(text)


class Speed:
    """Games per second since the first look."""

    def __init__(self) -> None:
        self._first: tuple[int, float] | None = None
        self.games_per_s = 0.0

    def note(self, games: int, at: float) -> None:
        """Records a look: the number of games at a moment on the monotonic clock."""
        self._first = self._first or (games, at)
        seconds = at - self._first[1]
        self.games_per_s = (games - self._first[0]) / seconds if seconds else 0.0


def headline(folder: Path, tables: "Tables", plan: Completeness | None, speed: Speed) -> str:
    """How far a run is, and how fast."""
    played = str(tables.played) if plan is None else f"{plan.games - plan.missing} of {plan.games}"
    faults = int(tables.standings["forfeits"].sum())
    head = f"{folder}: {played} games, {counted(faults, 'forfeit')}" + (
        f" in {counted_text(tables)}" if tables.match else ""
    )
    if plan is not None and not plan.missing:
        return f"{head}, finished"
    if speed.games_per_s:
        head += f", {speed.games_per_s:.1f} games/s"
        head += (
            f", {timedelta(seconds=round(plan.missing / speed.games_per_s))} to go" if plan else ""
        )
    since = time.time() - journal_of(folder).stat().st_mtime
    if since > QUIET_S:
        head += (
            f"; the last game ended {timedelta(seconds=round(since))} ago: 'arena run' continues it"
        )
    return head
