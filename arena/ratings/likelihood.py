"""The share-logit model: its likelihood, the maximum of it, and how sure that is.

At a table of k seats, the expected share of bot p is ``exp(theta_p + s_seat)`` divided by its sum
over the table (conditional logit with a fractional response). For two players it is Bradley-Terry
on scores.

Errors are clustered by deal. A deal's own luck pulls the ratings towards its results, so what is
left of it looks too small. The one-step jackknife takes the deal out instead: with Q the inverse of
all deals' information H, the parameters move by ``Q (I - H_c Q)^-1 U_c``, where H_c and U_c are the
deal's information and score (CR3: Bell & McCaffrey 2002; Cameron & Miller 2015; MacKinnon, Nielsen
& Webb 2023). H_c follows from which games were played on the deal, whoever won them. That is its
*design*, and most deals of a run are alike in it.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, eye_array
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from arena.errors import NoAnswerError
from arena.ratings.results import Flags, Floats, Ints, Results

ELO = float(400 / np.log(10))
"""Elo points per unit of a parameter of the model."""
STEP_CAP = 2.0
TOLERANCE = 1e-9
MOST_STEPS = 50
LEAST_INFORMATION = 1e-6
"""The smallest curvature that a maximum has in every direction. Where it is smaller, the search ran
away and was ended by rounding errors.
"""
MOST_PLAYERS = 16
"""An upper bound on the seats at a table, used to encode seatings as numbers."""
GAMES_AT_ONCE = 1 << 17
"""The number of games whose deals are summed in one step."""
FIGURES_AT_ONCE = 1 << 21
"""The number of floats held in memory at a time: 16 MB."""
HELD_BACK = 1e-8
"""This part of a deal's information stays in when the deal is taken out, so that the matrix can be
inverted even where no other deal has information. The variance there is that of the curvature.
"""
ALONE = 1e5
"""If taking a deal out multiplies its score by more than this factor, the deal holds information
that no other deal has.
"""
COVERAGE = 0.95
NORMAL_QUANTILE = 1.96
MANY = 200
"""From this many degrees of freedom on, the normal distribution replaces the t distribution: their
intervals differ by less than 1 %.
"""
FEWEST_EFFECTIVE = 2.5
"""Bots with fewer effective deals get no error bar. The bound stands for three deals, of which one
may be incomplete: they have two degrees of freedom and a quantile of 4.3, where two deals would
have one of 12.7.
"""


class Model(NamedTuple):
    """The share-logit model of some results, with ``size`` parameters: those of the bots (n), then
    those of seats 1 to k-1 of each table size whose seats have effects. ``offsets`` has the first
    seat parameter of each table size.

    Expected shares depend on who sits where, and not on who won. So games are grouped into S
    different *seatings*.

    ``seating`` (O,)    the number of the seating of each outcome
    ``times`` (S,)      how many games had the seating
    ``won`` (S, K)      the wins of each seat, summed over these games
    ``columns`` (S, 2K) the parameters of a game: those of its bots, then those of its seats. An
    empty seat, and seat 0 (the reference), have the number ``size``
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
        """The model of the results, in which seats have effects at tables of these ``sizes``."""
        count = len(results.bots)
        places = np.arange(results.seats.shape[1])
        size = count
        offsets = dict[int, int]()
        starts = np.full(int(results.players.max(initial=0)) + 1, -1)
        for players in sorted({*results.players.tolist()} & {*sizes}):
            starts[players] = offsets[players] = size
            size += players - 1
        codes = (results.seats @ (count + 1) ** places) * MOST_PLAYERS + results.players
        _, first, seating = np.unique(codes, return_index=True, return_inverse=True)
        times, *won = (
            np.asarray(np.bincount(seating, results.times * each, len(first)), dtype=np.float64)
            for each in (np.ones(1), *results.share.T)
        )
        seats = results.seats[first]
        start = starts[results.players[first]][:, None]
        has_effect = (seats < count) & (start >= 0) & (places > 0)
        effects = np.where(has_effect, start + places - 1, size)
        columns = np.hstack([np.where(seats < count, seats, size), effects])
        return cls(results, offsets, size, seating, times, np.stack(won, axis=1), columns)

    def by_seat(self, parameters: Floats) -> Floats:
        """(S, K) the parameter of the bot plus that of the seat."""
        values = np.append(parameters, 0.0)[self.columns]
        return np.asarray(values.reshape(len(values), 2, -1).sum(axis=1), dtype=np.float64)

    def shares(self, parameters: Floats) -> Floats:
        """(S, K) the expected share of the win of each seat, 0 for an empty one."""
        utility = self.by_seat(parameters)
        utility[self.columns[:, : utility.shape[1]] == self.size] = -np.inf
        weight = np.exp(utility - utility.max(axis=1, keepdims=True))
        return np.asarray(weight / weight.sum(axis=1, keepdims=True), dtype=np.float64)

    def products(self, parameters: Floats) -> tuple[Floats, Ints]:
        """(S, 2K, 2K) the information of one game of each seating, ``diag p - p p'`` over its bots
        and seats, and the places of these numbers in a flat matrix (size + 1, size + 1).
        """
        expected = self.shares(parameters)
        spread = expected[:, :, None] * (np.eye(expected.shape[1]) - expected[:, None, :])
        places = self.columns[:, :, None] * (self.size + 1) + self.columns[:, None, :]
        return np.tile(spread, (1, 2, 2)), places

    def scores(self, expected: Floats) -> csr_array:
        """(O, size) the score of one game of each outcome, ``X' (y - p)``, where ``expected`` is p
        (S, K).
        """
        residuals = np.tile(self.results.share - expected[self.seating], 2)
        return _by_parameter(residuals, self.columns[self.seating], self.size)

    def derivatives(self, parameters: Floats, prior: float = 0.0) -> tuple[Floats, Floats]:
        """The gradient (size,) and the negative Hessian (size, size) of the log likelihood, prior
        included.
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
            # one virtual game among equals, in which every seat gets the same share
            columns = np.append(self.size, np.arange(start, start + size - 1))
            expected = np.exp(np.append(parameters, 0.0)[columns])
            expected /= expected.sum()
            gradient[columns] += prior * (1 / size - expected)
            spread = np.diag(expected) - np.outer(expected, expected)
            information[np.ix_(columns, columns)] += prior * spread
        return gradient[:-1], information[:-1, :-1]

    def gauged(self, information: Floats, prior: float) -> Floats:
        """The information matrix, made invertible: without a prior an equal shift of all bots
        changes nothing, so that direction gets some information.
        """
        bots = len(self.results.bots)
        regular = information.copy()
        regular[:bots, :bots] += 0.0 if prior else 1 / bots
        return regular

    def maximum(self, prior: float) -> Floats:
        """(size,) the parameters at the maximum of the likelihood, found by Newton's method. Raises
        NoAnswerError if it is not reached in MOST_STEPS steps.
        """
        parameters = np.zeros(self.size)
        for _ in range(MOST_STEPS):
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
                if prior or np.linalg.eigvalsh(regular)[0] > LEAST_INFORMATION:
                    return parameters
                break
        raise NoAnswerError(
            f"expected ratings to settle within {MOST_STEPS} steps, got ratings that grow without"
            " limit: the results have no finite maximum",
            "use --prior 1, or play more deals",
        )


def _by_parameter(values: Floats, columns: Ints, size: int) -> csr_array:
    """(O, size) the values (O, 2K) of games, summed by the parameters ``columns`` (O, 2K) that they
    belong to.
    """
    rows = np.arange(0, values.size + 1, values.shape[1])
    shape = (len(values), size + 1)
    # a copy: scipy sorts the columns where they stand
    matrix = csr_array((values.ravel(), columns.ravel(), rows), shape=shape, copy=True)
    matrix.sum_duplicates()
    return csr_array(matrix[:, :-1])


class Designs(NamedTuple):
    """The designs of C units of chance, which are deals, or single games if every game had its own
    deal.

    ``design`` (C,)   the number of each unit's design; if the units are games, of each outcome's
    ``units`` (D,)    how many units have each design
    ``games`` (D, S)  how many games a unit of each design has with each seating
    """

    design: Ints
    units: Ints
    games: csr_array


class Alike(NamedTuple):
    """All designs with the same number R of parameters.

    ``held`` (D,)       the numbers of these designs
    ``units`` (D,)      how many units have each of them
    ``columns`` (D, R)  the parameters of each design
    ``pull`` (D, R, R)  ``(I - H_c Q)^-1 H_c`` of each design, in the notation of the module's
                        docstring
    """

    held: Ints
    units: Ints
    columns: Ints
    pull: Floats


class Leverage(NamedTuple):
    """How strongly deals of each design pull the parameters towards their own results.

    ``bread`` (size, size)  the inverse Q of all deals' information
    ``designs``             the designs, grouped by their number of parameters
    ``effective`` (n,)      the effective number of deals of each bot: how many deals of equal
                            information would hold as much as its own
    """

    bread: Floats
    designs: list[Alike]
    effective: Floats


def sandwich(
    model: Model, parameters: Floats, prior: float, loose: Floats
) -> tuple[Floats, Floats, Leverage]:
    """The errors of the parameters by the one-step cluster jackknife (CR3): their covariance (size,
    size) clustered by deal, the covariance as if all games were independent, and the leverage of
    the deals.

    The mean rating is held at 0. The covariances are NaN with one deal, or one game. In the
    directions ``loose`` (size, m) only the prior holds the parameters: all deals went one way
    there, so they hardly vary and the sandwich would be far too narrow. For these directions the
    inverse of the curvature, prior included, is added.
    """
    results = model.results
    information = model.derivatives(parameters, prior)[1]
    bread = np.asarray(np.linalg.inv(model.gauged(information, prior)), dtype=np.float64)
    scores = model.scores(model.shares(parameters))
    apart = designs_by_game(model)
    leverage = leverage_of(model, parameters, bread, apart)
    # all games with one outcome are one row, times the root of their number
    weighed = csr_array(scores.multiply(np.sqrt(results.times)[:, None]))
    by_deal = by_game = jackknifed(leverage, apart, [weighed])
    if results.clusters != results.games:
        # Games on one deal share its luck. Errors that take them for independent, or believe the
        # model's own curvature, cover the truth in 84 to 100 of 100 runs; these in 93 to 96.
        designs = designs_by_deal(model)
        leverage = leverage_of(model, parameters, bread, designs)
        by_deal = jackknifed(leverage, designs, deal_sums(results, scores))
    added = loose @ np.linalg.inv(loose.T @ information @ loose) @ loose.T if loose.size else 0.0
    center = np.eye(model.size)
    center[: len(results.bots), : len(results.bots)] -= 1 / len(results.bots)
    clustered, independent = (
        np.asarray(center @ (bread @ meat @ bread + added) @ center.T, dtype=np.float64)
        for meat in (by_deal, by_game)
    )
    return clustered, independent, leverage


def deal_sums(results: Results, of_outcomes: csr_array) -> Iterator[csr_array]:
    """The rows of a matrix (O, m), summed over the games of each deal: (C, m). Yields some deals at
    a time.
    """
    # All deals at once would be a matrix of deals by parameters beside a million games: with
    # some games at a time memory stays flat, and the sums are the same.
    step = max(1, GAMES_AT_ONCE * results.clusters // max(results.games, 1))
    for first in range(0, results.clusters, step):
        deals = np.arange(first, min(first + step, results.clusters) + 1, dtype=np.int32)
        ends = np.searchsorted(results.cluster, deals)
        games = results.outcome[ends[0] : ends[-1]]
        shape = (len(deals) - 1, len(results.times))
        counts = csr_array((np.ones(len(games)), games, ends - ends[0]), shape=shape)
        yield csr_array(counts @ of_outcomes)


def designs_by_deal(model: Model) -> Designs:
    """The designs of the results' deals."""
    results = model.results
    most = np.iinfo(np.uint64).max
    # 64 random bits: among a million designs, two have the same sum by chance in one of 10^7 runs.
    codes = np.random.default_rng(1).integers(0, most, len(model.times), dtype=np.uint64)
    sums = np.zeros(results.games + 1, dtype=np.uint64)
    np.cumsum(codes[model.seating][results.outcome], out=sums[1:])
    ends = np.append(0, np.cumsum(np.bincount(results.cluster, minlength=results.clusters)))
    design, distinct = pd.factorize(np.diff(sums[ends]))
    # the games of the first deal of each design
    deals = np.empty(len(distinct), dtype=np.int64)
    deals[design[::-1]] = np.arange(results.clusters)[::-1]
    counts = np.diff(ends)[deals]
    rows = np.append(0, np.cumsum(counts))
    games = np.arange(rows[-1]) + np.repeat(ends[deals] - rows[:-1], counts)
    seatings = model.seating[results.outcome[games]]
    shape = (len(deals), len(model.times))
    by_design = csr_array((np.ones(len(games)), seatings, rows), shape=shape)
    by_design.sum_duplicates()
    return Designs(design.astype(np.int64), np.bincount(design), by_design)


def designs_by_game(model: Model) -> Designs:
    """The designs of single games, as if every game had its own deal."""
    games = csr_array(eye_array(len(model.times), format="csr"))
    return Designs(model.seating, model.times.astype(np.int64), games)


def leverage_of(model: Model, parameters: Floats, bread: Floats, designs: Designs) -> Leverage:
    """The leverage of each design at these parameters; ``bread`` is the inverse of the
    information.
    """
    width, (products, places) = model.size + 1, model.products(parameters)
    rows = np.arange(0, products.size + 1, products[0].size)
    by_outcome = csr_array(
        (products.ravel(), places.ravel(), rows), shape=(len(rows) - 1, width**2)
    )
    by_design = csr_array(designs.games @ by_outcome)
    information = csr_array(by_design.reshape((-1, width)))
    touched = csr_array(
        designs.games @ _by_parameter(np.ones(model.columns.shape), model.columns, model.size)
    )
    touched.sort_indices()
    alike = []
    touches = np.diff(touched.indptr)
    for count in np.unique(touches).tolist():
        held = np.flatnonzero(touches == count)
        columns = touched.indices[touched.indptr[held][:, None] + np.arange(count)].astype(np.int64)
        kept = (1 - HELD_BACK) * _blocks(information, held, columns)
        shared = bread[columns[:, :, None], columns[:, None, :]]
        pull = np.linalg.solve(np.eye(count) - kept @ shared, kept)
        pull = (pull + pull.transpose(0, 2, 1)) / 2
        alike.append(Alike(held, designs.units[held], columns, pull))
    information_of_bots = by_design[:, np.arange(len(model.results.bots)) * (width + 1)]
    # The effective number of deals (Kish).
    sums = designs.units @ information_of_bots
    squares = designs.units @ information_of_bots.power(2)
    effective = np.divide(sums**2, squares, where=squares > 0, out=np.zeros_like(squares))
    return Leverage(bread, alike, effective)


def jackknifed(leverage: Leverage, designs: Designs, scored: Iterable[csr_array]) -> Floats:
    """(size, size) the sum over all units of U U', where U is the unit's score after correction for
    the unit's own pull on the parameters; NaN with one unit.

    ``scored`` yields the scores (C, size) of all units, some at a time.
    """
    size = len(leverage.bread)
    first = 0
    squares = csr_array((len(designs.units) * size, size))
    for scores in scored:
        design = designs.design[first : first + scores.shape[0]]
        first += scores.shape[0]
        # each design has columns of its own, so that one product sums each design by itself
        places = scores.indices + np.repeat(design * size, np.diff(scores.indptr))
        shape = (scores.shape[0], squares.shape[0])
        squares = squares + csr_array((scores.data, places, scores.indptr), shape=shape).T @ scores
    meat = np.zeros((size, size))
    sums = csr_array(squares)
    for alike in leverage.designs:
        rows = alike.columns[:, :, None]
        columns = alike.columns[:, None, :]
        back = np.eye(rows.shape[1]) + alike.pull @ leverage.bread[rows, columns]
        alone = (np.abs(back).max(axis=(1, 2)) > ALONE) * alike.units * HELD_BACK
        whole = back @ _blocks(sums, alike.held, alike.columns) @ back.transpose(0, 2, 1)
        np.add.at(meat, (rows, columns), whole + alone[:, None, None] * alike.pull)
    # With this factor, deals that are all alike give their plain variance.
    units = designs.units.sum()
    return np.asarray(meat * ((units - 1) / units if units > 1 else np.nan), dtype=np.float64)


def _blocks(matrices: csr_array, held: Ints, columns: Ints) -> Floats:
    """(D, R, R) for each of these designs, the entries of its square matrix at its own parameters.
    ``matrices`` has the square matrices of all designs stacked one below the other.
    """
    rows = (held[:, None] * matrices.shape[1] + columns)[:, :, None]
    places = np.broadcast_arrays(rows, columns[:, None, :])
    picked = matrices[places[0].ravel(), places[1].ravel()]
    entries = picked.toarray() if hasattr(picked, "toarray") else picked
    return np.asarray(entries, dtype=np.float64).reshape(places[0].shape)


def satterthwaite(leverage: Leverage, figures: Floats, one: Ints, other: Ints) -> Floats:
    """(L,) the degrees of freedom of the variances of L contrasts. The ``figures`` (m, size) are
    weights of sums of parameters. Each contrast is the difference of figures ``one`` and ``other``,
    or the figure itself if both are equal.

    A variance estimated from deals is a sum of squares, one for each deal. If few deals make up
    most of the sum, it is as uncertain as their number says, however many others there are. If
    every game had its own luck, the deals' parts of a contrast's estimate would have the
    covariances G_cc = x' M_c x and G_cd = -x' M_c Q M_d x, where x = Q l, l is the contrast and M_c
    is the pull. The degrees of freedom are (sum G_cc)^2 / (sum G_cc^2 + sum G_cd^2) (Bell &
    McCaffrey 2002; Pustejovsky & Tipton 2018).
    """
    bread = leverage.bread
    moved = leverage.bread @ figures.T
    variance = contrasted(figures @ moved, one, other)
    total, squares, fourths = np.zeros((3, len(one)))
    for alike, part in _portions(leverage, moved.size + len(figures) ** 2 + len(one)):
        along = moved[alike.columns[part]]
        own = contrasted(along.transpose(0, 2, 1) @ alike.pull[part] @ along, one, other)
        square = own * own
        units = alike.units[part]
        total += units @ own
        squares += units @ square
        fourths += units @ (square * square)
    # What a single deal tells alone has no error to be known; here it would be lost to rounding.
    is_alone = total > ALONE * variance
    if len(one) * bread.size <= FIGURES_AT_ONCE:
        crossed = _crossed(leverage, moved[:, one] - moved[:, other] * (one != other))
    else:  # as if all deals moved the contrast in one direction: those that decide it nearly do
        crossed = (squares**2 - fourths) / np.where(variance > 0, variance, 1.0) ** 2
    below = squares + crossed
    return np.divide(total**2, below, where=(below > 0) & ~is_alone, out=np.zeros(len(variance)))


def contrasted(products: Floats, one: Ints, other: Ints) -> Floats:
    """(..., L) the quadratic form of each contrast, from the form's values ``products`` (..., m, m)
    for pairs of figures.
    """
    diagonal = np.diagonal(products, axis1=-2, axis2=-1)
    pairs = diagonal[..., one] + diagonal[..., other] - 2 * products[..., one, other]
    return np.where(one == other, diagonal[..., one], pairs)


def _portions(leverage: Leverage, width: int, squared: int = 0) -> Iterator[tuple[Alike, slice]]:
    """All designs in portions that fit into memory, as a group of designs and the slice of it. Each
    design needs ``width`` floats, and ``squared`` for every two of its parameters.
    """
    for alike in leverage.designs:
        step = max(1, FIGURES_AT_ONCE // (width + squared * alike.columns.shape[1] ** 2))
        for first in range(0, len(alike.units), step):
            yield alike, slice(first, first + step)


def _crossed(leverage: Leverage, moved: Floats) -> Floats:
    """(L,) the sums of G_cd^2 over all pairs of different deals (see `satterthwaite`), where
    ``moved`` (size, L) is x.
    """
    bread, (size, count) = leverage.bread, moved.shape
    products = np.zeros((size * size, count))
    own = np.zeros(count)
    for alike, part in _portions(leverage, 0, count):
        columns = alike.columns[part]
        units = alike.units[part]
        rows = columns[:, :, None]
        others = columns[:, None, :]
        pulled = alike.pull[part] @ moved[columns]
        own += units @ (bread[rows, others] @ pulled * pulled).sum(axis=1) ** 2
        outer = (pulled * units[:, None, None])[:, :, None] * pulled[:, None]
        places = (rows * size + others).ravel()
        shape = (size * size, len(places))
        where = csr_array((np.ones(len(places)), (places, np.arange(len(places)))), shape=shape)
        products += where @ outer.reshape(-1, count)
    crossed = products.T.reshape(count, size, size) @ bread
    return np.asarray((crossed * crossed.transpose(0, 2, 1)).sum(axis=(1, 2)) - own)


def quantile(freedom: Floats | float, coverage: float = COVERAGE) -> Floats:
    """The factors from standard errors to half-widths of intervals with this coverage, by the t
    distribution.
    """
    limited = np.clip(freedom, 1.0, MANY)
    level = (1 + coverage) / 2
    normal = NORMAL_QUANTILE if coverage == COVERAGE else ndtri(level)
    return np.where(limited < MANY, stdtrit(limited, level), normal)


def is_enough(freedom: Floats) -> Flags:
    """Whether these degrees of freedom are enough for an error bar."""
    return np.asarray(freedom >= FEWEST_EFFECTIVE - 1, dtype=np.bool_)


def chance_below(ratio: Floats, freedom: Floats) -> Floats:
    """The probability that the ratio of an estimate to its error is smaller than ``ratio`` if the
    truth is 0.
    """
    limited = np.clip(freedom, 1.0, MANY)
    return np.where(limited < MANY, stdtr(limited, ratio), ndtr(ratio))


def holm(p: Floats) -> Floats:
    """The p values, corrected by Holm's method: whatever their number, the probability is 5 % that
    any of them falls below 5 % by chance. NaN stays NaN.
    """
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return adjusted
