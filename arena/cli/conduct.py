"""Where and how games are played, none of which changes a result: the options that say so, and how
commands open a run for playing, end it by Ctrl-C, and say what went wrong in it.
"""

import logging
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self

import click

from arena.cli import DONE, FAILED, INTERRUPTED
from arena.cli.main import show_error
from arena.cli.options import jobs_option, one_argument, split_bot_names
from arena.cli.progress import Progress, plan_text
from arena.cli.terminal import said_when_slow, say
from arena.commands.bots import results_path
from arena.commands.home import results_folder, watched_at
from arena.commands.playing import Play, SandboxChoice, broken_error, open_run, unplayed_error
from arena.errors import ConfigError, printable
from arena.players.sandbox.tiers import Mode
from arena.records.journal import unplayed_text
from arena.records.runfile import MOST_EVIDENCE
from arena.tournament.runner import Runner
from arena.tournament.runs import Request
from arena.tournament.session import Place
from arena.tournament.settings import Asked, OwnConfig, read_own_config

AT_ONCE = 2
"""The stop level of a second Ctrl-C."""
END_S = 1.5
"""After that, the command ends within this time; most often it needs a fifth of it."""
GETTING_READY = "getting ready: the games played so far, the line-ups, the bots' files and builds"
FULL = (
    f"note: the evidence of faults has reached {MOST_EVIDENCE >> 20} MiB: of later faults only the"
    " records tell"
)


class Conduct(NamedTuple):
    """How games are played: where, in which sandbox, and how much is said; ``adopt`` continues a
    run that was made elsewhere.
    """

    place: Place
    choice: SandboxChoice
    adopt: bool = False
    verbose: bool = False
    quiet: bool = False

    @property
    def log_level(self) -> int:
        """What a run's log keeps."""
        return logging.WARNING if self.quiet else logging.DEBUG if self.verbose else logging.INFO

    def fair(self, options: Asked) -> Asked:
        """The options of a run or league; among strangers with a deck for each game. Raises
        ConfigError.
        """
        if (self.choice.mode or read_own_config().sandbox) != "strangers":
            return options
        if options.get("seatings", "single") != "single":
            raise ConfigError(
                f"expected --seatings single among strangers, got {options['seatings']}",
                "leave out --seatings: bots of one author could tell each other of a deal",
            )
        return {**options, "seatings": "single"}

    def with_defaults(self, config: OwnConfig) -> Self:
        """The same with a configuration file's values where nothing was said."""
        place = self.place.with_defaults(config)
        return self._replace(place=place, choice=self.choice.with_default(config.sandbox))


def _choice(
    sandbox: Mode | None,
    trust: Sequence[str] | None,
    allow: tuple[str, ...],
    unsafe_no_sandbox: bool,  # noqa: FBT001 - an option
    strangers: bool,  # noqa: FBT001 - an option
) -> SandboxChoice:
    home = click.get_current_context().obj
    if strangers and (sandbox or trust or unsafe_no_sandbox):
        raise ConfigError(
            "expected --strangers without --sandbox, --trust and --unsafe-no-sandbox, got both",
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
        help="The sandbox for bots; see 'arena doctor'.  [default: auto]",
    ),
    click.option(
        "--allow",
        multiple=True,
        metavar="BOT=GRANT,...",
        help="Let one bot use more: network, env:NAME, read:PATH, gpu or cpus:N. Repeat it for"
        " others.",
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
        help="Play bots of strangers: in bubblewrap, with processor time counted by the kernel, or"
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
    """Opens a run for playing, with its log, its progress and its answers to signals; the
    ``headline`` says what is played, by default what its settings say.
    """
    opened = open_run(
        folder,
        request,
        conduct.place,
        conduct.choice.sandbox_for(request.bots, folder),
        say,
        log_level=conduct.log_level,
        adopt=conduct.adopt,
        opening=said_when_slow(GETTING_READY, quiet=conduct.quiet),
    )
    with opened as run:
        told = {"quiet": conduct.quiet, "verbose": conduct.verbose}
        progress = Progress(run.session, run.workers, headline or plan_text(run.session), **told)
        play = run.play(progress.show)
        with stop_on_signals(play.runner), progress:
            if address := watched_at(click.get_current_context().obj, folder):
                progress.say(f"watch it at {address}")
            yield play, progress


def run_path(
    home: Path, options: Asked, request: Request, *, finished: bool = False, prefix: str = ""
) -> Path:
    """The folder to play in, see `results_path`."""
    results, out = results_folder(home), options.get("out")
    text = f"looking for an unfinished run like this one in {results}; --out NAME does without"
    with said_when_slow(text, quiet=out is not None):
        return results_path(results, out, request, say, finished=finished, prefix=prefix)


def status_of(runner: Runner, folder: Path, *, is_settled: bool) -> int | None:
    """Says what went wrong in a session; returns the exit status, DONE where the question is
    settled, None where only more games would settle it.
    """
    unplayed = unplayed_text(folder)
    show_troubles(runner, folder, unplayed)
    if (unplayed or runner.broken) and not runner.stop_level:
        return FAILED
    if is_settled or runner.voided:
        return DONE if is_settled else FAILED
    if runner.stop_level:
        say(f"interrupted: repeat the same command to continue in {folder}")
    return INTERRUPTED if runner.stop_level else None


def show_troubles(runner: Runner, folder: Path, unplayed: str = "") -> None:
    """Lists the games that could not be played and the bots that play no more, and says so when no
    game was decided by play, see `unplayed_text`, and when there was no more room for the evidence
    of faults.
    """
    for broken in runner.broken:
        show_error(broken_error(broken, folder))
    if unplayed and runner.broken:
        say(f"no game was decided by play: {printable(unplayed)}")
    elif unplayed:
        show_error(unplayed_error(unplayed))
    for voided in runner.voided:
        why = f"{printable(voided.reason)}; see {folder / 'logs'}"
        say(f"error: {voided.game} could not be played: {why}")
    if runner.faults.is_full:
        say(FULL)


@contextmanager
def stop_on_signals(runner: Runner) -> Iterator[None]:
    """The first Ctrl-C, SIGTERM or SIGHUP lets running games finish, the second kills them, and
    soon this process. Under nohup, SIGHUP stays ignored.
    """

    def end_at_once() -> None:
        say("\ninterrupted: repeat the same command to go on")
        os._exit(INTERRUPTED)

    # Whatever this process is doing, such as rating games: what was played is on disk, and workers
    # and bots end with it.
    end = threading.Timer(END_S, end_at_once)
    end.daemon = True

    def stop(*_: object) -> None:
        runner.request_stop()
        if runner.stop_level == AT_ONCE:
            end.start()

    heard = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        heard.append(signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
