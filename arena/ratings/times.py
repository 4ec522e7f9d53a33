"""How long bots think."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pandas as pd
from msgspec import Struct

from arena.records.journal import read_rows
from arena.rules.notation import PASSED


class _Timed(Struct):
    id: str
    bots: list[str]
    moves: list[str]
    think_ms: list[float]
    slowest_ms: list[float]


class _Total(Struct):
    games: int = 0
    moves: int = 0
    think_ms: float = 0.0
    slowest_ms: float = -1.0
    slowest_game: str = ""


_decode = msgspec.json.Decoder(_Timed).decode


def times_table(journal: Path, bots: Sequence[str]) -> pd.DataFrame:
    """One row per bot, by name; of records with the same id the first counts.

    ``bot`` str; ``games``, ``moves`` int64, its placements
    ``move_ms``, ``game_ms``, ``slowest_ms``  float64, mean of a move and of a game, and its longest answer; NaN without any
    ``slowest_game``  str, the id of the game with that answer

    Raises RunError for a damaged line.
    """
    totals = {bot: _Total() for bot in sorted(bots)}
    for _, row in read_rows(journal, _decode):
        _add(totals, row)
    rows = [
        {
            "bot": bot,
            "games": total.games,
            "moves": total.moves,
            "move_ms": total.think_ms / total.moves if total.moves else float("nan"),
            "game_ms": total.think_ms / total.games if total.games else float("nan"),
            "slowest_ms": total.slowest_ms if total.slowest_ms >= 0 else float("nan"),
            "slowest_game": total.slowest_game,
        }
        for bot, total in totals.items()
    ]
    return pd.DataFrame(rows, columns=["bot", "games", "moves", "move_ms", "game_ms", "slowest_ms", "slowest_game"])


def _add(totals: dict[str, _Total], row: _Timed) -> None:
    """Seats take turns, and whoever cannot move passes, so that the place of a move tells its seat."""
    size = len(row.bots)
    for seat, bot in enumerate(row.bots):
        total = totals.setdefault(bot, _Total())
        total.games += 1
        total.moves += sum(move != PASSED for move in row.moves[seat::size])
        total.think_ms += row.think_ms[seat]
        if (row.slowest_ms[seat], total.slowest_game) > (total.slowest_ms, row.id):
            total.slowest_ms, total.slowest_game = row.slowest_ms[seat], row.id
