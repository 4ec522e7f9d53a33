"""The error of a difference of two estimates from leaving out each deal in turn."""

from collections.abc import Iterable

import numpy as np
from scipy.special import stdtr

from arena.ratings.components import Floats

FLAT = 1e-9
FEWEST_FREEDOM = 2.0
"""With fewer than three effective deals there is no error."""


def left_out(deals: Iterable[Floats], whole: Floats) -> tuple[Floats, Floats]:
    """(K,) errors of K differences, and their degrees of freedom, 0 if one deal decides an
    estimate.

    ``deals``  (D, 2, 2, K) by deal, a number of them at a time: what it adds to either estimate
               beyond what it adds on average, and its part of the squared error if games share no
               luck
    ``whole``  (2, K) these squared errors

    Satterthwaite's degrees of freedom are (tr P)^2 / tr P^2, where P is the covariance of what
    leaving out a deal changes if games share no luck (Bell & McCaffrey 2002).
    """
    whole = np.maximum(whole, FLAT)
    count = np.zeros(whole.shape[1])
    sums, products = np.zeros((4, *count.shape)), np.zeros((2, 2, *count.shape))
    alone = np.zeros(count.shape, dtype=np.bool_)
    for deal in deals:
        added, spent = deal[:, :, 0], deal[:, :, 1]
        rest = 1 - spent / whole
        alone |= (rest < FLAT).any(axis=(0, 1))
        rest = np.maximum(rest, FLAT)
        moved = added / rest
        lines = spent / rest / np.sqrt(whole)
        diagonal = (spent / rest**2).sum(axis=1)
        count += (spent > 0).any(axis=1).sum(axis=0)
        sums[0] += ((moved[:, 0] - moved[:, 1]) ** 2).sum(axis=0)
        sums[1] += diagonal.sum(axis=0)
        sums[2] += (diagonal**2).sum(axis=0)
        sums[3] += (diagonal[:, None] * lines**2).sum(axis=(0, 1))
        products += np.einsum("dik,djk->ijk", lines, lines)
    error = np.sqrt((count - 1).clip(min=0) / np.maximum(count, 1) * sums[0])
    trace = sums[1] - products[0, 0] - products[1, 1]
    squares = sums[2] - 2 * sums[3] + (products**2).sum(axis=(0, 1))
    freedom = np.where(alone | (count <= 1), 0.0, trace**2 / np.maximum(squares, FLAT**2))
    return error, freedom


def chances(change: Floats, error: Floats, freedom: Floats) -> Floats:
    """(K,) how likely chance alone makes differences this large; 1 with too few deals."""
    # Where every deal gave the same, it is a coin that always falls on one side.
    alike = np.where(np.abs(change) < FLAT, 1.0, 0.5**freedom)
    # Holm asks for the far tail, where luck that decides whole deals makes t too sure: with 60
    # tests and 12 such deals 9 of 100 runs were called beyond error, with this width 5.
    wide = np.maximum(error * (1 + 1 / np.maximum(freedom, 1)), FLAT)
    p = np.where(error < FLAT, alike, 2 * stdtr(freedom, -np.abs(change) / wide))
    return np.where(freedom < FEWEST_FREEDOM, 1.0, p)
