"""What a report may show of a run: nothing that would tell a bot the tiles of a game that is still
to be played.

Line-ups play the same deals. So a deal stays secret until all its planned games are in the journal.
The seed, which determines all deals, stays secret until the whole run is finished. A league never
is: its next deals follow from it.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.errors import ConfigError
from arena.ratings.matches import score_journal
from arena.ratings.tally import PlayedBlocks
from arena.records.journal import journal_of
from arena.records.record import GameRecord
from arena.records.runfile import RunInfo
from arena.tournament.config import make_config
from arena.tournament.schedule import Schedule


class Secrecy(NamedTuple):
    """What is finished: the number of ``planned`` games and of ``missing`` ones, None if this
    version cannot read the plan.

    ``over`` says, by board and deal number, whether all games of the deal are played; for later
    deals they are not. ``goes_on`` if more games will be planned, as in a league.
    """

    planned: int | None
    missing: int | None
    over: Mapping[str, NDArray[np.bool_]]
    goes_on: bool = False

    @property
    def is_finished(self) -> bool:
        """Whether no planned game is missing, so that the seed gives nothing away."""
        return self.missing == 0 and not self.goes_on

    def is_open(self, board: str, deals: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """(n,) whether the deals with these numbers (n,) may still have games to play."""
        found = np.full(len(deals), not self.is_finished)
        over = self.over.get(board, np.zeros(0, dtype=np.bool_))
        known = np.flatnonzero(deals < len(over))
        found[known] &= ~over[deals[known]]
        return found

    def is_open_game(self, record: GameRecord) -> bool:
        """Whether other games of a game's deal may still be to be played."""
        return bool(self.is_open(record.board, np.array([record.deal]))[0])


def is_deal_open(run: Path, info: RunInfo, record: GameRecord) -> bool:
    """Whether games of a game's deal are still to be played; this reads the whole journal. Raises
    RunError.
    """
    return secrecy_of(run, info).is_open_game(record)


def secrecy_of(run: Path, info: RunInfo) -> Secrecy:
    """What may be shown of a run; this reads the whole journal. Raises RunError."""
    score = score_journal(journal_of(run), [], own_decks=info.has_own_decks)
    return judge(info, score.games.blocks())


def judge(info: RunInfo, blocks: Iterable[PlayedBlocks]) -> Secrecy:
    """What may be shown of a run, given the games of each block; everything is secret if the plan
    cannot be read.
    """
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
    return Secrecy(
        schedule.planned,
        missing,
        {board: _are_over(schedule, board, games) for board, games in played.items()},
        schedule.config.league is not None,
    )


def _are_over(schedule: Schedule, board: str, games: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n,) whether the n deals on a board are over, of which so many ``games`` were played.

    While line-ups may still get more deals, assume that each may get every deal.
    """
    # A bot's author may read the report while the run goes on: a deal that is over for some
    # line-ups is still to be played by others.
    config, line_ups = schedule.config, np.zeros(len(games), dtype=np.int64)
    if config.is_open and config.allotted is not None:
        line_ups[:] = len(schedule.line_ups)
    else:
        for deals, count in schedule.spans.items():
            line_ups[deals.start : deals.stop : deals.step] += count
    needed = np.repeat(line_ups, config.rounds.count(board))[: len(games)] * schedule.block_size
    return np.asarray((games > 0) & (games >= needed), dtype=np.bool_)
