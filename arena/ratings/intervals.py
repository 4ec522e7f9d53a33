"""Intervals and p values: quantiles of the t distribution, the degrees of freedom that an error bar
needs, and Holm's correction for many tests.
"""

import numpy as np

from arena.ratings.results import Flags, Floats
from arena.ratings.scipy_parts import ndtr, ndtri, stdtr, stdtrit

COVERAGE = 0.95
RISK = 1 - COVERAGE
NORMAL_QUANTILE = 1.96
MANY = 200
"""From this many degrees of freedom on, the normal distribution replaces the t distribution: their
intervals differ by less than 1 %.
"""
MIN_EFFECTIVE = 2.5
"""Bots with fewer effective deals (see `fit.Fit`) get no error bar. The limit of 2.5 stands for
three deals, of which one may be incomplete: they have two degrees of freedom and a t quantile of
4.3, where two deals would have one of 12.7.
"""


def quantile(freedom: Floats | float, coverage: float = COVERAGE) -> Floats:
    """The factors that turn standard errors into half-widths of intervals, by the t distribution.
    ``freedom`` has the degrees of freedom of the errors, ``coverage`` is the probability with which
    the interval contains the truth.
    """
    limited = np.clip(freedom, 1.0, MANY)
    level = (1 + coverage) / 2
    normal = NORMAL_QUANTILE if coverage == COVERAGE else ndtri(level)
    return np.where(limited < MANY, stdtrit(limited, level), normal)


def is_enough(freedom: Floats) -> Flags:
    """Whether each entry of ``freedom``, a number of degrees of freedom, is enough for an error
    bar.
    """
    return np.asarray(freedom >= MIN_EFFECTIVE - 1, dtype=np.bool_)


def chance_below(ratio: Floats, freedom: Floats) -> Floats:
    """The probability that an estimate divided by its standard error is smaller than ``ratio`` if
    the true value is 0, by the t distribution with ``freedom`` degrees of freedom.
    """
    limited = np.clip(freedom, 1.0, MANY)
    return np.where(limited < MANY, stdtr(limited, ratio), ndtr(ratio))


def holm(p: Floats) -> Floats:
    """The p values ``p`` (n,), corrected by Holm's method for their number: if all null hypotheses
    hold, the probability is at most 5 % that any corrected value falls below 5 %. NaN stays NaN and
    is not counted.
    """
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return adjusted
