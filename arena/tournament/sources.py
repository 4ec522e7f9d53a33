"""Where a run's games come from: what a runner asks for the next ones, and tells what became of
them. Pure: no clock, no files, no processes.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from arena.match.referee import GamePlan
from arena.records.record import GameRecord
from arena.tournament.batches import Batches


class Source(Protocol):
    """Issues games, and hears of each how it ended: `ended`, `give_back` or `give_up`."""

    @property
    def is_over(self) -> bool:
        """Whether no more games are needed, not even those that are out."""

    def issue(self, room: int) -> list[GamePlan]:
        """A batch for one worker, of at most ``room`` games; empty means none for now: ask again
        when a game has ended.
        """

    def ended(self, record: GameRecord) -> None:
        """A game is in the journal."""

    def give_back(self, batch: Sequence[GamePlan]) -> None:
        """Games were not played: they are to be issued again."""

    def give_up(self, plan: GamePlan) -> None:
        """A game cannot be played in this session."""


class AllGames:
    """Every game of some batches, once: the source of a run whose plan is fixed.

    ``has_gaps`` if a game was given up.
    """

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
        self._again = deque[list[GamePlan]]()
        # Games on the same deal have the same deck, and no others have.
        self._out: dict[str, str] = {}
        self._decks_out: set[str] = set()
        self.has_gaps = False

    @property
    def is_over(self) -> bool:
        """Whether every game has ended or been given up."""
        return not (self._out or self._again or self._batches.has_more())

    def issue(self, room: int) -> list[GamePlan]:
        """Games that were given back, or else the next ones."""
        batch = self._returned(room) or self._batches.take(room, self._is_out)
        for plan in batch:
            self._out[plan.id] = plan.deck
            self._decks_out.add(plan.deck)
        return batch

    def _returned(self, room: int) -> list[GamePlan]:
        for batch in self._again:
            if not any(map(self._is_out, batch)):
                self._again.remove(batch)
                if batch[room:]:
                    self._again.append(batch[room:])
                return batch[:room]
        return []

    def _is_out(self, plan: GamePlan) -> bool:
        return plan.deck in self._decks_out

    def ended(self, record: GameRecord) -> None:
        """Its deal may be played elsewhere."""
        self._is_back(record.id)

    def give_back(self, batch: Sequence[GamePlan]) -> None:
        """They are the next."""
        for plan in batch:
            self._is_back(plan.id)
        self._again.append(list(batch))

    def give_up(self, plan: GamePlan) -> None:
        """It is issued no more."""
        self._is_back(plan.id)
        self.has_gaps = True

    def _is_back(self, name: str) -> None:
        # A game that two workers played, because one was thought lost, comes back twice.
        self._decks_out.discard(self._out.pop(name, ""))


class GamesInRounds:
    """Rounds of games: after each, ``decide`` looks at the results, and gives the games of the next
    or None at the end. The source of a run that is played until its ratings are precise.

    It is only asked when all games of the round have ended, so that its answer does not depend on
    the number of workers.
    """

    def __init__(self, first: Batches, decide: Callable[[], Batches | None]) -> None:
        self._round = AllGames(first)
        self._decide = decide
        self._is_decided = False

    @property
    def is_over(self) -> bool:
        """Whether there are no more rounds, or this one cannot be completed."""
        return self._round.is_over and (self._is_decided or self._round.has_gaps)

    def issue(self, room: int) -> list[GamePlan]:
        """The next games of this round, or of the next."""
        while self._round.is_over and not self.is_over:
            batches = self._decide()
            if batches is None:
                self._is_decided = True
            else:
                self._round = AllGames(batches)
        return self._round.issue(room)

    def ended(self, record: GameRecord) -> None:
        """Counts for the round."""
        self._round.ended(record)

    def give_back(self, batch: Sequence[GamePlan]) -> None:
        """They are the next."""
        self._round.give_back(batch)

    def give_up(self, plan: GamePlan) -> None:
        """The round cannot be completed."""
        self._round.give_up(plan)
