"""Plays the games that a run lacks on a pool of workers, and writes each to the journal as it ends. It emits events, never prints."""

import logging
import multiprocessing
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import Void
from arena.match.referee import GamePlan, Outcome
from arena.records.evidence import write_evidence
from arena.records.journal import Journal
from arena.tournament.workers import ATTEMPTS, Setup, play_game, start_worker

log = logging.getLogger(__name__)

AHEAD = 3
"""Games handed out for each worker, so that none waits for the main process."""
LOOK_S = 0.2
PATIENCE_S = 10.0
MOST_FRUITLESS = 10
START_METHOD = "spawn"


class Played(NamedTuple):
    """A game ended and is in the journal."""

    outcome: Outcome


class Voided(NamedTuple):
    """A game broke off for a reason that is not a bot's; ``given_up`` when it is not tried again in this session."""

    game: str
    reason: str
    given_up: bool


class WorkerDied(NamedTuple):
    """A worker died and took the pool with it; so many games had been handed out, of which those not ended are played again."""

    games: int


class Stopping(NamedTuple):
    """Asked to stop: so many games are still being played, and will be kept."""

    running: int


Event = Played | Voided | WorkerDied | Stopping


class Runner:
    """One session of playing.

    ``stop_level`` 0 goes on, 1 lets running games end, 2 kills the workers; `request_stop` raises it and may be called from a signal
    handler. ``voided`` holds the games given up.
    """

    def __init__(self, folder: Path, journal: Journal, setup: Setup, jobs: int, log_queue: Any, listen: Callable[[Event], None]) -> None:
        self._folder = folder
        self._journal = journal
        self._setup = setup
        self._jobs = jobs
        self._log_queue = log_queue
        self._listen = listen
        self._context = multiprocessing.get_context(START_METHOD)
        self._pool: ProcessPoolExecutor | None = None
        self._stopping = self._context.Value("b", 0, lock=False)
        self._pending: dict[Future[Outcome | None], GamePlan] = {}
        self._again: deque[GamePlan] = deque()
        self._suspects: deque[GamePlan] = deque()
        self._attempts: Counter[str] = Counter()
        self._fruitless = 0
        self._is_enough = False
        self.voided: list[Voided] = []
        self.stop_level = 0

    def request_stop(self) -> None:
        """Stop after the running games; asked a second time, stop at once."""
        self.stop_level += 1

    def drop_waiting(self) -> None:
        """No game is wanted any more but those that run; may be called by the listener."""
        self._is_enough = True

    def play(self, plans: Iterable[GamePlan | None]) -> None:
        """Plays the games one after another; returns when all are played or given up, or after a stop.

        None among the plans says that there is none for now, and that they are to be asked again when a game has ended.
        Raises RunError when the journal cannot be written.
        """
        rest = iter(plans)
        announced = False
        try:
            while True:
                if self._is_enough and self.stop_level == 0:
                    self._stopping.value = 1
                elif self.stop_level == 0:
                    self._hand_out(rest)
                elif not announced:
                    announced = True
                    self._stopping.value = 1
                    self._listen(Stopping(min(len(self._pending), self._jobs)))
                if not self._pending or self.stop_level > 1:
                    return
                done, _ = wait(self._pending, timeout=LOOK_S, return_when=FIRST_COMPLETED)
                if done:
                    self._collect(done)
        finally:
            self._shut_down()

    def _hand_out(self, rest: Iterator[GamePlan | None]) -> None:
        """Keeps the workers supplied. Suspects of having broken a worker are played one at a time."""
        if self._suspects:
            if not self._pending:
                self._submit(self._suspects.popleft())
            return
        while len(self._pending) < self._jobs * AHEAD:
            plan = self._again.popleft() if self._again else next(rest, None)
            if plan is None:
                return
            if not self._submit(plan):
                self._again.appendleft(plan)
                return

    def _submit(self, plan: GamePlan) -> bool:
        """Hands a game to the pool; False when the pool is broken and its other games have yet to be collected."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._jobs,
                mp_context=self._context,
                initializer=start_worker,
                initargs=(self._setup, self._log_queue, self._context.Value("i", 0), self._stopping),
            )
        try:
            self._pending[self._pool.submit(play_game, plan)] = plan
        except BrokenProcessPool:
            if self._pending:
                return False
            self._end_pool()
            return self._submit(plan)
        return True

    def _collect(self, done: Iterable[Future[Outcome | None]]) -> None:
        """Writes what was finished, then judges what was not; a game that was not begun because of a stop is neither."""
        if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
            done, _ = wait(self._pending)
        plans = [(future, self._pending.pop(future)) for future in done]
        results = [future.result() for future, _ in plans if future.exception() is None]
        outcomes = [outcome for outcome in results if outcome is not None]
        for outcome in outcomes:
            if outcome.evidence:
                seeds = next(plan.seeds for _, plan in plans if plan.id == outcome.record.id)
                write_evidence(self._folder, outcome.record.id, seeds, outcome.evidence)
        if outcomes:
            self._journal.append([outcome.record for outcome in outcomes])
        for outcome in outcomes:
            self._listen(Played(outcome))
        broken = [plan for future, plan in plans if isinstance(future.exception(), BrokenProcessPool)]
        for future, plan in plans:
            error = future.exception()
            if error is not None and not isinstance(error, BrokenProcessPool):
                log.warning("%s is void: %r", plan.id, error, exc_info=None if isinstance(error, Void) else error)
                self._void(plan, str(error) or repr(error), self._again)
        self._fruitless = 0 if outcomes else self._fruitless + bool(broken)
        if broken:
            self._replace_pool(broken)

    def _void(self, plan: GamePlan, reason: str, again: deque[GamePlan]) -> None:
        """Notes an attempt that failed by itself, and gives the game up after the third."""
        self._attempts[plan.id] += 1
        event = Voided(plan.id, reason, given_up=self._attempts[plan.id] >= ATTEMPTS)
        if event.given_up:
            self.voided.append(event)
        else:
            again.append(plan)
        self._listen(event)

    def _replace_pool(self, broken: list[GamePlan]) -> None:
        """A worker died and took the pool with it: its games are played again, one at a time, so that a killer shows itself."""
        self._end_pool()
        if self._fruitless > MOST_FRUITLESS:
            raise Void(f"expected workers to finish games, got {self._fruitless} that died one after another")
        log.warning("a worker died; games to play again: %d", len(broken))
        if len(broken) == 1:
            self._void(broken[0], "its worker died", self._suspects)
            return
        self._suspects.extend(broken)
        self._listen(WorkerDied(len(broken)))

    def _shut_down(self) -> None:
        """Ends the pool: gently when nothing runs, else by killing its workers, whose keepers then end the bots."""
        if self._pending:
            kill_workers()
            self._pending.clear()
        self._end_pool()

    def _end_pool(self) -> None:
        if self._pool is not None:
            end_pool(self._pool)
            self._pool = None


def end_pool(pool: ProcessPoolExecutor) -> None:
    """Ends a pool within a bound: a worker killed while it logged can block the others' last words for ever."""
    pool.shutdown(wait=False, cancel_futures=True)
    deadline = time.monotonic() + PATIENCE_S
    while (left := multiprocessing.active_children()) and time.monotonic() < deadline:
        time.sleep(0.005)
    for process in left:
        process.kill()
        process.join()


def kill_workers() -> None:
    """Ends what still runs, when nobody waits for it any more; the keepers then end the bots."""
    for process in multiprocessing.active_children():
        process.kill()


def worker_cores(jobs: int) -> list[int]:
    """The processors to pin workers to: one each, or none when there are more workers than processors."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    cores = sorted(os.sched_getaffinity(0))
    return cores if jobs <= len(cores) else []


def available_cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
