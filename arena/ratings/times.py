"""How long bots think, and on which machines."""

from collections.abc import Iterable

import pandas as pd
from msgspec import Struct

from arena.ratings.tally import WholeRow
from arena.records.record import split_host
from arena.rules.notation import PASSED


class _BotTimes(Struct):
    games: int = 0
    moves: int = 0
    think_ms: float = 0.0
    slowest_ms: float = -1.0
    slowest_game: str = ""


class Times:
    """Adds up times while games are read."""

    def __init__(self) -> None:
        self._totals: dict[str, _BotTimes] = {}

    def add(self, game: WholeRow) -> None:
        """Adds a game. Seats take turns, and a seat that cannot move passes, so the position of a
        move gives its seat.
        """
        size = len(game.bots)
        for seat, bot in enumerate(game.bots):
            total = self._totals.setdefault(bot, _BotTimes())
            moves = game.moves[seat::size]
            total.games += 1
            total.moves += len(moves) - moves.count(PASSED)
            total.think_ms += game.think_ms[seat]
            if (game.slowest_ms[seat], total.slowest_game) > (total.slowest_ms, game.id):
                total.slowest_ms, total.slowest_game = game.slowest_ms[seat], game.id

    def table(self, bots: Iterable[str]) -> pd.DataFrame:
        """One row per bot, by name, for these bots and any others found.

        ``bot`` str; ``games``, ``moves`` int64 (its placements)
        ``move_ms``, ``game_ms``, ``slowest_ms``  float64, mean per move, mean per game, and the
                                                  longest answer; NaN if there are none
        ``slowest_game``  str, the id of the game with that answer
        """
        totals = {bot: self._totals.get(bot, _BotTimes()) for bot in sorted({*bots, *self._totals})}
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
        return pd.DataFrame(
            rows,
            columns=["bot", "games", "moves", "move_ms", "game_ms", "slowest_ms", "slowest_game"],
        )


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
