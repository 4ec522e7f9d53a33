"""Intervals for ranks that all hold together, 95 times out of 100."""

import numpy as np

from arena.ratings.components import Ints
from arena.ratings.freedom import COVERAGE
from arena.ratings.goodness import holm
from arena.ratings.model import Fit


def rank_intervals(fit: Fit) -> tuple[Ints, Ints]:
    """The best and the worst rank of each bot in a fit: 1 + the number of bots that are clearly
    above it, and the number of those that are not clearly below it.

    Clearly: by the t test of each pair, with Holm's correction for all pairs, so that with 95 %
    probability not one pair is told apart the wrong way. The joint distribution of the differences
    (max-t, Mogstad, Romano, Shaikh & Wilhelm) would need a covariance that few deals do not tell.
    """
    count = len(fit.elo)
    one, other = np.triu_indices(count, 1)
    superiority = fit.superiority()
    both = np.minimum(superiority[one, other], superiority[other, one])
    is_clear = np.zeros((count, count), dtype=np.bool_)
    is_clear[one, other] = is_clear[other, one] = holm(2 * both) < 1 - COVERAGE
    is_above = is_clear & (fit.elo[:, None] > fit.elo)
    return 1 + is_above.sum(axis=0), count - is_above.sum(axis=1)
