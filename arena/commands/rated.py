"""What earlier tables say of bots: the ratings in the standings.csv of runs, without rating a game
and without pandas.
"""

import csv
from collections.abc import Iterator
from io import StringIO
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any, Literal, NamedTuple

from arena.errors import RunError
from arena.exports.text import number
from arena.ratings.columns import STANDINGS, in_whole_elo, text_of
from arena.records.regular import read_regular
from arena.records.runfile import RunInfo, read_run

FILE = "standings.csv"
MOST_BYTES = 4 << 20
MOST_RUNS = 100
"""So many of the newest runs are looked through for ratings."""
State = Literal["finished", "playing", "stopped"]
_ELO, _ERROR = (in_whole_elo(column) for column in STANDINGS if column.name in {"elo", "error"})


class Rated(NamedTuple):
    """A bot's row in the standings of a run; NaN where there is no figure or end."""

    run: str
    bot: str
    rank: int
    elo: float
    elo_low: float
    elo_high: float
    mark: str
    games: int
    forfeits: int

    @property
    def text(self) -> str:
        """The rating with its error bar, as tables have it: ``210 +/- 31``, ``< -1285``."""
        row = self._asdict()
        elo, error = (column.written(row, number) for column in (_ELO, _ERROR))
        return elo if error == number(nan, 0) else f"{elo} +/- {error}"

    @property
    def is_settled(self) -> bool:
        """Whether it is a rating with two ends, not a bound or a guess of a few games."""
        return not self.mark and isfinite(self.elo_low) and isfinite(self.elo_high)

    def object(self) -> dict[str, Any]:
        """The same for JSON, with None where there is no figure."""
        row = self._asdict()
        missing = {key for key, value in row.items() if isinstance(value, float) and isnan(value)}
        return {key: None if key in missing else value for key, value in row.items()}


def ratings_in(folder: Path) -> list[Rated]:
    """The bots in the standings of a run, the best first; none if it has no tables, or others."""
    try:
        text = read_regular(folder, FILE, MOST_BYTES).decode()
        return [_rated(folder.name, row) for row in csv.DictReader(StringIO(text))]
    except (RunError, OSError, ValueError, KeyError, TypeError, AttributeError, csv.Error):
        return []


def leader_of(folder: Path, info: RunInfo, played: int, planned: int) -> Rated | None:
    """The best bot of a run with so many games; None if its tables are of fewer games. A comparison
    may have played more games than it counts.
    """
    found = ratings_in(folder)
    seats = sum(rated.games for rated in found)
    rounds, players = len(info.config.get("match") or [0]), info.config.get("players", 2)
    is_whole = seats * rounds in {players * played, players * min(played, planned)}
    return found[0] if found and is_whole else None


def latest_ratings(folders: list[Path]) -> dict[tuple[str, str], Rated]:
    """The latest rating of each bot by its name and the sha256 of its files, given the folders of
    runs, the oldest first. One that is open does not take the place of one that is settled.
    """
    found = dict[tuple[str, str], Rated]()
    for folder in folders[-MOST_RUNS:]:
        rows = {rated.bot: rated for rated in ratings_in(folder)}
        for bot, sha256 in _bots_of(folder) if rows else ():
            before = found.get((bot, sha256))
            if bot in rows and not (before and before.is_settled > rows[bot].is_settled):
                found[bot, sha256] = rows[bot]
    return found


def _bots_of(folder: Path) -> Iterator[tuple[str, str]]:
    try:
        yield from ((bot.name, bot.sha256) for bot in read_run(folder).bots)
    except RunError:
        return


def _rated(run: str, row: dict[str, str]) -> Rated:
    elo, low, high = (float(row[name] or nan) for name in ("elo", "elo_low", "elo_high"))
    bot = text_of(row["bot"])
    rank, games, forfeits = (int(row[name]) for name in ("rank", "games", "forfeits"))
    return Rated(run, bot, rank, elo, low, high, row["mark"], games, forfeits)
