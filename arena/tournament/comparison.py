"""Two bots compared: the games of a run put together to blocks, in schedule order, until there are enough.

What is decided follows from the blocks in the order of deals and boards, never from the order in which games happened to end. So a
comparison that was interrupted, or played by any number of workers, comes to the same answer at the same block.
"""

from collections.abc import Callable, Iterator, Sequence
from math import ceil
from typing import NamedTuple

from arena.errors import ConfigError
from arena.match.referee import GamePlan
from arena.records.record import GameRecord, shares
from arena.tournament.config import RunConfig
from arena.tournament.lineups import opponents
from arena.tournament.schedule import Schedule

WHOLE = 12
"""A win in integer parts that 1, 2, 3 and 4 winners share evenly."""


class Block(NamedTuple):
    """One deal on one board, played by both in the same seats: the mean share of the win of each, and the number of the opponents."""

    new: float
    old: float
    group: int


class _Games(NamedTuple):
    """How many games of a block there are, and what both got in them, in parts of `WHOLE`, whose sums know no order."""

    games: int = 0
    new: int = 0
    old: int = 0


class Blocks:
    """Gathers games, and hands them to a judge as blocks.

    ``judge`` gets a round of blocks at a time, one for each board and set of opponents, and says whether that was enough; after that it
    is not asked again. ``settled`` is then the number of deals that were looked at, until then None. ``groups`` is the number of
    sets of opponents, ``block_size`` the number of games in a block; ``is_stuck`` is for whoever plays to set when a block cannot be
    completed.
    """

    def __init__(self, schedule: Schedule, judge: Callable[[Sequence[Block]], bool]) -> None:
        if schedule.config.compare is None:
            raise ConfigError("expected a run that compares two bots, got a tournament", "choose another --out")
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
        place, games = (record.board, record.deal), self._open.get((record.board, record.deal), _Games())
        parts = {bot: round(share * WHOLE) for bot, share in zip(record.bots, shares(record.ranks), strict=True)}
        new, old = parts.get(self._compare.new, 0), parts.get(self._compare.old, 0)
        self._open[place] = _Games(games.games + 1, games.new + new, games.old + old)
        while self.settled is None and self._looked_at < self._deals and self._has_round():
            self._look()

    def wanted(self, plans: Iterator[GamePlan]) -> Iterator[GamePlan]:
        """The games, for as long as they can change anything."""
        for plan in plans:
            if self.settled is not None or self.is_stuck:
                return
            yield plan

    def _places(self) -> list[tuple[str, int]]:
        """Board and deal of the blocks of the next round, in order."""
        deals = range(self._looked_at, self._looked_at + self.groups)
        return [(board, deal) for deal in deals for board in self._boards]

    def _has_round(self) -> bool:
        return all(place in self._open and self._open[place].games == self.block_size for place in self._places())

    def _look(self) -> None:
        """Hands the next round to the judge."""
        blocks = []
        for place in self._places():
            games = self._open.pop(place)
            blocks.append(Block(games.new / self._whole, games.old / self._whole, place[1] % self.groups))
        self._looked_at += self.groups
        if self._judge(blocks):
            self.settled = self._looked_at


def deals_for(config: RunConfig, blocks: int) -> int:
    """The deals on each board for so many blocks, rounded up to whole rounds."""
    groups = len(opponents(config))
    return ceil(blocks / (groups * len(config.boards))) * groups
