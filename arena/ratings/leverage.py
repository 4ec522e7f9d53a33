"""How much of what is known rests on a single deal.

A deal's own luck pulls the ratings towards its results, so what is left of it looks too small. The
one-step jackknife takes the deal out instead: with Q the inverse of all deals' information H, the
parameters move by ``Q (I - H_c Q)^-1 U_c``, where H_c and U_c are the deal's information and score
(CR3: Bell & McCaffrey 2002; Cameron & Miller 2015; MacKinnon, Nielsen & Webb 2023).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array, hstack, vstack

from arena.ratings.components import Floats, Ints
from arena.ratings.designs import Designs
from arena.ratings.likelihood import Layout, expected_shares, seat_columns, spread
from arena.ratings.results import Results, SizedGames

FEW_DESIGNS = 512
"""Up to here every design is treated exactly."""
SMALL = 0.02
"""With more designs, the leverage of those below this is treated as if all of it lay in one
direction. That is so for a game of two; elsewhere it makes errors too large, by less than this.
"""
HELD_BACK = 1e-8
"""This part of a deal's information stays when the deal is taken out, so that what no other deal
tells can be computed. Its variance is then that of the curvature.
"""
ALONE = 1e5
"""A deal whose score grows by this factor when it is taken out tells something that no other one
does.
"""


class Alike(NamedTuple):
    """Designs that touch equally many parameters, R.

    ``units`` (D,) is how many deals have each of them; ``columns`` (D, R) are the parameters they
    touch. ``information`` (D, R, R) is H_c, and ``pull`` (D, R, R) is ``(I - H_c Q)^-1 H_c``.
    """

    units: Ints
    columns: Ints
    information: Floats
    pull: Floats


class Leverage(NamedTuple):
    """The leverage of all designs, where ``bread`` (size, size) is Q.

    ``exact`` holds those treated one by one, ``number`` (D,) the place of each design among them,
    and their number for the others. The scores of these are multiplied by ``scale`` (D,), and
    ``rest`` is the largest leverage among them. ``told`` (n,) is, for each bot, in how many deals
    of equal information its own would be.
    """

    bread: Floats
    exact: list[Alike]
    number: Ints
    scale: Floats
    rest: float
    told: Floats
    places: "Places"


class Places(NamedTuple):
    """Where the entries of matrices by design and touched parameters are kept in one flat array.

    ``keys`` are the pairs of design and touched parameter, as ``design * size + parameter``,
    sorted; ``starts`` (D,) is the first of each design; ``widths`` (D,) is how many it touches;
    ``offsets`` (D,) is where its matrix begins, those of equal width being neighbours.
    """

    size: int
    keys: Ints
    starts: Ints
    widths: Ints
    offsets: Ints

    def flat(self, matrix: csr_array) -> Floats:
        """The flat array of the entries of a matrix (D * size, size)."""
        found = coo_array(matrix)
        rows, columns = (found.row.astype(np.int64), found.col.astype(np.int64))
        design = rows // self.size
        row, column = (
            np.searchsorted(self.keys, keys) - self.starts[design]
            for keys in (rows, design * self.size + columns)
        )
        place = self.offsets[design] + row * self.widths[design] + column
        length = int((self.widths**2).sum())
        return np.asarray(np.bincount(place, found.data, length), dtype=np.float64)

    def groups(self) -> Iterable[tuple[Ints, Ints]]:
        """The designs of equal width, and the parameters (D, R) that they touch."""
        for width in np.unique(self.widths).tolist():
            held = np.flatnonzero(self.widths == width)
            yield held, self.keys[self.starts[held][:, None] + np.arange(width)] % self.size

    def matrices(self, flat: Floats) -> list[Floats]:
        """(D, R, R) for each group."""
        found = []
        for held, columns in self.groups():
            width, start = columns.shape[1], int(self.offsets[held[0]])
            ends = start + len(held) * width**2
            found.append(flat[start:ends].reshape(len(held), width, width))
        return found


def leverage_of(
    results: Results, layout: Layout, parameters: Floats, bread: Floats, designs: Designs
) -> Leverage:
    """The leverage of each design at these parameters."""
    by_outcome = [_information(table, layout, parameters) for table in results.tables]
    trace = _over_games(designs, by_outcome) @ bread.ravel()
    is_exact = (trace > SMALL) | (len(trace) <= FEW_DESIGNS)
    chosen = np.flatnonzero(is_exact)
    held = Designs(designs.design, designs.units[chosen], [each[chosen] for each in designs.games])
    places = _places(_over_games(held, [_touched(table, layout) for table in results.tables]))
    information = _over_games(held, by_outcome)
    flat = places.flat(csr_array(information.reshape((-1, layout.size))))
    number = np.full(len(trace), len(chosen))
    number[chosen] = np.arange(len(chosen))
    diagonal = np.arange(layout.bots) * (layout.size + 1)
    told = _over_games(designs, [each[:, diagonal] for each in by_outcome])
    return Leverage(
        bread=bread,
        exact=[
            _alike(held.units[group], columns, each, bread)
            for (group, columns), each in zip(places.groups(), places.matrices(flat), strict=True)
        ],
        number=number,
        scale=1 / (1 - np.where(is_exact, 0.0, trace)),
        rest=float(trace[~is_exact].max(initial=0.0)),
        told=effective_deals(designs.units @ told, designs.units @ told.power(2)),
        places=places,
    )


def _over_games(designs: Designs, of_outcomes: Sequence[csr_array]) -> csr_array:
    """(D, m) the rows of the matrices (O, m), one per table size, summed over a design's games."""
    # one matrix product over all sizes: the columns of games beside each other
    return csr_array(csr_array(hstack(designs.games)) @ csr_array(vstack(of_outcomes)))


def effective_deals(sums: Floats, squares: Floats) -> Floats:
    """(n,) the effective numbers of deals (Kish), from the sums of the deals' weights and of their
    squares.
    """
    return np.divide(sums**2, squares, where=squares > 0, out=np.zeros_like(squares))


def _columns(table: SizedGames, layout: Layout) -> Ints:
    """(O, 2k) the parameters of a game with each outcome: the bots, then the seats."""
    effects = np.broadcast_to(seat_columns(layout, table), table.seats.shape)
    return np.asarray(np.hstack([table.seats, effects]), dtype=np.int64)


def _touched(table: SizedGames, layout: Layout) -> csr_array:
    """(O, size) which parameters a game has."""
    columns = _columns(table, layout)
    rows = np.broadcast_to(np.arange(len(columns))[:, None], columns.shape)
    ones = np.ones(columns.size)
    shape = (len(columns), layout.size + 1)
    return csr_array(coo_array((ones, (rows.ravel(), columns.ravel())), shape=shape))[:, :-1]


def _information(table: SizedGames, layout: Layout, parameters: Floats) -> csr_array:
    """(O, size * size) the information X' (diag p - p p') X of a game with each outcome."""
    columns, size = _columns(table, layout), layout.size
    products = np.tile(spread(expected_shares(parameters, layout, table)), (1, 2, 2))
    kept = (columns < size)[:, :, None] & (columns < size)[:, None, :]
    rows = np.broadcast_to(np.arange(len(columns))[:, None, None], kept.shape)
    places = columns[:, :, None] * size + columns[:, None, :]
    return csr_array(
        coo_array((products[kept], (rows[kept], places[kept])), shape=(len(columns), size * size))
    )


def _places(touched: csr_array) -> Places:
    found, size = coo_array(touched), touched.shape[1]
    keys = np.unique(found.row.astype(np.int64) * size + found.col)
    edges = np.searchsorted(keys, np.arange(touched.shape[0] + 1) * size)
    widths = np.diff(edges)
    order = np.argsort(widths, kind="stable")
    offsets = np.empty_like(widths)
    offsets[order] = np.append(0, np.cumsum(widths[order] ** 2))[:-1]
    return Places(size, keys, edges[:-1], widths, offsets)


def _alike(units: Ints, columns: Ints, information: Floats, bread: Floats) -> Alike:
    kept = (1 - HELD_BACK) * information
    inner = bread[columns[:, :, None], columns[:, None, :]]
    pull = np.linalg.solve(np.eye(columns.shape[1]) - kept @ inner, kept)
    return Alike(units, columns, information, (pull + pull.transpose(0, 2, 1)) / 2)


def jackknifed(leverage: Leverage, scored: Iterable[tuple[csr_array, Ints]]) -> Floats:
    """(size, size) the sum over units of U U', where U is the unit's score, and what was taken from
    it by the unit's own pull is given back.

    ``scored`` has the scores (C, size) of some units at a time, and the number of their designs.
    """
    size, count = len(leverage.bread), len(leverage.places.widths)
    squares = csr_array(((count + 1) * size, size))
    for scores, design in scored:
        lengths = np.diff(scores.indptr)
        values = scores.data * np.repeat(leverage.scale[design], lengths)
        scaled = csr_array((values, scores.indices, scores.indptr), shape=scores.shape)
        # each design has columns of its own, so that one product sums each design by itself
        places = scores.indices + np.repeat(leverage.number[design] * size, lengths)
        by_design = csr_array(
            (values, places, scores.indptr), shape=(scores.shape[0], squares.shape[0])
        )
        squares = squares + by_design.T @ scaled
    meat = np.asarray(squares[count * size :].toarray(), dtype=np.float64)
    flat = leverage.places.flat(csr_array(squares[: count * size]))
    for alike, each in zip(leverage.exact, leverage.places.matrices(flat), strict=True):
        rows, columns = alike.columns[:, :, None], alike.columns[:, None, :]
        back = np.eye(each.shape[1]) + alike.pull @ leverage.bread[rows, columns]
        alone = (np.abs(back).max(axis=(1, 2)) > ALONE) * alike.units * HELD_BACK
        whole = back @ each @ back.transpose(0, 2, 1) + alone[:, None, None] * alike.pull
        np.add.at(meat, (rows, columns), whole)
    return meat
