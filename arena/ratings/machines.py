"""The machines that games were played on, and how long bots thought there."""

import pandas as pd
from msgspec import Struct

from arena.ratings.tally import WholeRow
from arena.records.record import split_host


class _MachineTimes(Struct):
    games: int = 0
    moves: int = 0
    think_ms: float = 0.0
    faults: int = 0


class Machines:
    """Adds up machines while games are read."""

    def __init__(self) -> None:
        self._totals: dict[str, _MachineTimes] = {}

    def add(self, game: WholeRow) -> None:
        """Adds a game."""
        total = self._totals.setdefault(game.host, _MachineTimes())
        total.games += 1
        total.moves += game.turns
        total.think_ms += sum(game.think_ms)
        total.faults += len(game.faults)

    def table(self) -> pd.DataFrame:
        """One row per machine and speed, by name.

        ``host`` str; ``speed`` Int64, games of a fixed kind per second, missing if it was not
        measured ``games``, ``faults`` int64; ``move_ms`` float64, mean over all answers of all
        bots, NaN if there are none
        """
        rows = [
            (
                *split_host(host),
                total.games,
                total.faults,
                total.think_ms / total.moves if total.moves else float("nan"),
            )
            for host, total in sorted(self._totals.items())
        ]
        return pd.DataFrame(rows, columns=["host", "speed", "games", "faults", "move_ms"]).astype(
            {"speed": "Int64"}
        )
