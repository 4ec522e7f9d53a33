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
"""Elo points per unit of theta."""
STEP_CAP = 2.0
TOLERANCE = 1e-9
MOST_STEPS = 50
LEAST_INFORMATION = 1e-6
"""The least curvature in any direction; below it, rounding ended the search far out, and not a
maximum.
"""
MOST_PLAYERS = 16
"""More than ever sit at a table."""
GAMES_AT_ONCE = 1 << 17
"""The number of games whose deals are summed at a time."""
FIGURES_AT_ONCE = 1 << 21
"""The number of figures held at a time: 16 MB."""
HELD_BACK = 1e-8
"""This part of a deal's information stays when the deal is taken out, so that what no other deal
tells can be computed. Its variance is then that of the curvature.
"""
ALONE = 1e5
"""A deal whose score grows by this factor when it is taken out tells something that no other one
does.
"""
COVERAGE = 0.95
NORMAL_QUANTILE = 1.96
MANY = 200
"""From here on the t distribution is taken as the normal one: their widths differ by less than 1 %.
"""
FEWEST_EFFECTIVE = 2.5
"""Fewer effective deals give no error bar. That is three deals, of which one may be incomplete:
they have two degrees of freedom and a quantile of 4.3, where two deals would have one of 12.7.
"""


class Model(NamedTuple):
    """The model of some results. Its ``size`` parameters are those of the bots (n), then those of
    seats 1 to k-1 of each table size with seat effects, which start at ``offsets``.

    What is expected depends on who sits where and not on who won: S different *seatings*.
    ``seating`` (O,) is the number of each outcome's, ``times`` (S,) how many games had it, ``won``
    (S, K) the wins of each seat. ``columns`` (S, 2K) are the parameters of a game: those of the
    bots, then of the seats; the one after the last where there is none, as for seat 0, the
    reference.
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
        """The model with effects of seats at tables of these sizes."""
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
        """(S, K) the parameters of the bot and of the seat, added."""
        found = np.append(parameters, 0.0)[self.columns]
        return np.asarray(found.reshape(len(found), 2, -1).sum(axis=1), dtype=np.float64)

    def shares(self, parameters: Floats) -> Floats:
        """(S, K) expected shares of the win, 0 where nobody sits."""
        utility = self.by_seat(parameters)
        utility[self.columns[:, : utility.shape[1]] == self.size] = -np.inf
        weight = np.exp(utility - utility.max(axis=1, keepdims=True))
        return np.asarray(weight / weight.sum(axis=1, keepdims=True), dtype=np.float64)

    def products(self, parameters: Floats) -> tuple[Floats, Ints]:
        """(S, 2K, 2K) diag p - p p' of each game's bots and seats, and its places in a matrix
        (size + 1, size + 1).
        """
        expected = self.shares(parameters)
        spread = expected[:, :, None] * (np.eye(expected.shape[1]) - expected[:, None, :])
        places = self.columns[:, :, None] * (self.size + 1) + self.columns[:, None, :]
        return np.tile(spread, (1, 2, 2)), places

    def scores(self, expected: Floats) -> csr_array:
        """(O, size) X' (y - p) of a game with each outcome, where p (S, K) is ``expected``."""
        residuals = np.tile(self.results.share - expected[self.seating], 2)
        return _by_parameter(residuals, self.columns[self.seating], self.size)

    def derivatives(self, parameters: Floats, prior: float = 0.0) -> tuple[Floats, Floats]:
        """Gradient (size,) and negative Hessian (size, size) of the log likelihood, including the
        prior.
        """
        width = self.size + 1
        bots = len(self.results.bots)
        residuals = np.tile(self.won - self.times[:, None] * self.shares(parameters), 2)
        products, places = self.products(parameters)
        weights = (self.times[:, None, None] * products).ravel()
        found = (
            np.bincount(self.columns.ravel(), residuals.ravel(), width),
            np.bincount(places.ravel(), weights, width * width).reshape(width, width),
        )
        gradient, information = (np.asarray(each, dtype=np.float64) for each in found)
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
        """The information, made regular in the direction that is free without a prior: an equal
        shift of all bots.
        """
        bots = len(self.results.bots)
        regular = information.copy()
        regular[:bots, :bots] += 0.0 if prior else 1 / bots
        return regular

    def maximum(self, prior: float) -> Floats:
        """(size,) the parameters at the maximum, found by Newton's method. Raises NoAnswerError
        after MOST_STEPS steps.
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
    """(O, size) values (O, 2K) of games, summed by the parameters ``columns`` (O, 2K)."""
    rows = np.arange(0, values.size + 1, values.shape[1])
    shape = (len(values), size + 1)
    # a copy: scipy sorts the columns where they stand
    found = csr_array((values.ravel(), columns.ravel(), rows), shape=shape, copy=True)
    found.sum_duplicates()
    return csr_array(found[:, :-1])


class Designs(NamedTuple):
    """The designs of the units of chance, which are deals or single games.

    ``design`` (C,) is the number of each unit's design, or of each outcome's if the units are
    games; ``units`` (D,) is how many have it. ``games`` (D, S) is how many games of a unit have
    each seating.
    """

    design: Ints
    units: Ints
    games: csr_array


class Alike(NamedTuple):
    """Designs that touch equally many parameters, R: their numbers ``held`` (D,), how many deals
    have each of them, ``units`` (D,), and the parameters ``columns`` (D, R) that they touch.
    ``pull`` (D, R, R) is ``(I - H_c Q)^-1 H_c``.
    """

    held: Ints
    units: Ints
    columns: Ints
    pull: Floats


class Leverage(NamedTuple):
    """The leverage of all designs, where ``bread`` (size, size) is Q. ``told`` (n,) is, for each
    bot, in how many deals of equal information its own would be.
    """

    bread: Floats
    designs: list[Alike]
    told: Floats


def sandwich(
    model: Model, parameters: Floats, prior: float, loose: Floats
) -> tuple[Floats, Floats, Leverage]:
    """The errors by the cluster jackknife, in one step (CR3): the covariance (size, size) of the
    parameters clustered by deal, the one for independent games, and the leverage of the deals.

    The mean rating is held at 0. NaN with one deal, or one game. In the directions ``loose`` (size,
    m) only the prior holds the parameters. There all deals went one way, so they have almost no
    spread, and the sandwich has almost no width: we add the inverse of the curvature, including the
    prior.
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
    """The rows of a matrix (O, m) summed over the games of each deal: (C, m), a number of deals at
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
    """The designs of the deals."""
    results = model.results
    most = np.iinfo(np.uint64).max
    # 64 random bits: among a million designs, two have the same sum by chance in one of 10^7 runs.
    codes = np.random.default_rng(1).integers(0, most, len(model.times), dtype=np.uint64)
    sums = np.zeros(results.games + 1, dtype=np.uint64)
    np.cumsum(codes[model.seating][results.outcome], out=sums[1:])
    ends = np.append(0, np.cumsum(np.bincount(results.cluster, minlength=results.clusters)))
    design, found = pd.factorize(np.diff(sums[ends]))
    # the games of the first deal of each design
    deals = np.empty(len(found), dtype=np.int64)
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
    """The designs of the outcomes, if every game had its own deal."""
    games = csr_array(eye_array(len(model.times), format="csr"))
    return Designs(model.seating, model.times.astype(np.int64), games)


def leverage_of(model: Model, parameters: Floats, bread: Floats, designs: Designs) -> Leverage:
    """The leverage of each design at these parameters."""
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
    told = by_design[:, np.arange(len(model.results.bots)) * (width + 1)]
    # The effective number of deals (Kish).
    sums = designs.units @ told
    squares = designs.units @ told.power(2)
    effective = np.divide(sums**2, squares, where=squares > 0, out=np.zeros_like(squares))
    return Leverage(bread, alike, effective)


def jackknifed(leverage: Leverage, designs: Designs, scored: Iterable[csr_array]) -> Floats:
    """(size, size) the sum over units of U U', where U is the unit's score, and what was taken from
    it by the unit's own pull is given back; NaN for one unit.

    ``scored`` has the scores (C, size) of all units, some at a time.
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
    """(D, R, R) the entries that these designs touch of their matrices, which stand one below the
    other and are square.
    """
    rows = (held[:, None] * matrices.shape[1] + columns)[:, :, None]
    places = np.broadcast_arrays(rows, columns[:, None, :])
    found = matrices[places[0].ravel(), places[1].ravel()]
    entries = found.toarray() if hasattr(found, "toarray") else found
    return np.asarray(entries, dtype=np.float64).reshape(places[0].shape)


def satterthwaite(leverage: Leverage, figures: Floats, one: Ints, other: Ints) -> Floats:
    """(L,) the degrees of freedom of the variances of contrasts: each is the difference of two of
    the ``figures`` (m, size), which are sums of parameters; or one figure, if both are the same.

    A variance estimated from deals is a sum of squares, one for each deal. If few deals carry the
    sum, it is as uncertain as their number says, however many others there are. If every game had
    its own luck, the deals' parts of a contrast's estimate would have the covariances G_cc = x' M_c
    x and G_cd = -x' M_c Q M_d x, where x = Q l, and M_c is the pull. The degrees are (sum G_cc)^2 /
    (sum G_cc^2 + sum G_cd^2) (Bell & McCaffrey 2002; Pustejovsky & Tipton 2018).
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
    """(..., L) the squares of contrasts, from the products (..., m, m) of the figures."""
    diagonal = np.diagonal(products, axis1=-2, axis2=-1)
    pairs = diagonal[..., one] + diagonal[..., other] - 2 * products[..., one, other]
    return np.where(one == other, diagonal[..., one], pairs)


def _portions(leverage: Leverage, width: int, squared: int = 0) -> Iterator[tuple[Alike, slice]]:
    """All designs, a number of them at a time, with ``width`` figures for each, and ``squared`` for
    each two parameters that it touches.
    """
    for alike in leverage.designs:
        step = max(1, FIGURES_AT_ONCE // (width + squared * alike.columns.shape[1] ** 2))
        for first in range(0, len(alike.units), step):
            yield alike, slice(first, first + step)


def _crossed(leverage: Leverage, moved: Floats) -> Floats:
    """(L,) the sums of G_cd^2 over all pairs of different deals, where ``moved`` (size, L) is x."""
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
    """The factors from standard errors to half-widths of 95 % intervals, or of others."""
    limited = np.clip(freedom, 1.0, MANY)
    level = (1 + coverage) / 2
    normal = NORMAL_QUANTILE if coverage == COVERAGE else ndtri(level)
    return np.where(limited < MANY, stdtrit(limited, level), normal)


def is_enough(freedom: Floats) -> Flags:
    """Whether these are those of the fewest deals that give an error bar."""
    return np.asarray(freedom >= FEWEST_EFFECTIVE - 1, dtype=np.bool_)


def chance_below(ratio: Floats, freedom: Floats) -> Floats:
    """The probability of a smaller ratio of an estimate to its error, if the truth is 0."""
    limited = np.clip(freedom, 1.0, MANY)
    return np.where(limited < MANY, stdtr(limited, ratio), ndtr(ratio))


def holm(p: Floats) -> Floats:
    """The p values, adjusted so that the chance of any of them falling below 5 % is 5 %, however
    many there are; NaN stays NaN.
    """
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return adjusted
