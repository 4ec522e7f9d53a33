"""Lets worker processes grade decisions of recorded games."""

import logging
from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import NamedTuple

from arena.errors import Void
from arena.match.clock import Timing
from arena.match.grading import gradable_turns
from arena.players.sandbox.tiers import OPEN
from arena.records.record import GameRecord
from arena.records.review import Grade, Judge
from arena.tournament.pool import end_pool, kill_workers, plain_pool, starting_workers, worker_cores
from arena.tournament.workers import Setup, grade_turn

AHEAD = 8
"""Decisions handed out for each worker: they take from some milliseconds to a second."""


class Wanted(NamedTuple):
    """A game of which some seats are to be graded."""

    record: GameRecord
    seats: set[int]

    @property
    def turns(self) -> list[int]:
        """The turns to grade."""
        return gradable_turns(self.record, self.seats)


Task = tuple[GameRecord, int]


def grade_decisions(
    wanted: Sequence[Wanted], boards: Mapping[str, Sequence[str]], judge: Judge, jobs: int
) -> Generator[Grade]:
    """The grades of all turns of the games, in that order; ``boards`` are rows by name.

    Raises RunError if a record breaks the rules, and Void if a worker dies.
    """
    tasks = ((game.record, turn) for game in wanted for turn in game.turns)
    rows = {name: tuple(lines) for name, lines in boards.items()}
    setup = Setup({}, rows, Timing(), OPEN, worker_cores(jobs), logging.CRITICAL)
    waiting: deque[Future[Grade]] = deque()
    pool = plain_pool(setup, jobs)
    try:
        yield from _in_order(pool, tasks, judge, jobs, waiting)
    except BrokenProcessPool:
        raise Void(
            "expected all workers to finish, got one that died",
            "what is graded is kept: try again with fewer --jobs",
        ) from None
    finally:
        if waiting:
            kill_workers()
        end_pool(pool)


def _in_order(
    pool: ProcessPoolExecutor,
    tasks: Iterable[Task],
    judge: Judge,
    jobs: int,
    waiting: deque[Future[Grade]],
) -> Generator[Grade]:
    rest = iter(tasks)
    while True:
        for record, turn in islice(rest, jobs * AHEAD - len(waiting)):
            with starting_workers():
                waiting.append(pool.submit(grade_turn, record, turn, judge))
        if not waiting:
            return
        yield waiting[0].result()
        waiting.popleft()
