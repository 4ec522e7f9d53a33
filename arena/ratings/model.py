"""The share-logit model: ratings and seat effects by maximum likelihood, with errors clustered by deal.

At a table of k seats the expected share of bot p is ``exp(theta_p + s_seat)`` over its sum for the table (conditional logit with a
fractional response). For two players it is Bradley-Terry on scores. The errors are the sandwich estimator for clusters.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from arena.errors import NoAnswerError
from arena.ratings.components import Floats, Ints, strong_components, took_from, weak_components
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
AUTO_PRIOR = 1.0


class Fit(NamedTuple):
    """Ratings of the bots of one component, in Elo with mean 0.

    ``members`` (n,) their numbers in the results; ``elo`` (n,); ``covariance`` (n, n) of ``elo``, NaN with fewer than two deals;
    ``seats`` by table size: effect of each seat against seat 0 in Elo, and its standard error;
    ``clusters`` deals; ``quantile`` by which a standard error is multiplied for a half-width; ``prior`` weight used, 0 for none;
    ``groups`` (n,) the strongly connected group of each bot: with more than one, only the prior ties them together;
    ``beaten`` (n,) 1 for a bot whose group gave nothing away, -1 for one whose group got nothing from the others, else 0.
    """

    members: Ints
    elo: Floats
    covariance: Floats
    seats: dict[int, tuple[Floats, Floats]]
    games: int
    clusters: int
    quantile: float
    prior: float
    groups: Ints
    beaten: Ints

    def half_widths(self) -> Floats:
        """Half-widths of the 95 % intervals of the ratings."""
        return self.quantile * np.sqrt(np.maximum(np.diag(self.covariance), 0))

    def difference_error(self) -> Floats:
        """(n, n) standard errors of the differences of two ratings."""
        variance = np.diag(self.covariance)
        return np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * self.covariance, 0))

    def superiority(self) -> Floats:
        """(n, n) likelihood of superiority: Phi of the difference over its error; 0.5 on the diagonal."""
        difference = self.elo[:, None] - self.elo[None, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(difference == 0, 0.0, difference / self.difference_error())
        return np.asarray(ndtr(ratio), dtype=np.float64)


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
    fits = [
        _rate_component(restrict(results, members), members, graph[np.ix_(members, members)], prior)
        for members in groups
        if len(members) > 1
    ]
    return sorted(fits, key=lambda fit: (-len(fit.members), fit.members[0]))


def _rate_component(results: Results, members: Ints, graph: NDArray[np.bool_], prior: float | None) -> Fit:
    groups = strong_components(graph)
    determined = groups.max() == 0 and all(_seats_determined(table) for table in results.tables)
    weight = prior if prior is not None else 0.0 if determined else AUTO_PRIOR
    if weight == 0 and not determined:
        raise NoAnswerError(
            f"expected every bot and seat to take something from the others and to give something away, got {_split(results, groups)}",
            "these ratings have no maximum: rate with --prior auto, or play more deals",
        )
    try:
        solution = _solve(results, weight)
    except NoAnswerError:
        if prior is not None:
            raise
        weight = AUTO_PRIOR
        solution = _solve(results, weight)
    return _with_errors(results, members, solution, weight, groups)._replace(beaten=_beaten(graph, groups))


def _split(results: Results, groups: Ints) -> str:
    if groups.max() == 0:
        return "a seat that won everything, or nothing"
    parts = ["+".join(results.bots[bot] for bot in np.flatnonzero(groups == group)) for group in range(groups.max() + 1)]
    return f"groups of which one won everything against another: {', '.join(parts)}"


def _beaten(graph: NDArray[np.bool_], groups: Ints) -> Ints:
    """1 for bots of a group that gave nothing to the others, -1 for those of a group that got nothing from them."""
    beaten = np.zeros(len(groups), dtype=np.int64)
    for group in range(groups.max() + 1 if groups.max() else 0):
        inside = groups == group
        gave, got = graph[~inside][:, inside].any(), graph[inside][:, ~inside].any()
        beaten[inside] = int(got and not gave) - int(gave and not got)
    return beaten


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


def _with_errors(results: Results, members: Ints, parameters: Floats, prior: float, groups: Ints) -> Fit:
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
    covariance = center @ bread @ meat @ bread @ center.T * ELO**2
    elo = parameters[: layout.bots] - parameters[: layout.bots].mean()
    seats = {}
    for table in results.tables:
        columns = _columns(layout, table)[1:]
        effects, errors = parameters[columns] * ELO, np.sqrt(np.maximum(np.diag(covariance)[columns], 0))
        seats[table.size] = (np.append(0.0, effects), np.append(0.0, errors))
    quantile = float(stdtrit(max(clusters - 1, 1), (1 + COVERAGE) / 2)) if clusters < SMALL_SAMPLE else 1.96
    return Fit(
        members,
        elo * ELO,
        covariance[: layout.bots, : layout.bots],
        seats,
        results.games,
        clusters,
        quantile,
        prior,
        groups,
        np.zeros_like(groups),
    )
