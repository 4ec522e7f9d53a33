"""The likelihood of the share-logit model and its derivatives at given parameters.

At a table of k seats, the expected share of bot p is ``exp(theta_p + s_seat)`` divided by its sum
over the table (conditional logit with a fractional response). For two players it is Bradley-Terry
on scores.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from arena.ratings.components import Floats, Ints
from arena.ratings.results import Results, SizedGames

ELO = float(400 / np.log(10))
"""Elo points per unit of theta."""


class Layout(NamedTuple):
    """The layout of parameters: bots first, then seats 1 to k-1 of each table size with seat
    effects; ``offsets`` lacks the others.
    """

    bots: int
    offsets: dict[int, int]
    size: int


def layout_of(results: Results, sizes: Collection[int]) -> Layout:
    """The parameters that these results need, with effects of seats at tables of these sizes."""
    offsets, size = {}, len(results.bots)
    for players in sorted({table.players for table in results.tables} & {*sizes}):
        offsets[players] = size
        size += players - 1
    return Layout(len(results.bots), offsets, size)


def seat_columns(layout: Layout, table: SizedGames) -> Ints:
    """(k,) column of each seat's effect; seats without one, such as seat 0 (the reference), get the
    column after the last.
    """
    start = layout.offsets.get(table.players)
    return np.array(
        [layout.size if start is None or seat == 0 else start + seat - 1 for seat in table.places],
        dtype=np.int64,
    )


def expected_shares(parameters: Floats, layout: Layout, table: SizedGames) -> Floats:
    """(O, k) expected shares."""
    padded = np.append(parameters, 0.0)
    utility = padded[table.seats] + padded[seat_columns(layout, table)]
    weight = np.exp(utility - utility.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True), dtype=np.float64)


def add_products(target: Floats, layout: Layout, table: SizedGames, products: Floats) -> None:
    """Adds the sum over outcomes of X' P X to ``target`` (size + 1, size + 1), for symmetric P (O,
    k, k) by outcome and pair of seats.
    """
    width, effects = layout.size + 1, seat_columns(layout, table)
    for one in range(table.size):
        for other in range(table.size):
            weight, bots = products[:, one, other], table.seats[:, one]
            target += np.bincount(
                bots * width + table.seats[:, other], weight, width * width
            ).reshape(width, width)
            beside = np.bincount(bots, weight, width)
            target[:, effects[other]] += beside
            target[effects[other], :] += beside
            target[effects[one], effects[other]] += weight.sum()


def derivatives(
    parameters: Floats, layout: Layout, results: Results, prior: float
) -> tuple[Floats, Floats]:
    """Gradient (size,) and negative Hessian (size, size) of the log likelihood, including the
    prior.
    """
    gradient = np.zeros(layout.size + 1)
    information = np.zeros((layout.size + 1, layout.size + 1))
    for table in results.tables:
        expected = expected_shares(parameters, layout, table)
        residual = table.games[:, None] * (table.share - expected)
        for seat, column in enumerate(seat_columns(layout, table)):
            gradient += np.bincount(table.seats[:, seat], residual[:, seat], layout.size + 1)
            gradient[column] += residual[:, seat].sum()
        add_products(information, layout, table, table.games[:, None, None] * spread(expected))
        if prior and table.size in layout.offsets:
            _add_seat_prior(parameters, layout, table, gradient, information, prior)
    if prior:
        chance = 1 / (1 + np.exp(-parameters[: layout.bots]))
        gradient[: layout.bots] += prior * (0.5 - chance)
        information[range(layout.bots), range(layout.bots)] += prior * chance * (1 - chance)
    return gradient[:-1], information[:-1, :-1]


def spread(expected: Floats) -> Floats:
    """(O, k, k) diag p - p p'."""
    return np.asarray(
        expected[:, :, None] * (np.eye(expected.shape[1]) - expected[:, None, :]), dtype=np.float64
    )


def _add_seat_prior(
    parameters: Floats,
    layout: Layout,
    table: SizedGames,
    gradient: Floats,
    information: Floats,
    prior: float,
) -> None:
    """One virtual game among equals at each table size, in which every seat gets the same share."""
    columns = seat_columns(layout, table)
    weight = np.exp(np.append(parameters, 0.0)[columns])
    expected = weight / weight.sum()
    gradient[columns] += prior * (1 / table.size - expected)
    information[np.ix_(columns, columns)] += prior * (
        np.diag(expected) - np.outer(expected, expected)
    )


def gauged(information: Floats, layout: Layout, prior: float) -> Floats:
    """The information, made regular in the direction that is free without a prior: an equal shift
    of all bots.
    """
    if prior:
        return information
    regular = information.copy()
    regular[: layout.bots, : layout.bots] += 1 / layout.bots
    return regular


def bread_of(parameters: Floats, layout: Layout, results: Results, prior: float) -> Floats:
    """(size, size) the inverse of the information at these parameters, with the mean rating held
    unless a prior does.
    """
    _, information = derivatives(parameters, layout, results, prior)
    return np.asarray(np.linalg.inv(gauged(information, layout, prior)), dtype=np.float64)
