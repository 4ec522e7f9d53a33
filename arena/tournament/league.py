"""The games of a league: a source that has more drawn whenever a worker has room, until it is told
to end. Pure: no clock, no files.
"""

from collections.abc import Callable, Iterable, Sequence

from arena.match.referee import GamePlan
from arena.records.record import GameRecord
from arena.tournament.sources import AllGames

DEALS_A_DRAW = 4
"""Deals that a line-up is drawn for at a time, on all boards together: a batch of so many games is
worth the start of its bots' processes, and a few of these place a candidate.
"""


class DrawnGames:
    """Batches of games, with more drawn as they are needed; see `batches.Batches`.

    ``first`` are the batches that were drawn before and not played. ``draw`` gives the batches of a
    line-up on fresh deals, none if the league ends or nobody can play.
    """

    def __init__(
        self, first: Iterable[list[GamePlan]], draw: Callable[[], list[list[GamePlan]]]
    ) -> None:
        self._waiting = [batch for batch in first if batch]
        self._draw = draw

    def take(self, room: int, is_out: Callable[[GamePlan], bool]) -> list[GamePlan]:
        """The first batch whose deals are free, or else one of a fresh draw."""
        for place, batch in enumerate(self._waiting):
            if not any(map(is_out, batch)):
                self._waiting[place : place + 1] = [batch[room:]] if batch[room:] else []
                return batch[:room]
        fresh = self._draw()
        self._waiting += fresh
        return self.take(room, is_out) if fresh else []

    def has_more(self) -> bool:
        """Whether there are games left to take."""
        if not self._waiting:
            self._waiting += self._draw()
        return bool(self._waiting)


class LeagueGames:
    """A source for a league: every batch that was drawn, until ``breaks`` says that the session has
    to be opened anew, for who has joined. What is not played by then is played first in that one.
    """

    def __init__(self, games: DrawnGames, breaks: Callable[[], bool]) -> None:
        self._games = AllGames(games)
        self._breaks = breaks

    @property
    def is_over(self) -> bool:
        """Whether the session is to be opened anew, or the league ends and all that was drawn has
        been played.
        """
        return self._breaks() or self._games.is_over

    def issue(self, room: int) -> list[GamePlan]:
        """The next games."""
        return [] if self._breaks() else self._games.issue(room)

    def ended(self, record: GameRecord) -> None:
        """Counts."""
        self._games.ended(record)

    def give_back(self, batch: Sequence[GamePlan]) -> None:
        """They are the next."""
        self._games.give_back(batch)

    def give_up(self, plan: GamePlan) -> None:
        """It is played in another session."""
        self._games.give_up(plan)
