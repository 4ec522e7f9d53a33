"""Batches of games: what a worker hands back, and how many games the next batch should have."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

from arena.errors import UserError, Void
from arena.match.referee import Outcome

BATCH_S = 0.1
PROCESSES_S = 1.0
"""A worker gets games for about this many seconds of CPU time at a time: one long game, or hundreds
of quick ones. If each batch starts processes, which takes as long as a few quick games, it gets
more.
"""
FIRST_BATCH = 8
"""The size of the first batch for bots in processes. With first batches of one game, a run of 20
games started its bots 32 times. If the games turn out to be long, the rest of the batch is
returned.
"""
MAX_AT_ONCE = 500

Result = Outcome | Void | UserError
"""The result of one game; a UserError ends the run."""


class Batch(NamedTuple):
    """The results of a batch of games that a worker got, in order; None for games that were not
    started.

    ``seconds``      about the time the games took, without the time for starting bots
    ``cpu_seconds``  the CPU time of the worker and its bots, which other programs do not change
    ``logged``       the log records of a worker on another machine
    """

    results: list[Result | None]
    seconds: float
    cpu_seconds: float
    logged: Sequence[logging.LogRecord] = ()


class Pace:
    """The size of the next batch, so that it takes about ``seconds`` of CPU time, by the games so
    far. It begins with ``first`` games and at most doubles each time; after a batch that was cut
    short, it is at most the number of games played of that batch. ``is_slow`` says that a single
    game takes longer than ``seconds`` on the wall clock.
    """

    def __init__(self, seconds: float, first: int = 1) -> None:
        self._seconds = seconds
        self.games = first
        self.is_slow = False

    @classmethod
    def of(cls, *, in_process: bool) -> "Pace":
        """The pace for built-in bots in the worker's process, or for bots in processes of their
        own, which start anew for every batch.
        """
        return cls(BATCH_S) if in_process else cls(PROCESSES_S, FIRST_BATCH)

    def add(self, batch: Batch) -> None:
        """Learns from a batch."""
        played = sum(result is not None for result in batch.results)
        if not played:
            return
        self.is_slow = batch.seconds > self._seconds * played
        fitting = int(self._seconds * played / max(batch.cpu_seconds, 1e-6))
        if played < len(batch.results):
            fitting = min(fitting, played)
        self.games = max(1, min(fitting, 2 * self.games, MAX_AT_ONCE))
