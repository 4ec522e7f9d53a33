"""The share-logit model: ratings and seat effects by maximum likelihood, with errors clustered by
deal.

`likelihood` defines the model, `sandwich` computes the errors, and `freedom` their degrees of
freedom.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.errors import NoAnswerError
from arena.ratings.components import (
    Floats,
    Ints,
    Marks,
    core_of,
    middle_of,
    pair_marks,
    strong_components,
    took_from,
    weak_components,
)
from arena.ratings.freedom import (
    FEW_EFFECTIVE,
    FEWEST_EFFECTIVE,
    chance_below,
    freedom_of,
    is_enough,
    level_of,
    quantile,
)
from arena.ratings.likelihood import ELO, Layout, derivatives, gauged, layout_of
from arena.ratings.outside import Bound, bounds_of, coreless_bounds
from arena.ratings.results import Results, restrict
from arena.ratings.sandwich import loose_directions, sandwich
from arena.records.record import DUEL

STEP_CAP = 2.0
TOLERANCE = 1e-9
MOST_STEPS = 50
LEAST_INFORMATION = 1e-6
"""The least curvature in any direction; below it, rounding ended the search far out, and not a
maximum.
"""
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
        return np.diag(self.quantiles()) * _errors(np.diag(self.covariance))

    def difference_error(self) -> Floats:
        """(n, n) standard errors of the differences of two ratings."""
        variance = np.diag(self.covariance)
        return _errors(variance[:, None] + variance - 2 * self.covariance)

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


class Component(NamedTuple):
    """Bots that met, directly or through others: ``members`` are their numbers. ``fit`` has the
    ratings of the core, and ``bounds`` what is known of the others.

    Without a core one of three or more bots is held at 0, and the others have bounds on their
    distance from it. ``fit`` is None for two bots, and where it cannot be said who that one is.
    """

    members: Ints
    games: int
    fit: Fit | None
    bounds: list[Bound]

    @property
    def is_rated(self) -> bool:
        """Whether games rate any bots, and not only bounds."""
        return self.fit is not None and len(self.fit.members) > 1


class Ratings(NamedTuple):
    """What results say about the strength of bots; the component with the most bots comes
    first.
    """

    components: list[Component]

    @property
    def fits(self) -> list[Fit]:
        """The fit of each component that has a core."""
        return [part.fit for part in self.components if part.fit is not None and part.is_rated]

    @property
    def bounds(self) -> list[Bound]:
        """All bots that met others and have no rating."""
        return [bound for part in self.components for bound in part.bounds]


def _errors(variance: Floats) -> Floats:
    """Standard errors; those that are 0 except for rounding are 0."""
    floor = max(EQUAL**2, ROUNDING * variance.max())
    return np.sqrt(np.where(variance < floor, 0.0, variance))


def rate(results: Results, prior: float | None = None, *, seats: bool = True) -> Ratings:
    """The ratings of each component of bots that played each other.

    Without a prior the core of a component is rated by maximum likelihood, and everybody else gets
    a bound. ``prior`` is the weight of one virtual draw of every bot against a ghost rated 0, which
    rates everybody. With ``seats`` False, seats have no effect.
    """
    graph = taken(results)
    number = weak_components(graph)
    groups = [np.flatnonzero(number == each) for each in range(number.max(initial=-1) + 1)]
    components = [
        _component(results, members, graph[np.ix_(members, members)], prior, seats=seats)
        for members in groups
        if len(members) > 1
    ]
    components.sort(key=lambda part: (-len(part.members), -part.games, part.members[0]))
    return Ratings(components)


def taken(results: Results) -> NDArray[np.bool_]:
    """(n, n) whether a bot took a share of a win from another."""
    graph = np.zeros((len(results.bots),) * 2, dtype=np.bool_)
    for table in results.tables:
        graph |= took_from(len(results.bots), table.seats, table.share, table.games)
    return graph


def _component(
    results: Results, members: Ints, graph: NDArray[np.bool_], prior: float | None, *, seats: bool
) -> Component:
    inner = restrict(results, members)
    core = core_of(graph, inner.played())
    if prior:
        rest = np.setdiff1d(np.arange(len(members)), core).tolist()
        every = _fit_with_prior(inner, graph, prior, seats=seats)
        every = every._replace(members=members, by_prior=tuple(rest))
        return Component(members, inner.games, every, [])
    if not len(core):
        middle = None if len(members) == DUEL else middle_of(graph, inner.played())
        if middle is None:
            return Component(members, inner.games, None, coreless_bounds(results, members))
        fit = _held(inner, middle)._replace(members=members[[middle]])
        return Component(members, inner.games, fit, bounds_of(results, members, fit))
    fit = _fit_core(restrict(inner, core), seats=seats)._replace(members=members[core])
    return Component(members, inner.games, fit, bounds_of(results, members, fit))


def _held(results: Results, bot: int) -> Fit:
    """The fit of one bot held at 0, for a group of which no two bots can be rated together."""
    deals = results.deals()[[bot]]
    return Fit(
        members=np.array([bot]),
        elo=np.zeros(1),
        covariance=np.zeros((1, 1)),
        deals=deals.astype(np.float64),
        freedom=np.full((1, 1), np.inf),
        gain=np.nan,
        seats={},
        seat_freedom={},
        games=0,
        clusters=results.clusters,
        prior=0.0,
        marks=np.full((1, 1), ""),
        open_seats=(),
        anchor=0,
    )


def _fit_core(results: Results, *, seats: bool) -> Fit:
    """The ratings of bots of whom each can be reached from every other.

    So they have a maximum. The seats have one with them, or count as equally good: first those at
    tables of a size where one seat won everything or nothing, then all.
    """
    sizes = {table.players for table in results.tables} if seats else set()
    no_marks = np.full((len(results.bots),) * 2, "")
    open_seats = {size for size in sizes if not _seats_determined(results, size)}
    for left_out in (open_seats, sizes):
        layout = layout_of(results, sizes - left_out)
        try:
            parameters = _solve(results, layout, 0.0)
        except NoAnswerError:
            if left_out == sizes:
                raise
        else:
            break
    return _fit(results, layout, parameters, 0.0, no_marks, tuple(sorted(left_out)))


def _fit_with_prior(
    results: Results, graph: NDArray[np.bool_], prior: float, *, seats: bool
) -> Fit:
    """The ratings of a whole component, held together by virtual draws where games do not."""
    sizes = {table.players for table in results.tables} if seats else set()
    layout = layout_of(results, sizes)
    open_seats = sorted(size for size in sizes if not _seats_determined(results, size))
    parameters = _solve(results, layout, prior)
    return _fit(results, layout, parameters, prior, pair_marks(graph), tuple(open_seats))


def _fit(
    results: Results,
    layout: Layout,
    parameters: Floats,
    prior: float,
    marks: Marks,
    open_seats: tuple[int, ...],
) -> Fit:
    loose = loose_directions(layout, marks, open_seats if prior else ())
    errors = sandwich(results, layout, parameters, prior, loose)
    clustered, independent = errors.clustered * ELO**2, errors.independent * ELO**2
    # A bot with next to no deals must not move the others: it has no part in the level.
    level = level_of(errors.leverage.told)
    freedom = freedom_of(errors.leverage, layout, level)
    bots = slice(0, layout.bots)
    center = np.eye(layout.bots) - level
    told, both = center[level > 0], (clustered[bots, bots], independent[bots, bots])
    return Fit(
        members=np.arange(layout.bots),
        elo=_level(center @ parameters[bots] * ELO),
        covariance=center @ clustered[bots, bots] @ center.T,
        deals=errors.leverage.told,
        freedom=freedom.bots,
        gain=np.nan if loose.size else _gain(*(told @ each @ told.T for each in both)),
        seats=_seat_effects(layout, parameters, clustered),
        seat_freedom=freedom.seats,
        games=results.games,
        clusters=results.clusters,
        prior=prior,
        marks=marks,
        open_seats=open_seats,
    )


def _gain(clustered: Floats, independent: Floats) -> float:
    """The ratio of the variances. With the mean of the bots with an error bar held at 0, their
    trace is that of all differences between them, up to a factor.
    """
    variance = np.trace(clustered)
    return (
        float(np.trace(independent) / variance) if variance > len(clustered) * EQUAL**2 else np.nan
    )


def _seat_effects(
    layout: Layout, parameters: Floats, covariance: Floats
) -> dict[int, tuple[Floats, Floats]]:
    """Effects and standard errors by table size."""
    seats, every = {}, _errors(np.diag(covariance))
    for size, start in layout.offsets.items():
        columns = slice(start, start + size - 1)
        errors = every[columns]
        seats[size] = (
            np.append(0.0, parameters[columns] * ELO),
            np.append(0.0, np.where(errors == 0, np.nan, errors)),
        )
    return seats


def _level(elo: Floats) -> Floats:
    """The ratings, with those that differ only by rounding replaced by their mean."""
    order = np.argsort(elo, kind="stable")
    group = np.empty(len(elo), dtype=np.int64)
    group[order] = np.cumsum(np.diff(elo[order], prepend=-np.inf) > EQUAL) - 1
    return np.asarray((np.bincount(group, elo) / np.bincount(group))[group], dtype=np.float64)


def _seats_determined(results: Results, players: int) -> bool:
    """Whether every seat took something from every other one, directly or through third seats."""
    graph = np.zeros((players, players), dtype=np.bool_)
    for table in results.tables:
        if table.players == players:
            seats = np.broadcast_to(table.places, table.seats.shape)
            graph |= took_from(players, seats, table.share, table.games)
    return int(strong_components(graph).max()) == 0


def _solve(results: Results, layout: Layout, prior: float) -> Floats:
    """The parameters at the maximum, found by Newton's method. Raises NoAnswerError after
    MOST_STEPS steps.
    """
    parameters = np.zeros(layout.size)
    for _ in range(MOST_STEPS):
        gradient, information = derivatives(parameters, layout, results, prior)
        try:
            step = np.linalg.solve(gauged(information, layout, prior), gradient)
        except np.linalg.LinAlgError:
            break
        # Far from the maximum a full step overshoots, and the curvature there is lost to rounding.
        step *= min(1.0, STEP_CAP / max(np.abs(step).max(), 1e-300))
        parameters += step
        if np.abs(step).max() <= TOLERANCE * max(1.0, np.abs(parameters).max()):
            if (
                prior
                or np.linalg.eigvalsh(gauged(information, layout, prior))[0] > LEAST_INFORMATION
            ):
                return parameters
            break
    raise NoAnswerError(
        f"expected ratings to settle within {MOST_STEPS} steps, got ratings that grow without"
        " limit: the results have no finite maximum",
        "use --prior 1, or play more deals",
    )
