"""Plays a run's missing games on a pool of workers and writes each to the journal as it ends. It
emits events and never prints.
"""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from datetime import UTC, datetime
from pathlib import Path

from arena.errors import Void
from arena.match.referee import BrokenOff, GamePlan, Outcome
from arena.records.evidence import Faults
from arena.records.journal import Journal
from arena.records.record import VERSION
from arena.records.voids import VoidGame, append_void
from arena.tournament.events import Event, Played, Stopping, Voided, WorkerDied
from arena.tournament.pool import Pool
from arena.tournament.workers import ATTEMPTS, Batch

log = logging.getLogger(__name__)

LOOK_S = 0.2
MOST_FRUITLESS = 10
Ended = tuple[GamePlan, Outcome | BaseException | None]
"""A game and its result, None if it was not started."""


class Runner:
    """One session of playing.

    ``stop_level`` 0 keeps playing, 1 lets running games finish, and 2 kills the workers.
    `request_stop` raises the level and may be called from a signal handler. ``voided`` holds the
    games that were given up, ``faults`` writes the evidence.
    """

    def __init__(
        self, folder: Path, journal: Journal, pool: Pool, listen: Callable[[Event], None]
    ) -> None:
        self._folder = folder
        self._journal = journal
        self._pool = pool
        self._listen = listen
        self._pending: dict[Future[Batch], list[GamePlan]] = {}
        self._next: deque[GamePlan] = deque()
        self._suspects: deque[GamePlan] = deque()
        self._attempts: Counter[str] = Counter()
        self._fruitless = 0
        self._is_enough = False
        self.voided: list[Voided] = []
        self.faults = Faults(folder)
        self.stop_level = 0

    def request_stop(self) -> None:
        """Stops after the running games; a second call stops at once."""
        self.stop_level += 1

    def drop_waiting(self) -> None:
        """Starts no more games, since the running ones are enough; the listener may call this."""
        self._is_enough = True

    def play(self, plans: Iterable[GamePlan | None]) -> None:
        """Plays the games in order; returns when all are played or given up, or after a stop.

        A None among the plans means that there is none for now: ask again when a game has ended.
        Raises RunError if the journal cannot be written, or if there can be no more workers.
        """
        rest = iter(plans)
        announced = False
        try:
            while True:
                waiting = False
                self._pool.look()
                if self._is_enough and self.stop_level == 0:
                    self._pool.stop_beginning()
                elif self.stop_level == 0:
                    waiting = self._hand_out(rest)
                elif not announced:
                    announced = True
                    self._pool.stop_beginning()
                    self._listen(
                        Stopping(min(sum(map(len, self._pending.values())), self._pool.places))
                    )
                if self.stop_level > 1 or not (self._pending or waiting):
                    return
                if self._pending:
                    done, _ = wait(self._pending, timeout=LOOK_S, return_when=FIRST_COMPLETED)
                    self._collect(done)
                else:
                    time.sleep(LOOK_S)
        finally:
            try:
                self._rescue()
            finally:
                self._pool.close(kill=bool(self._pending))
                self._pending.clear()

    def _hand_out(self, rest: Iterator[GamePlan | None]) -> bool:
        """Keeps the workers supplied; returns whether there are games that have no room now.

        Games suspected of breaking a worker are played one at a time.
        """
        while self._suspects:
            if not self._submit([self._suspects[0]], alone=True):
                return True
            self._suspects.popleft()
        while self._fill(1, rest):
            room = self._pool.room()
            self._fill(room, rest)
            plans = [self._next.popleft() for _ in range(min(room, len(self._next)))]
            if not plans or not self._submit(plans):
                self._next.extendleft(reversed(plans))
                return True
        return False

    def _fill(self, count: int, rest: Iterator[GamePlan | None]) -> bool:
        """Makes sure that up to ``count`` games are queued as next;
        returns whether there is one.
        """
        while len(self._next) < count and (plan := next(rest, None)) is not None:
            self._next.append(plan)
        return bool(self._next)

    def _submit(self, plans: list[GamePlan], *, alone: bool = False) -> bool:
        """Gives games to the pool; False if it does not take them now."""
        future = self._pool.submit(plans, alone=alone)
        if future is not None:
            self._pending[future] = plans
        elif not self._pending:
            self._pool.renew()
        return future is not None

    def _collect(self, done: set[Future[Batch]]) -> None:
        """Writes finished games, then deals with failed ones; a game not started because of a stop
        is neither.
        """
        if any(isinstance(error_of(future), BrokenExecutor) for future in done):
            done = self._pool.fallen(done, self._pending)
        ended = self._take(done)
        self._keep(ended)
        broken = [plan for plan, result in ended if isinstance(result, BrokenExecutor)]
        for plan, result in ended:
            if isinstance(result, Exception) and not isinstance(result, BrokenExecutor):
                log.warning(
                    "%s is void: %r",
                    plan.id,
                    result,
                    exc_info=None if isinstance(result, Void) else result,
                )
                self._void(plan, result, self._next)
        self._fruitless = (
            0
            if any(isinstance(result, Outcome) for _, result in ended)
            else self._fruitless + bool(broken)
        )
        if broken:
            self._play_again(broken)

    def _rescue(self) -> None:
        """Writes the games that were finished when playing broke off."""
        self._keep(
            self._take(
                [future for future in self._pending if future.done() and error_of(future) is None]
            )
        )

    def _take(self, done: Iterable[Future[Batch]]) -> list[Ended]:
        """The games of batches that have ended; these are no longer pending."""
        batches = [(future, self._pending.pop(future)) for future in done]
        return [
            pair
            for future, plans in batches
            for pair in zip(plans, results_of(future, plans), strict=True)
        ]

    def _keep(self, ended: list[Ended]) -> None:
        """Writes finished games, and announces them once they are on disk. If a game was played
        twice, the first result counts.
        """
        games = [(plan, result) for plan, result in ended if isinstance(result, Outcome)]
        new = {
            plan.id: (plan, outcome)
            for plan, outcome in reversed(games)
            if plan.id not in self._journal.ids
        }
        outcomes = [outcome for _, outcome in reversed(new.values())]
        for plan, outcome in new.values():
            if outcome.evidence:
                self.faults.write(plan.id, plan.seeds, outcome.evidence)
        if outcomes:
            self._journal.append([outcome.record for outcome in outcomes])
        for outcome in outcomes:
            self._listen(Played(outcome))

    def _void(self, plan: GamePlan, error: Exception, again: deque[GamePlan]) -> None:
        """Counts and keeps a failed attempt at a game, and gives the game up after the third."""
        self._attempts[plan.id] += 1
        reason, so_far = (
            str(error) or repr(error),
            error.so_far if isinstance(error, BrokenOff) else None,
        )
        ended = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        told = (plan.id, plan.board, plan.deal, plan.seating, list(plan.bots), plan.deck)
        append_void(
            self._folder, VoidGame(VERSION, *told, reason, self._attempts[plan.id], ended, so_far)
        )
        event = Voided(plan.id, reason, given_up=self._attempts[plan.id] >= ATTEMPTS)
        if event.given_up:
            self.voided.append(event)
        else:
            again.append(plan)
        self._listen(event)

    def _play_again(self, broken: list[GamePlan]) -> None:
        """A worker died and took others with it. Their games are played again one at a time, to
        find the one that kills workers.
        """
        self._pool.renew()
        if self._fruitless > MOST_FRUITLESS:
            raise Void(
                f"expected workers to finish games, got {self._fruitless} that died in a row",
                f"{self._folder / 'logs'} has the details; look for what kills processes on this"
                " machine, such as a lack of memory",
            )
        log.warning("a worker died; games to play again: %d", len(broken))
        if len(broken) == 1:
            self._void(broken[0], Void("its worker died"), self._suspects)
            return
        self._suspects.extend(broken)
        self._listen(WorkerDied(len(broken)))


def error_of(future: Future[Batch]) -> BaseException | None:
    """Why a batch that has ended brought no results."""
    return BrokenExecutor("it was dropped") if future.cancelled() else future.exception()


def results_of(
    future: Future[Batch], plans: list[GamePlan]
) -> Sequence[Outcome | BaseException | None]:
    """The result of each game of a batch that has ended; log records from workers elsewhere are
    logged here.
    """
    error = error_of(future)
    if error is not None:
        return [error] * len(plans)
    for record in future.result().logged:
        logging.getLogger(record.name).handle(record)
    return future.result().results
