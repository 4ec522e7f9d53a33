"""Degrees of freedom of the error of a contrast of ratings (Satterthwaite; Bell & McCaffrey 2002;
Pustejovsky & Tipton 2018).

A variance estimated from deals is a sum of squares, one for each deal. If few deals carry the sum,
it is as uncertain as their number says, however many others there are.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from arena.ratings.components import Floats, Ints
from arena.ratings.leverage import ALONE, Alike, Leverage
from arena.ratings.likelihood import Layout

COVERAGE = 0.95
NORMAL_QUANTILE = 1.96
MANY = 200
"""From here on the t distribution is taken as the normal one: their widths differ by less than 1 %.
"""
FEWEST_EFFECTIVE = 2.5
"""Fewer effective deals give no error bar. That is three deals, of which one may be incomplete:
they have two degrees of freedom and a quantile of 4.3, where two deals would have one of 12.7.
"""
FEW_EFFECTIVE = 9.5
"""Fewer effective deals are marked. That is ten, of which one may be incomplete."""
AT_ONCE = 1 << 21
"""The number of figures held at a time: 16 MB."""
MOST_PAIRS = 5_000
"""With more pairs of bots, those of pairs follow from those of the bots."""


class Freedom(NamedTuple):
    """Degrees of freedom: ``bots`` (n, n) of the difference of two, and on the diagonal of a bot's
    distance from the level; ``seats`` (k,) of the effect of each seat, by table size, infinite for
    the first seat.
    """

    bots: Floats
    seats: dict[int, Floats]


def quantile(freedom: Floats | float, coverage: float = COVERAGE) -> Floats:
    """The factors from standard errors to half-widths of 95 % intervals, or of others."""
    limited, level = np.clip(freedom, 1.0, MANY), (1 + coverage) / 2
    normal = NORMAL_QUANTILE if coverage == COVERAGE else ndtri(level)
    return np.where(limited < MANY, stdtrit(limited, level), normal)


def is_enough(freedom: Floats) -> NDArray[np.bool_]:
    """Whether these are those of the fewest deals that give an error bar."""
    return np.asarray(freedom >= FEWEST_EFFECTIVE - 1, dtype=np.bool_)


def chance_below(ratio: Floats, freedom: Floats) -> Floats:
    """The probability of a smaller ratio of an estimate to its error, if the truth is 0."""
    limited = np.clip(freedom, 1.0, MANY)
    return np.where(limited < MANY, stdtr(limited, ratio), ndtr(ratio))


def level_of(deals: Floats) -> Floats:
    """(n,) the weights of bots with so many effective deals in the level that errors refer to: the
    mean of those with an error bar, or of all bots if that would be one bot itself.
    """
    is_known = deals >= FEWEST_EFFECTIVE
    if is_known.sum() < 2:  # noqa: PLR2004 - a bot has no distance from itself
        is_known = np.ones(len(deals), dtype=np.bool_)
    return np.asarray(is_known / is_known.sum(), dtype=np.float64)


class Contrasts(NamedTuple):
    """What errors are asked for: each parameter, that of a bot as its distance from the mean with
    the weights ``level`` (size,), then the differences of the bots ``one`` and ``other`` (P,).
    """

    level: Floats
    bots: int
    one: Ints
    other: Ints

    def of(self, along: Floats, inner: Floats) -> Floats:
        """(D, L) the values l' F l of the quadratic forms F = A' B A, with A (D, R, size) and B
        (D, R, R).
        """
        moved = inner @ along
        around, diagonal = along.transpose(0, 2, 1), (moved * along).sum(axis=1)
        to_level, bots = (around @ (moved @ self.level)[:, :, None])[:, :, 0], slice(0, self.bots)
        single = diagonal.copy()
        single[:, bots] += (to_level @ self.level)[:, None] - 2 * to_level[:, bots]
        if not len(self.one):
            return np.asarray(single, dtype=np.float64)
        mixed = (around @ moved)[:, self.one, self.other]
        pairs = diagonal[:, self.one] + diagonal[:, self.other] - 2 * mixed
        return np.hstack([single, pairs])

    def matrix(self) -> Floats:
        """(L, size) the contrasts themselves."""
        unit = np.eye(len(self.level))
        single = unit.copy()
        single[: self.bots] -= self.level
        return np.vstack([single, unit[self.one] - unit[self.other]])


def freedom_of(leverage: Leverage, layout: Layout, level: Floats) -> Freedom:
    """The degrees of freedom of all errors, where the level is that of `level_of`."""
    count = layout.bots
    one, other = np.triu_indices(count, 1)
    asked = slice(len(one) if len(one) <= MOST_PAIRS else 0)
    weights = np.append(level, np.zeros(layout.size - count))
    found = satterthwaite(leverage, Contrasts(weights, count, one[asked], other[asked]))
    own, pairs = found[: layout.size], found[layout.size :]
    if not len(pairs):
        pairs = _of_both(leverage, layout, own, one, other)
    matrix = np.diag(own[:count])
    matrix[one, other] = matrix[other, one] = pairs
    seats = {
        size: np.append(np.inf, own[start : start + size - 1])
        for size, start in layout.offsets.items()
    }
    return Freedom(matrix, seats)


def satterthwaite(leverage: Leverage, contrasts: Contrasts) -> Floats:
    """(L,) the degrees of freedom of the variances of contrasts.

    If every game had its own luck, the deals' parts of a contrast's estimate would have the
    covariances G_cc = x' M_c x and G_cd = -x' M_c Q M_d x, where x = Q l, and M_c is the pull. They
    are (sum G_cc)^2 / (sum G_cc^2 + sum G_cd^2).
    """
    [variance] = contrasts.of(np.eye(len(leverage.bread))[None], leverage.bread[None])
    sums, told = np.zeros((3, len(variance))), np.zeros(len(variance))
    for alike, part in _portions(leverage, len(leverage.bread) ** 2 + len(variance)):
        along = leverage.bread[alike.columns[part]]
        own, units = contrasts.of(along, alike.pull[part]), alike.units[part]
        sums += [units @ own**power for power in (1, 2, 4)]
        if leverage.rest:
            told += units @ contrasts.of(along, alike.information[part])
    total, squares, fourths = sums
    # What a single deal tells alone has no error to be known; here it would be lost to rounding.
    is_alone = total > ALONE * variance
    if len(variance) * len(leverage.bread) ** 2 <= AT_ONCE:
        crossed = _crossed(leverage, leverage.bread @ contrasts.matrix().T)
    else:  # as if all deals moved the contrast in one direction: those that decide it nearly do
        crossed = (squares**2 - fourths) / np.where(variance > 0, variance, 1.0) ** 2
    if leverage.rest:  # as if the others were as few as the largest of them allows
        others = np.maximum(variance - told, 0.0)
        total, squares = total + others, squares + others * variance * leverage.rest
    below = squares + crossed
    return np.divide(total**2, below, where=(below > 0) & ~is_alone, out=np.zeros(len(variance)))


def _portions(leverage: Leverage, width: int) -> Iterator[tuple[Alike, slice]]:
    """All exact designs, a number of them at a time, with ``width`` figures for each."""
    for alike in leverage.exact:
        step = max(1, AT_ONCE // width)
        for first in range(0, len(alike.units), step):
            yield alike, slice(first, first + step)


def _crossed(leverage: Leverage, moved: Floats) -> Floats:
    """(L,) the sums of G_cd^2 over all pairs of different deals."""
    size, count = moved.shape
    products, own = np.zeros((count, size, size)), np.zeros(count)
    for alike, part in _portions(leverage, count * size):
        columns, units = alike.columns[part], alike.units[part]
        pulled = np.zeros((len(columns), size, count))
        pulled[np.arange(len(columns))[:, None], columns] = alike.pull[part] @ moved[columns]
        own += units @ (leverage.bread @ pulled * pulled).sum(axis=1) ** 2
        by_contrast = pulled.transpose(2, 0, 1)
        products += (by_contrast * units[:, None]).transpose(0, 2, 1) @ by_contrast
    products = products @ leverage.bread
    return np.asarray((products * products.transpose(0, 2, 1)).sum(axis=(1, 2)) - own)


def _of_both(leverage: Leverage, layout: Layout, own: Floats, one: Ints, other: Ints) -> Floats:
    """Those of differences as if the two ratings were independent, and no more than the larger."""
    variance = np.diag(leverage.bread)[: layout.bots]
    sums = (variance[one] + variance[other]) ** 2
    parts = variance**2 / own[: layout.bots]
    return np.minimum(sums / (parts[one] + parts[other]), np.maximum(own[one], own[other]))
