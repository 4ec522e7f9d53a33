"""The workers on this machine: what runs in their processes, and the pool that gives them games.

A worker keeps bots alive between games, plays one game at a time, and ends when the main process
does. `arena.tournament.crew` starts its process.
"""

import hashlib
import logging
import multiprocessing
import os
import platform
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from logging.handlers import QueueHandler
from multiprocessing.connection import wait
from multiprocessing.util import Finalize
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from msgspec import Struct

import arena
from arena.errors import UserError, Void
from arena.match.referee import BrokenOff, GamePlan, Outcome, Referee, play_alone
from arena.players.bot import BotPlayer
from arena.players.folder import Bot
from arena.players.labels import timing_for
from arena.players.orphans import expect_only_keepers
from arena.players.player import InProcessPlayer, built_in, built_in_player, is_built_in
from arena.players.sandbox.tiers import Sandbox
from arena.records.timing import Timing
from arena.rules import CORE
from arena.rules.boards import Board
from arena.tournament.batches import Batch, Pace, Result
from arena.tournament.crew import MAIN_HEARS, WORKERS, Crew

log = logging.getLogger(__name__)

ATTEMPTS = 3
"""How often a game is tried that the machine breaks off."""
LONG_S = 5.0
LONG_CPU_S = 2.0
"""After this many seconds, or this much CPU time of a worker and its bots, no further game of a
batch begins.
"""
STARTS_S = 1.0
"""How many seconds of the first game the start of bots may take."""
AHEAD = 2
"""The number of batches handed out per worker, so that none waits for the main process; one if
games are slow.
"""
CODE_DIGITS = 8
PURE = "install a C compiler and reinstall qin-arena where it is pure, or set ARENA_RULES=pure"
CURES = {
    "arena": "install the same version there, then restart the worker",
    "python": "start the worker with the expected one",
    "core": f"{PURE} everywhere",
}
"""What to do about each difference between the versions of two arenas."""


class Setup(Struct, frozen=True):
    """What every worker of a run needs. ``cores`` are the processors to which workers are pinned,
    if any. ``host`` is the machine's name for records, empty if workers elsewhere name theirs. A
    session fills in what is played.
    """

    sandbox: Sandbox
    log_level: int
    cores: list[int] = []
    host: str = ""
    bots: dict[str, Bot] = {}
    boards: dict[str, tuple[str, ...]] = {}
    timing: Timing = Timing()
    in_process: bool = False


SeatedPlayer = tuple[BotPlayer | InProcessPlayer, set[tuple[str, int]]]
"""A player, and the boards and deals that its process has seen."""


class Worker:
    """The state of a worker: its boards, and its bots, some of which have an idle process."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.boards = {name: Board(name, rows) for name, rows in setup.boards.items()}
        self._idle: list[SeatedPlayer] = []
        self._choosers = {
            label: built_in(bot.manifest.name).choose
            for label, bot in setup.bots.items()
            if setup.in_process
        }

    def play(self, plan: GamePlan) -> Outcome:
        """Plays one game. Raises Void, and UserError if the machine is too busy to judge bots
        fairly.
        """
        if self.setup.in_process:
            choosers = [self._choosers[label] for label in plan.bots]
            record = play_alone(plan, self.boards[plan.board], choosers, self.setup.host)
            outcome = Outcome(record, [])
        else:
            outcome = self._play_by_processes(plan)
            record = outcome.record
        for fault in record.faults:
            bot = plan.bots[fault.seat]
            log.info("%s: %s forfeits (%s): %s", plan.id, bot, fault.kind, fault.detail)
        ended = (record.end, record.turns, record.left)
        log.debug("%s: %s after %d placements, left %s", plan.id, *ended)
        return outcome

    def _play_by_processes(self, plan: GamePlan) -> Outcome:
        """Plays a game between bots with processes."""
        players = self.take(plan.bots, plan.board, plan.deal)
        referee = None
        try:
            timings = [timing_for(label, self.setup.timing) for label in plan.bots]
            referee = Referee(plan, self.boards[plan.board], players, timings)
            sandbox = self.setup.sandbox.text(plan.bots)
            outcome = referee.play(sandbox=sandbox, host=self.setup.host)
        except BaseException as error:
            self.stop()
            ours = isinstance(error, Exception) and not isinstance(error, Void | UserError)
            if referee is None or not ours:
                raise
            log.exception("%s is void", plan.id)
            raise BrokenOff(repr(error), so_far=referee.so_far()) from error
        return outcome

    def take(
        self, labels: Sequence[str], board: str, deal: int
    ) -> list[BotPlayer | InProcessPlayer]:
        """A player for each seat. Stops processes of other bots, and those that know the deal,
        because they could remember the hands.
        """
        place = (board, deal)
        taken = list[SeatedPlayer]()
        for label in labels:
            fits = (
                each
                for each in self._idle
                if each[0].name == label and each[0].is_running and place not in each[1]
            )
            taken.append(next(fits, None) or (self._new_player(label), set()))
            self._idle = [each for each in self._idle if each is not taken[-1]]
        self.stop()
        self._idle = taken
        for _, met in taken:
            met.add(place)
        return [player for player, _ in taken]

    def _new_player(self, label: str) -> BotPlayer | InProcessPlayer:
        """A new player for the bot with this label."""
        bot = self.setup.bots[label]
        timing = self.setup.timing
        if is_built_in(bot):
            return built_in_player(bot)
        log.debug("a process of %s starts", label)
        return BotPlayer(bot, timing.startup_ms, self.setup.sandbox, timing.clock)

    def stop(self) -> None:
        """Stops the processes of all bots."""
        for player, _ in self._idle:
            player.stop()
        self._idle.clear()


_worker: Worker | None = None
_stopping: Any = None
_logged = SimpleQueue[logging.LogRecord]()


def start_worker(setup: Setup, log_queue: Any, counter: Any, stopping: Any) -> None:
    """Makes this process, which has no other children, a worker. ``log_queue`` takes its log
    records; without one they come back with its batches. ``counter`` numbers the workers of a pool,
    and ``stopping`` is nonzero once no more games may start.
    """
    global _worker, _stopping  # noqa: PLW0603 - one worker a process
    _stopping = stopping
    _heed_the_parent_only()
    with counter.get_lock():
        number = counter.value
        counter.value += 1
    expect_only_keepers()
    multiprocessing.current_process().name = f"{setup.host.partition(' ')[0]}:{os.getpid()}"
    root = logging.getLogger()
    root.handlers[:] = [QueueHandler(log_queue or _logged)]
    root.setLevel(setup.log_level)
    if setup.cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {setup.cores[number % len(setup.cores)]})
    log.debug("worker %d started as process %d", number, os.getpid())
    _worker = Worker(setup)
    Finalize(None, _worker.stop, exitpriority=100)


def yield_to_games(niceness: int) -> None:
    """Lowers this process's priority so that games come first, and ignores the
    terminal's signals.
    """
    _heed_the_parent_only()
    os.nice(niceness)


def _heed_the_parent_only() -> None:
    """Ignores SIGINT and SIGHUP, and makes this process end with its parent; the keepers then end
    the bots.
    """
    if parent := multiprocessing.parent_process():
        ended = parent.sentinel
        threading.Thread(target=lambda: wait([ended]) and os._exit(1), daemon=True).start()
    for heard in MAIN_HEARS:
        signal.signal(heard, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, MAIN_HEARS)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def this_worker() -> Worker:
    """The worker of this process."""
    assert _worker is not None, "start_worker has run"
    return _worker


def play_batch(plans: Sequence[GamePlan]) -> Batch:
    """Plays games in this worker, one after another, until the run is stopping."""
    batch = play_games(this_worker(), plans, lambda: bool(_stopping.value))
    return batch._replace(logged=[_logged.get() for _ in range(_logged.qsize())])


def play_games(worker: Worker, plans: Sequence[GamePlan], is_stopping: Callable[[], bool]) -> Batch:
    """Plays games one after another; a failure in one does not affect the others.

    The processes of bots end with the batch, because a process could learn elsewhere about a deal
    that it plays later. Once the games take long, the rest of the batch is left for another one,
    because a kill loses all results that were not handed back.
    """
    began = time.monotonic()
    began_cpu_s = time.process_time()
    ended = list[float]()
    results = list[Result | None]()
    thought = cpu_seconds = 0.0
    for plan in plans:
        is_long = ended and (ended[-1] - began > LONG_S or cpu_seconds > LONG_CPU_S)
        if is_long or is_stopping():
            break
        try:
            outcome = worker.play(plan)
            thought += sum(outcome.record.think_ms) / 1000
            results.append(outcome)
        except Void as void:
            results.append(void)
        except UserError as error:
            results.append(error)
            break
        except Exception as error:
            log.exception("%s is void", plan.id)
            results.append(Void(repr(error)))
        ended.append(time.monotonic())
        cpu_seconds = time.process_time() - began_cpu_s
        if not worker.setup.in_process:
            cpu_seconds += thought
    worker.stop()
    # The first game includes the start of bots. With that counted, quick games looked slow after
    # batches of one, so that all further batches had one game too.
    seconds = max(thought, sum(ended) - began - STARTS_S if ended else 0)
    if len(ended) > 1:
        seconds = (ended[-1] - ended[0]) * len(ended) / (len(ended) - 1)
    results += [None] * (len(plans) - len(results))
    return Batch(results, seconds, cpu_seconds)


class LocalPool:
    """Worker processes on this machine; see `runner.Pool`."""

    as_one = True

    def __init__(self, setup: Setup, jobs: int, log_queue: Any = None) -> None:
        self._setup = setup
        self.slots = jobs
        self._log_queue = log_queue
        self._crew: Crew | None = None
        self._started = WORKERS.Value("i", 0)
        self._stopping = WORKERS.Value("b", 0, lock=False)
        self._pending: dict[Future[Batch], None] = {}
        """The batches that are handed out, in this order."""
        self._alone: Future[Batch] | None = None
        self._pace = Pace.of(in_process=setup.in_process)

    def look(self) -> None:
        """Does nothing: a dead worker is noticed by its games."""

    def capacity(self) -> int:
        """The size of the next batch; 0 if enough batches wait, or one has to run alone."""
        self._count_ended()
        started = self._started.value
        # Each batch that no idle worker takes starts another worker, and workers that start all at
        # once keep each other waiting: with 64 of them on two processors the first game came after
        # 13 s.
        most = self.slots * (1 if self._pace.is_slow else AHEAD)
        if started < self.slots:
            most = min(self.slots, started + available_cores())
        is_full = self._alone in self._pending or len(self._pending) >= most
        return 0 if is_full else self._pace.games

    def submit(self, plans: list[GamePlan], *, alone: bool = False) -> Future[Batch] | None:
        """Hands out a batch. Returns None if a worker died: then collect the batches that were
        lost, and call `renew`.
        """
        self._count_ended()
        if alone and self._pending:
            return None
        if self._crew is None:
            self._started = WORKERS.Value("i", 0)
            given = (self._setup, self._log_queue, self._started, self._stopping)
            self._crew = Crew(self.slots, start_worker, given)
        try:
            future: Future[Batch] = self._crew.submit(play_batch, plans)
        except BrokenProcessPool:
            return None
        self._pending[future] = None
        self._alone = future if alone else None
        return future

    def _count_ended(self) -> None:
        """Takes batches that have ended into account. Here and not in a callback, which would run
        in a thread of the executor, beside what goes through the batches here.
        """
        for future in [future for future in self._pending if future.done()]:
            del self._pending[future]
            if not future.cancelled() and future.exception() is None:
                self._pace.add(future.result())

    def renew(self) -> None:
        """Starts new workers for the next games."""
        if self._crew is not None:
            self._crew.end()
            self._crew = None
            self._pending.clear()

    def stop_beginning(self) -> None:
        """Makes workers skip the games that wait. They are not cancelled: if a worker died, the
        pool would then never end (seen with CPython 3.11).
        """
        self._stopping.value = 1

    def close(self, *, kill: bool) -> None:
        """Ends the workers; the keepers end the bots of killed ones."""
        if kill and self._crew is not None:
            self._crew.kill()
        self.renew()


def worker_cores(jobs: int) -> list[int]:
    """The processors to which workers are pinned, one each; empty if there are more workers than
    processors.
    """
    if not hasattr(os, "sched_getaffinity"):
        return []
    cores = sorted(os.sched_getaffinity(0))
    return cores if jobs <= len(cores) else []


def available_cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def versions() -> dict[str, str]:
    """The versions that affect games on this machine, apart from the bots. A digest of the arena's
    Python and C code is among them, because two checkouts of one version may differ.
    """
    root = Path(arena.__file__).parent
    code = hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.suffix in (".py", ".c", ".h")):
        code.update(b"%s\0%s\0" % (bytes(path.relative_to(root)), path.read_bytes()))
    return {
        "host": platform.node(),
        "arena": f"qin-arena {arena.__version__} (code {code.hexdigest()[:CODE_DIGITS]})",
        "python": f"Python {sys.version_info.major}.{sys.version_info.minor}",
        "core": f"the {CORE} rules core",
    }


def disagreement(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """Why games could go differently on two machines with these versions, with the cure; empty if
    they could not.
    """
    for name, cure in CURES.items():
        if (version := there.get(name, "another")) != here[name]:
            return f"expected {here[name]}, got {version}: {cure}"
    return ""
