"""arena run, and what it shares with other commands that play games: the options for where and how
they are played, none of which changes a result; opening a run, and ending it by Ctrl-C; and
messages about what went wrong.
"""

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import isfinite
from pathlib import Path
from typing import NamedTuple, Self

import click

from arena.cli import DONE, FAILED, INTERRUPTED
from arena.cli.completion import complete_bots, complete_runs
from arena.cli.main import show_error
from arena.cli.options import (
    OutputOptions,
    as_json,
    jobs_option,
    one_argument,
    prior_option,
    setting_options,
    split_bot_names,
)
from arena.cli.progress import Progress, plan_text
from arena.cli.sections import SectionedCommand
from arena.cli.signals import AT_ONCE, stop_on_signals
from arena.cli.tables import write_and_show_standings
from arena.cli.terminal import announced_if_slow, say
from arena.commands.home import results_folder
from arena.commands.playing import (
    Play,
    SandboxChoice,
    Standing,
    broken_error,
    open_run,
    unplayed_error,
)
from arena.commands.requests import request_run, results_path
from arena.commands.runs import named_run
from arena.commands.serving import watched_at
from arena.errors import ConfigError, UserError, printable
from arena.players.sandbox.tiers import Mode
from arena.records.config import RunConfig
from arena.records.evidence import FAULTS, MAX_EVIDENCE
from arena.records.journal import forfeits_text, unplayed_text
from arena.tournament.pools import Place
from arena.tournament.run import Run
from arena.tournament.runner import Runner
from arena.tournament.runs import Request, tournament_request
from arena.tournament.settings import GivenOptions, OwnConfig, read_options, read_own_config

GETTING_READY = "getting ready: the games played so far, the line-ups, the bots' files and builds"
"""Printed if opening a run takes long."""
FULL = (
    f"note: the evidence of faults has reached {MAX_EVIDENCE >> 20} MiB: of later faults only the"
    " records tell"
)
"""Printed if the evidence of faults has reached its limit."""
QUICK_GAMES = 50_000
"""If a user stops a run with more games than this, no ratings are computed, because that takes some
seconds.
"""
A_MINUTE_S = 60
"""The length in seconds of the shorter run that is suggested in place of a long one."""


class Conduct(NamedTuple):
    """How games are played: on which workers (``place``), with which options for the sandbox
    (``choice``), and how much is printed and logged (``verbose``, ``quiet``). ``adopt`` continues a
    run that another user or machine made.
    """

    place: Place
    choice: SandboxChoice
    adopt: bool = False
    verbose: bool = False
    quiet: bool = False

    @property
    def log_level(self) -> int:
        """The lowest level of records that are written to a run's log."""
        return logging.WARNING if self.quiet else logging.DEBUG if self.verbose else logging.INFO

    def fair(self, options: GivenOptions) -> GivenOptions:
        """The options of a run or league. If the bots are untrusted (--strangers, or the user's own
        configuration), each game gets a deck of its own, so seatings are single. Raises ConfigError
        if the options ask for other seatings.
        """
        if (self.choice.mode or read_own_config().sandbox) != "strangers":
            return options
        if options.get("seatings", "single") != "single":
            raise ConfigError(
                f"--strangers allows only --seatings single, not {options['seatings']}",
                "leave out --seatings: bots of one author could share what they saw of a deal that"
                " is repeated",
            )
        return {**options, "seatings": "single"}

    def with_defaults(self, config: OwnConfig) -> Self:
        """A copy in which ``config``, the content of a configuration file, fills in what the user
        did not give.
        """
        place = self.place.with_defaults(config)
        return self._replace(place=place, choice=self.choice.with_default(config.sandbox))


def _choice(
    sandbox: Mode | None,
    trust: Sequence[str] | None,
    allow: tuple[str, ...],
    unsafe_no_sandbox: bool,  # noqa: FBT001 - an option
    strangers: bool,  # noqa: FBT001 - an option
) -> SandboxChoice:
    """The options for the sandbox as one value, with the home of the command. Raises ConfigError if
    they contradict each other.
    """
    home = click.get_current_context().obj
    if strangers and (sandbox or trust or unsafe_no_sandbox):
        raise ConfigError(
            "--strangers cannot be combined with --sandbox, --trust or --unsafe-no-sandbox",
            "--strangers requires the best sandbox",
        )
    sandbox = "strangers" if strangers else sandbox
    return SandboxChoice(sandbox, tuple(trust or ()), unsafe_no_sandbox, allow, home, say, say)


sandbox_options = one_argument(
    "choice",
    _choice,
    click.option(
        "--sandbox",
        type=click.Choice(("auto", "require", "off")),
        help="Play in the best sandbox that works, refuse to play without one, or use none; 'arena"
        " doctor' says what works here.  [default: auto]",
    ),
    click.option(
        "--allow",
        multiple=True,
        metavar="BOT=GRANT,...",
        help="Let one bot use more: network, env:NAME, read:PATH, exec:PATH, gpu or cpus:N. Repeat"
        " it for others.",
    ),
    click.option(
        "--trust",
        callback=split_bot_names,
        metavar="BOT,...",
        help="If no sandbox works, run these bots with your own rights.",
    ),
    click.option(
        "--unsafe-no-sandbox",
        is_flag=True,
        help="If no sandbox works, run all bots with your own rights.",
    ),
    click.option(
        "--strangers",
        is_flag=True,
        help="Play bots of strangers: in bubblewrap, with CPU time counted by the kernel, or"
        " not at all; runs and leagues have a deck for each game.",
    ),
)
conduct_options = one_argument(
    "conduct",
    Conduct,
    click.option(
        "--adopt",
        is_flag=True,
        help="Continue a run that was made elsewhere; its bots are copied again.",
    ),
    click.option(
        "-v",
        "--verbose",
        is_flag=True,
        help="Say more, and log every game, not only faults, in the run's logs/arena.log.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Show no progress, and log only warnings."),
    one_argument(
        "place",
        Place,
        jobs_option,
        click.option(
            "--cluster",
            metavar="ADDRESS|FILE",
            help="Play on the workers of this Dask scheduler (address or file).",
        ),
    ),
    sandbox_options,
)


@contextmanager
def playing(
    folder: Path, request: Request, conduct: Conduct, headline: str = ""
) -> Iterator[tuple[Play, Progress]]:
    """A context manager that opens the run in ``folder`` for playing, with its log, its progress
    display and its signal handlers; yields the session to play and the display. ``headline`` says
    what is played; empty for a text made from the run's settings.
    """
    opened = open_run(
        folder,
        request,
        conduct.place,
        conduct.choice.sandbox_for(request.bots, folder),
        say,
        log_level=conduct.log_level,
        adopt=conduct.adopt,
        opening=announced_if_slow(GETTING_READY, quiet=conduct.quiet),
    )
    with opened as run:
        conduct.choice.advise_a_compiler()
        progress = Progress(
            run.session,
            run.workers,
            headline or plan_text(run.session),
            quiet=conduct.quiet,
            verbose=conduct.verbose,
        )
        play = run.play(progress.show)
        with stop_on_signals(play.runner), progress:
            if address := watched_at(click.get_current_context().obj, folder):
                progress.say(f"watch it at {address}")
            yield play, progress


def run_path(
    home: Path, options: GivenOptions, request: Request, *, finished: bool = False, prefix: str = ""
) -> Path:
    """The folder for the run of a request, see `commands.requests.results_path`; a search that
    takes long is announced.
    """
    results = results_folder(home)
    out = options.get("out")
    text = f"looking for an unfinished run like this one in {results}; --out NAME does without"
    with announced_if_slow(text, quiet=out is not None):
        return results_path(results, out, request, say, finished=finished, prefix=prefix)


def status_of(runner: Runner, folder: Path, progress: Progress, *, is_settled: bool) -> int | None:
    """Prints what went wrong in a session, and returns the exit status. DONE: ``is_settled``, the
    question of the session has an answer. FAILED: a bot was excluded, every game ended by forfeit,
    or games could not be played. INTERRUPTED: the user stopped the session. None: only more games
    would give an answer.
    """
    unplayed = unplayed_text(folder)
    show_troubles(runner, folder, unplayed, progress)
    if (unplayed or runner.broken) and not runner.stop_level:
        return FAILED
    if is_settled or runner.voided:
        return DONE if is_settled else FAILED
    if runner.stop_level:
        say(f"interrupted: repeat the same command to continue in {folder}")
    return INTERRUPTED if runner.stop_level else None


def show_troubles(
    runner: Runner, folder: Path, unplayed: str = "", progress: Progress | None = None
) -> None:
    """Prints, for a session that has ended, the excluded bots, the games that could not be played,
    and whether the evidence of faults has reached its limit. ``unplayed`` is the text for a run in
    which every game ended by forfeit, else empty. A fault that ``progress`` has shown is not shown
    again.
    """
    for broken in runner.broken:
        is_shown = progress is not None and progress.has_shown(broken.bot, broken.fault)
        show_error(broken_error(broken, folder, is_shown=is_shown))
    if unplayed and runner.broken:
        say(f"no game was decided by play: {printable(unplayed)}")
    elif unplayed:
        show_error(unplayed_error(unplayed))
    for voided in runner.voided:
        why = f"{printable(voided.reason)}; see voids.jsonl and logs/ in {folder}"
        say(f"error: {voided.game} could not be played: {why}")
    for cure in dict.fromkeys(voided.cure for voided in runner.voided if voided.cure):
        say(f"hint: {cure}")
    if runner.faults.is_full:
        say(FULL)


@click.command(cls=SectionedCommand)
@click.argument("bots", nargs=-1, metavar="[BOT]...", shell_complete=complete_bots)
@setting_options("run")
@click.option(
    "--config",
    "config_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="An arena.toml with any of these options.",
)
@conduct_options
@click.option(
    "--finish",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Play the rest of this run, with the bots and settings it began with.",
)
@click.option("--yes", is_flag=True, help="Do not ask before playing for over ten minutes.")
@click.option(
    "--strict", is_flag=True, help="End with exit status 1 if a bot forfeited a game of the run."
)
@prior_option
@as_json
@click.pass_obj
def run(  # noqa: PLR0913 - its options
    home: Path,
    /,
    bots: tuple[str, ...],
    options: GivenOptions,
    config_file: Path | None,
    finish: str | None,
    conduct: Conduct,
    *,
    yes: bool,
    strict: bool,
    prior: float | None,
    as_json: bool,
) -> int:
    """Let bots play each other and print the standings.

    BOT is the name of a bot in bots/ or on the ladder, the path of a bot's folder or script, or a
    built-in bot. Without any, all bots in bots/ and on the ladder play. Every line-up plays the
    same deals, each with every seating.

    If you do not say how much to play, with --deals or --until, and the first ten seconds show that
    it takes over ten minutes, you are asked whether to go on. Without a terminal, the run then
    stops; what was played is kept.

    To finish an interrupted run, repeat the command, or use --finish RUN, which plays the bots as
    they were when the run began. To extend a run, name it with --out and add deals or bots.

    With --match bird,lion, the same bots in the same seats play one round on each board, and the
    bot with the fewest pagodas left in total wins. The table counts matches. If you name a board
    twice, it is played with two decks. A bot that forfeits in any round ranks below all bots that
    do not.

    With --seatings single, every game has its own deck, and seats rotate from deal to deal. A bot
    gains nothing from a deal that it met before. Luck averages out more slowly: use more deals.

    With --until, every line-up starts with ten deals. Each time these are played, the ratings are
    computed, and every line-up gets more deals, up to --deals, until every +/- is at most this many
    Elo.

    Built-in bots can play against any others: random, greedy, careful, and greedy-N and careful-N,
    which take the best of N legal moves drawn at random (1 to 1000). These names always mean them:
    a bot in bots/ that has one plays as NAME@VERSION. They need no process, no sandbox and no
    clock. A run of built-in bots only plays hundreds of games a second; with 'random', thousands.
    With --in-process only built-in bots play: random, greedy and careful if you name none.

    \b
    arena run ./my-bot greedy careful
    arena run greedy-python careful-python lookahead-python --deals 5
    arena run greedy-python ./my-bot --boards bird,lion --players 2 --out try-1
    arena run --players 4 --tables 20 --move-ms 100
    arena run --match bird,lion --deals 50
    arena run --until 20
    arena run --cluster tcp://10.0.0.1:8786
    arena run greedy-4 careful-2 careful-16 --deals 100000
    """  # noqa: D301 - \b is click's mark for lines to keep
    if bots:
        options = {**options, "bots": bots}
    if finish is None:
        wanted = _run_to_start(home, options, config_file, conduct)
    elif options or config_file:
        expected = "--finish takes no bots and no settings of the run: the run has its own"
        raise click.UsageError(expected)
    else:
        wanted = _run_to_finish(home, finish, conduct)
    with playing(wanted.folder, wanted.request, wanted.conduct) as (play, progress):
        session = play.session
        if not (yes or wanted.has_length):
            progress.if_long = partial(_ask, play, progress)
        play.runner.play(play.games(partial(_show_look, progress, session.run.config)))
        played = session.run.schedule.played(session.journal.ids)
        is_complete = not session.run.config.is_open and played == session.run.schedule.games
    is_sound = _show_end(play, progress, prior, strict=strict, as_json=as_json)
    if play.runner.stop_level and not progress.doubt:
        return INTERRUPTED
    return DONE if is_complete and is_sound else FAILED


class _WantedRun(NamedTuple):
    """A run to play, and how. ``has_length`` says whether the user chose how much to play; then the
    user is not asked whether that takes too long.
    """

    folder: Path
    request: Request
    conduct: Conduct
    has_length: bool


def _run_to_start(
    home: Path, options: GivenOptions, config_file: Path | None, conduct: Conduct
) -> _WantedRun:
    """The run that these options ask for. ``config_file`` is an arena.toml, whose settings count
    where the command line has none, also in ``conduct``. With the option ``out`` it is the run in
    that folder; else the newest unfinished run with these settings or, if there is none, a new one.
    """
    own = OwnConfig()
    if config_file is not None:
        in_file, own = read_options(config_file)
        options = {**in_file, **options}
    conduct = conduct.with_defaults(own)
    options = conduct.fair(options)
    request = request_run(home, options, say)
    folder = run_path(home, options, request)
    return _WantedRun(folder, request, conduct, has_length="deals" in options or "until" in options)


def _run_to_finish(home: Path, name: str, conduct: Conduct) -> _WantedRun:
    """The interrupted run called ``name``, to be played with the bots and settings that it has."""
    opened = named_run(home, name)
    request = tournament_request(opened)
    conduct.fair({"seatings": request.config.seatings})
    return _WantedRun(opened.folder, request, conduct.with_defaults(OwnConfig()), has_length=True)


def _ask(play: Play, progress: Progress, games: int, seconds: float, text: str) -> None:
    """Asks on a terminal whether a long run may continue; stops the run without a terminal, or if
    the answer is no. ``games`` are left, which take ``seconds``; ``text`` is that time in words.
    """
    if play.runner.stop_level:
        return
    session = play.session
    rest = f"the other {games:,} games take {text}"
    is_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if is_terminal and progress.confirm(f"{rest}: play them?"):
        return
    play.runner.request_stop()
    deals = max(1, int(session.run.config.deals * A_MINUTE_S / seconds))
    progress.doubt = (
        f"stopped: {rest}; 'arena run --finish {session.run.folder.name}' plays them; for a shorter"
        f" run, say how much to play, such as --deals {deals}"
    )


def _show_look(progress: Progress, config: RunConfig, standing: Standing) -> None:
    """Shows how precise the ratings of a run with ``until`` are, after a computation."""
    assert config.until is not None, "a run that plays until its error bars are narrow"
    widest = f"{standing.widest:.1f}" if isfinite(standing.widest) else "open"
    rest = "no deals are left: use more --deals to continue"
    if standing.needed:
        rest = f"about {standing.needed} games to go"
    elif standing.widest <= config.until:
        rest = "done"
    progress.figure("+/-", widest)
    progress.expect(standing.games + standing.needed)
    progress.say(f"{standing.games} games: widest +/- {widest} Elo; {rest}")


def _show_end(
    play: Play, progress: Progress, prior: float | None, *, strict: bool, as_json: bool
) -> bool:
    """Prints the standings and what went wrong in a session. Returns True unless a bot was excluded
    or forfeited all its games, every game ended by forfeit, or, with ``strict``, any game did.
    """
    runner = play.runner
    folder = play.session.run.folder
    unplayed = unplayed_text(folder)
    hopeless = list[str]()
    # A table of a run that has hardly begun says nothing, so only JSON is printed then.
    if runner.stop_level < AT_ONCE and (as_json or not (unplayed or progress.doubt)):
        if runner.stop_level and len(play.session.journal.ids) > QUICK_GAMES:
            say(f"the standings would take longer: 'arena standings {folder.name}' shows them")
        else:
            hopeless = write_and_show_standings(Run(folder), OutputOptions(as_json), prior)
    show_troubles(runner, folder, unplayed, progress)
    broken_bots = {broken.bot for broken in runner.broken}
    for bot in hopeless:
        if unplayed or bot in broken_bots:
            continue
        expected = f"{bot} forfeited every game"
        show_error(UserError(expected, f"'arena check {bot}' shows what is wrong"))
    forfeits = forfeits_text(folder) if strict and not unplayed else ""
    if forfeits:
        looks = "'arena check' looks at a bot, and 'arena doctor' at this machine"
        hint = f"{folder / FAULTS} has the evidence; {looks}"
        show_error(UserError(f"--strict: games were forfeited: {forfeits}", hint))
    name = folder.name if folder.parent.name == "results" else folder
    if progress.doubt:
        say(progress.doubt)
    elif runner.stop_level:
        say(
            f"interrupted: repeat the same command to finish the run in {folder}, or 'arena run"
            f" --finish {folder.name}'"
        )
    elif not unplayed:
        say(f"run {name}: 'arena report {name}' shows it as a page")
    return not (unplayed or forfeits or runner.broken or hopeless)
