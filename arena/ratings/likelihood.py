"""The share-logit model of ratings: its likelihood, and the parameters at which the likelihood is
largest.

At a table of k seats, the expected share of the win of the bot p in seat s is ``exp(theta_p +
s_seat)`` divided by the sum of such terms over the table (conditional logit with a fractional
response). For two players it is the Bradley-Terry model of scores.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from arena.errors import NoAnswerError
from arena.ratings.results import Floats, Ints, Results
from arena.ratings.scipy_parts import csr_array

ELO = float(400 / np.log(10))
"""Elo points per unit of a parameter of the model."""
STEP_CAP = 2.0
TOLERANCE = 1e-9
MAX_STEPS = 50
MIN_INFORMATION = 1e-6
"""The smallest curvature that the likelihood must have in every direction at its maximum. With a
smaller one, the parameters grow without limit, and only rounding errors ended the search.
"""
MAX_PLAYERS = 16
"""An upper bound on the number of players in a game, used to encode seatings as numbers."""


class Model(NamedTuple):
    """The share-logit model of ``results``, with ``size`` parameters: first the strengths of the n
    bots, then, for each number of players k whose seats have effects, the effects of seats 1 to
    k-1. ``offsets`` has the index of the first seat parameter, by number of players. A unit of a
    parameter is `ELO` Elo. O is the number of outcomes of ``results``, K the number of seats of its
    largest table.

    Expected shares depend on which bot sits where, and not on who won. So games are grouped into S
    different *seatings*.

    ``seating`` (O,)     the number of the seating of each outcome
    ``times`` (S,)       how many games had the seating
    ``won`` (S, K)       the shares of the win that each seat got, summed over these games
    ``columns`` (S, 2K)  the indices of the parameters of a game: those of its bots, then those of
                         its seats. The index ``size``, one behind the last parameter, stands for
                         "none": for an empty seat, for a seat without an effect, and for seat 0,
                         with which the others are compared
    """

    results: Results
    offsets: dict[int, int]
    size: int
    seating: Ints
    times: Floats
    won: Floats
    columns: Ints

    @classmethod
    def of(cls, results: Results, sizes: Collection[int]) -> "Model":
        """The model of ``results``, in which seats have effects in games whose number of players is
        one of ``sizes``.
        """
        count = len(results.bots)
        places = np.arange(results.seats.shape[1])
        size = count
        offsets = dict[int, int]()
        starts = np.full(int(results.players.max(initial=0)) + 1, -1)
        for players in sorted({*results.players.tolist()} & {*sizes}):
            starts[players] = offsets[players] = size
            size += players - 1
        codes = (results.seats @ (count + 1) ** places) * MAX_PLAYERS + results.players
        _, first, seating = np.unique(codes, return_index=True, return_inverse=True)

        def summed(values: Floats) -> Floats:
            """The sum over the games of each seating, given a value for each outcome."""
            return np.asarray(np.bincount(seating, values, len(first)), dtype=np.float64)

        times = summed(results.times * 1.0)
        won = [summed(results.times * share) for share in results.share.T]
        seats = results.seats[first]
        start = starts[results.players[first]][:, None]
        has_effect = (seats < count) & (start >= 0) & (places > 0)
        effects = np.where(has_effect, start + places - 1, size)
        columns = np.hstack([np.where(seats < count, seats, size), effects])
        return cls(results, offsets, size, seating, times, np.stack(won, axis=1), columns)

    def by_seat(self, parameters: Floats) -> Floats:
        """(S, K) for each seating and seat, the parameter of the bot plus that of the seat."""
        values = np.append(parameters, 0.0)[self.columns]
        return np.asarray(values.reshape(len(values), 2, -1).sum(axis=1), dtype=np.float64)

    def shares(self, parameters: Floats) -> Floats:
        """(S, K) for each seating and seat, the expected share of the win; 0 for an empty seat."""
        utility = self.by_seat(parameters)
        utility[self.columns[:, : utility.shape[1]] == self.size] = -np.inf
        weight = np.exp(utility - utility.max(axis=1, keepdims=True))
        return np.asarray(weight / weight.sum(axis=1, keepdims=True), dtype=np.float64)

    def products(self, parameters: Floats) -> tuple[Floats, Ints]:
        """The information of one game of each seating, (S, 2K, 2K): ``diag p - p p'`` over its bots
        and seats; and the index of each of these numbers in a flattened matrix (size + 1, size +
        1).
        """
        expected = self.shares(parameters)
        spread = expected[:, :, None] * (np.eye(expected.shape[1]) - expected[:, None, :])
        places = self.columns[:, :, None] * (self.size + 1) + self.columns[:, None, :]
        return np.tile(spread, (1, 2, 2)), places

    def scores(self, expected: Floats) -> csr_array:
        """(O, size) for each outcome, the score ``X' (y - p)`` of one game; ``expected`` (S, K) is
        p, from `shares`.
        """
        residuals = np.tile(self.results.share - expected[self.seating], 2)
        return by_parameter(residuals, self.columns[self.seating], self.size)

    def derivatives(self, parameters: Floats, prior: float = 0.0) -> tuple[Floats, Floats]:
        """The gradient (size,) and the negative Hessian (size, size) of the log likelihood at
        ``parameters``, with a prior of weight ``prior``; 0 means no prior.
        """
        width = self.size + 1
        bots = len(self.results.bots)
        residuals = np.tile(self.won - self.times[:, None] * self.shares(parameters), 2)
        products, places = self.products(parameters)
        weights = (self.times[:, None, None] * products).ravel()
        sums = (
            np.bincount(self.columns.ravel(), residuals.ravel(), width),
            np.bincount(places.ravel(), weights, width * width).reshape(width, width),
        )
        gradient, information = (np.asarray(each, dtype=np.float64) for each in sums)
        if prior:
            chance = 1 / (1 + np.exp(-parameters[:bots]))
            gradient[:bots] += prior * (0.5 - chance)
            information[range(bots), range(bots)] += prior * chance * (1 - chance)
        for size, start in self.offsets.items() if prior else ():
            # one virtual game between equal bots, in which each seat gets the same share
            columns = np.append(self.size, np.arange(start, start + size - 1))
            expected = np.exp(np.append(parameters, 0.0)[columns])
            expected /= expected.sum()
            gradient[columns] += prior * (1 / size - expected)
            spread = np.diag(expected) - np.outer(expected, expected)
            information[np.ix_(columns, columns)] += prior * spread
        return gradient[:-1], information[:-1, :-1]

    def gauged(self, information: Floats, prior: float) -> Floats:
        """The ``information`` matrix, made invertible. Without a prior, an equal shift of all bots
        does not change the likelihood, so 1/n is added for that direction.
        """
        bots = len(self.results.bots)
        regular = information.copy()
        regular[:bots, :bots] += 0.0 if prior else 1 / bots
        return regular

    def maximum(self, prior: float) -> Floats:
        """The parameters (size,) at which the likelihood, with a prior of weight ``prior`` (0: no
        prior), is largest, found by Newton's method. Raises NoAnswerError if there is no such
        finite maximum.
        """
        parameters = np.zeros(self.size)
        for _ in range(MAX_STEPS):
            gradient, information = self.derivatives(parameters, prior)
            regular = self.gauged(information, prior)
            try:
                step = np.linalg.solve(regular, gradient)
            except np.linalg.LinAlgError:
                break
            # Far from the maximum a full step overshoots, and the curvature is lost to rounding.
            step *= min(1.0, STEP_CAP / max(np.abs(step).max(), 1e-300))
            parameters += step
            if np.abs(step).max() <= TOLERANCE * max(1.0, np.abs(parameters).max()):
                if prior or np.linalg.eigvalsh(regular)[0] > MIN_INFORMATION:
                    return parameters
                break
        raise NoAnswerError(
            f"the ratings still grew after {MAX_STEPS} steps: for these results, no finite ratings"
            " fit best",
            "use --prior 1, or play more deals",
        )


def by_parameter(values: Floats, columns: Ints, size: int) -> csr_array:
    """Sums ``values`` (O, 2K), the values for each of O outcomes, by parameter. ``columns`` (O, 2K)
    has the index of the parameter to which each value belongs, or ``size`` for none. Returns the
    sums as a sparse matrix (O, size).
    """
    rows = np.arange(0, values.size + 1, values.shape[1])
    shape = (len(values), size + 1)
    # a copy, because scipy sorts the columns in place
    matrix = csr_array((values.ravel(), columns.ravel(), rows), shape=shape, copy=True)
    matrix.sum_duplicates()
    return csr_array(matrix[:, :-1])
