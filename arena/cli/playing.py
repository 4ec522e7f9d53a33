"""Parts shared by the commands that play a run."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from arena.cli.place import Conduct
from arena.cli.progress import Progress, plan_text
from arena.cli.terminal import say
from arena.commands.folders import results_folder
from arena.commands.playing import Play, open_run
from arena.commands.request import results_path
from arena.commands.serving import watched_at
from arena.errors import counted, printable
from arena.records.evidence import FULL_BYTES, MOST_BYTES
from arena.tournament.request import Request, RunOptions
from arena.tournament.runner import Runner
from arena.tournament.session import Session

SLOW_S = 1.0
"""What takes longer is announced."""
GETTING_READY = "getting ready: the games played so far, the line-ups, the bots' files and builds"
FEW_DEALS = (
    "note: a deal is played in one place at a time: more --deals, or --seatings single, keep all {}"
    " busy"
)


@contextmanager
def playing(
    folder: Path, request: Request, conduct: Conduct, headline: Callable[[Session], str] = plan_text
) -> Iterator[tuple[Play, Progress]]:
    """Opens a run for playing, with its log, its progress and its answers to signals."""
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
        session, workers = run.session, run.workers
        progress = Progress(session, workers, quiet=conduct.quiet, headline=headline(session))
        play = run.play(progress.show)
        with stop_on_signals(play.runner), progress:
            if address := watched_at(click.get_current_context().obj, folder):
                progress.say(f"watch it at {address}")
            if session.schedule.most_places < workers.places:
                progress.say(FEW_DEALS.format(counted(workers.places, "worker")))
            yield play, progress


def show_troubles(runner: Runner, folder: Path) -> None:
    """Lists the games that could not be played, and says so when there was no more room for the
    evidence of faults.
    """
    for voided in runner.voided:
        say(
            f"error: {voided.game} could not be played: {printable(voided.reason)}; see"
            f" {folder / 'logs'}"
        )
    if runner.faults.is_short:
        say(
            f"note: the evidence of faults has reached {FULL_BYTES >> 20} MiB: later faults are"
            f" kept in short, and beyond {MOST_BYTES >> 20} MiB in their records only"
        )


def run_path(
    home: Path, options: RunOptions, request: Request, *, finished: bool = False, prefix: str = ""
) -> Path:
    """The folder to play in, see `results_path`."""
    results = results_folder(home)
    with said_when_slow(
        f"looking for an unfinished run like this one in {results}; --out NAME does without",
        quiet=options.out is not None,
    ):
        return results_path(results, options.out, request, say, finished=finished, prefix=prefix)


@contextmanager
def said_when_slow(text: str, *, quiet: bool = False) -> Iterator[None]:
    """Says on stderr what is being done, if it takes over a second."""
    timer = threading.Timer(SLOW_S, say, (f"{printable(text)} ...",))
    timer.daemon = True
    if not quiet:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


class TooLongError(Exception):
    """A block took longer than it may."""


@contextmanager
def at_most(seconds: float | None) -> Iterator[None]:
    """Raises TooLongError in the block once it has taken so long, None for any time; for the main
    thread.
    """

    def end(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds or 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def stop_on_signals(runner: Runner) -> Iterator[None]:
    """The first Ctrl-C, SIGTERM or SIGHUP lets running games finish, the second kills them. Under
    nohup, SIGHUP stays ignored.
    """
    hangs_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    heard = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hangs_up else [])]
    before = {number: signal.signal(number, lambda *_: runner.request_stop()) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
