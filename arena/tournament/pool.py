"""Where games are played: what a runner needs from its workers, and the workers on this machine."""

import multiprocessing
import os
from collections.abc import Iterable
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol

from arena.match.referee import GamePlan
from arena.tournament.crew import START_METHOD, Crew, starting_workers
from arena.tournament.workers import Batch, Setup, play_batch, start_worker

AHEAD = 2
"""Batches handed out for each worker, so that none waits for the main process; one if games are
slow.
"""
BATCH_S, PROCESSES_S = 0.1, 1.0
"""A worker gets games for about this long at a time: one long game, or hundreds of quick ones.
Longer if each batch starts processes, which takes as long as a few quick games.
"""
MOST_AT_ONCE = 500
Pending = Iterable[Future[Batch]]


class Pool(Protocol):
    """Workers somewhere. ``places`` is how many games they play at a time.

    A batch whose worker died ends with a `BrokenExecutor` error; a batch that failed for another
    reason ends with that error.
    """

    @property
    def places(self) -> int:
        """How many games are played at the same time."""

    def look(self) -> None:
        """Looks after the workers; called often. Raises RunError if no more games can be played."""

    def room(self) -> int:
        """How many games may be handed out as a batch now, 0 for none."""

    def submit(self, plans: list[GamePlan], *, alone: bool = False) -> Future[Batch] | None:
        """Hands out a batch; None if there is no room for it now, or if a worker died.

        ``alone`` means that no other game may be lost with it if it breaks its worker.
        """

    def fallen(self, done: set[Future[Batch]], pending: Pending) -> set[Future[Batch]]:
        """All batches that are done, and once a worker has died, also those lost with it."""

    def renew(self) -> None:
        """Called when nothing that was handed out is left, and a worker has died or may have."""

    def stop_beginning(self) -> None:
        """Lets running games finish and starts no others."""

    def close(self, *, kill: bool) -> None:
        """Ends the workers, or leaves them; ``kill`` breaks off the
        games they are still playing.
        """


class Pace:
    """How many games make a batch of ``seconds``, judged by the games so far; one at first, then at
    most twice as many as before.

    ``is_slow`` if a single game takes longer than that.
    """

    def __init__(self, seconds: float, most: int = MOST_AT_ONCE) -> None:
        self._seconds = seconds
        self._most = most
        self.games = 1
        self.is_slow = False

    def add(self, batch: Batch) -> None:
        """Takes a batch into account."""
        played = sum(result is not None for result in batch.results)
        if played:
            fitting = int(self._seconds * played / max(batch.seconds, 1e-6))
            self.is_slow = fitting == 0
            self.games = max(1, min(fitting, 2 * self.games, self._most))


class LocalPool:
    """Worker processes on this machine; if one dies, all of them end."""

    def __init__(self, setup: Setup, jobs: int, log_queue: Any) -> None:
        self._setup = setup
        self._jobs = jobs
        self._log_queue = log_queue
        self._context = multiprocessing.get_context(START_METHOD)
        self._crew: Crew | None = None
        self._started = self._context.Value("i", 0)
        self._stopping = self._context.Value("b", 0, lock=False)
        self._pending: set[Future[Batch]] = set()
        self._alone: Future[Batch] | None = None
        self._pace = Pace(BATCH_S if setup.in_process else PROCESSES_S)

    @property
    def places(self) -> int:
        """How many games are played at the same time."""
        return self._jobs

    def look(self) -> None:
        """Does nothing: a dead worker is noticed by its games."""

    def room(self) -> int:
        """The size of a batch, unless enough are waiting or one has to be alone."""
        self._pending = {future for future in self._pending if not future.done()}
        return (
            0
            if self._alone in self._pending or len(self._pending) >= self._most()
            else self._pace.games
        )

    def _most(self) -> int:
        """How many batches may be handed out; each one that no idle worker takes starts another
        worker.

        Workers that start all at once keep each other waiting: with 64 of them on two processors
        the first game came after 13 s.
        """
        started = self._started.value
        return (
            self._jobs * (1 if self._pace.is_slow else AHEAD)
            if started >= self._jobs
            else min(self._jobs, started + available_cores())
        )

    def submit(self, plans: list[GamePlan], *, alone: bool = False) -> Future[Batch] | None:
        """Hands out a batch; None if a worker died. Then collect the batches lost with it, and
        renew the pool.
        """
        if alone and any(not future.done() for future in self._pending):
            return None
        if self._crew is None:
            self._started = self._context.Value("i", 0)
            self._crew = Crew(
                self._jobs,
                start_worker,
                (self._setup, self._log_queue, self._started, self._stopping),
            )
        try:
            with starting_workers():
                future = self._crew.submit(play_batch, plans)
        except BrokenProcessPool:
            return None
        self._pending.add(future)
        self._alone = future if alone else None
        future.add_done_callback(self._note)
        return future

    def _note(self, future: Future[Batch]) -> None:
        if not future.cancelled() and future.exception() is None:
            self._pace.add(future.result())

    def fallen(self, done: set[Future[Batch]], pending: Pending) -> set[Future[Batch]]:
        """Everything that was handed out, after waiting until all of it has broken off."""
        return wait(pending).done

    def renew(self) -> None:
        """Gives the next games new workers."""
        if self._crew is not None:
            self._crew.end()
            self._crew = None
            self._pending.clear()

    def stop_beginning(self) -> None:
        """Makes workers skip the games that are waiting.

        We do not cancel them: if a worker died, the pool would then never end (seen with CPython
        3.11).
        """
        self._stopping.value = 1

    def close(self, *, kill: bool) -> None:
        """Ends the workers; the keepers clean up the bots of killed ones."""
        if kill and self._crew is not None:
            self._crew.kill()
        self.renew()


def worker_cores(jobs: int) -> list[int]:
    """The processors to pin workers to: one each, or none if there are more workers than
    processors.
    """
    if not hasattr(os, "sched_getaffinity"):
        return []
    cores = sorted(os.sched_getaffinity(0))
    return cores if jobs <= len(cores) else []


def available_cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
