"""Gains of versions, shrunk towards the other gains of their league.

The versions with the largest gains are, on average, not only the best but also the luckiest: a gain
that looks large is too large on average. What is left of that luck is estimated by empirical Bayes.
True gains are taken to be normal, with a mean and a spread that are computed from the league's own
gains by the method of moments (DerSimonian & Laird 1986), which weights each gain by how well it is
known.
"""

import numpy as np

from arena.ratings.intervals import NORMAL_QUANTILE
from arena.ratings.results import Floats

MIN_GAINS = 3
"""The least number of gains in a league from which they are shrunk. In simulated leagues, already
three gains were nearer to the truth after shrinking than before (see docs/statistics.md).
"""
MIN_HALF_WIDTH = 1.0
"""In Elo. A gain with a narrower interval is weighted as if it had this one."""


def shrunk(gains: Floats, half_widths: Floats) -> Floats:
    """(n,) the likely true values, in Elo, of the ``gains`` (n,) of a league's versions, given the
    half-widths of their 95 % intervals (n,). NaN for a gain without an interval, and for all gains
    if fewer than `MIN_GAINS` have one.
    """
    likely = np.full(len(gains), np.nan)
    known = np.isfinite(gains) & np.isfinite(half_widths)
    if known.sum() < MIN_GAINS:
        return likely
    measured = gains[known]
    variance = _error_variance(half_widths[known])
    spread = _true_variance(measured, variance)
    mean = mean_gain(gains, half_widths)
    likely[known] = mean + spread / (spread + variance) * (measured - mean)
    return likely


def mean_gain(gains: Floats, half_widths: Floats) -> float:
    """The mean, in Elo, towards which `shrunk` moves each of the ``gains`` (n,), given the
    half-widths of their 95 % intervals (n,). NaN if fewer than `MIN_GAINS` gains have an interval.
    """
    known = np.isfinite(gains) & np.isfinite(half_widths)
    if known.sum() < MIN_GAINS:
        return float("nan")
    variance = _error_variance(half_widths[known])
    spread = _true_variance(gains[known], variance)
    return float(np.average(gains[known], weights=1 / (variance + spread)))


def _error_variance(half_widths: Floats) -> Floats:
    """(n,) the variance, in Elo squared, of the errors of gains whose 95 % intervals have these
    half-widths (n,).
    """
    errors = np.maximum(half_widths, MIN_HALF_WIDTH) / NORMAL_QUANTILE
    return np.asarray(errors**2, dtype=np.float64)


def _true_variance(gains: Floats, variance: Floats) -> float:
    """The variance of the true values of ``gains`` (n,), in Elo squared, by the method of moments:
    what is left of the variance between the gains without their error ``variance`` (n,). 0 if the
    errors explain all of it.
    """
    weights = 1 / variance
    mean = np.average(gains, weights=weights)
    excess = weights @ (gains - mean) ** 2 - (len(gains) - 1)
    scale = weights.sum() - (weights**2).sum() / weights.sum()
    return float(max(0.0, excess / scale))
