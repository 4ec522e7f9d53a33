"""Batches of games: what a worker returns, and how many games its next batch should have."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

from arena.errors import UserError, Void
from arena.match.referee import Outcome

BATCH_S = 0.1
"""The CPU time in seconds that a batch of games of built-in bots should take: one long game, or
hundreds of quick ones.
"""
PROCESSES_S = 1.0
"""The CPU time in seconds that a batch should take if bots have processes of their own. It is
longer, because starting the processes for each batch takes as long as a few quick games.
"""
FIRST_BATCH = 16
"""The size of the first batch for bots in processes. With a first batch of one game, a run of 20
games started its bots 32 times. If the games turn out to be long, the worker returns the rest of
the batch unplayed.
"""
MAX_AT_ONCE = 500
"""The most games in a batch."""

Result = Outcome | Void | UserError
"""The result of one game: its outcome, a failure for a reason outside the bots, or an error that
ends the run.
"""


class Batch(NamedTuple):
    """The results of the games of a batch, in order; None for a game that was not started.

    ``seconds``      about how many seconds of the wall clock the games took, without bots' starts
    ``cpu_seconds``  the CPU time of the worker and its bots, which other programs do not change
    ``logged``       the log records of a worker that has no queue for them, as on another machine
    """

    results: list[Result | None]
    seconds: float
    cpu_seconds: float
    logged: Sequence[logging.LogRecord] = ()


class Pace:
    """Decides how many games the next batch should have (``games``, at most `MAX_AT_ONCE`), so that
    it takes about ``seconds`` of CPU time. It begins with ``first`` games, and at most doubles with
    each batch. After a batch that was cut short, the next one has at most as many games as were
    played of that batch. ``is_slow`` says that a single game takes longer than ``seconds`` on the
    wall clock.
    """

    def __init__(self, seconds: float, first: int = 1) -> None:
        self._seconds = seconds
        self.games = first
        self.is_slow = False

    @classmethod
    def of(cls, *, in_process: bool) -> "Pace":
        """The pace for built-in bots in the worker's process (``in_process``), or for bots in
        processes of their own, which start anew for every batch.
        """
        return cls(BATCH_S) if in_process else cls(PROCESSES_S, FIRST_BATCH)

    def add(self, batch: Batch) -> None:
        """Takes into account a batch that was played, and sets ``games`` and ``is_slow`` anew. A
        batch of which no game was played changes nothing.
        """
        played = sum(result is not None for result in batch.results)
        if not played:
            return
        self.is_slow = batch.seconds > self._seconds * played
        fitting = int(self._seconds * played / max(batch.cpu_seconds, 1e-6))
        if played < len(batch.results):
            fitting = min(fitting, played)
        self.games = max(1, min(fitting, 2 * self.games, MAX_AT_ONCE))
