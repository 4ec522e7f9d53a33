"""The answers that programs get."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from arena.exports.games import games_frame
from arena.ratings.estimates import Estimate


class Standings(NamedTuple):
    """The tables of games, as ``arena standings --json`` has them, with all their digits.

    ``standings``   one row a bot, best first: rank, bot, elo, elo_low, elo_high (95 %), games ...
    ``pairs``       one row for each bot and opponent
    ``seats``       one row for each table size and seat
    ``covariance``  of the ratings in Elo squared, by the bots' names
    ``notes``, ``sentences``  what the text under the table says
    ``missing``     how many planned games are not played; None if there is no plan
    """

    standings: pd.DataFrame
    pairs: pd.DataFrame
    seats: pd.DataFrame
    covariance: pd.DataFrame
    games: int
    deals: int
    notes: list[str]
    sentences: list[str]
    missing: int | None = None

    def _repr_html_(self) -> str:
        return self.standings.to_html(index=False)


class Run(NamedTuple):
    """A run: its folder, and the tables of its games."""

    path: Path
    tables: Standings

    @property
    def standings(self) -> pd.DataFrame:
        """The standings, see `Standings`."""
        return self.tables.standings

    @property
    def is_complete(self) -> bool:
        """Whether all planned games are played."""
        return self.tables.missing == 0

    def games(self, *, moves: bool = False) -> pd.DataFrame:
        """The games, see `games`."""
        return games_frame(self.path, moves=moves)

    def _repr_html_(self) -> str:
        return self.tables._repr_html_()


class ComparisonResult(NamedTuple):
    """The answer of a comparison, as in ``arena compare --json``.

    ``verdict``  ``better``, ``not better`` or ``undecided``
    ``elo``      the difference, median-unbiased, with its 95 % interval; infinite ends are open
    ``plain``    the difference as if the number of blocks had been fixed in advance
    ``looks``    one row for each look at the test: blocks, llr, lower, upper, elo, error (half of
                 the 95 % interval), verdict
    """

    path: Path
    verdict: str
    new: str
    old: str
    blocks: int
    games: int
    llr: float
    elo: Estimate
    plain: Estimate
    looks: pd.DataFrame


class CheckResult(NamedTuple):
    """A check of a bot. ``steps`` has a row for each step, with the columns of ``arena check
    --json``; ``passed`` is missing in those that were not tried.
    """

    bot: str
    passed: bool
    steps: pd.DataFrame


class ReviewResult(NamedTuple):
    """What decisions cost in the eyes of a judge of a certain strength, see ``arena review``.

    ``bots``       one row a bot: decisions, cost of a decision in shares of the win, error ...
    ``decisions``  one row a decision: game, turn, seat, bot, played, better, cost, error ...
    ``held_back``  games that wait until their deals are over
    """

    bots: pd.DataFrame
    decisions: pd.DataFrame
    held_back: int
