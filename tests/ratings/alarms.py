"""How often tests of the model find something on simulated games that follow it."""

import numpy as np

from arena.ratings.company import company
from arena.ratings.goodness import goodness
from arena.ratings.model import rate
from tests.ratings.worlds import play

LEVEL = 0.05
MANY = 200
"""As many tests as a small run has are worked out."""


def fit_alarms(world, deals):
    """A trial: whether the ratings are said not to explain the results, as a whole, or for a
    pair.
    """

    def trial(rng):
        results = play(world, deals, rng).results()
        found = goodness(results, rate(results).fits[0])
        pairs = found.pairs["p_all"].to_numpy()
        return _alarm(found.p), np.nan if np.isnan(pairs).all() else _alarm(np.nanmin(pairs))

    return trial


def company_alarms(world, deals):
    """A trial: whether a third bot is said to decide who of two is better."""

    def trial(rng):
        results = play(world, deals, rng).results()
        return [float(company(results, rate(results).fits, MANY).clear > 0)]

    return trial


def _alarm(p):
    return np.nan if np.isnan(p) else float(p < LEVEL)
