"""A queue of batches of games that are still to be played, from which workers get the games of
whole deals.
"""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from itertools import chain, islice

from arena.match.referee import GamePlan


class BatchQueue:
    """A queue of batches of games. Each item of ``refill`` is a list of batches; when the queue is
    empty, the next item refills it. ``waiting`` has the batches in the queue.

    With ``share``, games are taken even if their deals are being played elsewhere.
    """

    def __init__(
        self,
        batches: Sequence[list[GamePlan]] = (),
        refill: Iterator[list[list[GamePlan]]] | None = None,
        *,
        share: bool = False,
    ) -> None:
        self.waiting = list(batches)
        self.issued: set[str] = set()
        """The ids of the games that were taken."""
        self._refill = refill or iter(())
        self._share = share

    def has_more(self) -> bool:
        """Whether there are batches to take; refills an empty queue."""
        if not self.waiting:
            self.waiting = next(self._refill, [])
        return bool(self.waiting)

    def take(self, capacity: int, decks_in_flight: Container[str]) -> list[GamePlan]:
        """Takes at most ``capacity`` games off the first batch that has games whose decks are not
        in ``decks_in_flight`` (with ``share``, off the first batch), and only such games: all games
        on as many of their decks as fit. Returns an empty list if there is no such batch.
        """
        if not self.has_more():
            return []
        for place, batch in enumerate(self.waiting):
            free = batch
            if not self._share:
                free = [plan for plan in batch if plan.deck not in decks_in_flight]
            if free:
                decks = _first_decks(free, capacity)
                taken = [plan for plan in free if plan.deck in decks][:capacity]
                ids = {plan.id for plan in taken}
                self.issued |= ids
                left = [plan for plan in batch if plan.id not in ids]
                self.waiting[place : place + 1] = [left] if left else []
                return taken
        return []

    def waiting_decks(self) -> set[str]:
        """The decks of the games that are in this queue now; batches that ``refill`` will bring do
        not count.
        """
        return {plan.deck for plan in chain.from_iterable(self.waiting)}


def _first_decks(batch: Sequence[GamePlan], capacity: int) -> set[str]:
    """The decks of the first games of ``batch`` that fit into ``capacity`` games together with all
    other games on the same decks. If not even the games on one deck fit, the first ``capacity``
    decks.
    """
    games_on = Counter(plan.deck for plan in batch)
    decks = set[str]()
    size = 0
    for deck, games in games_on.items():
        size += games
        if size > capacity:
            break
        decks.add(deck)
    return decks or set(islice(games_on, capacity))
