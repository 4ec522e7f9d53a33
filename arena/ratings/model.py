"""The share-logit model: ratings and seat effects by maximum likelihood, with errors clustered by deal.

At a table of k seats the expected share of bot p is ``exp(theta_p + s_seat)`` over its sum for the table (conditional logit with a
fractional response). For two players it is Bradley-Terry on scores. The errors are the sandwich estimator for clusters.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr, stdtrit

from arena.errors import NoAnswerError
from arena.ratings.components import Floats, Ints, Marks, pair_marks, strong_components, took_from, weak_components
from arena.ratings.results import Results, Table, restrict

ELO = 400 / np.log(10)
"""Elo points per unit of theta."""
STEP_CAP = 2.0
TOLERANCE = 1e-9
MOST_STEPS = 50
LEAST_INFORMATION = 1e-6
"""Of any direction; where it is less, the likelihood has run so far out that rounding, not a maximum, ended the search."""
SMALL_SAMPLE = 30
COVERAGE = 0.95
NORMAL_QUANTILE = 1.96
AUTO_PRIOR = 1.0
EQUAL = 1e-6
"""Elo; what differs by less differs by rounding, and a smaller standard error is none."""
ROUNDING = 1e-10
"""A variance that is less than this part of the largest one is 0 but for rounding."""


class Fit(NamedTuple):
    """Ratings of the bots of one component, in Elo with mean 0.

    ``members`` (n,) their numbers in the results; ``elo`` (n,), equal to the last digit where only rounding told them apart;
    ``covariance`` (n, n) of ``elo``, NaN with fewer than two deals;
    ``seats`` by table size: effect of each seat against seat 0 in Elo, and its standard error, NaN where the deals show none;
    ``clusters`` deals; ``prior`` weight used, 0 for none;
    ``marks`` (n, n) of `components.pair_marks`: what the data, without the prior, leave open about the difference of two bots;
    ``open_seats`` the table sizes whose seat effects only the prior keeps finite.
    """

    members: Ints
    elo: Floats
    covariance: Floats
    seats: dict[int, tuple[Floats, Floats]]
    games: int
    clusters: int
    prior: float
    marks: Marks
    open_seats: tuple[int, ...]

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the t distribution that all errors are read by; infinite, the normal one, for many deals."""
        return max(self.clusters - 1, 1) if self.clusters < SMALL_SAMPLE else np.inf

    @property
    def quantile(self) -> float:
        """By which a standard error is multiplied for the half-width of a 95 % interval."""
        return float(stdtrit(self.freedom, (1 + COVERAGE) / 2)) if np.isfinite(self.freedom) else NORMAL_QUANTILE

    def half_widths(self) -> Floats:
        """Half-widths of the 95 % intervals of the ratings."""
        return self.quantile * _errors(np.diag(self.covariance))

    def difference_error(self) -> Floats:
        """(n, n) standard errors of the differences of two ratings."""
        variance = np.diag(self.covariance)
        return _errors(variance[:, None] + variance - 2 * self.covariance)

    def superiority(self) -> Floats:
        """(n, n) likelihood of superiority: where the difference over its error stands in its distribution; 0.5 for equal ratings."""
        difference = self.elo[:, None] - self.elo
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(difference == 0, 0.0, difference / self.difference_error())
        return np.asarray(stdtr(self.freedom, ratio) if np.isfinite(self.freedom) else ndtr(ratio), dtype=np.float64)

    def bot_marks(self) -> list[str]:
        """Of each bot, whether its group gave the others nothing (``>``), got nothing (``<``) or is open both ways (``~``); else empty."""
        return [_bot_mark(set(row) - {""}) for row in self.marks.tolist()]


def _bot_mark(marks: set[str]) -> str:
    return "~" if marks >= {">", "<"} else "".join(marks - {"~"})


def _errors(variance: Floats) -> Floats:
    """Standard errors; what only rounding keeps from 0 is 0."""
    floor = max(EQUAL**2, ROUNDING * variance.max())
    return np.sqrt(np.where(variance < floor, 0.0, variance))


def rate(results: Results, prior: float | None = None) -> list[Fit]:
    """One fit per weakly connected component of bots that played each other, the largest first.

    ``prior`` is the weight of one virtual draw of every bot against a ghost rated 0; None adds one only where the data have no maximum
    without it. Raises NoAnswerError for prior 0 in that case.
    """
    count = len(results.bots)
    graph = np.zeros((count, count), dtype=np.bool_)
    for table in results.tables:
        graph |= took_from(count, table.seats, table.shares, table.games)
    component = weak_components(graph)
    groups = [np.flatnonzero(component == number) for number in range(component.max(initial=-1) + 1)]
    rated = [members for members in groups if len(members) > 1]
    fits = [_rate_component(restrict(results, members), members, graph[np.ix_(members, members)], prior) for members in rated]
    return sorted(fits, key=lambda fit: (-len(fit.members), fit.members[0]))


def _rate_component(results: Results, members: Ints, graph: NDArray[np.bool_], prior: float | None) -> Fit:
    marks = pair_marks(graph)
    open_seats = tuple(table.size for table in results.tables if not _seats_determined(table))
    determined = not open_seats and not (marks != "").any()
    parameters, weight = _solve_with_prior(results, graph, prior, determined=determined)
    if determined and prior is None and weight:  # bots and seats run away together
        open_seats = tuple(table.size for table in results.tables)
    loose = _loose_directions(_layout(results), marks, open_seats)
    seats, elo, covariance = _errors_of(results, parameters, weight, loose)
    return Fit(members, _level(elo), covariance, seats, results.games, results.clusters, weight, marks, open_seats)


def _solve_with_prior(results: Results, graph: NDArray[np.bool_], prior: float | None, *, determined: bool) -> tuple[Floats, float]:
    """The parameters and the weight of the prior that they took. Raises NoAnswerError."""
    weight = prior if prior is not None else 0.0 if determined else AUTO_PRIOR
    if weight == 0 and not determined:
        raise NoAnswerError(
            f"expected every bot and seat to take something from the others and to give something away, got {_split(results, graph)}",
            "these ratings have no maximum: rate with --prior auto, or play more deals",
        )
    try:
        return _solve(results, weight), weight
    except NoAnswerError:
        if prior is not None:
            raise
        return _solve(results, AUTO_PRIOR), AUTO_PRIOR


def _split(results: Results, graph: NDArray[np.bool_]) -> str:
    groups = strong_components(graph)
    if groups.max() == 0:
        return "a seat that won everything, or nothing"
    parts = ["+".join(results.bots[bot] for bot in np.flatnonzero(groups == group)) for group in range(groups.max() + 1)]
    return f"groups of which one won everything against another: {', '.join(parts)}"


def _level(elo: Floats) -> Floats:
    """The ratings with their mean in the place of those that differ by rounding only."""
    order = np.argsort(elo, kind="stable")
    group = np.empty(len(elo), dtype=np.int64)
    group[order] = np.cumsum(np.diff(elo[order], prepend=-np.inf) > EQUAL) - 1
    return np.asarray((np.bincount(group, elo) / np.bincount(group))[group], dtype=np.float64)


def _seats_determined(table: Table) -> bool:
    """Whether every seat took something from every other, directly or through third ones."""
    seats = np.broadcast_to(np.arange(table.size), table.seats.shape)
    return int(strong_components(took_from(table.size, seats, table.shares, table.games)).max()) == 0


class _Layout(NamedTuple):
    """Where parameters stand: bots first, then seats 1 to k-1 of each table size."""

    bots: int
    offsets: dict[int, int]
    size: int


def _layout(results: Results) -> _Layout:
    offsets, size = {}, len(results.bots)
    for table in results.tables:
        offsets[table.size] = size
        size += table.size - 1
    return _Layout(len(results.bots), offsets, size)


def _columns(layout: _Layout, table: Table) -> Ints:
    """(k,) column of each seat's effect; seat 0, the reference, has a column after the last."""
    start = layout.offsets[table.size]
    return np.array([layout.size, *range(start, start + table.size - 1)], dtype=np.int64)


def _expected(parameters: Floats, layout: _Layout, table: Table) -> Floats:
    """(L, k) expected shares."""
    padded = np.append(parameters, 0.0)
    utility = padded[table.seats] + padded[_columns(layout, table)]
    weight = np.exp(utility - utility.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True), dtype=np.float64)


def _scatter(layout: _Layout, table: Table, residual: Floats, target: Floats, rows: Ints, line_up: Ints) -> None:
    """Adds residuals (M, k) of rows of line-ups to the parameters' columns of ``target`` (R, size + 1)."""
    seat_columns = _columns(layout, table)
    for seat in range(table.size):
        np.add.at(target, (rows, table.seats[line_up, seat]), residual[:, seat])
        np.add.at(target, (rows, np.full(len(rows), seat_columns[seat])), residual[:, seat])


def _derivatives(parameters: Floats, layout: _Layout, results: Results, prior: float) -> tuple[Floats, Floats]:
    """Gradient (size,) and negative Hessian (size, size) of the log likelihood, prior included."""
    gradient = np.zeros((1, layout.size + 1))
    information = np.zeros((layout.size + 1, layout.size + 1))
    for table in results.tables:
        expected = _expected(parameters, layout, table)
        line_up = np.arange(len(table.seats))
        residual = table.shares - table.games[:, None] * expected
        _scatter(layout, table, residual, gradient, np.zeros(len(line_up), dtype=np.int64), line_up)
        _add_information(information, layout, table, expected)
        if prior:
            _add_seat_prior(parameters, layout, table, gradient[0], information, prior)
    if prior:
        chance = 1 / (1 + np.exp(-parameters[: layout.bots]))
        gradient[0, : layout.bots] += prior * (0.5 - chance)
        information[range(layout.bots), range(layout.bots)] += prior * chance * (1 - chance)
    return gradient[0, :-1], information[:-1, :-1]


def _add_information(information: Floats, layout: _Layout, table: Table, expected: Floats) -> None:
    """Adds the sum over games of X' (diag p - p p') X."""
    columns = np.stack([table.seats, np.broadcast_to(_columns(layout, table), table.seats.shape)], axis=2)
    for one in range(table.size):
        for other in range(table.size):
            weight = table.games * expected[:, one] * ((one == other) - expected[:, other])
            for first in (0, 1):
                for second in (0, 1):
                    np.add.at(information, (columns[:, one, first], columns[:, other, second]), weight)


def _add_seat_prior(parameters: Floats, layout: _Layout, table: Table, gradient: Floats, information: Floats, prior: float) -> None:
    """One virtual game among equals at each table size, of which every seat gets the same share."""
    columns = _columns(layout, table)
    weight = np.exp(np.append(parameters, 0.0)[columns])
    expected = weight / weight.sum()
    gradient[columns] += prior * (1 / table.size - expected)
    information[np.ix_(columns, columns)] += prior * (np.diag(expected) - np.outer(expected, expected))


def _solve(results: Results, prior: float) -> Floats:
    """The parameters at the maximum, by Newton's method. Raises NoAnswerError after MOST_STEPS steps."""
    layout = _layout(results)
    parameters = np.zeros(layout.size)
    for _ in range(MOST_STEPS):
        gradient, information = _derivatives(parameters, layout, results, prior)
        try:
            step = np.linalg.solve(_gauged(information, layout, prior), gradient)
        except np.linalg.LinAlgError:
            break
        step *= min(1.0, STEP_CAP / max(np.abs(step).max(), 1e-300))
        parameters += step
        if np.abs(step).max() <= TOLERANCE * max(1.0, np.abs(parameters).max()):
            if prior or np.linalg.eigvalsh(_gauged(information, layout, prior))[0] > LEAST_INFORMATION:
                return parameters
            break
    raise NoAnswerError(
        f"expected ratings to settle within {MOST_STEPS} steps, got ones that run away: the results have no finite maximum",
        "rate with --prior auto, or play more deals",
    )


def _gauged(information: Floats, layout: _Layout, prior: float) -> Floats:
    """The information with the direction that is free without a prior, a shift of all bots alike, made regular."""
    if prior:
        return information
    regular = information.copy()
    regular[: layout.bots, : layout.bots] += 1 / layout.bots
    return regular


def _loose_directions(layout: _Layout, marks: Marks, open_seats: tuple[int, ...]) -> Floats:
    """(size, m) directions in which only the prior holds the parameters: groups shifting as a whole, or all where seats are open."""
    if open_seats:
        return np.eye(layout.size)
    groups = np.unique(marks == "", axis=0)
    loose = np.zeros((layout.size, len(groups) if len(groups) > 1 else 0))
    loose[: layout.bots] = groups.T[:, : loose.shape[1]]
    return loose


def _errors_of(
    results: Results, parameters: Floats, prior: float, loose: Floats
) -> tuple[dict[int, tuple[Floats, Floats]], Floats, Floats]:
    """Seat effects with their errors, ratings, and the covariance of the ratings: all in Elo, ratings with mean 0."""
    layout = _layout(results)
    covariance = _covariance(results, parameters, prior, loose)
    elo = parameters[: layout.bots] - parameters[: layout.bots].mean()
    seats = {}
    for table in results.tables:
        columns = _columns(layout, table)[1:]
        errors = _errors(np.diag(covariance))[columns]
        seats[table.size] = (np.append(0.0, parameters[columns] * ELO), np.append(0.0, np.where(errors == 0, np.nan, errors)))
    return seats, elo * ELO, covariance[: layout.bots, : layout.bots]


def _covariance(results: Results, parameters: Floats, prior: float, loose: Floats) -> Floats:
    """The sandwich (size, size) in Elo squared, clustered by deal, with the mean of the ratings held at 0; NaN with one deal.

    In a loose direction all deals went one way, so that they have next to no spread and the sandwich next to no width. There the inverse of
    the curvature, prior included, is added.
    """
    layout = _layout(results)
    _, information = _derivatives(parameters, layout, results, prior)
    bread = np.linalg.inv(_gauged(information, layout, prior))
    scores = np.zeros((results.clusters, layout.size + 1))
    for table in results.tables:
        expected = _expected(parameters, layout, table)[table.pair_line_up]
        residual = table.pair_shares - table.pair_games[:, None] * expected
        _scatter(layout, table, residual, scores, table.pair_cluster, table.pair_line_up)
    clusters = results.clusters
    correction = clusters / (clusters - 1) if clusters > 1 else np.nan
    meat = correction * scores[:, :-1].T @ scores[:, :-1]
    center = np.eye(layout.size)
    center[: layout.bots, : layout.bots] -= 1 / layout.bots
    variance = bread @ meat @ bread
    if loose.size:
        variance += loose @ np.linalg.inv(loose.T @ information @ loose) @ loose.T
    return np.asarray(center @ variance @ center.T * ELO**2, dtype=np.float64)
