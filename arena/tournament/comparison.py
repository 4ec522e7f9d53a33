"""Comparing two bots: the games of a run, until the blocks that they form have settled which is
better.

The decision depends on the blocks in the order of deals and boards, never on the order in which
games happened to end. So a comparison gives the same answer at the same block, even if it is
interrupted, and with any number of workers.
"""

from collections.abc import Callable, Sequence
from math import ceil
from typing import NamedTuple

from arena.errors import ConfigError
from arena.match.referee import GamePlan
from arena.records.record import NO_MARGINS, GameRecord, Margins, margins, shares
from arena.tournament.batches import Batches
from arena.tournament.config import MOST_DEALS, RunConfig
from arena.tournament.lineups import opponents
from arena.tournament.schedule import Schedule
from arena.tournament.sources import AllGames

WHOLE = 12
"""A win in integer parts, which 1, 2, 3 or 4 winners can share evenly."""


class Block(NamedTuple):
    """One deal on one board, played by both bots in the same seats: each bot's mean share of the
    win, and the set of opponents; for a test by margin also both bots' sorted margins.
    """

    new: float
    old: float
    group: int
    margins: Margins = NO_MARGINS


class _OpenBlock(NamedTuple):
    """How many games of a block are there, and what both bots got in them, in parts of `WHOLE`, so
    that order does not matter; their margins if these are wanted.
    """

    games: int = 0
    new: int = 0
    old: int = 0
    margins: Margins = NO_MARGINS

    def block(self, whole: int, group: int) -> Block:
        """The block, once it is complete."""
        new, old = (tuple(sorted(of_bot)) for of_bot in self.margins)
        return Block(self.new / whole, self.old / whole, group, (new, old))


class ComparedGames:
    """The games of a comparison: a source that is over as soon as its judge has seen enough.

    ``judge`` gets one round of blocks at a time, one block for each board and set of opponents, and
    says whether that is enough. After that it is not asked again, and ``settled`` is the number of
    deals it looked at; until then it is None. ``block_size`` is the number of games in a block.
    """

    def __init__(
        self, schedule: Schedule, batches: Batches, judge: Callable[[Sequence[Block]], bool]
    ) -> None:
        if schedule.config.compare is None:
            raise ConfigError(
                "expected a run that compares two bots, got a tournament", "choose another --out"
            )
        self._games = AllGames(batches)
        self._compare = schedule.config.compare
        self._boards = schedule.config.boards
        self._deals = schedule.config.deals
        self._groups = schedule.turns
        self._judge = judge
        self.block_size = schedule.block_size * (2 if schedule.config.pool else 1)
        self._whole = schedule.block_size * WHOLE
        self._open: dict[tuple[str, int], _OpenBlock] = {}
        self._looked_at = 0
        self.settled: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether no game can change the answer: it is there, or a block cannot be completed, and
        those after it do not count without it.
        """
        return self.settled is not None or self._games.has_gaps or self._games.is_over

    def issue(self, room: int) -> list[GamePlan]:
        """The next games."""
        return self._games.issue(room)

    def give_back(self, batch: Sequence[GamePlan]) -> None:
        """They are the next."""
        self._games.give_back(batch)

    def give_up(self, plan: GamePlan) -> None:
        """The comparison cannot go on."""
        self._games.give_up(plan)

    def ended(self, record: GameRecord) -> None:
        """Counts a game."""
        self._games.ended(record)
        self.count(record)

    @property
    def round_size(self) -> int:
        """Blocks in a round."""
        return self._groups * len(self._boards)

    def count(self, record: GameRecord) -> None:
        """Counts a game of this or an earlier session."""
        place, games = (
            (record.board, record.deal),
            self._open.get((record.board, record.deal), _OpenBlock()),
        )
        parts = {
            bot: round(share * WHOLE)
            for bot, share in zip(record.bots, shares(record.ranks), strict=True)
        }
        new, old = parts.get(self._compare.new, 0), parts.get(self._compare.old, 0)
        self._open[place] = _OpenBlock(
            games.games + 1, games.new + new, games.old + old, self._margins(games, record)
        )
        while self.settled is None and self._looked_at < self._deals and self._has_round():
            self._look()

    def _margins(self, games: _OpenBlock, record: GameRecord) -> Margins:
        """Both bots' margins in a block, with those of one more game."""
        if self._compare.by == "wins":
            return games.margins
        of_bot = dict(zip(record.bots, margins(record), strict=True))
        new, old = (
            (*known, of_bot[bot]) if bot in of_bot else known
            for known, bot in zip(
                games.margins, (self._compare.new, self._compare.old), strict=True
            )
        )
        return new, old

    def _places(self) -> list[tuple[str, int]]:
        """The boards and deals of the next round's blocks, in order."""
        deals = range(self._looked_at, self._looked_at + self._groups)
        return [(board, deal) for deal in deals for board in self._boards]

    def _has_round(self) -> bool:
        return all(
            place in self._open and self._open[place].games == self.block_size
            for place in self._places()
        )

    def _look(self) -> None:
        """Passes the next round to the judge."""
        blocks = [
            self._open.pop(place).block(self._whole, place[1] % self._groups)
            for place in self._places()
        ]
        self._looked_at += self._groups
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
