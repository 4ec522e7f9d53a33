"""The games of a plan, cut into batches for workers: a deal is played in one place at a time.

Bots can leave word for each other on a machine in ways that no sandbox closes (docs/security.md).
Whoever has played a deal knows the hands and the pile. So a batch has the games of one line-up on
one board in one seating, on different deals, and workers play it with processes of its own; and
while a deal is being played, no other batch has a game on it. Pure: no clock, no files.
"""

from collections import deque
from collections.abc import Callable, Container, Iterator
from itertools import islice
from math import ceil
from typing import Protocol

from arena.match.referee import GamePlan
from arena.tournament.schedule import Schedule

MOST_DEALS_AT_ONCE = 20
"""The most deals in a batch, of games so quick that it takes about a second. It starts the bots'
processes, which costs as much as a few of these games.
"""
MOST_COMPARED = 10
"""The same in a comparison, where the games that are out when it is settled were played in vain."""


class Batches(Protocol):
    """The games that are to be played, batch by batch."""

    def take(self, room: int, is_out: Callable[[GamePlan], bool]) -> list[GamePlan]:
        """The next batch, of at most ``room`` games; empty if none can be played while the games
        that are out are being played.
        """

    def has_more(self) -> bool:
        """Whether there are games left to take."""


def batches_of(schedule: Schedule, ids: Container[str], places: Callable[[], int]) -> Batches:
    """The games of a plan whose ids are not among these. ``places`` says how many workers there
    are.
    """
    if schedule.config.in_process:
        return DealByDeal(schedule.missing(ids))
    return InChunks(schedule, ids, places)


class DealByDeal:
    """Games in their order, for bots that cannot remember: those of the arena, which have no
    processes.
    """

    def __init__(self, plans: Iterator[GamePlan]) -> None:
        self._plans = plans
        self._next: list[GamePlan] = []

    def take(self, room: int, is_out: Callable[[GamePlan], bool]) -> list[GamePlan]:
        """The next games; any game is free here."""
        batch, self._next = [*self._next, *islice(self._plans, room - len(self._next))], []
        return batch

    def has_more(self) -> bool:
        """Whether there are games left to take."""
        self._next = self._next or list(islice(self._plans, 1))
        return bool(self._next)


class InChunks:
    """Games in chunks of deals, which all line-ups play before the next chunk.

    A chunk is one deal at first, then at most half as many as there were before, so that all
    line-ups have about equally many games whenever a run is stopped. Another chunk is opened only
    if no batch of the open ones can be played now, so there are about as many as workers. The deals
    before the ``first`` one have been played.
    """

    def __init__(
        self, schedule: Schedule, ids: Container[str], places: Callable[[], int], first: int = 0
    ) -> None:
        self._schedule = schedule
        self._ids = ids
        self._places = places
        self._open: list[Chunk] = []
        self._ahead = deque[range]()
        self._begun = self._opened = first
        self._room = 1
        is_compared = schedule.config.compare is not None
        self._most = MOST_COMPARED if is_compared else MOST_DEALS_AT_ONCE

    def take(self, room: int, is_out: Callable[[GamePlan], bool]) -> list[GamePlan]:
        """The next batch of the oldest chunk that has one whose deals are not out."""
        self._room = room
        for chunk in list(self._open):
            if batch := chunk.take(room, is_out):
                return batch
            if not chunk.has_more():
                self._open.remove(chunk)
        while self._open_chunk():
            if batch := self._open[-1].take(room, is_out):
                return batch
            if not self._open[-1].has_more():
                self._open.pop()
        return []

    def has_more(self) -> bool:
        """Whether there are games left to take."""
        while not any(chunk.has_more() for chunk in self._open):
            self._open.clear()
            if not self._open_chunk():
                return False
        return True

    def _open_chunk(self) -> bool:
        """Opens the next chunk; False if there is none."""
        if not self._ahead:
            self._look_ahead()
        if not self._ahead:
            return False
        numbers = self._ahead.popleft()
        batches = self._schedule.batches(numbers, self._ids, self._opened)
        self._open.append(Chunk(batches))
        self._opened += 1
        return True

    def _look_ahead(self) -> None:
        """Decides on the next deals. Where sets of opponents take turns, those of each set are a
        chunk.
        """
        turns, last = self._schedule.turns, self._schedule.last_deal
        deals, places = ceil(last / turns), max(1, self._places())
        left = deals - self._begun
        if left <= 0:
            return
        idle = max(1, places - len(self._open))
        size = min(
            self._most, self._room, self._begun // 2, ceil(deals / places), ceil(left / idle)
        )
        size = min(max(1, size), left)
        first, end = self._begun * turns, min(last, (self._begun + size) * turns)
        self._ahead.extend(
            range(first + turn, end, turns) for turn in range(min(turns, end - first))
        )
        self._begun += size


class Chunk:
    """The batches of some deals, by line-up: those of one line-up are all played before the next
    line-up's.
    """

    def __init__(self, line_ups: Iterator[list[list[GamePlan]]]) -> None:
        self._line_ups = line_ups
        self._waiting: list[list[GamePlan]] = []

    def take(self, room: int, is_out: Callable[[GamePlan], bool]) -> list[GamePlan]:
        """The first batch, or its beginning, that has no deal that is out."""
        if not self.has_more():
            return []
        for place, batch in enumerate(self._waiting):
            if not any(map(is_out, batch)):
                self._waiting[place : place + 1] = [batch[room:]] if batch[room:] else []
                return batch[:room]
        return []

    def has_more(self) -> bool:
        """Whether there are batches left to take."""
        self._waiting = self._waiting or next(self._line_ups, [])
        return bool(self._waiting)
