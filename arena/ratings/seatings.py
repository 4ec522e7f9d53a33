"""Games of one table size counted by who sat where, and the ratings that parts of them give."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from arena.ratings.components import Floats
from arena.ratings.fit import Fit
from arena.ratings.likelihood import ELO, Layout, add_products, seat_columns, spread
from arena.ratings.results import Results, SizedGames

MOST_BOTS = 24
"""Differences are between this many bots at most, those rated best."""
FLAT = 1e-9
"""Information below this fraction of the largest counts as none."""
MOST_STEPS, STEP_CAP, TOLERANCE = 40, 2.0, 1e-7
Rows = NDArray[np.bool_]


class Moved(NamedTuple):
    """The ratings by a part of the games, to first order: the parameters' ``shift`` (size,) from
    where they were, the ``inverse`` of the information, and the directions it leaves ``open``.
    """

    shift: Floats
    inverse: Floats
    open: Floats

    def differences(self, bots: int) -> tuple[Floats, Floats]:
        """(m, m) how far differences move, and their squared errors if games share no luck; NaN if
        the games tell nothing of them.
        """
        shift = self.shift[:bots]
        is_open = _of_pairs(self.open[:bots, :bots]) > FLAT
        square = np.where(is_open, np.nan, _of_pairs(self.inverse[:bots, :bots]))
        return shift[:, None] - shift, square


def _of_pairs(matrix: Floats) -> Floats:
    """The quadratic form of the difference of each two."""
    diagonal = np.diag(matrix)
    return np.asarray(diagonal[:, None] + diagonal - 2 * matrix, dtype=np.float64)


class Portion(NamedTuple):
    """What a part of the games says: ``score`` (size,) and ``information`` (size, size) of the
    parameters, and how much the bots were expected to win.
    """

    score: Floats
    information: Floats
    wins: Floats

    def without(self, other: "Portion") -> "Portion":
        """The rest of the games."""
        return Portion(*(one - two for one, two in zip(self, other, strict=True)))

    def moved(self) -> Moved:
        """The ratings by these games alone."""
        values, vectors = np.linalg.eigh(self.information)
        is_told = values > FLAT * max(values.max(), 1.0)
        told = vectors[:, is_told]
        inverse = told / values[is_told] @ told.T
        return Moved(inverse @ self.score, inverse, np.eye(len(values)) - told @ told.T)


class Seatings:
    """The games of one table size that one of ``members`` won, the best rated bots (m).

    Who of these won tells which of them is better. So a bot that won nothing, or cannot be rated,
    needs no rating to sit at the table with them.

    ``games``     each seating and winners once, the share being that among the members
    ``seated``    (S, k) numbers of the bots, and ``place`` (S, k) of the parameters
    ``layout``    the parameters: members, and seats 1 to k-1
    ``expected``  (S, k) shares by the ratings of all games
    """

    def __init__(self, results: Results, table: SizedGames, fit: Fit) -> None:
        best = np.sort(np.argsort(-fit.elo, kind="stable")[:MOST_BOTS])
        self.bots, self.members, self.clusters = results.bots, fit.members[best], results.clusters
        self.layout = Layout(len(best), {table.size: len(best)}, len(best) + table.size - 1)
        place = np.full(len(results.bots), self.layout.size, dtype=np.int64)
        place[self.members] = np.arange(len(best))
        self.games = _won_by(_by_winners(table), place < self.layout.size)
        rows, self.seating = np.unique(self.games.seats, axis=0, return_inverse=True)
        self.seating = self.seating.reshape(-1)
        self.seated, self.place = rows.reshape(-1, table.size), place[rows].reshape(-1, table.size)
        self._effects = seat_columns(self.layout, table)
        self._count = np.bincount(self.seating, self.games.games, len(rows))
        self._share = self._mean(self.games.share)
        seats = fit.seats.get(table.size, (np.zeros(table.size),))[0][1:]
        self._start = np.append(fit.elo[best], np.nan_to_num(seats)) / ELO
        self.expected = self.shares(self._start)
        self.whole = self.part(np.ones(len(rows), dtype=np.bool_), self.expected)

    def _mean(self, values: Floats) -> Floats:
        """(S, k) means over the games of each seating."""
        sums = [
            np.bincount(self.seating, self.games.games * column, len(self._count))
            for column in values.T
        ]
        return np.asarray(np.stack(sums, axis=1) / self._count[:, None], dtype=np.float64)

    def sits(self, bot: int) -> Rows:
        """(S,) where a bot sits."""
        return np.asarray((self.seated == bot).any(axis=1), dtype=np.bool_)

    def shares(self, parameters: Floats) -> Floats:
        """(S, k) expected shares of the win, if one of the members wins."""
        strength = self.by_seat(parameters)
        strength[self.place == self.layout.size] = -np.inf
        return np.asarray(softmax(strength, axis=1), dtype=np.float64)

    def by_seat(self, parameters: Floats) -> Floats:
        """(S, k) the parameter of each seat's bot and the one of the seat, added."""
        padded = np.append(parameters, 0.0)
        return np.asarray(padded[self.place] + padded[self._effects], dtype=np.float64)

    def part(self, rows: Rows, shares: Floats) -> Portion:
        """What the games of some seatings say where these shares are expected."""
        width, place, expected = self.layout.size + 1, self.place[rows], shares[rows]
        count = self._count[rows]
        score, wins, information = np.zeros(width), np.zeros(width), np.zeros((width, width))
        for seat, residual in enumerate((count[:, None] * (self._share[rows] - expected)).T):
            score += np.bincount(place[:, seat], residual, width)
            score[self._effects[seat]] += residual.sum()
            wins += np.bincount(place[:, seat], count * expected[:, seat], width)
        products = count[:, None, None] * spread(expected)
        add_products(information, self.layout, self.games._replace(seats=place), products)
        return Portion(score[:-1], information[:-1, :-1], wins[: self.layout.bots])

    def rated(self, rows: Rows) -> Floats:
        """The parameters by the games of some seatings alone. A bot that won none of them stops far
        down.
        """
        parameters = self._start.copy()
        for _ in range(MOST_STEPS):
            step = self.part(rows, self.shares(parameters)).moved().shift
            step *= min(1.0, STEP_CAP / max(np.abs(step).max(), FLAT))
            parameters += step
            if np.abs(step).max() < TOLERANCE:
                break
        return np.asarray(parameters, dtype=np.float64)


def _by_winners(table: SizedGames) -> SizedGames:
    """The table with one row for each seating and winners, whatever the ranks below."""
    won = table.share > 0
    weights = (int(table.seats.max(initial=0)) + 1) ** np.arange(table.size)
    codes = (table.seats @ weights << table.size) + won @ (1 << np.arange(table.size))
    _, first, row = np.unique(codes, return_index=True, return_inverse=True)
    return table._replace(
        seats=table.seats[first],
        ranks=table.ranks[first],
        share=table.share[first],
        games=np.bincount(row, table.games).astype(np.float64),
        outcome=row.astype(np.int32)[table.outcome],
    )


def _won_by(table: SizedGames, is_member: Rows) -> SizedGames:
    """The games with two members or more that one of them won, and their shares of that win."""
    inside = is_member[table.seats]
    share = table.share * inside
    kept = (inside.sum(axis=1) > 1) & (share.sum(axis=1) > 0)
    games = kept[table.outcome]
    return table._replace(
        seats=table.seats[kept],
        ranks=table.ranks[kept],
        share=share[kept] / share[kept].sum(axis=1, keepdims=True),
        games=table.games[kept],
        cluster=table.cluster[games],
        outcome=(np.cumsum(kept) - 1).astype(np.int32)[table.outcome[games]],
    )
