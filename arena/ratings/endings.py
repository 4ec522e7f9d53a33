"""How games end."""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
from msgspec import Struct, field

from arena.ratings.tally import WholeRow
from arena.records.record import GameRecord
from arena.rules.terms import LAST_PAGODA


class _Ends(Struct):
    turns: Counter[int] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    by_other: int = 0


_ENDS = ("last_pagoda", "no_tiles", "no_space", "forfeit")


class Endings:
    """Counts how games end while they are read."""

    def __init__(self) -> None:
        self._totals: defaultdict[tuple[str, int], _Ends] = defaultdict(_Ends)

    def add(self, game: WholeRow | GameRecord) -> None:
        """Counts a game."""
        total = self._totals[game.board, len(game.bots)]
        total.turns[game.turns] += 1
        total.ends[game.end] += 1
        if game.end == LAST_PAGODA:
            total.by_other += bool(game.left[(len(game.moves) - 1) % len(game.bots)])

    def table(self) -> pd.DataFrame:
        """One row per board and number of players.

        ``board`` str; ``players``, ``games`` int64
        ``turns``, ``turns_low``, ``turns_high``  float64, placements in a game: the median, and the
                                                  5 % and 95 % quantiles
        ``last_pagoda``, ``no_tiles``, ``no_space``, ``forfeit``  float64, the share of games that
                                                                  ended this way
        ``by_other``  float64, of the games that ended with a last pagoda, the share in which
                      another seat's tile placed it; NaN if none
        """
        return pd.DataFrame(
            [
                {"board": board, "players": players, **_summary(total)}
                for (board, players), total in sorted(self._totals.items())
            ],
            columns=[
                "board",
                "players",
                "games",
                "turns",
                "turns_low",
                "turns_high",
                *_ENDS,
                "by_other",
            ],
        )


def _summary(total: _Ends) -> dict[str, float]:
    games = total.turns.total()
    low, median, high = np.quantile(
        np.repeat(list(total.turns), list(total.turns.values())), [0.05, 0.5, 0.95]
    ).tolist()
    ends = {name: total.ends[name.replace("_", " ")] / games for name in _ENDS}
    last = total.ends[LAST_PAGODA]
    return {
        "games": games,
        "turns": median,
        "turns_low": low,
        "turns_high": high,
        **ends,
        "by_other": total.by_other / last if last else np.nan,
    }
