"""Plays a run's missing games on a pool of workers and writes each to the journal as it ends. It
emits events and never prints.
"""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from datetime import UTC, datetime
from pathlib import Path

from arena.errors import RunError, Void
from arena.match.referee import BrokenOff, GamePlan, Outcome
from arena.records.evidence import Faults
from arena.records.journal import Journal
from arena.records.record import VERSION
from arena.records.stderr import KeptStderr
from arena.records.voids import VoidGame, append_void
from arena.tournament.events import Event, GamePlayed, Stopping, Voided, WorkerDied
from arena.tournament.pool import Pool
from arena.tournament.sources import Source
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
    games that were given up, ``faults`` writes the evidence, ``stderr`` what bots printed.
    """

    def __init__(
        self, folder: Path, journal: Journal, pool: Pool, listen: Callable[[Event], None]
    ) -> None:
        self._folder = folder
        self._journal = journal
        self._pool = pool
        self._listen = listen
        self._pending: dict[Future[Batch], list[GamePlan]] = {}
        self._suspects: deque[GamePlan] = deque()
        self._attempts: Counter[str] = Counter()
        self._fruitless = 0
        self.voided: list[Voided] = []
        self.faults = Faults(folder)
        self.stderr = KeptStderr(folder)
        self.stop_level = 0

    def request_stop(self) -> None:
        """Stops after the running games; a second call stops at once."""
        self.stop_level += 1

    def play(self, source: Source) -> None:
        """Plays the games of a source; returns when it is over, or after a stop.

        Raises RunError if the journal cannot be written, ClusterError if the cluster has no workers
        left, Void if workers keep dying.
        """
        is_told = False
        try:
            while self._is_going_on(source):
                self._pool.look()
                if self.stop_level == 0 and not source.is_over:
                    self._hand_out(source)
                elif self._pending:
                    self._pool.stop_beginning()
                if self.stop_level and not is_told:
                    is_told = True
                    self._tell_of_stop()
                if self._pending:
                    done, _ = wait(self._pending, timeout=LOOK_S, return_when=FIRST_COMPLETED)
                    self._collect(done, source)
                elif self.stop_level == 0:
                    time.sleep(LOOK_S)
        finally:
            try:
                self._rescue(source)
            finally:
                self._pool.close(kill=bool(self._pending))
                self._pending.clear()

    def _is_going_on(self, source: Source) -> bool:
        """Whether games are being played that still count, or more are to be."""
        if self.stop_level > 1:
            return False
        return bool(self._pending) or not (self.stop_level or source.is_over)

    def _tell_of_stop(self) -> None:
        running = sum(map(len, self._pending.values()))
        self._listen(Stopping(min(running, self._pool.places)))

    def _hand_out(self, source: Source) -> None:
        """Keeps the workers supplied. Games suspected of breaking a worker are played one at a
        time.
        """
        while self._suspects:
            if not self._submit([self._suspects[0]], alone=True):
                return
            self._suspects.popleft()
        while (room := self._pool.room()) and (plans := source.issue(room)):
            if not self._submit(plans):
                source.give_back(plans)
                return

    def _submit(self, plans: list[GamePlan], *, alone: bool = False) -> bool:
        """Gives games to the pool; False if it does not take them now."""
        future = self._pool.submit(plans, alone=alone)
        if future is not None:
            self._pending[future] = plans
        elif not self._pending:
            self._pool.renew()
        return future is not None

    def _collect(self, done: set[Future[Batch]], source: Source) -> None:
        """Writes finished games, then deals with failed ones, and with those not started because of
        a stop.
        """
        if any(isinstance(error_of(future), BrokenExecutor) for future in done):
            done = self._pool.fallen(done, self._pending)
        ended = self._take(done)
        self._keep(ended, source)
        broken = [plan for plan, result in ended if isinstance(result, BrokenExecutor)]
        for plan, result in ended:
            if isinstance(result, BaseException) and not isinstance(result, BrokenExecutor):
                log.warning(
                    "%s is void: %r",
                    plan.id,
                    result,
                    exc_info=None if isinstance(result, Void) else result,
                )
                if not self._void(plan, result, source):
                    source.give_back([plan])
            elif result is None:
                source.give_back([plan])
        self._fruitless = (
            0
            if any(isinstance(result, Outcome) for _, result in ended)
            else self._fruitless + bool(broken)
        )
        if broken:
            self._queue_again(broken, source)

    def _rescue(self, source: Source) -> None:
        """Writes the games that were finished when playing broke off."""
        self._keep(
            self._take(
                [future for future in self._pending if future.done() and error_of(future) is None]
            ),
            source,
        )

    def _take(self, done: Iterable[Future[Batch]]) -> list[Ended]:
        """The games of batches that have ended; these are no longer pending."""
        batches = [(future, self._pending.pop(future)) for future in done]
        return [
            pair
            for future, plans in batches
            for pair in zip(plans, results_of(future, plans), strict=True)
        ]

    def _keep(self, ended: list[Ended], source: Source) -> None:
        """Writes finished games, and announces them once they are on disk. If a game was played
        twice, the first result counts.

        Evidence comes first, so that no fault is in the journal without it. But where it cannot be
        written, the games are kept all the same, and only then the run breaks off.
        """
        unwritten: RunError | None = None
        games = [(plan, result) for plan, result in ended if isinstance(result, Outcome)]
        new = {
            plan.id: (plan, outcome)
            for plan, outcome in reversed(games)
            if plan.id not in self._journal.ids
        }
        outcomes = [outcome for _, outcome in reversed(new.values())]
        for plan, outcome in new.values():
            try:
                if outcome.evidence:
                    self.faults.write(plan.id, plan.seeds, outcome.evidence)
            except RunError as error:
                unwritten = error
        if outcomes:
            self._journal.append([outcome.record for outcome in outcomes])
        # After the journal: a full disk may cost what bots printed, but no game.
        self.stderr.append(outcome.stderr for outcome in outcomes)
        for outcome in outcomes:
            source.ended(outcome.record)
            self._listen(GamePlayed(outcome))
        if unwritten:
            raise unwritten

    def _void(self, plan: GamePlan, error: BaseException, source: Source) -> bool:
        """Counts and keeps a failed attempt at a game; whether the game is given up, which it is
        after the third.
        """
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
            source.give_up(plan)
        self._listen(event)
        return event.given_up

    def _queue_again(self, broken: list[GamePlan], source: Source) -> None:
        """After a worker died: renews the pool, and queues the lost games, to be played again one
        at a time and so find one that kills workers. Until then the source takes them for being
        played.
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
            if not self._void(broken[0], Void("its worker died"), source):
                self._suspects.append(broken[0])
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
