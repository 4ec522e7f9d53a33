"""What of a run may be shown: nothing by which a bot could know the tiles of a game that is still to be played.

All line-ups play the same deals. So a deal stays secret until each of its planned games is in the journal, and the seed, from which all
deals follow, until the whole run is.
"""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from arena.errors import ConfigError
from arena.records.runfile import RunInfo
from arena.tournament.config import make_config
from arena.tournament.schedule import Schedule


class Secrecy(NamedTuple):
    """What is finished. ``planned`` games, and ``missing`` ones of them; None when this version cannot read the plan.

    ``per_deal`` games are planned of each deal of a board; ``played`` are how many of them there are.
    """

    planned: int | None
    missing: int | None
    per_deal: int
    played: Mapping[tuple[str, int], int]

    @property
    def is_finished(self) -> bool:
        """Whether no planned game is left, so that the seed gives nothing away."""
        return self.missing == 0

    def is_open(self, board: str, deal: int) -> bool:
        """Whether games of the deal are still to be played."""
        return not self.is_finished and self.played.get((board, deal), 0) < self.per_deal


def judge(info: RunInfo, blocks: Mapping[str, int]) -> Secrecy:
    """What may be shown of a run, by the games of each block; all is secret where the plan is not understood."""
    try:
        schedule = Schedule(make_config(info.config))
    except ConfigError:
        return Secrecy(None, None, 1, {})
    played: Counter[tuple[str, int]] = Counter()
    for block, games in blocks.items():
        if schedule.has_block(block):
            board, _, rest = block.partition("/")
            played[board, int(rest.rpartition("/")[2])] += games
    return Secrecy(len(schedule), len(schedule) - played.total(), len(schedule.line_ups) * len(schedule.seatings), played)
