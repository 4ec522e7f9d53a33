"""How games end."""

from pathlib import Path

import msgspec
import pandas as pd
from msgspec import Struct

from arena.records.journal import read_rows
from arena.rules.terms import LAST_PAGODA


class _Ended(Struct):
    id: str
    board: str
    bots: list[str]
    moves: list[str]
    left: list[int]
    end: str
    turns: int


_decode = msgspec.json.Decoder(_Ended).decode


def endings_table(journal: Path) -> pd.DataFrame:
    """One row per board and size of table; of records with the same id the first counts.

    ``board`` str; ``players``, ``games`` int64
    ``turns``, ``turns_low``, ``turns_high``  float64, placements in a game: the median, and what 5 % stay below and above
    ``last_pagoda``, ``no_tiles``, ``no_space``, ``forfeit``  float64, the shares of games that ended so
    ``by_other``  float64, of those that ended with a last pagoda the share in which another seat's tile placed it; NaN without any

    Raises RunError for a damaged line.
    """
    rows = [
        (row.board, len(row.bots), row.turns, row.end, bool(row.left[(len(row.moves) - 1) % len(row.bots)]))
        for _, row in read_rows(journal, _decode)
    ]
    games = pd.DataFrame(rows, columns=["board", "players", "turns", "end", "by_other"])
    return pd.DataFrame(
        [{"board": board, "players": players, **_summary(group)} for (board, players), group in games.groupby(["board", "players"])],
        columns=["board", "players", "games", "turns", "turns_low", "turns_high", *_ENDS, "by_other"],
    )


_ENDS = ("last_pagoda", "no_tiles", "no_space", "forfeit")


def _summary(games: pd.DataFrame) -> dict[str, float]:
    low, median, high = games["turns"].quantile([0.05, 0.5, 0.95])
    ends = {name: float((games["end"] == name.replace("_", " ")).mean()) for name in _ENDS}
    by_other = games.loc[games["end"] == LAST_PAGODA, "by_other"].mean()
    return {"games": len(games), "turns": median, "turns_low": low, "turns_high": high, **ends, "by_other": by_other}
