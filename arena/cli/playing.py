"""Parts shared by the commands that play a run."""

import logging
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from arena.errors import printable

if TYPE_CHECKING:
    from arena.players.folder import Bot
    from arena.rules.boards import Board
    from arena.tournament.runner import Runner
    from arena.tournament.session import Session

SLOW_S = 1.0
"""What takes longer is announced."""
GETTING_READY = "getting ready: the games played so far, the line-ups, the bots' files and builds"
LOG_LEVELS = {-1: logging.WARNING, 0: logging.INFO, 1: logging.DEBUG}


def log_level(verbose: int, *, quiet: bool) -> int:
    """The lowest level of messages that a run's log keeps."""
    return LOG_LEVELS[-1 if quiet else min(verbose, 1)]


def check_all_programs(bots: "list[Bot]") -> "list[Bot]":
    """The bots, after checking that the programs to build and start each exist. Raises
    BotFolderError.
    """
    from arena.players.builtin import is_built_in
    from arena.players.staging import check_programs

    for bot in bots:
        if not is_built_in(bot):
            check_programs(bot)
    return bots


def warn_about_times(bots: "Sequence[Bot]", settings: Mapping[str, Any]) -> None:
    """Warns about bots that get less time than they were made for."""
    for bot in bots:
        for key, default in (("move_ms", 1000), ("startup_ms", 10_000)):
            needed, given = getattr(bot.manifest, key), settings.get(key, default)
            if needed is not None and needed > given:
                click.echo(
                    f"warning: {bot.label} was made for at least {needed} ms ({key}), and gets"
                    f" {given}",
                    err=True,
                )


def results_path(
    results: Path,
    out: str | None,
    settings: Mapping[str, Any],
    boards: "Mapping[str, Board]",
    bots: "Sequence[Bot]",
    *,
    finished: bool = False,
) -> Path:
    """The folder of the run that ``--out`` names, or else the one that `session.choose_folder`
    chooses.
    """
    from arena.tournament.session import choose_folder

    if out is not None:
        return Path(out) if "/" in out else results / out
    with said_when_slow(
        f"looking for an unfinished run like this one in {results}; --out NAME does without"
    ):
        choice = choose_folder(results, settings, boards, bots, finished=finished)
    if choice.passed_over:
        name, folder = quote(choice.passed_over.name), quote(str(choice.passed_over))
        note = (
            f"note: {name} is unfinished: 'arena run --finish {name}' plays the rest, 'rm -r"
            f" {folder}' deletes it"
        )
        click.echo(printable(note), err=True)
    return choice.folder


def show_voided(runner: "Runner", folder: Path) -> None:
    """Lists the games that could not be played."""
    for voided in runner.voided:
        click.echo(
            f"error: {voided.game} could not be played: {printable(voided.reason)}; see"
            f" {folder / 'logs'}",
            err=True,
        )


def note_short_evidence(runner: "Runner") -> None:
    """Says so when there was no more room for the evidence of faults."""
    from arena.records.evidence import FULL_BYTES, MOST_BYTES

    if runner.faults.is_short:
        click.echo(
            f"note: the evidence of faults has reached {FULL_BYTES >> 20} MiB: later faults are"
            f" kept in short, and beyond {MOST_BYTES >> 20} MiB in their records only",
            err=True,
        )


def warn_unmarked(session: "Session") -> None:
    """Warns of a run that will look like one from elsewhere."""
    if session.unmarked:
        click.echo(
            "warning: going on with this run will need --adopt, since no key of yours marks it:"
            f" {session.unmarked}",
            err=True,
        )


@contextmanager
def said_when_slow(text: str, *, quiet: bool = False) -> Iterator[None]:
    """Says on stderr what is being done, if it takes over a second."""
    timer = threading.Timer(SLOW_S, click.echo, (f"{printable(text)} ...",), {"err": True})
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
def stop_on_signals(runner: "Runner") -> Iterator[None]:
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
