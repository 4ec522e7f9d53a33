"""The errors of ratings, clustered by deal, by the one-step jackknife.

A deal's own luck pulls the ratings towards its results, so the residuals of the deal look too
small. The jackknife takes out the deal instead: with Q the inverse of all deals' information H, the
parameters move by ``Q (I - H_c Q)^-1 U_c``, where H_c and U_c are the deal's information and score
(CR3: Bell & McCaffrey 2002; Cameron & Miller 2015; MacKinnon, Nielsen & Webb 2023). H_c follows
from which games were played on the deal, whoever won them. These games are the deal's *design*, and
most deals of a run have the same one.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from arena.ratings.likelihood import Model, by_parameter
from arena.ratings.results import Floats, Ints, Results
from arena.ratings.scipy_parts import csr_array, eye_array

GAMES_AT_ONCE = 1 << 17
"""About how many games are summed by deal in one step."""
FIGURES_AT_ONCE = 1 << 21
"""The number of floats that an array may have in one step: 16 MB."""
FIGURES_IN_CACHE = 1 << 16
"""The number of floats that an array may have if the processor is to keep it at hand: 512 KB. For
1,000 bots, such steps take a fifth of the time.
"""
TEMPORARY = 8
"""About how many temporary floats a step needs for each entry of `DesignGroup.pull`."""
HELD_BACK = 1e-8
"""This part of a deal's information is kept when the deal is taken out, so that the matrix can be
inverted even where no other deal has information. There, the variance is that of the likelihood's
curvature.
"""
ALONE = 1e5
"""If taking out a deal multiplies its score by more than this factor, the deal holds information
that no other deal has.
"""


class Designs(NamedTuple):
    """The designs of C units of chance, which are deals, or single games as if each game had its
    own deal.

    ``design`` (C,)   the number of each unit's design; if the units are games, one entry per
                      outcome
    ``units`` (D,)    how many units have each design
    ``games`` (D, S)  how many games a unit of each design has with each seating
    """

    design: Ints
    units: Ints
    games: csr_array

    @property
    def are_seatings(self) -> bool:
        """Whether each design is one game, and the designs are in the order of their seatings."""
        count = self.games.shape[0]
        is_square = count == self.games.shape[1] == self.games.nnz
        return is_square and bool(np.all(self.games.indices == np.arange(count)))


class DesignGroup(NamedTuple):
    """All designs in which the same number R of parameters occurs. A design says which games were
    played on a deal, whoever won them.

    ``held`` (D,)       the numbers of these designs
    ``units`` (D,)      how many deals have each of them
    ``columns`` (D, R)  the indices of the parameters of each design
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
    ``effective`` (n,)      the effective number of deals of each bot: how many deals with equal
                            information would hold as much as the bot's deals
    """

    bread: Floats
    designs: list[DesignGroup]
    effective: Floats


def sandwich(
    model: Model, parameters: Floats, prior: float, loose: Floats
) -> tuple[Floats, Floats, Leverage]:
    """The errors of the ``parameters`` of ``model`` by the one-step cluster jackknife (CR3).
    Returns their covariance (size, size) clustered by deal, the covariance as if all games were
    independent, and the leverage of the deals.

    The mean rating is held at 0. A covariance is NaN with one deal, or one game. In the directions
    ``loose`` (size, m) only the prior, whose weight is ``prior``, holds the parameters: all deals
    went one way there, so they hardly vary and the sandwich would be far too narrow. For these
    directions the inverse of the curvature, prior included, is added.
    """
    results = model.results
    information = model.derivatives(parameters, prior)[1]
    bread = np.asarray(np.linalg.inv(model.gauged(information, prior)), dtype=np.float64)
    scores = model.scores(model.shares(parameters))
    apart = designs_by_game(model)
    leverage = leverage_of(model, parameters, bread, apart)
    # all games with one outcome are one row, times the square root of their number
    weighed = csr_array(scores.multiply(np.sqrt(results.times)[:, None]))
    by_deal = by_game = jackknifed(leverage, apart, [weighed])
    if results.clusters != results.games:
        # Games on one deal share its luck. Intervals that treat these games as independent, or use
        # the model's own curvature, cover the truth in 84 to 100 of 100 runs; those here in 93 to
        # 96.
        del leverage, weighed  # some MB each for 300 bots
        designs = designs_by_deal(model)
        leverage = leverage_of(model, parameters, bread, designs)
        by_deal = jackknifed(leverage, designs, deal_sums(results, scores))
    added = loose @ np.linalg.inv(loose.T @ information @ loose) @ loose.T if loose.size else 0.0
    center = np.eye(model.size)
    center[: len(results.bots), : len(results.bots)] -= 1 / len(results.bots)

    def covariance(meat: Floats) -> Floats:
        """The covariance of the centred parameters, given the sums of squared scores."""
        return np.asarray(center @ (bread @ meat @ bread + added) @ center.T, dtype=np.float64)

    return covariance(by_deal), covariance(by_game), leverage


def deal_sums(results: Results, of_outcomes: csr_array) -> Iterator[csr_array]:
    """The rows of ``of_outcomes`` (O, m), a figure for each outcome, summed over the games of each
    deal: (C, m) in all, yielded for some deals at a time.
    """
    # All deals at once would need a matrix of deals by parameters beside a million games. In
    # portions, memory stays constant, and the sums are the same.
    step = max(1, GAMES_AT_ONCE * results.clusters // max(results.games, 1))
    for first in range(0, results.clusters, step):
        deals = np.arange(first, min(first + step, results.clusters) + 1, dtype=np.int32)
        ends = np.searchsorted(results.cluster, deals)
        games = results.outcome[ends[0] : ends[-1]]
        shape = (len(deals) - 1, len(results.times))
        counts = csr_array((np.ones(len(games)), games, ends - ends[0]), shape=shape)
        yield csr_array(counts @ of_outcomes)


def designs_by_deal(model: Model) -> Designs:
    """Groups the deals of the model's results by their design, that is, by how many games were
    played on a deal with each seating. Deals with the same design hold the same information.
    """
    results = model.results
    most = np.iinfo(np.uint64).max
    # 64 random bits: among a million designs, two have the same sum by chance in one of 10^7 runs.
    codes = np.random.default_rng(1).integers(0, most, len(model.times), dtype=np.uint64)
    sums = np.zeros(results.games + 1, dtype=np.uint64)
    np.cumsum(codes[model.seating][results.outcome], out=sums[1:])
    ends = np.append(0, np.cumsum(np.bincount(results.cluster, minlength=results.clusters)))
    _, deals, design = np.unique(np.diff(sums[ends]), return_index=True, return_inverse=True)
    # Numbered by their first deals, not by their random codes. ``deals`` are these first deals.
    order = np.argsort(deals)
    deals = deals[order]
    design = np.argsort(order)[design]
    counts = np.diff(ends)[deals]
    rows = np.append(0, np.cumsum(counts))
    games = np.arange(rows[-1]) + np.repeat(ends[deals] - rows[:-1], counts)
    seatings = model.seating[results.outcome[games]]
    shape = (len(deals), len(model.times))
    by_design = csr_array((np.ones(len(games)), seatings, rows), shape=shape)
    by_design.sum_duplicates()
    return Designs(design, np.bincount(design), by_design)


def designs_by_game(model: Model) -> Designs:
    """The designs of the single games in the model's results, as if each game had its own deal."""
    games = csr_array(eye_array(len(model.times), format="csr"))
    return Designs(model.seating, model.times.astype(np.int64), games)


def leverage_of(model: Model, parameters: Floats, bread: Floats, designs: Designs) -> Leverage:
    """The leverage of the units of ``model`` with these ``designs`` at these ``parameters``;
    ``bread`` is the inverse of the information.
    """
    width = model.size + 1
    by_design = _information_by_design(model, parameters, designs)
    touched = csr_array(
        designs.games @ by_parameter(np.ones(model.columns.shape), model.columns, model.size)
    )
    touched.sort_indices()
    alike = []
    touches = np.diff(touched.indptr)
    for count in np.unique(touches).tolist():
        held = np.flatnonzero(touches == count)
        columns = touched.indices[touched.indptr[held][:, None] + np.arange(count)].astype(np.int64)
        pull = np.empty((len(held), count, count))
        for part in _slices(len(held), TEMPORARY * count**2):
            rows = columns[part, :, None]
            others = columns[part, None, :]
            # Not reshaped to one square matrix below the other: the matrix would have a row for
            # each design and parameter, and for 300 bots these rows alone take 200 MB.
            flat = rows * width + others
            kept = (1 - HELD_BACK) * _entries(by_design, held[part, None, None], flat)
            pulled = np.linalg.solve(np.eye(count) - kept @ bread[rows, others], kept)
            pull[part] = (pulled + pulled.transpose(0, 2, 1)) / 2
        alike.append(DesignGroup(held, designs.units[held], columns, pull))
    information_of_bots = by_design[:, np.arange(len(model.results.bots)) * (width + 1)]
    # The effective number of deals (Kish).
    sums = designs.units @ information_of_bots
    squares = designs.units @ information_of_bots.power(2)
    effective = np.divide(sums**2, squares, where=squares > 0, out=np.zeros_like(squares))
    return Leverage(bread, alike, effective)


def _information_by_design(model: Model, parameters: Floats, designs: Designs) -> csr_array:
    """(D, (size + 1)**2) the information of one unit of each of the D ``designs``, as a flattened
    matrix, at these ``parameters`` of ``model``.
    """
    products, places = model.products(parameters)
    rows = np.arange(0, products.size + 1, products[0].size)
    by_seating = csr_array(
        (products.ravel(), places.ravel(), rows), shape=(len(rows) - 1, (model.size + 1) ** 2)
    )
    del products, places  # a dozen MB each for 300 bots
    # not multiplied by an identity matrix, which would copy two dozen MB
    by_design = by_seating if designs.are_seatings else csr_array(designs.games @ by_seating)
    by_design.sum_duplicates()  # in order, an entry is found a hundred times as fast
    return by_design


def jackknifed(leverage: Leverage, designs: Designs, scored: Iterable[csr_array]) -> Floats:
    """The sum, (size, size), of U U' over all units of chance, where U is the unit's score after
    correction for the unit's own pull on the parameters; NaN with one unit.

    ``scored`` yields the scores (C, size) of all units, some units at a time.
    """
    size = len(leverage.bread)
    first = 0
    sums = [np.zeros_like(alike.pull) for alike in leverage.designs]
    for scores in scored:
        design = designs.design[first : first + scores.shape[0]]
        first += scores.shape[0]
        for begin, end, squares in _squares(scores, design):
            for alike, total in zip(leverage.designs, sums, strict=True):
                part = slice(*np.searchsorted(alike.held, (begin, end)))
                columns = alike.columns[part]
                rows = (alike.held[part, None] - begin) * size + columns
                total[part] += _entries(squares, rows[:, :, None], columns[:, None, :])
    meat = np.zeros((size, size))
    for alike, total in zip(leverage.designs, sums, strict=True):
        for part in _slices(len(total), TEMPORARY * total[0].size):
            rows = alike.columns[part, :, None]
            columns = alike.columns[part, None, :]
            back = np.eye(rows.shape[1]) + alike.pull[part] @ leverage.bread[rows, columns]
            alone = (np.abs(back).max(axis=(1, 2)) > ALONE) * alike.units[part] * HELD_BACK
            whole = back @ total[part] @ back.transpose(0, 2, 1)
            np.add.at(meat, (rows, columns), whole + alone[:, None, None] * alike.pull[part])
    # With this factor, deals that are all alike give their plain variance.
    units = designs.units.sum()
    return np.asarray(meat * ((units - 1) / units if units > 1 else np.nan), dtype=np.float64)


def _squares(scores: csr_array, design: Ints) -> Iterator[tuple[int, int, csr_array]]:
    """The sums of U U' over the units of each design, where U is a row of ``scores`` (C, size) and
    ``design`` (C,) has the number of each unit's design.

    Yields, for some designs at a time, their range of numbers, from the first to the one after the
    last, and the sums (designs * size, size), one below the other. Ranges without units are left
    out.
    """
    size = scores.shape[1]
    # A sparse matrix has a figure for each of its rows, also where it has no entry. Its product and
    # what that is made of are four such matrices.
    step = max(1, FIGURES_AT_ONCE // (4 * size))
    last = int(design.max(initial=-1)) + 1
    portion = design // step
    for number in np.unique(portion).tolist():
        units = np.flatnonzero(portion == number)
        part = scores if len(units) == scores.shape[0] else csr_array(scores[units])
        begin = number * step
        end = min(begin + step, last)
        # each design has columns of its own, so that one product sums each design by itself
        places = part.indices + np.repeat((design[units] - begin) * size, np.diff(part.indptr))
        shape = (part.shape[0], (end - begin) * size)
        apart = csr_array((part.data, places, part.indptr), shape=shape)
        squares = csr_array(csr_array(apart.T) @ part)
        squares.sort_indices()
        yield begin, end, squares


def _entries(matrix: csr_array, rows: Ints, columns: Ints) -> Floats:
    """The entries of ``matrix`` at these ``rows`` and ``columns``, which are broadcast together."""
    places = np.broadcast_arrays(rows, columns)
    picked = matrix[places[0].ravel(), places[1].ravel()]
    entries = picked.toarray() if hasattr(picked, "toarray") else picked
    return np.asarray(entries, dtype=np.float64).reshape(places[0].shape)


def satterthwaite(leverage: Leverage, figures: Floats, one: Ints, other: Ints) -> Floats:
    """(L,) the degrees of freedom of the variances of L contrasts. ``figures`` (m, size) are m sets
    of weights of the parameters. Contrast i is the difference of the figures ``one[i]`` and
    ``other[i]``, or the figure itself if both are equal.

    A variance estimated from deals is a sum of squares, one for each deal. If few deals make up
    most of the sum, it is as uncertain as a sum of few, however many other deals there are. If
    every game had its own luck, the deals' parts of a contrast's estimate would have the
    covariances G_cc = x' M_c x and G_cd = -x' M_c Q M_d x, where x = Q l, l is the contrast and M_c
    is the pull. The degrees of freedom are (sum G_cc)^2 / (sum G_cc^2 + sum G_cd^2) (Bell &
    McCaffrey 2002; Pustejovsky & Tipton 2018).
    """
    used, places = np.unique((one, other), return_inverse=True)
    figures = figures[used]
    one, other = np.sort(places.reshape(2, -1), axis=0)
    bread = leverage.bread
    moved = bread @ figures.T
    variance = contrasted(figures @ moved, one, other)
    total, squares, fourths = _sums_of_powers(leverage, moved)[:, one, other]
    # If one deal alone determines a contrast, its error is unknown; here only rounding would
    # remain.
    is_alone = total > ALONE * variance
    if len(one) * bread.size <= FIGURES_AT_ONCE:
        crossed = _crossed(leverage, moved[:, one] - moved[:, other] * (one != other))
    else:  # as if all deals moved the contrast in one direction, which the decisive deals nearly do
        crossed = (squares**2 - fourths) / np.where(variance > 0, variance, 1.0) ** 2
    below = squares + crossed
    freedom = np.zeros(len(variance))
    np.divide(total**2, below, where=(below > 0) & ~is_alone, out=freedom)
    return freedom


def _sums_of_powers(leverage: Leverage, moved: Floats) -> Floats:
    """Three matrices, (3, m, m): the sums over all deals c of G_cc, of its square, and of its
    fourth power, which `satterthwaite` needs and whose docstring explains the symbols. An entry
    above the diagonal is for the contrast of two figures, one on the diagonal for the figure
    itself; those below mean nothing. ``moved`` (size, m) is Q times the weights of the figures.
    """
    count = moved.shape[1]
    sums = np.zeros((3, count, count))
    total, squares, fourths = sums
    height = min(count, max(1, FIGURES_IN_CACHE // count))
    for alike in leverage.designs:
        for part in _slices(len(alike.units), height * count, FIGURES_IN_CACHE):
            units = alike.units[part]
            along = moved[alike.columns[part]]
            pulled = alike.pull[part] @ along
            alone = (along * pulled).sum(axis=1)
            for first in range(0, count, height):
                rows = slice(first, first + height)
                columns = slice(first, None)
                # as `contrasted` does, but for all pairs, and without arrays in between
                own = along[:, :, rows].transpose(0, 2, 1) @ pulled[:, :, columns]
                own *= -2
                own += alone[:, rows, None]
                own += alone[:, None, columns]
                diagonal = np.arange(own.shape[1])
                own[:, diagonal, diagonal] = alone[:, rows]
                total[rows, columns] += np.tensordot(units, own, 1)
                own *= own
                squares[rows, columns] += np.tensordot(units, own, 1)
                own *= own
                fourths[rows, columns] += np.tensordot(units, own, 1)
    return sums


def contrasted(products: Floats, one: Ints, other: Ints) -> Floats:
    """The variances, (..., L), of L contrasts, from the covariances ``products`` (..., m, m) of m
    figures. Contrast i is the difference of the figures ``one[i]`` and ``other[i]``, or the figure
    itself if both are equal.
    """
    diagonal = np.diagonal(products, axis1=-2, axis2=-1)
    pairs = diagonal[..., one] + diagonal[..., other] - 2 * products[..., one, other]
    return np.where(one == other, diagonal[..., one], pairs)


def _slices(count: int, each: int, most: int = FIGURES_AT_ONCE) -> Iterator[slice]:
    """Slices that together cover ``count`` entries. An entry needs ``each`` floats, and a slice
    needs at most ``most``, if it is longer than one entry.
    """
    step = max(1, most // each)
    return (slice(first, first + step) for first in range(0, count, step))


def _crossed(leverage: Leverage, moved: Floats) -> Floats:
    """(L,) for each of L contrasts, the sum of G_cd^2 over all ordered pairs of different deals c
    and d, which `satterthwaite` needs and whose docstring explains the symbols. Column i of
    ``moved`` (size, L) is Q times the weights l of contrast i, there called x.
    """
    bread = leverage.bread
    size, count = moved.shape
    products = np.zeros((size * size, count))
    own = np.zeros(count)
    for alike in leverage.designs:
        for part in _slices(len(alike.units), count * alike.columns.shape[1] ** 2):
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
