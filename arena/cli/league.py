"""arena league: a run that goes on, in which every version of a bot is rated."""

import sys
import time
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import Any, cast

import click

from arena.cli import DONE, FAILED, INTERRUPTED
from arena.cli.history import history, league_option
from arena.cli.options import Command, as_json, check_utf8, split_bot_names
from arena.cli.place import Conduct, conduct_options
from arena.cli.playing import playing, said_when_slow, show_troubles
from arena.cli.progress import Progress
from arena.cli.settings import setting_options
from arena.cli.showing import tell_json
from arena.cli.terminal import columns_of, say
from arena.commands.changes import Changing
from arena.commands.folders import results_folder
from arena.commands.founding import league_folder, league_request, leagues_in, members_of
from arena.commands.league import Budget, LeagueLook, LeaguePlay
from arena.commands.members import Members, is_now, user_name
from arena.errors import RunError, counted
from arena.exports.grid import columns_text
from arena.players.folder import Bot
from arena.players.sandbox.tiers import Sandbox
from arena.records.league import Status, read_league
from arena.records.linefile import BusyError, turn_in
from arena.tournament.request import RunOptions
from arena.tournament.session import Session

LOG_S = 60.0
FEWEST_BENCHMARKS = 2
"""With fewer, newcomers are measured against one bot alone."""


class LeagueCommands(click.Group):
    """Click's group, which knows what a league's name in place of a command may mean."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; fails with the cure for the name of a league."""
        found = super().get_command(ctx, cmd_name)
        if found is None and cmd_name in {folder.name for folder in leagues_in(ctx.obj)}:
            ctx.fail(
                f"No such command {cmd_name!r}. 'arena league run {cmd_name}' plays that league,"
                f" 'arena league history --league {cmd_name}' shows it"
            )
        return found


@click.group(cls=LeagueCommands, invoke_without_command=True)
@as_json
@click.pass_context
def league(context: click.Context, /, *, as_json: bool) -> None:
    """Keep a league that every version joins. It is a run that goes on: whatever you submit is
    placed against benchmarks near it, and stays rated.

    Without a command, this lists the leagues in results/.

    \b
    arena league run ladder --games 2000
    arena league history my-bot
    arena league retire my-bot@1
    """  # noqa: D301 - \b is click's mark for lines to keep
    if context.invoked_subcommand is None:
        _list(context.obj, as_json=as_json)


league.add_command(history)


def _list(home: Path, *, as_json: bool) -> None:
    rows: list[dict[str, Any]] = []
    for folder in leagues_in(home):
        try:
            found = read_league(folder)
        except RunError as error:
            say(f"warning: {error}")
            continue
        rows.append(
            {
                "league": folder.name,
                "members": len(found.members),
                "benchmarks": len(found.with_status("benchmark")),
                "candidates": len(found.with_status("candidate")),
                "waiting": sum(member.is_waiting for member in found.members.values()),
                "deals": found.deals,
            }
        )
    if as_json:
        tell_json(rows)
    elif not rows:
        say(f"no leagues in {results_folder(home)}: start one with 'arena league run NAME'")
    else:
        cells = [tuple(str(value) for value in row.values()) for row in rows]
        heads = tuple(name.capitalize() for name in rows[0])
        click.echo(columns_text(heads, cells, (), columns_of(sys.stdout), names=("League",)))


def budget_options(command: Command) -> Command:
    """``--games``, ``--hours`` and ``--until``, as one argument ``budget``."""

    @wraps(command)
    def wrapped(*args: Any, **given: Any) -> Any:
        budget = Budget(*(given.pop(name) for name in ("games", "hours", "until")))
        return command(*args, budget=budget, **given)

    for option in (
        click.option(
            "--until",
            type=click.FloatRange(0, min_open=True),
            metavar="ELO",
            help="Stop once the interval of everybody who plays is at most this to either side.",
        ),
        click.option(
            "--hours", type=click.FloatRange(0, min_open=True), help="Stop after so many hours."
        ),
        click.option(
            "--games",
            type=click.IntRange(1),
            help="Stop after so many more games, or a few more: a draw is played to its end.",
        ),
    ):
        wrapped = option(wrapped)
    return cast("Command", wrapped)


@league.command("run")
@click.argument("name")
@click.argument("bots", nargs=-1, metavar="[BOT]...")
@click.option(
    "--benchmarks",
    callback=split_bot_names,
    metavar="BOT,...",
    help="Who holds the scale of a new league.  [default: the ladder]",
)
@budget_options
@setting_options(
    "players", "boards", "board_files", "match", "seatings", "seed", "move_ms", "game_ms",
    "increment_ms", "clock", "startup_ms", "keep_stderr",
)  # fmt: skip
@conduct_options
@click.pass_obj
def run(
    home: Path,
    /,
    name: str,
    bots: tuple[str, ...],
    benchmarks: list[str] | None,
    options: RunOptions,
    *,
    budget: Budget,
    conduct: Conduct,
) -> int:
    """Play a league until you stop it.

    NAME is its folder in results/. Every version of the bots that you name, or of all in bots/,
    is a member, as NAME@VERSION. A version that you submit while the league plays joins it within
    seconds.

    A newcomer is a candidate. It first meets the benchmarks near its strength until its rating is
    known to 50 Elo, then its neighbours in the ranking and the version before it. The benchmarks
    hold the scale: the mean of their ratings stays as it is. A candidate that forfeits all of its
    first games is set aside, and the others play on.

    Every draw is on fresh deals. Repeat the command to go on after an interruption, with a new
    --games or --hours if you like.

    \b
    arena league run ladder
    arena league run ladder --hours 8 --move-ms 100
    arena league run mine my-bot --benchmarks greedy,careful-4,careful --games 2000
    """  # noqa: D301 - \b is click's mark for lines to keep
    folder = Path(name) if "/" in name else results_folder(home) / name
    evening = Evening(home, folder, bots, options, conduct)
    try:
        ended = evening.play(benchmarks, budget)
    except BusyError as error:
        error.hint = (
            "it goes on there, with whatever you submit meanwhile: 'arena league history --league"
            f" {folder.name}' shows it"
        )
        raise
    evening.end()
    if ended == INTERRUPTED:
        say(f"interrupted: repeat the same command to go on in {folder}")
    return ended


def _status_command(name: str, status: Status, help_text: str) -> None:
    @league.command(name, help=help_text)
    @click.argument("bots", nargs=-1, required=True, metavar="BOT...")
    @league_option
    @click.option("--why", default="", callback=check_utf8, help="Kept in the league's history.")
    @click.pass_obj
    def command(home: Path, /, bots: tuple[str, ...], name: str | None, *, why: str) -> None:
        folder = league_folder(home, name)
        members = Members(home, folder, [], say)
        for label in [members.label_of(bot) for bot in bots]:
            if members.league.members[label].status == status:
                say(f"{label} is {is_now(status)} already")
            else:
                members.change(label, status, user_name(), why)
        note_few_benchmarks(members)


OF_A_MEMBER = """

BOT is a member such as my-bot@2, or a bot's name for its newest version in the league. A league
that is being played takes it up within seconds.
"""
_status_command(
    "candidate",
    "candidate",
    "Let members play as candidates. They may have been set aside or retired." + OF_A_MEMBER,
)
_status_command(
    "benchmark",
    "benchmark",
    "Make members benchmarks. Candidates meet them first, and they hold the scale." + OF_A_MEMBER,
)
_status_command(
    "retire",
    "retired",
    "Draw no more games for members. They stay rated, and a retired benchmark goes on holding the"
    " scale by the games that it has." + OF_A_MEMBER,
)


class Evening:
    """What one command plays of a league, in as many sessions as it takes."""

    def __init__(
        self, home: Path, folder: Path, bots: tuple[str, ...], options: RunOptions, conduct: Conduct
    ) -> None:
        self._home, self._folder, self._bots = home, folder, bots
        self._options, self._conduct = options, conduct
        self._progress: Progress | None = None
        self._said_s = time.monotonic()
        self._changing = Changing(folder, self._sandbox_for, say)

    def play(self, benchmarks: list[str] | None, budget: Budget) -> int:
        """Plays until the budget is spent or somebody stops it; returns the exit status."""
        members = members_of(self._home, self._folder, self._bots, benchmarks, self._say)
        note_few_benchmarks(members)
        # Between two sessions the journal is closed: an arena that waits could take it.
        with turn_in(self._folder):
            return self._play(members, LeaguePlay(members, budget, self._watch))

    def _play(self, members: Members, league: LeaguePlay) -> int:
        while True:
            request = league_request(
                members, self._bots, self._options, self._sandbox_for, self._say
            )
            with playing(
                self._folder, request, self._conduct, lambda session: headline(session, members)
            ) as (play, self._progress):
                play.runner.play(league.source(play.session))
            self._progress = None
            show_troubles(play.runner, self._folder)
            if play.runner.stop_level:
                return INTERRUPTED
            if play.runner.voided:
                return FAILED
            self._compare(members)
            if league.is_over:
                return DONE
            if not league.placed and not league.has_newcomers(play.session):
                raise RunError(
                    f"expected {request.config.players} bots that play in {self._folder}, got"
                    f" {len(league.rivals())}",
                    "submit some, or make members candidates again: 'arena league candidate BOT'",
                )

    def _compare(self, members: Members) -> None:
        """Compares who has been placed with the version before it."""
        text = "asking who has been placed, and the version before it, for the same moves"
        with said_when_slow(text, quiet=self._conduct.quiet):
            self._changing.compare(members.league, self._conduct.place.jobs)

    def end(self, *, is_shown: bool = True) -> None:
        """Writes the standings, and prints them if wanted."""
        # Pandas: --help and the playing do without.
        from arena.cli.tables import conclude_league  # noqa: PLC0415

        conclude_league(self._folder, is_shown=is_shown)

    def _sandbox_for(self, *bots: Bot) -> Sandbox:
        """The sandbox in which a newcomer is built, and in which versions are compared; what they
        are allowed is said when they play.
        """
        choice = self._conduct.choice._replace(tell=lambda _: None)
        return choice.sandbox_for(bots, self._folder)

    def _say(self, text: str) -> None:
        if self._progress:
            self._progress.say(text)
        else:
            say(text)

    def _watch(self, found: LeagueLook) -> None:
        if self._progress:
            self._progress.figures["to place"] = str(found.placing)
            self._progress.expect(found.games)
            self._log(self._progress, found)

    def _log(self, progress: Progress, found: LeagueLook) -> None:
        """Says now and then how it goes where no bar shows it, as in the log of a workflow."""
        if progress.columns or time.monotonic() - self._said_s < LOG_S:
            return
        self._said_s = time.monotonic()
        widest = f", the widest interval is +/- {found.widest:.0f} Elo"
        progress.say(
            f"{counted(found.games, 'game')} drawn, {found.placing} to place"
            + (widest if isfinite(found.widest) else "")
        )


def note_few_benchmarks(members: Members) -> None:
    """Says so when newcomers meet hardly anybody who holds the scale."""
    found = members.league.with_status("benchmark")
    if len(found) < FEWEST_BENCHMARKS:
        say(
            f"note: the league has {counted(len(found), 'benchmark')}: a newcomer is placed faster"
            " between benchmarks on both sides of it; 'arena league benchmark BOT' makes one"
        )


def headline(session: Session, members: Members) -> str:
    """What a session of a league plays."""
    found = members.league
    playing = found.with_status("candidate", "benchmark")
    return (
        f"a league of {counted(len(found.members), 'member')}, {len(playing)} playing, on"
        f" {', '.join(session.config.boards)}"
    )
