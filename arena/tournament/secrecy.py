"""Which parts of a run may be shown while other games on the same deals are still to be played.

Several line-ups play each deal. A bot's author may read a report while the run goes on, so a deal
stays secret until all games that are planned on it are in the journal.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.records.blocks import PlayedBlocks
from arena.records.record import GameRecord
from arena.tournament.schedule import Schedule


class Secrecy(NamedTuple):
    """The part of a run that must stay secret, so that no bot learns the tiles of a game that it is
    still to play.

    A deal is secret until all games planned on it have been played. The seed determines every deal,
    so the seed is secret until the whole run is finished, and in a league for ever: the next deals
    follow from it.

    ``planned``  the number of planned games; None if this version cannot read the plan
    ``missing``  the number of planned games that are not in the journal; None likewise
    ``over``     for each board an array of booleans by deal number: whether all games on the deal
                 have been played. Deals beyond the end of the array have games to play.
    ``goes_on``  whether more games will be planned, as in a league
    """

    planned: int | None
    missing: int | None
    over: Mapping[str, NDArray[np.bool_]]
    goes_on: bool = False

    @property
    def is_finished(self) -> bool:
        """Whether the run has no games left to play, so that showing its seed does no harm."""
        return self.missing == 0 and not self.goes_on

    def is_open(self, board: str, deals: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """For each of the deal numbers ``deals`` (n,) on a board, whether the deal may have games
        left to play: an array of booleans (n,).
        """
        is_open = np.full(len(deals), not self.is_finished)
        over = self.over.get(board, np.zeros(0, dtype=np.bool_))
        known = np.flatnonzero(deals < len(over))
        is_open[known] &= ~over[deals[known]]
        return is_open

    def is_open_game(self, record: GameRecord) -> bool:
        """Whether the deal of a recorded game may have other games left to play."""
        return bool(self.is_open(record.board, np.array([record.deal]))[0])


def secrecy_from_blocks(schedule: Schedule | None, blocks: Iterable[PlayedBlocks]) -> Secrecy:
    """What must stay secret in a run with this schedule, of which ``blocks`` have been played. With
    None as schedule, because this version cannot read the plan, everything is secret.
    """
    if schedule is None:
        return Secrecy(planned=None, missing=None, over={})
    blocks = list(blocks)
    last_deal = -1
    for _, deals, _ in blocks:
        last_deal = max(last_deal, max(deals, default=-1))
    played = {board: np.zeros(last_deal + 1, dtype=np.int64) for board in schedule.config.boards}
    for place, deals, counts in blocks:
        board = place.partition("/")[0]
        if board not in played:
            continue
        for deal, games in zip(deals, counts, strict=True):
            if schedule.needs_block(place, deal):
                played[board][deal] += games
    played_in_all = sum(int(games.sum()) for games in played.values())
    return Secrecy(
        planned=schedule.planned,
        missing=schedule.planned - played_in_all,
        over={board: _deals_over(schedule, board, games) for board, games in played.items()},
        goes_on=schedule.config.league is not None,
    )


def _deals_over(schedule: Schedule, board: str, games: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each of the first n deals on a board, whether all its games have been played: an array of
    booleans (n,). ``games`` (n,) is the number of games played on each of these deals.
    """
    line_ups = np.zeros(len(games), dtype=np.int64)
    for deals, count in schedule.spans.items():
        line_ups[deals.start : deals.stop : deals.step] += count
    rounds = schedule.config.rounds.count(board)
    needed = np.repeat(line_ups, rounds)[: len(games)] * schedule.block_size
    return np.asarray((games > 0) & (games >= needed), dtype=np.bool_)
