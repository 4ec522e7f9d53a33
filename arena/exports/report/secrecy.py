"""What of a run may be shown: nothing by which a bot could know the tiles of a game that is still to be played.

Line-ups play the same deals. So a deal stays secret until each of its planned games is in the journal, and the seed, from which all
deals follow, until the whole run is.
"""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from arena.errors import ConfigError
from arena.records.runfile import RunInfo
from arena.tournament.config import make_config
from arena.tournament.schedule import Schedule

Deal = tuple[str, int]
"""A board and the number of a deal on it."""


class Secrecy(NamedTuple):
    """What is finished: ``planned`` games, and ``missing`` ones of them, None when this version cannot read the plan; ``over`` deals."""

    planned: int | None
    missing: int | None
    over: frozenset[Deal]

    @property
    def is_finished(self) -> bool:
        """Whether no planned game is left, so that the seed gives nothing away."""
        return self.missing == 0

    def is_open(self, deal: Deal) -> bool:
        """Whether games of the deal may still be to be played."""
        return not self.is_finished and deal not in self.over


def judge(info: RunInfo, blocks: Mapping[str, int]) -> Secrecy:
    """What may be shown of a run, by the games of each block; all is secret where the plan is not understood."""
    try:
        schedule = Schedule(make_config(info.config))
    except ConfigError:
        return Secrecy(None, None, frozenset())
    played: Counter[Deal] = Counter()
    for block, games in blocks.items():
        if schedule.needs_block(block):
            board, _, rest = block.partition("/")
            played[board, int(rest.rpartition("/")[2])] += games
    over = frozenset(deal for deal, games in played.items() if games >= _games_of(schedule, deal))
    return Secrecy(schedule.planned, schedule.planned - played.total(), over)


def _games_of(schedule: Schedule, deal: Deal) -> int:
    """How many games the deal has; as long as line-ups may be given more deals, any of them may be given this one."""
    config = schedule.config
    may_grow = config.is_open and config.allotted is not None
    number = schedule.number_of(*deal)
    line_ups = len(schedule.line_ups) if may_grow else sum(number in deals for deals in schedule.deals.values())
    return line_ups * len(schedule.seatings)
