"""Lets worker processes grade decisions of recorded games."""

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, NamedTuple

from arena.errors import Void
from arena.match.clock import Timing
from arena.match.grading import gradable_turns
from arena.players.folder import Bot
from arena.players.sandbox.tiers import OPEN, Sandbox
from arena.records.record import GameRecord
from arena.records.review import Grade, Judge
from arena.tournament.crew import plain_crew, starting_workers
from arena.tournament.pool import worker_cores
from arena.tournament.scripts import Scripts
from arena.tournament.workers import Setup, grade_by_bot, grade_turn

AHEAD, AHEAD_OF_BOTS = 8, 2
"""Decisions handed out for each worker: they take from some milliseconds to a second. A bot is
asked for all decisions of a seat at a time.
"""


class Ungraded(NamedTuple):
    """A game of which some seats are to be graded."""

    record: GameRecord
    seats: set[int]

    @property
    def turns(self) -> list[int]:
        """The turns to grade."""
        return gradable_turns(self.record, self.seats)


class Adviser(NamedTuple):
    """A bot that says which move is better, in its sandbox, with the run whose games it is asked
    about.
    """

    bot: Bot
    sandbox: Sandbox
    scripts: Scripts


Graded = Future[list[Grade]]
Tasks = Iterator[tuple[Callable[..., list[Grade]], tuple[Any, ...]]]
"""Functions for workers, with their arguments."""


def grade_decisions(
    wanted: Sequence[Ungraded],
    boards: Mapping[str, Sequence[str]],
    judge: Judge,
    jobs: int,
    adviser: Adviser | None = None,
) -> Generator[Grade]:
    """The grades of all turns of the games, one game after the other; ``boards`` are rows by name.

    Raises RunError if a record breaks the rules, UserError if the adviser commits a fault, and Void
    if a worker dies.
    """
    rows = {name: tuple(lines) for name, lines in boards.items()}
    bots, timing, sandbox = dict[str, Bot](), Timing(), OPEN
    if adviser:
        bots, timing = {adviser.bot.label: adviser.bot}, adviser.scripts.timing
        sandbox = adviser.sandbox
    setup = Setup(bots, rows, timing, sandbox, worker_cores(jobs), logging.CRITICAL)
    tasks = _by_bot(wanted, judge, adviser) if adviser else _by_turn(wanted, judge)
    most = jobs * (AHEAD_OF_BOTS if adviser else AHEAD)
    waiting: deque[Graded] = deque()
    pool = plain_crew(setup, jobs)
    try:
        while True:
            for function, words in islice(tasks, most - len(waiting)):
                with starting_workers():
                    waiting.append(pool.submit(function, *words))
            if not waiting:
                return
            yield from waiting[0].result()
            waiting.popleft()
    except BrokenProcessPool:
        raise Void(
            "expected all workers to finish, got one that died",
            "what is graded is kept: try again with fewer --jobs",
        ) from None
    finally:
        if waiting:
            pool.kill()
        pool.end()


def _by_turn(wanted: Sequence[Ungraded], judge: Judge) -> Tasks:
    return ((grade_turn, (game.record, turn, judge)) for game in wanted for turn in game.turns)


def _by_bot(wanted: Sequence[Ungraded], judge: Judge, adviser: Adviser) -> Tasks:
    for record, seats in wanted:
        script = adviser.scripts.of(record)
        for seat in sorted(seats):
            turns = gradable_turns(record, {seat})
            yield grade_by_bot, (script, seat, turns, judge, adviser.bot.label)
