"""Intervals for ranks that all hold together, 95 times out of 100."""

import numpy as np
from numpy.typing import NDArray

from arena.ratings.components import Ints
from arena.ratings.fit import Fit
from arena.ratings.freedom import COVERAGE
from arena.ratings.goodness import holm
from arena.ratings.model import Component


def component_intervals(part: Component) -> tuple[Ints, Ints]:
    """The best and the worst rank of each member of a component, in the order of its members."""
    count = len(part.members)
    above = _surely_above(part)
    low, high = 1 + above.sum(axis=0), count - above.sum(axis=1)
    if part.fit is not None:
        # Within the core the intervals hold together, which single comparisons do not.
        at, outside = _places(part), [bound.member for bound in part.bounds]
        rest = np.isin(part.members, outside)
        best, worst = rank_intervals(part.fit)
        low[at] = best + above[np.ix_(rest, at)].sum(axis=0)
        high[at] = worst + rest.sum() - above[np.ix_(at, rest)].sum(axis=1)
    return low, high


def _places(part: Component) -> Ints:
    """The places of the core's bots among the members of a part."""
    rated = np.empty(0, dtype=np.int64) if part.fit is None else part.fit.members
    return np.searchsorted(part.members, rated)


def _surely_above(part: Component) -> NDArray[np.bool_]:
    """(n, n) whether the bounds put the row's bot above the column's."""
    above = np.zeros((len(part.members),) * 2, dtype=np.bool_)
    for bound in part.bounds:
        own = np.searchsorted(part.members, bound.member)
        others = np.searchsorted(part.members, bound.rivals[bound.is_clear])
        above[(own, others) if bound.side == ">" else (others, own)] = True
    return above | (above @ above)


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
