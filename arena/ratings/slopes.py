"""What one more of something goes with: least squares over games, with errors clustered by deal."""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from arena.ratings.components import Floats, Ints
from arena.ratings.freedom import is_enough, quantile
from arena.ratings.leverage import ALONE, effective_deals

FLAT = 1e-9


class Slopes(NamedTuple):
    """(m,) slopes, half-widths of their 95 % intervals, and how likely chance alone makes them this
    large; NaN where too few deals tell.
    """

    slope: Floats
    error: Floats
    p: Floats


def slopes(of: Floats, by: Floats, deal: Ints) -> Slopes:
    """The slopes of ``of`` (n,) by the columns of ``by`` (n, m), through 0; ``deal`` (n,) is the
    deal of each row, and the rows of one deal share its luck.

    The error is what leaving out each deal in turn changes (CR3), with as many degrees of freedom
    as deals tell of a slope, less one.
    """
    width = by.shape[1]
    nothing = np.full(width, np.nan)
    number = np.unique(deal, return_inverse=True)[1]
    count = int(number.max(initial=-1)) + 1
    products = np.stack(
        [np.bincount(number, one * other, count) for one in by.T for other in by.T], axis=-1
    ).reshape(count, width, width)
    sums = np.stack([np.bincount(number, column * of, count) for column in by.T], axis=-1)
    whole = products.sum(axis=0)
    if not count or np.linalg.eigvalsh(whole)[0] <= FLAT * max(np.trace(whole), 1.0):
        return Slopes(nothing, nothing, nothing)
    inverse = np.linalg.inv(whole)
    slope = inverse @ sums.sum(axis=0)
    rest = np.eye(width) - inverse @ products
    told = np.einsum("ij,djk,ki->di", inverse, products, inverse)
    freedom = effective_deals(told.sum(axis=0), (told**2).sum(axis=0)) - 1
    if count == 1 or np.linalg.cond(rest).max() > ALONE:
        return Slopes(slope, nothing, nothing)
    left = sums - products @ slope
    moved = np.linalg.solve(rest, (left @ inverse)[:, :, None])[:, :, 0]
    error = np.sqrt((count - 1) / count * (moved**2).sum(axis=0))
    sure = is_enough(freedom) & (error > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.where(sure, 2 * stdtr(np.maximum(freedom, 1), -np.abs(slope) / error), np.nan)
    return Slopes(slope, np.where(sure, quantile(freedom) * error, np.nan), p)
