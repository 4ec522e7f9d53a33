"""Ratings on the scale of a league, which its benchmarks hold.

Games tell differences only. A benchmark holds the scale with the rating that it had when it began
to, and the level of all others is such that the benchmarks, each weighted by how well its rating is
known, have these ratings on average. So a benchmark far above or below everybody else, which nobody
can know well, moves nothing; nor does one that has retired.
"""

from collections.abc import Collection, Mapping, Sequence
from math import inf, isfinite, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.ratings.components import Floats
from arena.ratings.fit import Fit
from arena.ratings.matches import score_journal
from arena.ratings.model import rate
from arena.ratings.results import Counts
from arena.records.journal import journal_of

PRIOR = 1.0
"""A draw with a ghost for everybody, so that the first games of a candidate rate it already."""
LEAST_VARIANCE = 1.0
"""In Elo squared; what is known better weighs no more."""


class OnScale(NamedTuple):
    """A rating in Elo, the half-width of its 95 % interval (infinite if unknown), how many games it
    is from, and how many of these it forfeited.
    """

    elo: float
    error: float
    games: int
    forfeits: int


def league_counts(
    run: Path, bots: Sequence[str], match: Sequence[str], *, own_decks: bool
) -> Counts:
    """The counted games in a league's folder. Raises RunError."""
    return score_journal(journal_of(run), match, own_decks=own_decks).counted.counts(bots)


def on_scale(
    counts: Counts, benchmarks: Collection[str], held: Mapping[str, float]
) -> dict[str, OnScale]:
    """What is known of everybody who has played, for who decides whose games tell most."""
    found, results = dict[str, OnScale](), counts.results
    sums = counts.totals.groupby("bot")[["games", "forfeits"]].sum()
    for fit in rate(results, PRIOR).fits:
        names = [results.bots[member] for member in fit.members]
        level = level_on(names, fit, benchmarks, held)
        for at, (name, member) in enumerate(zip(names, fit.members, strict=True)):
            error = level.error_of(at)
            games, forfeits = (int(number) for number in sums.loc[member])
            elo = float(fit.elo[at]) + level.shift
            found[name] = OnScale(elo, error if isfinite(error) else inf, games, forfeits)
    return found


class Level(NamedTuple):
    """How a fit lies on the scale: ``shift`` is to be added to its ratings, ``weights`` (n,) are
    those of its bots in that.
    """

    fit: Fit
    shift: float
    weights: Floats

    def error_of(self, at: int) -> float:
        """The half-width of the 95 % interval of a rating on the scale, NaN where too few deals
        tell.
        """
        told = self.fit.is_known
        if not told[at]:
            return nan
        return self.fit.contrast_width(np.eye(len(told))[at] - self.weights, told)


def level_on(
    names: Sequence[str], fit: Fit, benchmarks: Collection[str], held: Mapping[str, float]
) -> Level:
    """How the fit of these bots lies on the scale. Where no benchmark holds it yet, their mean is
    0, or that of all where there is none.
    """
    holders = [name in held for name in names]
    if not any(holders):
        holders = [name in benchmarks for name in names]
    chosen = np.array(holders if any(holders) else [True] * len(names)) & fit.is_known
    variance = np.diag(fit.covariance)
    weights = np.where(chosen & (variance > 0), 1 / np.maximum(variance, LEAST_VARIANCE), 0.0)
    if not weights.any():
        weights = np.ones(len(names))
    weights = weights / weights.sum()
    wanted = np.array([held.get(name, 0.0) for name in names])
    return Level(fit, float(weights @ (wanted - fit.elo)), np.asarray(weights, dtype=np.float64))
