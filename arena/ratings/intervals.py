"""Intervals and p values: quantiles of the t distribution, the degrees of freedom that an error bar
needs, and Holm's correction for many tests.
"""

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from arena.ratings.results import Flags, Floats

COVERAGE = 0.95
NORMAL_QUANTILE = 1.96
MANY = 200
"""From this many degrees of freedom on, the normal distribution replaces the t distribution: their
intervals differ by less than 1 %.
"""
MIN_EFFECTIVE = 2.5
"""Bots with fewer effective deals get no error bar. The bound stands for three deals, of which one
may be incomplete: they have two degrees of freedom and a quantile of 4.3, where two deals would
have one of 12.7.
"""


def quantile(freedom: Floats | float, coverage: float = COVERAGE) -> Floats:
    """The factors from standard errors to half-widths of intervals with this coverage, by the t
    distribution.
    """
    limited = np.clip(freedom, 1.0, MANY)
    level = (1 + coverage) / 2
    normal = NORMAL_QUANTILE if coverage == COVERAGE else ndtri(level)
    return np.where(limited < MANY, stdtrit(limited, level), normal)


def is_enough(freedom: Floats) -> Flags:
    """Whether these degrees of freedom are enough for an error bar."""
    return np.asarray(freedom >= MIN_EFFECTIVE - 1, dtype=np.bool_)


def chance_below(ratio: Floats, freedom: Floats) -> Floats:
    """The probability that the ratio of an estimate to its error is smaller than ``ratio`` if the
    truth is 0.
    """
    limited = np.clip(freedom, 1.0, MANY)
    return np.where(limited < MANY, stdtr(limited, ratio), ndtr(ratio))


def holm(p: Floats) -> Floats:
    """The p values, corrected by Holm's method: whatever their number, the probability is 5 % that
    any of them falls below 5 % by chance. NaN stays NaN.
    """
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return adjusted
