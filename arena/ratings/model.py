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
from arena.ratings.fit import EQUAL, Fit, errors_of
from arena.ratings.freedom import freedom_of, level_of
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
    seats, every = {}, errors_of(np.diag(covariance))
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
