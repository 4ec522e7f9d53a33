"""Where in a game bots spend their time, and how near they come to the limit."""

from collections import Counter, defaultdict
from itertools import accumulate

import pandas as pd
from msgspec import Struct, field

from arena.players.odds import odds_of
from arena.ratings.tally import WholeRow

PARTS = ("early_ms", "middle_ms", "late_ms")
NEAR = 0.8
"""An answer that took more than this part of the limit came near to it."""
TENTHS = 10


class _BotTempo(Struct):
    """Sums by third of a bot's answers, and how many answers took so many tenths of a ms: exact,
    and of bounded size, however many games there are.
    """

    total_ms: list[float] = field(default_factory=lambda: [0.0] * len(PARTS))
    answers: list[int] = field(default_factory=lambda: [0] * len(PARTS))
    tenths: Counter[int] = field(default_factory=Counter)


class Tempo:
    """Adds up the times of moves while games are read; ``move_ms`` is the limit, if known, of bots
    whose label names none.
    """

    def __init__(self, move_ms: int | None) -> None:
        self._move_ms = move_ms
        self._bots: defaultdict[str, _BotTempo] = defaultdict(_BotTempo)

    def add(self, game: WholeRow) -> None:
        """Adds a game; older records and games between functions have no times of moves."""
        if not game.ms:
            return
        for seat, bot in enumerate(game.bots):
            own = [ms for ms in game.ms[seat :: len(game.bots)] if ms is not None]
            tempo = self._bots[bot]
            for number, ms in enumerate(own):
                part = number * len(PARTS) // len(own)
                tempo.total_ms[part] += ms
                tempo.answers[part] += 1
                tempo.tenths[round(ms * TENTHS)] += 1

    def table(self) -> pd.DataFrame:
        """One row for each bot whose moves have times, by name.

        ``bot`` str; ``answers`` int64
        ``early_ms``, ``middle_ms``, ``late_ms``  float64, the mean time of an answer in each third
                                                  of the bot's answers of a game; NaN if none
        ``median_ms``, ``p95_ms``, ``slowest_ms``  float64, of all its answers
        ``slowest_share``, ``near``  float64, the slowest answer as a part of the limit for a move,
                                     and the share of answers above 0.8 of it; NaN if unknown
        """
        rows = [
            self._row(bot, tempo) for bot, tempo in sorted(self._bots.items()) if sum(tempo.answers)
        ]
        columns = ["bot", "answers", *PARTS, "median_ms", "p95_ms", "slowest_ms"]
        return pd.DataFrame(rows, columns=[*columns, "slowest_share", "near"])

    def _row(self, bot: str, tempo: _BotTempo) -> dict[str, object]:
        parts = zip(PARTS, tempo.total_ms, tempo.answers, strict=True)
        slowest_ms, limit = max(tempo.tenths) / TENTHS, odds_of(bot).move_ms or self._move_ms
        near = sum(n for ms, n in tempo.tenths.items() if limit and ms > NEAR * limit * TENTHS)
        return {
            "bot": bot,
            "answers": sum(tempo.answers),
            **{name: total / n if n else float("nan") for name, total, n in parts},
            "median_ms": _quantile(tempo.tenths, 0.5),
            "p95_ms": _quantile(tempo.tenths, 0.95),
            "slowest_ms": slowest_ms,
            "slowest_share": slowest_ms / limit if limit else float("nan"),
            "near": near / sum(tempo.answers) if limit else float("nan"),
        }


def _quantile(tenths: Counter[int], share: float) -> float:
    """The shortest time in ms that this share of the answers does not exceed."""
    times = sorted(tenths)
    reached = accumulate(tenths[time] for time in times)
    wanted = share * tenths.total()
    return next(time for time, n in zip(times, reached, strict=True) if n >= wanted) / TENTHS
