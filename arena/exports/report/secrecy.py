"""What of a run may be shown: nothing by which a bot could know the tiles of a game that is still to be played.

Line-ups play the same deals. So a deal stays secret until each of its planned games is in the journal, and the seed, from which all
deals follow, until the whole run is.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.errors import ConfigError
from arena.ratings.tally import Blocks
from arena.records.runfile import RunInfo
from arena.tournament.config import make_config
from arena.tournament.schedule import Schedule


class Secrecy(NamedTuple):
    """What is finished: ``planned`` games, and ``missing`` ones of them, None when this version cannot read the plan.

    ``over`` says by board of each deal's number whether all of its games are played; deals beyond are not.
    """

    planned: int | None
    missing: int | None
    over: Mapping[str, NDArray[np.bool_]]

    @property
    def is_finished(self) -> bool:
        """Whether no planned game is left, so that the seed gives nothing away."""
        return self.missing == 0

    def is_open(self, board: str, deals: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """(n,) whether games of the deals with these numbers (n,) may still be to be played."""
        found = np.full(len(deals), not self.is_finished)
        over = self.over.get(board, np.zeros(0, dtype=np.bool_))
        known = np.flatnonzero(deals < len(over))
        found[known] &= ~over[deals[known]]
        return found


def judge(info: RunInfo, blocks: Iterable[Blocks]) -> Secrecy:
    """What may be shown of a run, by the games of each block; all is secret where the plan is not understood."""
    try:
        schedule = Schedule(make_config(info.config))
    except ConfigError:
        return Secrecy(None, None, {})
    needed = _needed(schedule)
    played = {board: np.zeros_like(games) for board, games in needed.items()}
    for place, deals, counts in blocks:
        here = played.get(place.partition("/")[0])
        for deal, games in zip(deals, counts, strict=True):
            if here is not None and schedule.needs_block(place, deal):
                here[deal] += games
    missing = schedule.planned - sum(int(games.sum()) for games in played.values())
    return Secrecy(schedule.planned, missing, {board: (games > 0) & (games >= needed[board]) for board, games in played.items()})


def _needed(schedule: Schedule) -> dict[str, NDArray[np.int32]]:
    """How many games each deal has by board; as long as line-ups may be given more deals, any of them may be given each one."""
    config = schedule.config
    numbers = np.zeros(max((deals.stop for deals in schedule.deals.values()), default=0), dtype=np.int32)
    for deals in schedule.deals.values():
        numbers[deals.start : deals.stop : deals.step] += len(schedule.seatings)
    if config.is_open and config.allotted is not None:
        numbers[:] = len(schedule.line_ups) * len(schedule.seatings)
    return {board: np.repeat(numbers, config.rounds.count(board)) for board in config.boards}
