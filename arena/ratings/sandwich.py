"""Covariances of the parameters by the sandwich estimator: clustered by deal, and game by game for comparison."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import coo_array, csr_array

from arena.ratings.components import Floats, Ints, Marks
from arena.ratings.likelihood import Layout, add_products, derivatives, expected_shares, gauged, seat_columns
from arena.ratings.results import Results, Table


def loose_directions(layout: Layout, marks: Marks, open_seats: tuple[int, ...]) -> Floats:
    """(size, m) directions in which only the prior holds the parameters: groups shifting as a whole, or all where seats are open."""
    if open_seats:
        return np.eye(layout.size)
    groups = np.unique(marks == "", axis=0)
    loose = np.zeros((layout.size, len(groups) if len(groups) > 1 else 0))
    loose[: layout.bots] = groups.T[:, : loose.shape[1]]
    return loose


def covariances(results: Results, layout: Layout, parameters: Floats, prior: float, loose: Floats) -> tuple[Floats, Floats]:
    """The covariance (size, size) of the parameters clustered by deal, and the one for games that share no luck.

    The mean of the ratings is held at 0. NaN with one deal, or one game. In a loose direction all deals went one way, so that they have
    next to no spread and the sandwich next to no width. There the inverse of the curvature, prior included, is added.
    """
    _, information = derivatives(parameters, layout, results, prior)
    bread = np.linalg.inv(gauged(information, layout, prior))
    by_game = meat_by_game(results, layout, parameters)
    by_deal = by_game if results.clusters == results.games else meat_by_deal(results, layout, parameters)
    added = loose @ np.linalg.inv(loose.T @ information @ loose) @ loose.T if loose.size else 0.0
    center = np.eye(layout.size)
    center[: layout.bots, : layout.bots] -= 1 / layout.bots
    one, other = (np.asarray(center @ (bread @ meat @ bread + added) @ center.T, dtype=np.float64) for meat in (by_deal, by_game))
    return one, other


def meat_by_deal(results: Results, layout: Layout, parameters: Floats) -> Floats:
    """C/(C-1) times the sum over C deals of U U', where U is the deal's sum of X' (y - p) over its games."""
    scores = deal_scores(results, layout, parameters)
    return _corrected(np.asarray((scores.T @ scores).toarray(), dtype=np.float64)[:-1, :-1], results.clusters)


def deal_scores(results: Results, layout: Layout, parameters: Floats) -> csr_array:
    """(C, size + 1) U of each deal as a sparse array."""
    parts = [part for table in results.tables for part in _entries(table, layout, parameters)]
    values, rows, columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    return csr_array(coo_array((values, (rows, columns)), shape=(results.clusters, layout.size + 1)))


def _entries(table: Table, layout: Layout, parameters: Floats) -> Iterator[tuple[Floats, Ints, Ints]]:
    """Values, deals and columns of the residuals of a table, for its bots and then its seats."""
    expected = expected_shares(parameters, layout, table)[table.pair_line_up]
    residual = table.pair_shares - table.pair_games[:, None] * expected
    for seat, column in enumerate(seat_columns(layout, table)):
        yield residual[:, seat], table.pair_cluster, table.seats[table.pair_line_up, seat]
        yield residual[:, seat], table.pair_cluster, np.full(len(residual), column)


def meat_by_game(results: Results, layout: Layout, parameters: Floats) -> Floats:
    """The same with every game as a deal of its own."""
    meat = np.zeros((layout.size + 1, layout.size + 1))
    for table in results.tables:
        expected = expected_shares(parameters, layout, table)
        crossed = table.shares[:, :, None] * expected[:, None, :]
        squared = table.games[:, None, None] * expected[:, :, None] * expected[:, None, :]
        add_products(meat, layout, table, table.products - crossed - crossed.transpose(0, 2, 1) + squared)
    return _corrected(meat[:-1, :-1], results.games)


def _corrected(meat: Floats, clusters: int) -> Floats:
    return np.asarray(meat * (clusters / (clusters - 1) if clusters > 1 else np.nan), dtype=np.float64)
