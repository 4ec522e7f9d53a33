"""Simultaneous 95 % intervals for ranks by the max-t method (Mogstad, Romano, Shaikh & Wilhelm)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from arena.ratings.components import Floats, Ints
from arena.ratings.model import COVERAGE, Component, Fit

DRAWS = 10_000
AT_ONCE = 500_000
"""The number of differences computed at a time: 4 MB."""


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
    """The best and the worst rank of each bot in a fit; without errors they are 1 and the number of
    bots.
    """
    count, error = len(fit.elo), fit.difference_error()
    if not np.isfinite(error).all():
        return np.ones(count, dtype=np.int64), np.full(count, count, dtype=np.int64)
    bound = _critical_value(*_by_place(fit), fit.freedom) * error
    above = fit.elo[None, :] - fit.elo[:, None]
    return 1 + (above > bound).sum(axis=1), count - (-above > bound).sum(axis=1)


def _by_place(fit: Fit) -> tuple[Floats, Floats]:
    """The covariance with mean rating 0, and the errors, in the order of ratings, so that names and
    anchors do not change them.
    """
    # The sample of draws is fixed, so the order of the bots would show in the intervals: names and
    # anchors must not move them.
    order = np.lexsort((np.diag(fit.covariance), fit.elo))
    covariance = fit.covariance[np.ix_(order, order)]
    centered = (
        covariance - covariance.mean(axis=0) - covariance.mean(axis=1)[:, None] + covariance.mean()
    )
    return centered, fit.difference_error()[np.ix_(order, order)]


def _critical_value(covariance: Floats, error: Floats, freedom: float) -> float:
    """The 95 % quantile of ``max |z_i - z_j| / se_ij``, from a fixed sample.

    z ~ N(0, V); with few deals each draw is divided by the root of a chi-square over its degrees of
    freedom, which makes it t.
    """
    largest = np.concatenate(list(_largest_ratios(covariance, error)))
    if np.isfinite(freedom):
        largest /= np.sqrt(np.random.default_rng(2).chisquare(freedom, DRAWS) / freedom)
    return float(np.quantile(largest, COVERAGE))


def _largest_ratios(covariance: Floats, error: Floats) -> Iterator[Floats]:
    safe = np.where(error > 0, error, np.inf)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    draws = np.random.default_rng(1).standard_normal((DRAWS, len(covariance))) @ root.T
    for chunk in np.array_split(draws, -(-DRAWS * draws.shape[1] ** 2 // AT_ONCE)):
        yield (np.abs(chunk[:, :, None] - chunk[:, None, :]) / safe).max(axis=(1, 2))
