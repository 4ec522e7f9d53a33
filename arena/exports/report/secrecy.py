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
    blocks = list(blocks)
    size = max((max(deals, default=-1) for _, deals, _ in blocks), default=-1) + 1
    played = {board: np.zeros(size, dtype=np.int64) for board in schedule.config.boards}
    for place, deals, counts in blocks:
        here = played.get(place.partition("/")[0])
        for deal, games in zip(deals, counts, strict=True):
            if here is not None and schedule.needs_block(place, deal):
                here[deal] += games
    missing = schedule.planned - sum(int(games.sum()) for games in played.values())
    return Secrecy(schedule.planned, missing, {board: _are_over(schedule, board, games) for board, games in played.items()})


def _are_over(schedule: Schedule, board: str, games: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n,) whether all games of each deal on a board are among those played of it (n,).

    As long as line-ups may be given more deals, any of them may be given each one.
    """
    config, line_ups = schedule.config, np.zeros(len(games), dtype=np.int64)
    if config.is_open and config.allotted is not None:
        line_ups[:] = len(schedule.line_ups)
    else:
        for deals, count in schedule.spans.items():
            line_ups[deals.start : deals.stop : deals.step] += count
    needed = np.repeat(line_ups, config.rounds.count(board))[: len(games)] * len(schedule.seatings)
    return np.asarray((games > 0) & (games >= needed), dtype=np.bool_)
