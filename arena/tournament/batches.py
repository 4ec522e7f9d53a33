"""Batches of games: what a worker hands back, and how many games the next batch should have."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

from arena.errors import UserError, Void
from arena.match.referee import Outcome

BATCH_S = 0.1
PROCESSES_S = 1.0
"""A worker gets games for about this much CPU time at a time: one long game, or hundreds of quick
ones. It gets more if each batch starts processes, which takes as long as a few quick games.
"""
FIRST_BATCH = 8
"""In the first batch of bots in processes. With one game in each of the first batches, a run of 20
games started its bots 32 times; if the games turn out to be long, the rest of the batch is left.
"""
MAX_AT_ONCE = 500

Result = Outcome | Void | UserError
"""What becomes of a game; UserError ends the run."""


class Batch(NamedTuple):
    """The results of a batch of games given to a worker, in order, None for games that were not
    started. ``seconds`` is about the time for the games, without that for starting bots;
    ``cpu_seconds`` is the CPU time of the worker and of the bots in them, which other programs on
    the machine do not change. ``logged`` are the log records of a worker elsewhere.
    """

    results: list[Result | None]
    seconds: float
    cpu_seconds: float
    logged: Sequence[logging.LogRecord] = ()


class Pace:
    """How many games make a batch of ``seconds`` of CPU time, judged by the games so far: ``first``
    at the beginning, then at most twice as many as before, and no more than were played of a batch
    that was cut short. ``is_slow`` if a single game takes longer than ``seconds`` on the wall
    clock.
    """

    def __init__(self, seconds: float, first: int = 1) -> None:
        self._seconds = seconds
        self.games = first
        self.is_slow = False

    @classmethod
    def of(cls, *, in_process: bool) -> "Pace":
        """The sizes of batches of built-in bots in the worker's process, or of bots in processes of
        their own, which start anew for every batch.
        """
        return cls(BATCH_S) if in_process else cls(PROCESSES_S, FIRST_BATCH)

    def add(self, batch: Batch) -> None:
        """Takes a batch into account."""
        played = sum(result is not None for result in batch.results)
        if not played:
            return
        self.is_slow = batch.seconds > self._seconds * played
        fitting = int(self._seconds * played / max(batch.cpu_seconds, 1e-6))
        if played < len(batch.results):
            fitting = min(fitting, played)
        self.games = max(1, min(fitting, 2 * self.games, MAX_AT_ONCE))
