"""What a fit of the model says: the ratings of bots that can be compared, and their errors."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ratings.components import Floats, Ints, Marks
from arena.ratings.freedom import (
    FEW_EFFECTIVE,
    FEWEST_EFFECTIVE,
    chance_below,
    is_enough,
    level_of,
    quantile,
)
from arena.ratings.likelihood import ELO, Layout

EQUAL = 1e-6
"""In Elo: smaller differences are rounding, and smaller standard errors count as 0."""
LITTLE = 0.05
"""What this share of the weights tells does not matter."""
ROUNDING = 1e-10
"""A variance below this fraction of the largest one is 0 except for rounding."""


class Fit(NamedTuple):
    """Ratings of bots that all took shares of wins from each other, directly or in a circle (the
    core of a component), in Elo. The mean of those with an error bar is 0, or one bot is held at a
    given value. With a prior, those of a whole component.

    ``members`` (n,): their numbers in the results. ``elo`` (n,): the ratings, exactly equal if only
    rounding told them apart. ``covariance`` (n, n): the covariance of ``elo``, NaN with fewer than
    two deals. ``deals`` (n,): the effective number of deals that tell of each bot: as many as it
    played if they all tell the same. ``freedom`` (n, n): the degrees of freedom of the error of
    each difference, and on the diagonal of each rating. ``gain``: how many independent games a game
    is worth. This is the variance of a difference of two ratings, averaged over all pairs with
    error bars, if every game had its own deal, divided by the same variance clustered by deal. NaN
    if there is no clustered one, or only the prior's. ``seats``: by table size, the effect of each
    seat compared with seat 0 in Elo, and its standard error, NaN if the deals show none; empty if
    seats were given no effect. ``seat_freedom``: the degrees of freedom of these errors.
    ``clusters``: the number of deals. ``prior``: the weight used, 0 for none. ``marks`` (n, n),
    from `components.pair_marks`: what the data, without the prior, leave open about the difference
    of two bots. ``open_seats``: the table sizes whose games do not limit the effects of the seats:
    all seats count as equally good there, unless a prior keeps the effects finite. ``anchor``:
    the member with a given rating. ``by_prior``: the places of the bots that the games alone,
    without the prior, would not rate.
    """

    members: Ints
    elo: Floats
    covariance: Floats
    deals: Floats
    freedom: Floats
    gain: float
    seats: dict[int, tuple[Floats, Floats]]
    seat_freedom: dict[int, Floats]
    games: int
    clusters: int
    prior: float
    marks: Marks
    open_seats: tuple[int, ...]
    anchor: int | None = None
    by_prior: tuple[int, ...] = ()

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """(n,) which bots played enough deals for an error bar."""
        return np.asarray(self.deals >= FEWEST_EFFECTIVE, dtype=np.bool_)

    @property
    def level(self) -> Floats:
        """(n,) the weights of the bots in the level that ratings are distances from."""
        if self.anchor is None:
            return level_of(self.deals)
        return np.asarray(np.arange(len(self.elo)) == self.anchor, dtype=np.float64)

    @property
    def is_few(self) -> NDArray[np.bool_]:
        """(n,) which bots played so few deals that they are marked."""
        return np.asarray(self.deals < FEW_EFFECTIVE, dtype=np.bool_)

    def quantiles(self) -> Floats:
        """(n, n) the factors from standard errors to half-widths of 95 % intervals, laid out as
        ``freedom``; NaN where too few deals tell.
        """
        is_told = self.is_known[:, None] & self.is_known & is_enough(self.freedom)
        return np.where(is_told, quantile(self.freedom), np.nan)

    def half_widths(self) -> Floats:
        """(n,) half-widths of the 95 % intervals of the ratings.

        They are for the distance from the anchor, or else from the mean of the bots with an error
        bar: one that next to nothing is known about does not widen those of the others.
        """
        if self.anchor is not None:
            return np.asarray(self.difference_half_widths()[self.anchor], dtype=np.float64)
        return np.diag(self.quantiles()) * errors_of(np.diag(self.covariance))

    def difference_error(self) -> Floats:
        """(n, n) standard errors of the differences of two ratings."""
        variance = np.diag(self.covariance)
        return errors_of(variance[:, None] + variance - 2 * self.covariance)

    def difference_half_widths(self) -> Floats:
        """(n, n) half-widths of the 95 % intervals of the differences, 0 on the diagonal."""
        half = self.quantiles() * self.difference_error()
        np.fill_diagonal(half, 0.0)
        return half

    def seat_half_widths(self, size: int) -> Floats:
        """(k,) half-widths of the 95 % intervals of the effects of seats at tables of this size."""
        freedom = self.seat_freedom[size]
        return self.seats[size][1] * np.where(is_enough(freedom), quantile(freedom), np.nan)

    def superiority(self) -> Floats:
        """(n, n) likelihood of superiority: the quantile of the difference over its error, 0.5 for
        equal ratings; NaN where too few deals tell.
        """
        difference = self.elo[:, None] - self.elo
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = difference / self.difference_error()
        chance = np.where(np.isnan(self.quantiles()), np.nan, chance_below(ratio, self.freedom))
        return np.where(difference == 0, 0.5, chance)

    def parameters(self, layout: Layout) -> Floats:
        """The parameters of the model at this fit, in a layout of its bots and seats."""
        effects = [self.seats[size][0][1:] for size in layout.offsets]
        return np.asarray(
            np.concatenate([self.elo - self.elo.mean(), *effects]) / ELO, dtype=np.float64
        )

    def anchored(self, member: int, value: float) -> "Fit":
        """The fit with one member held at a value, so that it is no longer an estimate; the others'
        errors are for the distance to it.
        """
        covariance = (
            self.covariance
            - self.covariance[member]
            - self.covariance[:, [member]]
            + self.covariance[member, member]
        )
        return self._replace(
            elo=self.elo - self.elo[member] + value, covariance=covariance, anchor=member
        )

    def contrast_width(self, weights: Floats, told: NDArray[np.bool_]) -> float:
        """The half-width of the 95 % interval of the ratings' sum with these weights (n,). The bots
        that have no error bar, which are not ``told``, are left out; NaN if they matter.
        """
        if np.abs(weights[~told]).sum() > LITTLE * np.abs(weights).sum():
            return float("nan")
        weights = np.where(told, weights, 0.0)
        moved = self.covariance @ weights
        parts = np.abs(weights * moved)
        # as if the bots' parts of the error went together: exact where all have played the same
        roots = (parts / np.sqrt(np.maximum(np.diag(self.freedom), 1.0))).sum()
        freedom = (parts.sum() / roots) ** 2 if roots > 0 else np.inf
        return float(quantile(freedom)) * float(np.sqrt(np.maximum(weights @ moved, 0.0)))


def errors_of(variance: Floats) -> Floats:
    """The standard errors of variances; those that are 0 except for rounding are 0."""
    floor = max(EQUAL**2, ROUNDING * variance.max())
    return np.sqrt(np.where(variance < floor, 0.0, variance))
