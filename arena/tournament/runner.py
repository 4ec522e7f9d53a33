"""Plays the missing games of a run on a pool of workers, and writes each game to the journal as it
ends. The runner prints nothing: it emits the events of `arena.tournament.events`.
"""

import logging
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from itertools import chain
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from arena.errors import RunError, UserError, Void
from arena.faults import FaultKind
from arena.match.referee import GamePlan, Outcome
from arena.records.evidence import EvidenceWriter
from arena.records.journal import Journal
from arena.records.record import FORFEIT, Fault, GameRecord
from arena.tournament.batches import Batch
from arena.tournament.events import (
    BotBroken,
    GamePlayed,
    RunnerEvent,
    Stopping,
    Voided,
    WorkersChanged,
)
from arena.tournament.next_games import Games
from arena.tournament.voiding import VoidAttempts, void_of_dead_worker

log = logging.getLogger(__name__)

LOOK_S = 0.2
"""For how many seconds at most the runner waits for a batch before it polls the pool again."""
DIED = (
    "warning: a worker died: the {} games that were handed out but had not come back are played"
    " again"
)
"""What the user is told when a worker has died."""
FIRST_GAMES = 6
"""If a bot crashes in each of its first games, this many, it is excluded. With two players these
are three deals in both seatings; with three players, one deal on two boards in every seating.
"""
MAX_FRUITLESS = 10
"""How often in a row workers may die without having finished a game before the run ends."""
Ended = tuple[GamePlan, Outcome | BaseException | None]
"""A game and its result: an outcome or an error; None if the game was not started."""


class Pool(Protocol):
    """Workers that play batches of games. If a worker dies, the future of its batch ends with
    `BrokenExecutor`. If a batch fails for another reason, its future ends with that error.

    ``as_one``  whether the death of one worker breaks off the batches of all workers
    """

    as_one: bool

    @property
    def slots(self) -> int:
        """How many games can be played at the same time."""

    def look(self) -> None:
        """Polls the workers; called often. Raises ClusterError if no more games can be played."""

    def capacity(self) -> int:
        """How many games the next batch may have; 0 if no batch may be handed out now."""

    def submit(self, plans: list[GamePlan], *, alone: bool = False) -> Future[Batch] | None:
        """Hands out a batch and returns its future. Returns None if there is no capacity for it
        now, or if a worker has died. A batch submitted ``alone`` may kill its worker, so no other
        batch runs there at the same time.
        """

    def renew(self) -> None:
        """Replaces workers that have died. May be called only while no batch is handed out. Raises
        ClusterError if the connection to a cluster is lost.
        """

    def stop_beginning(self) -> None:
        """Lets running games finish, and starts no others."""

    def close(self, *, kill: bool) -> None:
        """Ends the workers, or only the session on those of a cluster; ``kill`` breaks off the
        games that they still play.
        """


class FirstGames:
    """Finds bots that cannot play at all, by their first games in a session.

    A bot cannot play if each of its first `FIRST_GAMES` games ended with the same kind of crash
    (`FaultKind.is_crash`), such as a failed start-up. A game that other bots ended by forfeits does
    not count.
    """

    def __init__(self) -> None:
        self._ends = defaultdict[str, list[str]](list)

    def add(self, record: GameRecord) -> list[Fault]:
        """Counts a game. Returns the fault, in this game, of each bot that is found by this game to
        be unable to play; usually an empty list.
        """
        broken: list[Fault] = []
        faults = {fault.seat: fault for fault in record.faults}
        for seat, bot in enumerate(record.bots):
            fault = faults.get(seat)
            ends = self._ends[bot]
            is_decided = len(ends) == FIRST_GAMES
            was_ended_by_others = fault is None and record.end == FORFEIT
            if is_decided or was_ended_by_others:
                continue
            ends.append(fault.kind if fault else record.end)
            if fault and FaultKind(fault.kind).is_crash and ends == [fault.kind] * FIRST_GAMES:
                broken.append(fault)
        return broken


class Runner:
    """Plays the games of one session on a pool of workers.

    ``stop_level``  0: keep playing; 1: let running games finish; 2 or more: kill the workers
    ``voided``      the events about games that were given up
    ``broken``      the events about bots that were excluded; with ``spares``, no bot is excluded
    ``faults``      writes the evidence of faults
    ``listen``      called with each event
    """

    def __init__(
        self,
        folder: Path,
        journal: Journal,
        pool: Pool,
        listen: Callable[[RunnerEvent], None],
        *,
        spares: bool = False,
    ) -> None:
        self._folder = folder
        self._journal = journal
        self._pool = pool
        self._listen = listen
        self._pending: dict[Future[Batch], list[GamePlan]] = {}
        self._suspects: deque[GamePlan] = deque()
        self._voids = VoidAttempts(folder)
        self._fruitless = 0
        self._first = None if spares else FirstGames()
        self._source: Games
        self.voided: list[Voided] = []
        self.broken: list[BotBroken] = []
        self.faults = EvidenceWriter(folder)
        self.stop_level = 0

    def request_stop(self) -> None:
        """Makes `play` end after the running games; a second call makes it end at once. A signal
        handler may call it.
        """
        self.stop_level += 1

    def play(self, source: Games) -> None:
        """Plays the games of a source until the source is over, or until a stop is requested.
        Raises RunError if the journal cannot be written, ClusterError if no workers are left, Void
        if workers keep dying, and UserError if the machine is too busy to judge bots fairly.
        """
        self._source = source
        has_said_so = False
        try:
            while self._is_going_on():
                self._pool.look()
                if self.stop_level == 0 and not self._source.is_over:
                    self._hand_out()
                elif self._pending:
                    self._pool.stop_beginning()
                if self.stop_level and not has_said_so:
                    has_said_so = True
                    handed_out = sum(len(plans) for plans in self._pending.values())
                    self._listen(Stopping(min(handed_out, self._pool.slots)))
                if self._pending:
                    done, _ = wait(self._pending, timeout=LOOK_S, return_when=FIRST_COMPLETED)
                    self._collect(done)
                elif self.stop_level == 0:
                    time.sleep(LOOK_S)
        finally:
            try:
                self._rescue()
            finally:
                self._pool.close(kill=bool(self._pending))
                self._pending.clear()

    def _is_going_on(self) -> bool:
        """Whether `play` has something to do: batches are handed out, or more are to come. False
        after a second request to stop.
        """
        if self.stop_level > 1:
            return False
        return bool(self._pending) or not (self.stop_level or self._source.is_over)

    def _hand_out(self) -> None:
        """Hands out batches while the pool has capacity. Games that may have killed a worker come
        first, each in a batch of its own, and of those on one deal one at a time.
        """
        while (suspect := self._next_suspect()) and self._submit([suspect], alone=True):
            self._suspects.remove(suspect)
        while not self._suspects and (capacity := self._pool.capacity()):
            plans = self._source.issue(capacity, lambda: self.stop_level > 0)
            if not plans:
                return
            if not self._submit(plans):
                self._source.requeue(plans)
                return

    def _next_suspect(self) -> GamePlan | None:
        """The first game among those that may have killed a worker whose deal is not being played;
        None if there is none.
        """
        decks = {plan.deck for plan in chain.from_iterable(self._pending.values())}
        return next((plan for plan in self._suspects if plan.deck not in decks), None)

    def _submit(self, plans: list[GamePlan], *, alone: bool = False) -> bool:
        """Offers a batch to the pool, and returns whether the pool took it. If it did not, and no
        batch is handed out, the pool is renewed, because a worker may have died.
        """
        future = self._pool.submit(plans, alone=alone)
        if future is not None:
            self._pending[future] = plans
        elif not self._pending:
            self._pool.renew()
        return future is not None

    def _collect(self, done: set[Future[Batch]]) -> None:
        """Handles batches whose futures are ``done``: writes their finished games to the journal,
        and requeues or gives up the games that failed or were not started. Raises UserError if one
        of them ended with it.
        """
        if any(isinstance(_error_of(future), BrokenExecutor) for future in done):
            done = wait(self._pending).done if self._pool.as_one else done
        ended = self._take(done)
        self._keep(ended)
        for _, result in ended:
            if isinstance(result, UserError):
                raise result
        broken = list[GamePlan]()
        unplayed = defaultdict[tuple[str, ...], list[GamePlan]](list)
        for plan, result in ended:
            if isinstance(result, BrokenExecutor):
                # They are played one at a time, so no deal ends with a batch.
                broken.append(replace(plan, ends_deal=False))
            elif result is None:
                unplayed[plan.board, *sorted(plan.bots)].append(plan)
            elif not isinstance(result, Outcome) and not self._void(plan, result):
                self._source.requeue([plan])
        for plans in unplayed.values():
            self._source.requeue(plans)
        results = [result for _, result in ended]
        has_played = any(isinstance(result, Outcome) for result in results)
        self._fruitless = 0 if has_played else self._fruitless + bool(broken)
        if broken:
            self._queue_again(broken)

    def _rescue(self) -> None:
        """Writes the finished games of the batches that have ended, after playing stopped or
        failed.
        """
        done = [future for future in self._pending if future.done() and not _error_of(future)]
        self._keep(self._take(done))

    def _take(self, done: Iterable[Future[Batch]]) -> list[Ended]:
        """Removes ended batches from the pending ones, and returns their games with the results.
        Log records that came back with a batch are logged.
        """
        ended = list[Ended]()
        for future in done:
            plans = self._pending.pop(future)
            error = _error_of(future)
            if error is not None:
                ended += [(plan, error) for plan in plans]
                continue
            for record in future.result().logged:
                logging.getLogger(record.name).handle(record)
            ended += zip(plans, future.result().results, strict=True)
        return ended

    def _keep(self, ended: list[Ended]) -> None:
        """Writes the finished games among ``ended`` to the journal, and then emits their events. If
        a game was played twice, its first result counts.

        Evidence is written first, so that no fault is in the journal without its evidence. If the
        evidence cannot be written, the games are still written, and then RunError is raised.
        """
        unwritten: RunError | None = None
        new = dict[str, Outcome]()
        for plan, outcome in ended:
            if not isinstance(outcome, Outcome) or plan.id in self._journal.ids or plan.id in new:
                continue
            new[plan.id] = outcome
            try:
                if outcome.evidence:
                    self.faults.write(plan.id, plan.seeds, outcome.evidence)
            except RunError as error:
                unwritten = error
        if new:
            self._journal.append([outcome.record for outcome in new.values()])
        for outcome in new.values():
            self._source.ended(outcome.record)
            self._listen(GamePlayed(outcome))
            self._look_for_broken(outcome)
        if unwritten:
            raise unwritten

    def _look_for_broken(self, outcome: Outcome) -> None:
        """Excludes each bot that this game has shown to be unable to play."""
        record = outcome.record
        for fault in self._first.add(record) if self._first else ():
            words = [kept.stderr for kept in outcome.evidence if kept.seat == fault.seat]
            stderr = words[0] if words else ""
            event = BotBroken(record.bots[fault.seat], FIRST_GAMES, record.id, fault, stderr)
            log.warning("%s plays no more: %s, as in %s", event.bot, fault.kind, event.game)
            self.broken.append(event)
            self._source.bar(event.bot)
            self._listen(event)

    def _void(self, plan: GamePlan, error: BaseException) -> bool:
        """Counts a failed attempt at a game, see `VoidAttempts`. Returns whether the game is given
        up.
        """
        event = self._voids.add(plan, error)
        if event.given_up:
            self.voided.append(event)
            self._source.give_up(plan)
        self._listen(event)
        return event.given_up

    def _queue_again(self, broken: list[GamePlan]) -> None:
        """Renews the pool after a worker died, and queues the ``broken`` games, which were lost
        with it, to be played one at a time: that shows which game kills workers. A single broken
        game counts as a failed attempt, and may be given up instead, see `_void`. Until they are
        played, the source counts these games as in flight. Raises Void, and queues nothing, if
        workers keep dying.
        """
        self._pool.renew()
        if self._fruitless > MAX_FRUITLESS:
            raise Void(
                f"{self._fruitless} workers died in a row without a finished game",
                f"{self._folder / 'logs'} has the details; look for what kills processes on this"
                " machine, such as a lack of memory",
            )
        log.warning("a worker died; games to play again: %d", len(broken))
        if len(broken) > 1:
            self._suspects.extend(broken)
            self._listen(WorkersChanged(DIED.format(len(broken))))
        elif not self._void(broken[0], void_of_dead_worker()):
            self._suspects.append(broken[0])


def _error_of(future: Future[Batch]) -> BaseException | None:
    """The error with which a batch ended; None if it returned results."""
    return BrokenExecutor("it was dropped") if future.cancelled() else future.exception()
