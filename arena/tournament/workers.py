"""The workers on this machine: what runs in their processes, and the pool that gives them games.

A worker plays one game at a time, keeps processes of bots for later games (see
`arena.tournament.kept`), and ends when the main process ends. `arena.tournament.crew` starts its
process.
"""

import arena.slim_msgspec  # before anything imports msgspec

# isort: split
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
from contextlib import suppress
from logging.handlers import QueueHandler
from multiprocessing.connection import wait
from multiprocessing.util import Finalize
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from msgspec import Struct

import arena
from arena.errors import UserError, Void
from arena.match.referee import GamePlan, Outcome, Referee, play_alone
from arena.players.bot import BotPlayer, lines_of_failed_start
from arena.players.folder import Bot
from arena.players.labels import timing_for
from arena.players.orphans import expect_only_keepers
from arena.players.player import built_in, built_in_player, is_built_in
from arena.players.sandbox.tiers import Sandbox
from arena.records.timing import Timing
from arena.rules import CORE
from arena.rules.boards import Board
from arena.tournament.batches import Batch, Pace, Result
from arena.tournament.crew import TERMINAL_SIGNALS, WORKERS, Crew
from arena.tournament.kept import KeptPlayers, WorkerPlayer
from arena.tournament.voiding import is_our_error, void_of

log = logging.getLogger(__name__)

LONG_S = 5.0
"""After this many seconds of playing, a worker begins no further game of a batch."""
LONG_CPU_S = 2.0
"""After this many seconds of CPU time, used by the worker and its bots, it begins no further game
of a batch.
"""
STARTS_S = 1.0
"""How many seconds of the first game are taken to be the start of bots."""
AHEAD = 2
"""The most batches that are handed out per worker, so that no worker waits for the main process;
one if games are slow.
"""
CODE_DIGITS = 8
"""The number of hexadecimal digits that are shown of the digest of the arena's code."""
PURE = "install a C compiler and reinstall qin-arena where it is pure, or set ARENA_RULES=pure"
"""What to do if machines have different rules cores."""
CURES = {
    "arena": "install the same version there, then restart the worker",
    "python": "start the worker with the expected one",
    "core": f"{PURE} everywhere",
}
"""What to do about each difference between the versions of two arenas."""


class Setup(Struct, frozen=True):
    """What every worker of a run needs. ``log_level`` is the lowest level of records that it logs.
    ``cores`` are the processors to which workers are pinned; empty if they are not pinned. ``host``
    is the machine's name for records; empty if workers run elsewhere and name their own. The bots
    (by label), the rows of the boards (by name) and the limits are filled in when a session is
    opened.
    """

    sandbox: Sandbox
    log_level: int
    cores: list[int] = []
    host: str = ""
    bots: dict[str, Bot] = {}
    boards: dict[str, tuple[str, ...]] = {}
    timing: Timing = Timing()
    in_process: bool = False


class Worker:
    """The state of a worker process: its boards, and the players of its bots, some of which have a
    running process.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.boards = {name: Board(name, rows) for name, rows in setup.boards.items()}
        # A stranger's processes could leave messages for each other while they exist.
        self.players = KeptPlayers(self._new_player, keeps=not setup.sandbox.strangers)
        self._choosers = {}
        if setup.in_process:
            for label, bot in setup.bots.items():
                self._choosers[label] = built_in(bot.manifest.name).choose

    def play(self, plan: GamePlan) -> Outcome:
        """Plays one game. Raises Void if it fails for a reason outside the bots, and UserError,
        such as BusyMachineError, for a reason that ends the run. Built-in bots raise whatever fails
        in them.
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
        """Plays a game between bots that may have processes of their own. If it fails, the
        processes of all bots are ended, also those of bots that do not play in it.
        """
        players = self.players.take(plan.bots, plan.deck, ends_deal=plan.ends_deal)
        referee = None
        try:
            timings = [timing_for(label, self.setup.timing) for label in plan.bots]
            referee = Referee(plan, self.boards[plan.board], players, timings)
            sandbox = self.setup.sandbox.text(plan.bots)
            outcome = referee.play(sandbox=sandbox, host=self.setup.host)
        except BaseException as error:
            self.stop()
            if referee is None or not is_our_error(error):
                raise
            log.exception("%s is void", plan.id)
            raise void_of(error, referee.so_far()) from error
        return outcome

    def try_starts(self, labels: Sequence[str]) -> dict[str, list[str]]:
        """Starts a process of each of these bots, which are not built in. The processes that start
        are kept for the first games. Returns, for each bot that did not start, the lines that tell
        a user why. A bot whose process this machine could not start is not kept and not reported:
        its games show that. Raises BusyMachineError.
        """
        failures = dict[str, list[str]]()
        for label in labels:
            player = self._new_player(label)
            assert isinstance(player, BotPlayer), "the bot is a program"
            try:
                told = lines_of_failed_start(player)
            except Void:  # a failure of the machine is reported when games are played
                player.dismiss()
                continue
            except BaseException:
                player.dismiss()
                raise
            if told:
                player.dismiss()
                failures[label] = told
            else:
                self.players.keep(player)
        return failures

    def _new_player(self, label: str) -> WorkerPlayer:
        """A new player for the bot with this label, in a process of its own unless the bot is built
        in.
        """
        bot = self.setup.bots[label]
        timing = self.setup.timing
        if is_built_in(bot):
            return built_in_player(bot)
        log.debug("a process of %s starts", label)
        return BotPlayer(bot, timing.startup_ms, self.setup.sandbox, timing.clock)

    def stop(self) -> None:
        """Ends the processes of all bots."""
        self.players.stop()


_worker: Worker | None = None
"""The worker of this process; None in a process that is no worker."""
_stopping: Any = None
"""A shared number that is nonzero when no more games may start; None in a process that is no
worker.
"""
_logged = SimpleQueue[logging.LogRecord]()
"""The log records of a worker on another machine, until they are returned with a batch."""


def start_worker(setup: Setup, log_queue: Any, counter: Any, stopping: Any) -> None:
    """Makes this process, which has no other children, a worker. ``log_queue`` takes its log
    records; if it is None, they are returned with the batches. ``counter`` numbers the workers of a
    pool, and ``stopping`` is nonzero when no more games may start.
    """
    global _worker, _stopping  # noqa: PLW0603 - one worker a process
    _stopping = stopping
    _end_with_parent()
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
    """Lowers the priority of this process by ``niceness``, so that games come first, and makes it
    ignore the terminal's signals and end with its parent.
    """
    _end_with_parent()
    os.nice(niceness)


def _end_with_parent() -> None:
    """Makes this process ignore SIGINT and SIGHUP, and end when its parent ends. The keepers, the
    processes that watch over bots, then end the bots.
    """
    if parent := multiprocessing.parent_process():
        ended = parent.sentinel
        threading.Thread(target=lambda: wait([ended]) and os._exit(1), daemon=True).start()
    for number in TERMINAL_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINAL_SIGNALS)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def this_worker() -> Worker:
    """The worker of this process, on which `start_worker` must have been called."""
    assert _worker is not None, "start_worker has run"
    return _worker


def try_starts(labels: Sequence[str]) -> dict[str, list[str]]:
    """Starts a process of each of these bots in this worker, see `Worker.try_starts`."""
    return this_worker().try_starts(labels)


def play_batch(plans: Sequence[GamePlan]) -> Batch:
    """Plays games in this worker process, one after another, until the batch is over or the pool
    begins no more games.
    """
    batch = play_games(this_worker(), plans, lambda: bool(_stopping.value))
    return batch._replace(logged=[_logged.get() for _ in range(_logged.qsize())])


def play_games(worker: Worker, plans: Sequence[GamePlan], is_stopping: Callable[[], bool]) -> Batch:
    """Plays the games of a batch one after another, until ``is_stopping`` returns True. A game that
    fails does not affect the others, but a UserError (the machine is too busy) ends the batch.

    Processes that know a deal which is not over end with the batch, because another process could
    otherwise learn about the deal. Once a batch takes long, the rest of its games are returned
    unplayed, because if the worker is killed, all results of the batch are lost.
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
            results.append(void_of(error))
        ended.append(time.monotonic())
        cpu_seconds = time.process_time() - began_cpu_s
        if not worker.setup.in_process:
            cpu_seconds += thought
    results += [None] * (len(plans) - len(results))
    unfinished = set()
    for plan, result in zip(plans, results, strict=True):
        if not isinstance(result, Outcome):
            unfinished.add(plan.deck)
    worker.players.end_batch(unfinished)
    # The first game includes the start of bots. With that counted, quick games looked slow after
    # batches of one, so that all further batches had one game too.
    seconds = max(thought, sum(ended) - began - STARTS_S if ended else 0)
    if len(ended) > 1:
        seconds = (ended[-1] - ended[0]) * len(ended) / (len(ended) - 1)
    return Batch(results, seconds, cpu_seconds)


class LocalPool:
    """A pool of ``jobs`` worker processes on this machine; see `runner.Pool`. They start when they
    get work. ``log_queue`` takes the log records of the workers; if it is None, they are returned
    with the batches.
    """

    as_one = True

    def __init__(self, setup: Setup, jobs: int, log_queue: Any = None) -> None:
        self._setup = setup
        self.slots = jobs
        self._log_queue = log_queue
        self._crew: Crew | None = None
        self._started = WORKERS.Value("i", 0)
        self._stopping = WORKERS.Value("b", 0, lock=False)
        self._pending: dict[Future[Batch], None] = {}
        """The batches that are handed out, in the order in which they were."""
        self._alone: Future[Batch] | None = None
        self._pace = Pace.of(in_process=setup.in_process)

    def look(self) -> None:
        """Does nothing, because the death of a worker shows when the futures of its games end."""

    def capacity(self) -> int:
        """The number of games for the next batch; 0 if enough batches are handed out, or if one
        that was submitted ``alone`` is being played.
        """
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

    def try_starts(self, labels: Sequence[str]) -> list[str]:
        """Has the workers start a process of each of these bots, side by side. The workers keep the
        processes for their first games. Returns the lines that tell a user which bots did not
        start, and why. Raises BusyMachineError.
        """
        count = min(self.slots, available_cores(), len(labels))
        crew = self._hired()
        trials = [crew.submit(try_starts, labels[number::count]) for number in range(count)]
        failures = dict[str, list[str]]()
        for trial in trials:
            # If a worker dies, the runner finds that out when it hands out games.
            with suppress(BrokenProcessPool):
                failures |= trial.result()
        lines: list[str] = []
        for label in labels:
            lines += failures.get(label, ())
        return lines

    def submit(self, plans: list[GamePlan], *, alone: bool = False) -> Future[Batch] | None:
        """Hands out a batch. Returns None if a batch is to be played ``alone`` and others are
        handed out, or if a worker has died: then wait for the batches that are handed out, and call
        `renew`.
        """
        self._count_ended()
        if alone and self._pending:
            return None
        try:
            future: Future[Batch] = self._hired().submit(play_batch, plans)
        except BrokenProcessPool:
            return None
        self._pending[future] = None
        self._alone = future if alone else None
        return future

    def _hired(self) -> Crew:
        """The processes of the workers, which start when they get work."""
        if self._crew is None:
            self._started = WORKERS.Value("i", 0)
            given = (self._setup, self._log_queue, self._started, self._stopping)
            self._crew = Crew(self.slots, start_worker, given)
        return self._crew

    def _count_ended(self) -> None:
        """Takes the batches that have ended since the last call into account. This is no callback
        of the futures, because that would run in another thread, at the same time as the code here.
        """
        for future in list(self._pending):
            if not future.done():
                continue
            del self._pending[future]
            if not future.cancelled() and future.exception() is None:
                self._pace.add(future.result())

    def renew(self) -> None:
        """Ends all workers; the next games start new ones."""
        if self._crew is not None:
            self._crew.end()
            self._crew = None
            self._pending.clear()

    def stop_beginning(self) -> None:
        """Makes workers skip the games that they have not begun. The futures are not cancelled: if
        a worker died, the pool would then never end (seen with CPython 3.11).
        """
        self._stopping.value = 1

    def close(self, *, kill: bool) -> None:
        """Ends the workers; ``kill`` breaks off the games that they play."""
        if kill and self._crew is not None:
            self._crew.kill()
        self.renew()


def worker_cores(jobs: int) -> list[int]:
    """The processors to which ``jobs`` workers are pinned, one each; empty if there are more
    workers than processors, or if this system cannot pin processes.
    """
    if not hasattr(os, "sched_getaffinity"):
        return []
    cores = sorted(os.sched_getaffinity(0))
    return cores if jobs <= len(cores) else []


def available_cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def versions() -> dict[str, str]:
    """What affects games on this machine, apart from the bots, in texts for people: the version of
    the ``arena``, that of ``python``, and the rules ``core``; also the name of the ``host``. The
    arena's version includes a digest of its Python and C code, because two checkouts of one version
    may differ.
    """
    root = Path(arena.__file__).parent
    code = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".c", ".h"):
            code.update(b"%s\0%s\0" % (bytes(path.relative_to(root)), path.read_bytes()))
    return {
        "host": platform.node(),
        "arena": f"qin-arena {arena.__version__} (code {code.hexdigest()[:CODE_DIGITS]})",
        "python": f"Python {sys.version_info.major}.{sys.version_info.minor}",
        "core": f"the {CORE} rules core",
    }


def disagreement(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """Why the same game could go differently on two machines, whose `versions` are ``here`` and
    ``there``, and what to do about it: the first difference, apart from the hosts. Empty if there
    is none.
    """
    for name, cure in CURES.items():
        if (version := there.get(name, "another")) != here[name]:
            return f"expected {here[name]}, got {version}: {cure}"
    return ""
