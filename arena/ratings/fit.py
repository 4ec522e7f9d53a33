"""Fits the rating model to results: the ratings of bots that can be compared, with their errors."""

from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.errors import NoAnswerError
from arena.ratings.intervals import MIN_EFFECTIVE, chance_below, is_enough, quantile
from arena.ratings.jackknife import Leverage, sandwich, satterthwaite
from arena.ratings.likelihood import ELO, Model
from arena.ratings.results import Flags, Floats, Ints, Results

Marks = NDArray[np.str_]
FEW_EFFECTIVE = 9.5
"""Bots with fewer effective deals get the mark ``?`` in the tables. The limit of 9.5 stands for ten
deals, of which one may be incomplete.
"""
EQUAL = 1e-6
"""In Elo: smaller differences are taken for rounding errors, and smaller standard errors count as
0.
"""
LITTLE = 0.05
"""The largest share of a contrast's weights that bots without an error bar may carry; above it, the
contrast's interval is unknown.
"""
ROUNDING = 1e-10
"""A variance below this fraction of the largest one is a rounding error and counts as 0."""


class Fit(NamedTuple):
    """Ratings in Elo of n bots that can be compared: each took shares of wins from each other one,
    directly or through others (the rated group of a component, see `arena.ratings.model`). With a
    prior, the bots are all bots of a component. The mean of the bots with an error bar is 0, or one
    bot is held at a given rating.

    ``members`` (n,)       the bots' numbers in the results
    ``elo`` (n,)           the ratings; ratings that differ by rounding errors alone are exactly
                           equal
    ``covariance`` (n, n)  the covariance of ``elo``, in Elo squared; NaN with fewer than two deals
    ``deals`` (n,)         the effective number of deals of each bot: the number it played if all of
                           them carry equal information, else fewer
    ``freedom`` (n, n)     the degrees of freedom of the error of each difference of two ratings,
                           and on the diagonal of each rating
    ``clusters``           the number of deals
    ``marks`` (n, n)       what the games, without the prior, say about the difference of two bots:
                           empty if each can be reached from the other by "took a share from"; ``>``
                           or ``<`` if only one can, so that the difference is bounded on one side
                           only; ``~`` if neither can
    ``seats``              by number of players k, two arrays (k,): the effect of each seat in Elo
                           compared with seat 0, and its standard error, NaN if the deals show none;
                           empty if seats have no effects
    ``seat_freedom``       by number of players: the degrees of freedom of the errors in ``seats``
    ``gain``               how many independent games one game is worth: the variance of a
                           difference of two ratings as if each game had its own deal, divided by
                           the variance clustered by deal, averaged over all pairs with error bars;
                           NaN if the latter is missing, or comes from the prior alone
    ``games``              the number of games between these bots
    ``prior``              the weight of the prior; 0 for none
    ``open_seats``         the numbers of players for which games do not bound the effects of the
                           seats; the seats then count as equally good, unless a prior keeps the
                           effects finite
    ``anchor``             the index of the bot that is held at a given rating; None if no bot is
    ``by_prior``           the indices of the bots that the games alone, without the prior, would
                           not rate
    """

    members: Ints
    elo: Floats
    covariance: Floats
    deals: Floats
    freedom: Floats
    clusters: int
    marks: Marks
    seats: dict[int, tuple[Floats, Floats]]
    seat_freedom: dict[int, Floats]
    gain: float = np.nan
    games: int = 0
    prior: float = 0.0
    open_seats: tuple[int, ...] = ()
    anchor: int | None = None
    by_prior: tuple[int, ...] = ()

    @property
    def is_known(self) -> Flags:
        """(n,) whether each bot has enough effective deals for an error bar."""
        return np.asarray(self.deals >= MIN_EFFECTIVE, dtype=np.bool_)

    @property
    def level(self) -> Floats:
        """(n,) the weight of each bot in the mean that is rating zero: the anchor alone, or,
        without an anchor, see `level_of`.
        """
        if self.anchor is None:
            return level_of(self.deals)
        return np.asarray(np.arange(len(self.elo)) == self.anchor, dtype=np.float64)

    @property
    def is_few(self) -> Flags:
        """(n,) whether each bot has so few effective deals that its rating gets the mark ``?``."""
        return np.asarray(self.deals < FEW_EFFECTIVE, dtype=np.bool_)

    def quantiles(self) -> Floats:
        """(n, n) the factors from standard errors to half-widths of 95 % intervals, for differences
        of two ratings and, on the diagonal, for ratings; NaN if there are too few deals for an
        error bar.
        """
        return _factors(self.freedom, self._is_told)

    @property
    def _is_told(self) -> Flags:
        """(n, n) whether there are enough deals for an error bar of the difference of two ratings
        and, on the diagonal, of a rating.
        """
        return self.is_known[:, None] & self.is_known & is_enough(self.freedom)

    def half_widths(self) -> Floats:
        """(n,) the half-widths, in Elo, of the 95 % intervals of the ratings; NaN for a bot with
        too few deals.

        An interval is for the distance from the anchor, or, without one, from the mean of the bots
        with an error bar. So a bot of which little is known does not widen the intervals of the
        others.
        """
        if self.anchor is not None:
            return np.asarray(self.difference_half_widths()[self.anchor], dtype=np.float64)
        factors = _factors(np.diag(self.freedom), np.diag(self._is_told))
        return factors * errors_of(np.diag(self.covariance))

    def difference_error(self) -> Floats:
        """(n, n) the standard errors, in Elo, of the differences of two ratings."""
        variance = np.diag(self.covariance)
        return errors_of(variance[:, None] + variance - 2 * self.covariance)

    def difference_half_widths(self) -> Floats:
        """(n, n) the half-widths, in Elo, of the 95 % intervals of the differences of two ratings;
        0 on the diagonal, NaN with too few deals.
        """
        half = self.quantiles() * self.difference_error()
        np.fill_diagonal(half, 0.0)
        return half

    def seat_half_widths(self, size: int) -> Floats:
        """(k,) the half-widths, in Elo, of the 95 % intervals of the effects of the seats in games
        of k = ``size`` players; 0 for seat 0, NaN if the deals are too few or show none. Raises
        KeyError if seats have no effects in games of this size.
        """
        freedom = self.seat_freedom[size]
        return self.seats[size][1] * _factors(freedom, is_enough(freedom))

    def superiority(self) -> Floats:
        """(n, n) the probability that the row's bot is stronger than the column's, by the t
        distribution of the difference over its error; 0.5 for equal ratings, NaN if there are too
        few deals.
        """
        difference = self.elo[:, None] - self.elo
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = difference / self.difference_error()
        chance = np.where(self._is_told, chance_below(ratio, self.freedom), np.nan)
        return np.where(difference == 0, 0.5, chance)

    def anchored(self, member: int, value: float) -> "Fit":
        """A copy of the fit in which all ratings are shifted so that the bot with the index
        ``member`` in the fit has the rating ``value``. The errors of the other bots are then those
        of their distances from that bot.
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

    def contrast_width(self, weights: Floats, has_error: Flags) -> float:
        """The half-width, in Elo, of the 95 % interval of the sum of the ratings times ``weights``
        (n,). Bots without an error bar, for which ``has_error`` (n,) is False, are left out; NaN if
        these carry more than the share `LITTLE` of the weights.
        """
        if np.abs(weights[~has_error]).sum() > LITTLE * np.abs(weights).sum():
            return float("nan")
        weights = np.where(has_error, weights, 0.0)
        moved = self.covariance @ weights
        parts = np.abs(weights * moved)
        # as if the bots' parts of the error were fully correlated: exact if all played the same
        # deals
        roots = (parts / np.sqrt(np.maximum(np.diag(self.freedom), 1.0))).sum()
        freedom = (parts.sum() / roots) ** 2 if roots > 0 else np.inf
        return float(quantile(freedom)) * float(np.sqrt(np.maximum(weights @ moved, 0.0)))


def _factors(freedom: Floats, is_told: Flags) -> Floats:
    """The factors from standard errors to half-widths of 95 % intervals at these degrees of
    ``freedom``; NaN where ``is_told``, which has the same shape, is False.
    """
    return np.where(is_told, quantile(freedom), np.nan)


def errors_of(variance: Floats) -> Floats:
    """Standard errors, the roots of ``variance``; variances that are rounding errors give 0."""
    floor = max(EQUAL**2, ROUNDING * variance.max())
    return np.sqrt(np.where(variance < floor, 0.0, variance))


def level_of(deals: Floats) -> Floats:
    """(n,) the weight of each bot in the mean that is rating zero, given the effective ``deals``
    (n,) of the bots. It is the mean of the bots with an error bar, or of all bots if fewer than two
    have one.
    """
    is_known = deals >= MIN_EFFECTIVE
    if is_known.sum() < 2:  # noqa: PLR2004 - a bot has no distance from itself
        is_known = np.ones(len(deals), dtype=np.bool_)
    return np.asarray(is_known / is_known.sum(), dtype=np.float64)


def held_fit(results: Results, bot: int) -> Fit:
    """A fit with one bot, held at 0, for bots of which no two can be rated together. ``results``
    are their games.
    """
    return Fit(
        members=np.array([bot]),
        elo=np.zeros(1),
        covariance=np.zeros((1, 1)),
        deals=results.deals()[[bot]].astype(np.float64),
        freedom=np.full((1, 1), np.inf),
        clusters=results.clusters,
        marks=np.full((1, 1), ""),
        seats={},
        seat_freedom={},
        anchor=0,
    )


def fit_rated_group(results: Results, *, seats: bool) -> Fit:
    """Rates bots that can all be reached from each other by "took a share from", so that the
    likelihood has a maximum.

    With ``seats``, the fit also estimates how much each seat helps, separately for each number of
    players, as far as the results bound these effects. If the likelihood has no maximum with them,
    all seats count as equally good. Raises NoAnswerError if it has none then, either.
    """
    sizes, open_seats = _seat_sizes(results, seats=seats)
    no_marks = np.full((len(results.bots),) * 2, "")
    for left_out in (open_seats, sizes):
        model = Model.of(results, sizes - left_out)
        try:
            parameters = model.maximum(0.0)
        except NoAnswerError:
            if left_out == sizes:
                raise
        else:
            break
    return _fit(model, parameters, 0.0, no_marks, tuple(sorted(left_out)))


def fit_with_prior(results: Results, graph: Flags, prior: float, *, seats: bool) -> Fit:
    """Rates all bots of ``results``, which met directly or through others, with a prior of weight
    ``prior``: virtual draws against an imagined bot with rating 0, which connect bots that the
    games do not connect. ``graph`` (n, n) is that of `took_from`. With ``seats``, seats have
    effects. Raises NoAnswerError if no finite ratings fit best.
    """
    sizes, open_seats = _seat_sizes(results, seats=seats)
    model = Model.of(results, sizes)
    reach = reach_of(graph)
    marks = np.select([reach & reach.T, reach, reach.T], ["", ">", "<"], default="~")
    return _fit(model, model.maximum(prior), prior, marks, tuple(sorted(open_seats)))


def took_from(count: int, seats: Ints, results: Results) -> Flags:
    """(n, n) whether player i ever got a share of the win in a game with player j. Players are bots
    or seats: ``seats`` (O, K) has their numbers by outcome and seat, ``count`` for an empty seat; n
    is ``count``.
    """
    matrix = np.zeros((count + 1, count + 1), dtype=np.bool_)
    took = results.share > 0
    for one, other in permutations(range(seats.shape[1]), 2):
        matrix[seats[took[:, one], one], seats[took[:, one], other]] = True
    return matrix[:count, :count]


def reach_of(graph: Flags) -> Flags:
    """(n, n) whether j can be reached from i in ``graph`` (n, n) by any number of steps, including
    none.
    """
    reach = graph | np.eye(len(graph), dtype=np.bool_)
    while True:
        # numpy multiplies floats much faster than booleans
        steps = reach.astype(np.float32)
        further = steps @ steps > 0
        if (further == reach).all():
            return reach
        reach = further


def _seat_sizes(results: Results, *, seats: bool) -> tuple[set[int], set[int]]:
    """Two sets of numbers of players: those that occur in the games, and, among these, those whose
    games do not bound the effects of seats, because some seat cannot be reached from another by
    "took a share from". Both are empty without ``seats``.
    """
    sizes = {*results.players.tolist()} if seats else set[int]()
    open_seats = set[int]()
    places = np.arange(results.seats.shape[1])
    for size in sizes:
        is_here = (results.players == size)[:, None] & (results.seats < len(results.bots))
        if not reach_of(took_from(size, np.where(is_here, places, size), results)).all():
            open_seats.add(size)
    return sizes, open_seats


def _fit(
    model: Model, parameters: Floats, prior: float, marks: Marks, open_seats: tuple[int, ...]
) -> Fit:
    """Computes the ratings and the effects of the seats with their errors, given the ``parameters``
    at which the likelihood is largest. ``open_seats`` are the numbers of players for which games do
    not bound the effects of the seats.
    """
    results = model.results
    bots = slice(0, len(model.results.bots))
    loose = _loose_directions(model, marks, open_seats if prior else ())
    clustered, independent, leverage = sandwich(model, parameters, prior, loose)
    clustered = clustered * ELO**2
    independent = independent * ELO**2
    # A bot with next to no deals must not move the others: its weight in the level is 0.
    level = level_of(leverage.effective)
    freedom, of_parameters = _freedom(leverage, level)
    center = np.eye(len(level)) - level
    every = errors_of(np.diag(clustered))
    seats = dict[int, tuple[Floats, Floats]]()
    seat_freedom = dict[int, Floats]()
    for size, start in model.offsets.items():
        columns = slice(start, start + size - 1)
        error = np.where(every[columns] == 0, np.nan, every[columns])
        seats[size] = np.append(0.0, parameters[columns] * ELO), np.append(0.0, error)
        seat_freedom[size] = np.append(np.inf, of_parameters[columns])
    return Fit(
        members=np.arange(len(level)),
        elo=_level(center @ parameters[bots] * ELO),
        covariance=center @ clustered[bots, bots] @ center.T,
        deals=leverage.effective,
        freedom=freedom,
        gain=np.nan
        if loose.size
        else _gain(center[level > 0], clustered[bots, bots], independent[bots, bots]),
        seats=seats,
        seat_freedom=seat_freedom,
        games=results.games,
        clusters=results.clusters,
        prior=prior,
        marks=marks,
        open_seats=open_seats,
    )


def _loose_directions(model: Model, marks: Marks, open_seats: tuple[int, ...]) -> Floats:
    """(size, m) the directions in which only the prior holds the parameters: shifts of whole groups
    of bots, which ``marks`` separate, or all directions if ``open_seats`` is not empty.
    """
    if open_seats:
        return np.eye(model.size)
    groups = np.unique(marks == "", axis=0)
    loose = np.zeros((model.size, len(groups) if len(groups) > 1 else 0))
    loose[: len(marks)] = groups.T[:, : loose.shape[1]]
    return loose


def _freedom(leverage: Leverage, level: Floats) -> tuple[Floats, Floats]:
    """The degrees of freedom: (n, n) those of the difference of two ratings, on the diagonal those
    of a rating's distance from the mean with the weights ``level``; and (size,) those of each
    parameter.
    """
    figures = np.eye(len(leverage.bread))
    bots = len(level)
    figures[:bots, :bots] -= level
    one, other = np.triu_indices(len(figures))
    asked = (other < bots) | (one == other)
    every = np.zeros(leverage.bread.shape)
    one = one[asked]
    other = other[asked]
    every[one, other] = every[other, one] = satterthwaite(leverage, figures, one, other)
    return every[:bots, :bots], np.diag(every)


def _gain(centered: Floats, clustered: Floats, independent: Floats) -> float:
    """The mean variance of rating differences as if games were independent (``independent``),
    divided by their mean variance clustered by deal (``clustered``); NaN if the latter is next to
    0. ``centered`` projects the bots with an error bar onto a mean of 0; there, the trace of a
    covariance is proportional to the sum of the variances of all differences.
    """
    by_deal = float(np.trace(centered @ clustered @ centered.T))
    by_game = float(np.trace(centered @ independent @ centered.T))
    return by_game / by_deal if by_deal > len(centered) * EQUAL**2 else np.nan


def _level(elo: Floats) -> Floats:
    """The ratings ``elo``, in which ratings that differ by rounding errors alone are replaced by
    their mean.
    """
    order = np.argsort(elo, kind="stable")
    group = np.empty(len(elo), dtype=np.int64)
    group[order] = np.cumsum(np.diff(elo[order], prepend=-np.inf) > EQUAL) - 1
    return np.asarray((np.bincount(group, elo) / np.bincount(group))[group], dtype=np.float64)
