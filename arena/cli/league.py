"""arena league: a run without a fixed end, in which every version of a bot is rated."""

import sys
import time
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import click

from arena.cli import DONE, FAILED, INTERRUPTED
from arena.cli.completion import complete_bots, complete_runs
from arena.cli.mistakes import NoCommandError
from arena.cli.numbers import Number, WholeNumber
from arena.cli.options import (
    OutputOptions,
    as_json,
    check_utf8,
    one_argument,
    output_option,
    setting_options,
    split_bot_names,
    tell_json,
)
from arena.cli.progress import Progress
from arena.cli.run import Conduct, conduct_options, playing, show_troubles
from arena.cli.sections import SectionedCommand
from arena.cli.signals import AT_ONCE
from arena.cli.tables import show_history, show_place, write_and_show_standings
from arena.cli.terminal import columns_of, say
from arena.commands.home import results_folder
from arena.commands.league import Budget, LeagueLook, LeaguePlay
from arena.commands.members import (
    REGRESSION_GAMES,
    Members,
    is_now,
    league_folder,
    league_request,
    leagues_in,
    members_of,
    user_name,
)
from arena.commands.playing import SandboxChoice
from arena.errors import RunError, counted
from arena.exports.grid import columns_text
from arena.players.folder import Bot
from arena.players.sandbox.tiers import Sandbox
from arena.records.league import Status, read_league, versions_before
from arena.records.regular import BusyError, lock_run
from arena.tournament.pools import Place
from arena.tournament.run import Run
from arena.tournament.settings import GivenOptions

LOG_S, WAIT_S = 60.0, 1.0
OF_A_MEMBER = """

BOT is a member such as my-bot@2, or a bot's name for its newest version in the league. A league
that is being played takes it up within seconds.
"""
"""The end of the help of commands that change a member's status."""


class RegressionOptions(NamedTuple):
    """After how many accepted versions of a bot a league plays a regression test
    (``regression_every``, 0 for never), and over how many games (``regression_games``). None leaves
    the number as it is.
    """

    regression_every: int | None = None
    regression_games: int | None = None


UNCHANGED = RegressionOptions()
"""Leaves the league's rule for regression tests as it is."""

league_option = click.option(
    "--league", "name", metavar="NAME", help="Which league.  [default: the newest one]"
)


class LeagueCommands(click.Group):
    """The group of the commands of ``arena league``. If the user types the name of a league in
    place of a command, the error says what to type.
    """

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command called ``cmd_name``. For an unknown name, raises NoCommandError with a hint;
        but returns None while click parses without errors (``resilient_parsing``), as when a shell
        completes a line.
        """
        command = super().get_command(ctx, cmd_name)
        if command is None and not ctx.resilient_parsing:
            error = NoCommandError(cmd_name, self.commands, ctx)
            if cmd_name in {folder.name for folder in leagues_in(ctx.obj)}:
                error.hint = f"'arena league run {cmd_name}' plays that league"
            raise error
        return command


@click.group(cls=LeagueCommands, invoke_without_command=True)
@as_json
@click.pass_context
def league(context: click.Context, /, *, as_json: bool) -> None:
    """Keep a league that every version joins. A league is a run without a fixed end: every version
    you submit is placed against benchmarks near its strength, and keeps its rating.

    Without a command, this lists the leagues in results/.

    \b
    arena league run ladder --games 2000
    arena league history my-bot
    arena league retire my-bot@1
    """  # noqa: D301 - \b is click's mark for lines to keep
    if context.invoked_subcommand is None:
        _list(context.obj, as_json=as_json)


def _list(home: Path, *, as_json: bool) -> None:
    """Prints the leagues of a home."""
    rows: list[dict[str, Any]] = []
    for folder in leagues_in(home):
        try:
            found = read_league(folder)
        except RunError as error:
            say(f"warning: {error}")
            continue
        waiting = [member for member in found.members.values() if member.is_waiting]
        rows.append(
            {
                "league": folder.name,
                "members": len(found.members),
                "benchmarks": len(found.with_status("benchmark")),
                "candidates": len(found.with_status("candidate")),
                "waiting": len(waiting),
                "deals": found.deals,
            }
        )
    if as_json:
        tell_json(rows)
    elif not rows:
        say(f"no leagues in {results_folder(home)}: start one with 'arena league run NAME'")
    else:
        cells = [tuple(map(str, row.values())) for row in rows]
        heads = [name.capitalize() for name in rows[0]]
        click.echo(columns_text(heads, cells, width=columns_of(sys.stdout), names=("League",)))


@league.command()
@click.argument("bot", required=False, metavar="[BOT]", shell_complete=complete_bots)
@league_option
@output_option("it")
@click.pass_obj
def history(home: Path, /, bot: str | None, name: str | None, *, output: OutputOptions) -> None:
    """Show what every version gained. Each has its rating on the league's scale, with its 95 %
    interval, and what it gained over the version before it.

    BOT is a bot, for all of its versions, or one version.

    \b
    arena league history
    arena league history my-bot
    arena league history --csv - | column -s, -t
    """  # noqa: D301 - \b is click's mark for lines to keep
    output.check()
    show_history(Run(league_folder(home, name)), bot, output)


@league.command("run", cls=SectionedCommand)
@click.argument("name", shell_complete=complete_runs)
@click.argument("bots", nargs=-1, metavar="[BOT]...", shell_complete=complete_bots)
@click.option(
    "--benchmarks",
    callback=split_bot_names,
    metavar="BOT,...",
    help="The bots that fix the scale of a new league.  [default: the ladder]",
)
@one_argument(
    "budget",
    Budget,
    click.option(
        "--games",
        type=WholeNumber(1),
        help="Stop after so many more games, or a few more: a draw is played to its end.",
    ),
    click.option("--hours", type=Number(0, min_open=True), help="Stop after so many hours."),
    click.option(
        "--until",
        type=Number(0, min_open=True),
        metavar="ELO",
        help="Stop once the interval of everybody who plays is at most this to either side.",
    ),
)
@one_argument(
    "regression",
    RegressionOptions,
    click.option(
        "--regression-every",
        type=WholeNumber(0),
        metavar="K",
        help="After every K accepted versions of a bot, play the newest against the one K back; 0"
        " stops that. Kept in the league.  [default: 0]",
    ),
    click.option(
        "--regression-games",
        type=WholeNumber(1),
        help=f"Games of such a test. Kept in the league.  [default: {REGRESSION_GAMES}]",
    ),
)
@setting_options("league")
@conduct_options
@click.pass_obj
def run(
    home: Path,
    /,
    name: str,
    bots: tuple[str, ...],
    benchmarks: list[str] | None,
    options: GivenOptions,
    *,
    budget: Budget,
    regression: RegressionOptions,
    conduct: Conduct,
) -> int:
    """Play a league until you stop it.

    NAME is its folder in results/. Every version of the bots that you name, or of all in bots/,
    is a member, as NAME@VERSION. A version that you submit while the league plays joins it within
    seconds.

    A newcomer is a candidate. It first plays benchmarks near its strength until its rating is known
    to 50 Elo, then its neighbours in the ranking and the version before it. The first benchmarks
    fix the scale: the mean of their ratings stays as it is. A candidate that forfeits all of its
    first games is set aside.

    Every draw is on fresh deals. Repeat the command to continue after an interruption, with a new
    --games or --hours if you like.

    \b
    arena league run ladder
    arena league run ladder --hours 8 --move-ms 100
    arena league run mine my-bot --benchmarks greedy,careful-4,careful --games 2000
    """  # noqa: D301 - \b is click's mark for lines to keep
    folder = Path(name) if "/" in name else results_folder(home) / name
    league_runner = LeagueRunner(home, folder, bots, conduct.fair(options), conduct)
    try:
        ended = league_runner.play(benchmarks, budget, regression)
    except BusyError as error:
        error.hint = f"it goes on there: 'arena league history --league {folder.name}' shows it"
        raise
    league_runner.end()
    if ended == INTERRUPTED:
        say(f"interrupted: repeat the same command to go on in {folder}")
    return ended


def _status_command(name: str, status: Status, help_text: str) -> None:
    """Adds the command ``name`` to ``arena league``: it gives members this ``status``."""

    @league.command(name, help=help_text)
    @click.argument("bots", nargs=-1, required=True, metavar="BOT...", shell_complete=complete_bots)
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


_status_command(
    "candidate",
    "candidate",
    "Let members play as candidates. They may have been set aside or retired." + OF_A_MEMBER,
)
_status_command(
    "benchmark",
    "benchmark",
    "Make members benchmarks: candidates play against them first. In a league that has no scale"
    " yet, they also fix the scale." + OF_A_MEMBER,
)
_status_command(
    "retire",
    "retired",
    "Draw no more games for members. They stay rated. A benchmark that fixes the scale still does"
    " so after it retires, by the games that it has." + OF_A_MEMBER,
)


class LeagueRunner:
    """Plays a league for one command, in as many sessions as that takes. ``folder`` is that of the
    league, and ``bots`` are those that the user named.
    """

    def __init__(
        self,
        home: Path,
        folder: Path,
        bots: tuple[str, ...],
        options: GivenOptions,
        conduct: Conduct,
    ) -> None:
        self._home = home
        self._folder = folder
        self._bots = bots
        self._options = options
        self._conduct = conduct
        self._progress: Progress | None = None
        self._is_cut_off = False
        self._said_s = time.monotonic()

    def play(
        self,
        benchmarks: list[str] | None,
        budget: Budget,
        regression: RegressionOptions = UNCHANGED,
    ) -> int:
        """Plays until the budget is used up or the user stops; returns the exit status: DONE,
        INTERRUPTED, or FAILED if games could not be played. ``benchmarks`` are those that the user
        named for a new league, None without any. ``regression`` changes the league's rule for
        regression tests. Raises UserError; it is a BusyError if another arena plays the league.
        """
        members = members_of(self._home, self._folder, self._bots, benchmarks, self._say)
        members.set_regression_rule(*regression)
        league = LeaguePlay(members, budget, self._watch)
        # Between two sessions the journal is closed: an arena that waits could take it.
        with lock_run(self._folder):
            while (status := self._play(members, league)) is None:
                pass
        return status

    def _play(self, members: Members, league: LeaguePlay) -> int | None:
        """Plays one session. Returns the exit status if no other session is needed, else None: a
        bot has joined that needs a new session.
        """
        request = league_request(members, self._bots, self._options, self._sandbox_for, self._say)
        joined = members.league
        headline = (
            f"a league of {counted(len(joined.members), 'member')},"
            f" {len(joined.with_status('candidate', 'benchmark'))} playing, on"
            f" {', '.join(request.config.boards)}"
        )
        with playing(self._folder, request, self._conduct, headline) as opened:
            play, progress = opened
            # With --quiet, the display prints nothing; but this is printed.
            self._progress = progress if progress.has_bar else None
            for label, error in play.session.left_out.items():
                members.set_aside(label, error)
            self._progress = progress
            play.runner.play(league.source(play.session, request.bots))
        self._progress = None
        show_troubles(play.runner, self._folder, progress=progress)
        if play.runner.stop_level:
            self._is_cut_off = play.runner.stop_level >= AT_ONCE
            return INTERRUPTED
        if play.runner.voided:
            return FAILED
        if league.is_over:
            return DONE
        if not league.has_newcomers(play.session):
            raise RunError(
                f"the league in {self._folder} has too few bots that play:"
                f" {len(league.rivals())} of {request.config.players}",
                "submit more bots, or make members candidates again: 'arena league candidate BOT'",
            )
        return None

    def end(self, *, is_shown: bool = True) -> None:
        """Writes the standings, and prints them if ``is_shown``. Does nothing after a second
        Ctrl-C.
        """
        if self._is_cut_off:
            return
        write_and_show_standings(Run(self._folder), OutputOptions() if is_shown else None)

    def _sandbox_for(self, bot: Bot) -> Sandbox:
        """The sandbox in which a new member is built. The user is not told about its grants until
        it plays.
        """
        choice = self._conduct.choice._replace(tell=lambda _: None)
        return choice.sandbox_for([bot], self._folder)

    def _say(self, text: str) -> None:
        """Prints a sentence to stderr, above the bar if there is one."""
        (self._progress.say if self._progress else say)(text)

    def _watch(self, look: LeagueLook) -> None:
        """Shows the result of a computation of the ratings: as figures after the bar or, if there
        is no bar, at most once in `LOG_S` seconds as a line.
        """
        progress = self._progress
        assert progress is not None, "a session"
        progress.figure("to place", str(look.placing))
        progress.expect(look.games)
        if progress.has_bar or time.monotonic() - self._said_s < LOG_S:
            return
        self._said_s = time.monotonic()
        widest = f", the widest interval is +/- {look.widest:.0f} Elo"
        progress.say(
            f"{counted(look.games, 'game')} drawn, {look.placing} to place"
            + (widest if isfinite(look.widest) else "")
        )


def find_place(
    home: Path, folder: Path, label: str, choice: SandboxChoice, games: int | None
) -> int:
    """Plays the league in ``folder`` until the member ``label`` is placed. With ``games``, then
    plays this many more games between the member and the version before it. If another arena plays
    the league, only waits until that arena has placed the member. Prints the member's place, and
    returns the exit status.
    """
    league_runner = LeagueRunner(home, folder, (label,), {}, Conduct(Place(), choice))
    is_said = False
    while True:
        try:
            ended = league_runner.play(None, Budget(placing=label))
            if ended == INTERRUPTED:
                say(f"interrupted: 'arena league run {folder.name}' goes on placing {label}")
            elif ended == DONE and games and (before := _rival(folder, label)):
                ended = league_runner.play(None, Budget(games=games, between=(before, label)))
            if ended != DONE:
                return ended
            league_runner.end(is_shown=False)
            break
        except BusyError:
            if not is_said:
                say(f"another arena plays {folder}: waiting until it has placed {label}")
            is_said = True
            time.sleep(WAIT_S)
            if not read_league(folder).members[label].is_waiting:
                break
    return show_place(folder, read_league(folder).members[label])


def _rival(folder: Path, label: str) -> str:
    """The label of the version before ``label``. Empty if there is none, or if no games can be
    drawn between the two; the user is told if that is because of the older one's status.
    """
    members = read_league(folder).members
    before = versions_before(members).get(label, "")
    if before and not members[before].plays:
        say(f"note: {before} is {is_now(members[before].status)}, so the two do not meet")
        return ""
    return before if members[label].plays else ""
