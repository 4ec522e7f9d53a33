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
from arena.ratings.likelihood import Layout, derivatives, gauged, layout_of, seat_columns
from arena.ratings.results import Results, SizedGames, restrict
from arena.ratings.sandwich import loose_directions, sandwich

ELO = 400 / np.log(10)
"""Elo points per unit of theta."""
STEP_CAP = 2.0
TOLERANCE = 1e-9
MOST_STEPS = 50
LEAST_INFORMATION = 1e-6
"""The least curvature in any direction; below it, rounding ended the search far out, and not a
maximum.
"""
AUTO_PRIOR = 1.0
EQUAL = 1e-6
"""In Elo: smaller differences are rounding, and smaller standard errors count as 0."""
ROUNDING = 1e-10
"""A variance below this fraction of the largest one is 0 except for rounding."""


class Fit(NamedTuple):
    """Ratings of the bots in one component, in Elo, with mean 0 or with one bot held at a given
    value.

    ``members`` (n,): their numbers in the results. ``elo`` (n,): the ratings, exactly equal if only
    rounding told them apart. ``covariance`` (n, n): the covariance of ``elo``, NaN with fewer than
    two deals. ``deals`` (n,): the effective number of deals that tell of each bot: as many as it
    played if they all tell the same. ``freedom`` (n, n): the degrees of freedom of the error of
    each difference, and on the diagonal of each rating. ``gain``: how many independent games a game
    is worth. This is the variance of a difference of two ratings, averaged over all pairs, if every
    game had its own deal, divided by the same variance clustered by deal. NaN if there is no
    clustered one, or only the prior's. ``seats``: by table size, the effect of each seat compared
    with seat 0 in Elo, and its standard error, NaN if the deals show none; empty if seats were
    given no effect. ``seat_freedom``: the degrees of freedom of these errors. ``clusters``: the
    number of deals. ``prior``: the weight used, 0 for none. ``marks`` (n, n), from
    `components.pair_marks`: what the data, without the prior, leave open about the difference of
    two bots. ``open_seats``: the table sizes whose seat effects only the prior keeps finite.
    ``anchor``: the member with a given rating.
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

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """(n,) which bots played enough deals for an error bar."""
        return np.asarray(self.deals >= FEWEST_EFFECTIVE, dtype=np.bool_)

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
        contrasts = np.eye(len(self.elo)) - level_of(self.deals)
        return np.diag(self.quantiles()) * _errors(
            np.diag(contrasts @ self.covariance @ contrasts.T)
        )

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

    def bot_marks(self) -> list[str]:
        """For each bot, whether its group gave the others nothing (``>``), got nothing (``<``) or
        is open both ways (``~``), or has few deals (``?``); else empty.
        """
        open_ways = [_bot_mark(set(row) - {""}) for row in self.marks.tolist()]
        is_few = (self.deals < FEW_EFFECTIVE).tolist()
        return [mark or "?" * few for mark, few in zip(open_ways, is_few, strict=True)]


def _bot_mark(marks: set[str]) -> str:
    return "~" if marks >= {">", "<"} else "".join(marks - {"~"})


def _errors(variance: Floats) -> Floats:
    """Standard errors; those that are 0 except for rounding are 0."""
    floor = max(EQUAL**2, ROUNDING * variance.max())
    return np.sqrt(np.where(variance < floor, 0.0, variance))


def rate(results: Results, prior: float | None = None, *, seats: bool = True) -> list[Fit]:
    """One fit per weakly connected component of bots that played each other, the one with the most
    bots first.

    ``prior`` is the weight of one virtual draw of every bot against a ghost rated 0; None adds one
    only if the data have no maximum without it, and 0 raises NoAnswerError in that case. With
    ``seats`` False, seats have no effect.
    """
    count = len(results.bots)
    graph = np.zeros((count, count), dtype=np.bool_)
    for table in results.tables:
        graph |= took_from(count, table.seats, table.share, table.games)
    component = weak_components(graph)
    groups = [
        np.flatnonzero(component == number) for number in range(component.max(initial=-1) + 1)
    ]
    rated = [members for members in groups if len(members) > 1]
    fits = [
        _rate_component(
            restrict(results, members), members, graph[np.ix_(members, members)], prior, seats=seats
        )
        for members in rated
    ]
    return sorted(fits, key=lambda fit: (-len(fit.members), -fit.games, fit.members[0]))


def _rate_component(
    results: Results, members: Ints, graph: NDArray[np.bool_], prior: float | None, *, seats: bool
) -> Fit:
    layout, marks = layout_of(results, seats=seats), pair_marks(graph)
    open_seats = tuple(
        table.size
        for table in results.tables
        if table.size in layout.offsets and not _seats_determined(table)
    )
    determined = not open_seats and not (marks != "").any()
    parameters, weight = _solve_with_prior(results, layout, graph, prior, determined=determined)
    if determined and prior is None and weight:  # bots and seats run away together
        open_seats = tuple(layout.offsets)
    loose = loose_directions(layout, marks, open_seats)
    errors = sandwich(results, layout, parameters, weight, loose)
    clustered, independent = errors.clustered * ELO**2, errors.independent * ELO**2
    freedom = freedom_of(errors.leverage, layout, level_of(errors.leverage.told))
    bots = slice(0, layout.bots)
    return Fit(
        members=members,
        elo=_level((parameters[bots] - parameters[bots].mean()) * ELO),
        covariance=clustered[bots, bots],
        deals=errors.leverage.told,
        freedom=freedom.bots,
        gain=np.nan if loose.size else _gain(clustered[bots, bots], independent[bots, bots]),
        seats=_seat_effects(results, layout, parameters, clustered),
        seat_freedom=freedom.seats,
        games=results.games,
        clusters=results.clusters,
        prior=weight,
        marks=marks,
        open_seats=open_seats,
    )


def _gain(clustered: Floats, independent: Floats) -> float:
    """The ratio of the variances. With the mean rating held at 0, the trace is that of all pairs'
    differences, up to a factor.
    """
    variance = np.trace(clustered)
    return (
        float(np.trace(independent) / variance) if variance > len(clustered) * EQUAL**2 else np.nan
    )


def _seat_effects(
    results: Results, layout: Layout, parameters: Floats, covariance: Floats
) -> dict[int, tuple[Floats, Floats]]:
    """Effects and standard errors by table size."""
    seats, every = {}, _errors(np.diag(covariance))
    for table in results.tables:
        if table.size in layout.offsets:
            columns = seat_columns(layout, table)[1:]
            errors = every[columns]
            seats[table.size] = (
                np.append(0.0, parameters[columns] * ELO),
                np.append(0.0, np.where(errors == 0, np.nan, errors)),
            )
    return seats


def _solve_with_prior(
    results: Results,
    layout: Layout,
    graph: NDArray[np.bool_],
    prior: float | None,
    *,
    determined: bool,
) -> tuple[Floats, float]:
    """The parameters, and the weight of the prior they needed. Raises NoAnswerError."""
    weight = prior if prior is not None else 0.0 if determined else AUTO_PRIOR
    if weight == 0 and not determined:
        raise NoAnswerError(
            "expected every bot and seat to win something from the others and lose something to"
            f" them, got {_split(results, graph)}",
            "these results give no finite ratings: use --prior auto, or play more deals",
        )
    try:
        return _solve(results, layout, weight), weight
    except NoAnswerError:
        if prior is not None:
            raise
        return _solve(results, layout, AUTO_PRIOR), AUTO_PRIOR


def _split(results: Results, graph: NDArray[np.bool_]) -> str:
    groups = strong_components(graph)
    if groups.max() == 0:
        return "a seat that won everything or nothing"
    parts = [
        "+".join(results.bots[bot] for bot in np.flatnonzero(groups == group))
        for group in range(groups.max() + 1)
    ]
    return f"groups, one of which won everything against another: {', '.join(parts)}"


def _level(elo: Floats) -> Floats:
    """The ratings, with those that differ only by rounding replaced by their mean."""
    order = np.argsort(elo, kind="stable")
    group = np.empty(len(elo), dtype=np.int64)
    group[order] = np.cumsum(np.diff(elo[order], prepend=-np.inf) > EQUAL) - 1
    return np.asarray((np.bincount(group, elo) / np.bincount(group))[group], dtype=np.float64)


def _seats_determined(table: SizedGames) -> bool:
    """Whether every seat took something from every other one, directly or through third seats."""
    seats = np.broadcast_to(np.arange(table.size), table.seats.shape)
    return int(strong_components(took_from(table.size, seats, table.share, table.games)).max()) == 0


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
        "use --prior auto, or play more deals",
    )
