"""What a report may show of a run: nothing that would tell a bot the tiles of a game that is still to be played.

Line-ups play the same deals. So a deal stays secret until all its planned games are in the journal. The seed, which determines all deals,
stays secret until the whole run is finished.
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
    """What is finished: the number of ``planned`` games and of ``missing`` ones, None if this version cannot read the plan.

    ``over`` says, by board and deal number, whether all games of the deal are played; for later deals they are not.
    """

    planned: int | None
    missing: int | None
    over: Mapping[str, NDArray[np.bool_]]

    @property
    def is_finished(self) -> bool:
        """Whether no planned game is missing, so that the seed gives nothing away."""
        return self.missing == 0

    def is_open(self, board: str, deals: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """(n,) whether the deals with these numbers (n,) may still have games to play."""
        found = np.full(len(deals), not self.is_finished)
        over = self.over.get(board, np.zeros(0, dtype=np.bool_))
        known = np.flatnonzero(deals < len(over))
        found[known] &= ~over[deals[known]]
        return found


def judge(info: RunInfo, blocks: Iterable[Blocks]) -> Secrecy:
    """What may be shown of a run, given the games of each block; everything is secret if the plan cannot be read."""
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
    """The number of games of each deal, by board. While line-ups may still get more deals, assume that each may get every deal."""
    config = schedule.config
    numbers = np.zeros(max((deals.stop for deals in schedule.deals.values()), default=0), dtype=np.int32)
    for deals in schedule.deals.values():
        numbers[deals.start : deals.stop : deals.step] += len(schedule.seatings)
    if config.is_open and config.allotted is not None:
        numbers[:] = len(schedule.line_ups) * len(schedule.seatings)
    return {board: np.repeat(numbers, config.rounds.count(board)) for board in config.boards}
