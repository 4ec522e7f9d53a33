"""Comparing two bots: gathers the games of a run into blocks, in schedule order, until there are
enough.

The decision depends on the blocks in the order of deals and boards, never on the order in which
games happened to end. So a comparison gives the same answer at the same block, even if it is
interrupted, and with any number of workers.
"""

from collections.abc import Callable, Iterator, Sequence
from math import ceil
from typing import NamedTuple

from arena.errors import ConfigError
from arena.match.referee import GamePlan
from arena.records.record import GameRecord, shares
from arena.tournament.config import MOST_DEALS, RunConfig
from arena.tournament.lineups import opponents
from arena.tournament.schedule import Schedule

WHOLE = 12
"""A win in integer parts, which 1, 2, 3 or 4 winners can share evenly."""


class Block(NamedTuple):
    """One deal on one board, played by both bots in the same seats: each bot's mean share of the
    win, and the set of opponents.
    """

    new: float
    old: float
    group: int


class _Games(NamedTuple):
    """How many games of a block are there, and what both bots got in them, in parts of `WHOLE`, so
    that order does not matter.
    """

    games: int = 0
    new: int = 0
    old: int = 0


class Blocks:
    """Gathers games and passes them to a judge as blocks.

    ``judge`` gets one round of blocks at a time, one block for each board and set of opponents, and
    says whether that is enough. After that it is not asked again, and ``settled`` is the number of
    deals it looked at; until then it is None. ``groups`` is the number of sets of opponents, and
    ``block_size`` the number of games in a block. The caller sets ``is_stuck`` if a block cannot be
    completed.
    """

    def __init__(self, schedule: Schedule, judge: Callable[[Sequence[Block]], bool]) -> None:
        if schedule.config.compare is None:
            raise ConfigError(
                "expected a run that compares two bots, got a tournament", "choose another --out"
            )
        self._compare = schedule.config.compare
        self._boards = schedule.config.boards
        self._deals = schedule.config.deals
        self._judge = judge
        self.groups = len(opponents(schedule.config))
        self.block_size = len(schedule.seatings) * (2 if schedule.config.pool else 1)
        self._whole = len(schedule.seatings) * WHOLE
        self._open: dict[tuple[str, int], _Games] = {}
        self._looked_at = 0
        self.settled: int | None = None
        self.is_stuck = False

    @property
    def round_size(self) -> int:
        """Blocks in a round."""
        return self.groups * len(self._boards)

    def add(self, record: GameRecord) -> None:
        """Counts a game."""
        place, games = (
            (record.board, record.deal),
            self._open.get((record.board, record.deal), _Games()),
        )
        parts = {
            bot: round(share * WHOLE)
            for bot, share in zip(record.bots, shares(record.ranks), strict=True)
        }
        new, old = parts.get(self._compare.new, 0), parts.get(self._compare.old, 0)
        self._open[place] = _Games(games.games + 1, games.new + new, games.old + old)
        while self.settled is None and self._looked_at < self._deals and self._has_round():
            self._look()

    def wanted(self, plans: Iterator[GamePlan]) -> Iterator[GamePlan]:
        """Passes on the games for as long as they can change the answer."""
        for plan in plans:
            if self.settled is not None or self.is_stuck:
                return
            yield plan

    def _places(self) -> list[tuple[str, int]]:
        """The boards and deals of the next round's blocks, in order."""
        deals = range(self._looked_at, self._looked_at + self.groups)
        return [(board, deal) for deal in deals for board in self._boards]

    def _has_round(self) -> bool:
        return all(
            place in self._open and self._open[place].games == self.block_size
            for place in self._places()
        )

    def _look(self) -> None:
        """Passes the next round to the judge."""
        blocks = []
        for place in self._places():
            games = self._open.pop(place)
            blocks.append(
                Block(games.new / self._whole, games.old / self._whole, place[1] % self.groups)
            )
        self._looked_at += self.groups
        if self._judge(blocks):
            self.settled = self._looked_at


def deals_for(config: RunConfig, blocks: int) -> int:
    """The deals on each board for this many blocks, rounded up to complete rounds. Raises
    ConfigError for too many.
    """
    groups = len(opponents(config))
    deals = ceil(blocks / (groups * len(config.boards))) * groups
    if deals > MOST_DEALS:
        raise ConfigError(
            f"expected at most {MOST_DEALS:,} deals on a board, got {deals:,} for"
            f" {blocks:,} blocks",
            "use a smaller --max-blocks",
        )
    return deals
