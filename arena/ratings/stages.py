"""Ratings by all ranks, as a second opinion beside those by wins: a staged Plackett-Luce model.

A game is read as a row of choices: who of all comes first, who of the rest comes second, and so on.
At each choice, the chance of a bot is ``exp(scale (theta_p + s_seat))`` over its sum. The first
choice is that of the share-logit model; every later one has a scale of its own, because later ranks
depend less on strength. With a scale of 1 everywhere, ratings were up to 134 Elo off. Bots that
share a rank share the choice.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from arena.errors import NoAnswerError
from arena.ratings.components import Floats
from arena.ratings.fit import Fit
from arena.ratings.freedom import COVERAGE, quantile
from arena.ratings.likelihood import ELO, Layout, bread_of, layout_of, seat_columns, spread
from arena.ratings.model import MOST_STEPS, STEP_CAP, TOLERANCE, Ratings
from arena.ratings.outside import bounds_of
from arena.ratings.results import Results, SizedGames, restrict
from arena.ratings.sandwich import deal_sums, outcome_scores

START = 0.6
"""The scale of a later stage with which the search begins; on real games they are 0.56 to 0.64."""
MOST_THETA = 20.0
"""Ratings further out than this (about 3,500 Elo) have no finite maximum."""


class Second(NamedTuple):
    """The second opinion on a fit.

    ``fit``      the ratings by ranks of the same bots
    ``scales``   by table size and number of ranks given out before, the scale of that stage
    ``further``  (n,) by how much more each bot is rated by ranks than by wins, in Elo with mean 0,
                 and ``error`` (n,) the half-widths of the 95 % intervals of that, all together
    """

    fit: Fit
    scales: dict[tuple[int, int], float]
    further: Floats
    error: Floats


class _Stage(NamedTuple):
    """One choice in each outcome of a table: among which seats (O, k), the share of each in it (O,
    k), and the number of its scale, or -1 for the first stage.
    """

    table: SizedGames
    number: int
    open: NDArray[np.bool_]
    share: Floats
    scale: int


def by_ranks(results: Results, fit: Fit) -> Second:
    """What all ranks say about the bots of a fit. With two players that is the fit itself. Raises
    NoAnswerError.
    """
    games = restrict(results, fit.members)
    layout = layout_of(games, fit.seats)
    sizes = sorted({table.players for table in games.tables})
    keys = [(size, placed) for size in sizes for placed in range(1, size - 1)]
    if not keys:
        zero = np.zeros(len(fit.members))
        return Second(fit, {}, zero, zero)
    stages = list(_stages(games, keys))
    parameters = _solve(layout, stages, len(keys))
    scores, bread = _scores(games, layout, stages, parameters), _bread(layout, stages, parameters)
    wins = fit.parameters(layout)
    win_bread = bread_of(wins, layout, games, fit.prior)
    by_wins, covariance, apart = _covariances(
        games, layout.bots, (scores, bread), (outcome_scores(games, layout, wins), win_bread)
    )
    # The jackknife widens the errors by wins where few deals tell of a bot. Those by ranks come
    # from the same deals, so they are widened by as much.
    wider = _ratio(np.diag(fit.covariance) / ELO**2, np.diag(by_wins))
    bots = len(fit.members)
    elo = parameters[:bots] * ELO
    factor = quantile(np.diag(fit.freedom), 1 - (1 - COVERAGE) / bots)
    return Second(
        fit=fit._replace(
            elo=elo - elo.mean(),
            covariance=covariance * np.outer(wider, wider) * ELO**2,
            gain=np.nan,
            seats={},
            prior=0.0,
            marks=np.full_like(fit.marks, ""),
            open_seats=(),
            by_prior=(),
        ),
        scales={key: float(parameters[layout.size + at]) for at, key in enumerate(keys)},
        further=elo - elo.mean() - fit.elo + fit.elo.mean(),
        error=factor * wider * np.sqrt(np.diag(apart)) * ELO,
    )


def _stages(games: Results, keys: Sequence[tuple[int, int]]) -> Iterator[_Stage]:
    for number, table in enumerate(games.tables):
        for placed in range(table.players - 1):
            still, chosen = table.ranks > placed, table.ranks == placed + 1
            # A stage in which nobody is chosen, because more than one was chosen before it or one
            # who is left out, has nothing to say: nobody is open, and nobody has a share.
            still &= chosen.any(axis=1, keepdims=True) & (still.sum(axis=1, keepdims=True) > 1)
            share = (chosen & still) / np.maximum(chosen.sum(axis=1, keepdims=True), 1)
            scale = keys.index((table.players, placed)) if placed else -1
            yield _Stage(table, number, still, share, scale)


class _Choices(NamedTuple):
    """A stage at given parameters: its scale, the utilities (O, k) and their columns, what was
    chosen more often than expected (O, k), and the spread of the expectation (O, k, k).
    """

    scale: float
    utility: Floats
    residual: Floats
    spread: Floats


def _terms(layout: Layout, stage: _Stage, parameters: Floats) -> _Choices:
    padded = np.append(parameters[: layout.size], 0.0)
    utility = padded[stage.table.seats] + padded[seat_columns(layout, stage.table)]
    scale = 1.0 if stage.scale < 0 else float(parameters[layout.size + stage.scale])
    weight = np.where(stage.open, np.exp(scale * (utility - utility.max(axis=1, keepdims=True))), 0)
    expected = weight / np.maximum(weight.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return _Choices(scale, utility, stage.share - expected, spread(expected))


def _design(layout: Layout, stage: _Stage, utility: Floats, scale: float, size: int) -> Floats:
    """(O, k, size) how the scaled utility of each seat moves with each parameter."""
    table, rows = stage.table, np.arange(len(stage.table.games))[:, None]
    design = np.zeros((len(table.games), table.size, size + 1))
    seats = np.arange(table.size)
    columns = seat_columns(layout, table)
    columns = np.where(columns == layout.size, size, columns)
    design[rows, seats, table.seats] += scale
    design[rows, seats, columns] += scale
    if stage.scale >= 0:
        design[:, :, layout.size + stage.scale] += utility
    return np.asarray(design[:, :, :size], dtype=np.float64)


def _derivatives(
    layout: Layout, stages: Sequence[_Stage], parameters: Floats
) -> tuple[Floats, Floats]:
    """The gradient of the log likelihood and the information, with the mean rating held."""
    size = len(parameters)
    gradient, information = np.zeros(size), np.zeros((size, size))
    for stage in stages:
        terms = _terms(layout, stage, parameters)
        design = _design(layout, stage, terms.utility, terms.scale, size)
        games = stage.table.games
        gradient += np.einsum("o,ok,okp->p", games, terms.residual, design)
        half = np.einsum("okl,olp->okp", terms.spread * games[:, None, None], design)
        information += np.tensordot(design, half, axes=((0, 1), (0, 1)))
    information[: layout.bots, : layout.bots] += 1 / layout.bots
    return gradient, information


def _solve(layout: Layout, stages: Sequence[_Stage], scales: int) -> Floats:
    """The ratings, seats and scales at the maximum, by Fisher scoring. Raises NoAnswerError."""
    parameters = np.append(np.zeros(layout.size), np.full(scales, START))
    for _ in range(MOST_STEPS):
        gradient, information = _derivatives(layout, stages, parameters)
        step = np.linalg.lstsq(information, gradient)[0]
        step *= min(1.0, STEP_CAP / max(np.abs(step).max(), 1e-300))
        parameters = parameters + step
        if np.abs(parameters).max() > MOST_THETA:
            break
        if np.abs(step).max() <= TOLERANCE * max(1.0, np.abs(parameters).max()):
            return np.asarray(parameters, dtype=np.float64)
    raise NoAnswerError(
        "expected every bot to be ranked above and below others, got ratings by rank that grow"
        " without limit",
        "use --by wins, or play more deals",
    )


def _bread(layout: Layout, stages: Sequence[_Stage], parameters: Floats) -> Floats:
    """The inverse of the curvature at the maximum, with the mean rating held."""
    _, curvature = _derivatives(layout, stages, parameters)
    for stage in stages:
        if stage.scale >= 0:
            # The utility is the product of a scale and the ratings, and so bends as well.
            at, terms = layout.size + stage.scale, _terms(layout, stage, parameters)
            plain = stage._replace(scale=-1)
            design = _design(layout, plain, terms.utility, 1.0, len(parameters))
            mixed = np.einsum("o,ok,okp->p", stage.table.games, terms.residual, design)
            curvature[at] -= mixed
            curvature[:, at] -= mixed
    # A stage that nobody of these bots ever decided has a scale that nothing tells of.
    return np.asarray(np.linalg.pinv(curvature, hermitian=True), dtype=np.float64)


def _scores(
    games: Results, layout: Layout, stages: Sequence[_Stage], parameters: Floats
) -> list[csr_array]:
    """(O, size) for each table size, the score of a game with each outcome."""
    size = len(parameters)
    scores = [np.zeros((len(table.games), size)) for table in games.tables]
    for stage in stages:
        terms = _terms(layout, stage, parameters)
        design = _design(layout, stage, terms.utility, terms.scale, size)
        scores[stage.number] += np.einsum("ok,okp->op", terms.residual, design)
    return [csr_array(of_table) for of_table in scores]


def _covariances(
    games: Results,
    bots: int,
    ranks: tuple[list[csr_array], Floats],
    wins: tuple[list[csr_array], Floats],
) -> tuple[Floats, Floats, Floats]:
    """Three covariances of ratings with mean 0, clustered by deal: of those by wins, of those by
    ranks, and of what the latter have more.
    """
    center = np.eye(bots) - 1 / bots
    pulls = [np.asarray(bread[:, :bots] @ center) for _, bread in (ranks, wins)]
    found = np.zeros((3, bots, bots))
    for of_ranks, of_wins in zip(
        deal_sums(games, ranks[0]), deal_sums(games, wins[0]), strict=True
    ):
        moved = [of_wins @ pulls[1], of_ranks @ pulls[0]]
        moved.append(moved[1] - moved[0])
        found += [part.T @ part for part in moved]
    found *= games.clusters / (games.clusters - 1) if games.clusters > 1 else np.nan
    return found[0], found[1], found[2]


def _ratio(variance: Floats, other: Floats) -> Floats:
    """The roots of the ratios of variances; 1 where there is none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.sqrt(variance / other)
    return np.where(np.isfinite(ratio), ratio, 1.0)


def ratings_by_ranks(results: Results, ratings: Ratings) -> tuple[Ratings, list[str]]:
    """The same components rated by ranks, and notes on what that is. Raises NoAnswerError."""
    parts, seconds = [], []
    for part in ratings.components:
        if part.fit is None:
            parts.append(part)
            continue
        second = by_ranks(results, part.fit)
        bounds = bounds_of(results, part.members, second.fit)
        parts.append(part._replace(fit=second.fit, bounds=bounds))
        seconds.append(second)
    return Ratings(parts), [*rank_notes(results.bots, seconds)] if seconds else []


def rank_notes(bots: Sequence[str], seconds: Sequence[Second]) -> Iterator[str]:
    """What the table by ranks is, and how far it is from that by wins."""
    scales = {key: scale for second in seconds for key, scale in second.scales.items()}
    if not scales:
        yield "by ranks: with two players, the ranks say just what the wins say"
        return
    told = ", ".join(
        f"{scale:.2f} for rank {placed + 1} of {size}"
        for (size, placed), scale in sorted(scales.items())
    )
    yield (
        "by ranks: a second opinion from all ranks, not only the first; a lower rank counts for"
        f" less ({told}); the standings go by wins"
    )
    apart = [
        f"{bots[member]} {further:+.0f} +/- {error:.0f}"
        for second in seconds
        for member, further, error in zip(
            second.fit.members, second.further, second.error, strict=True
        )
        if abs(further) > error
    ]
    if apart:
        yield f"compared with the ratings by wins, beyond error: {', '.join(apart)}"
    else:
        yield "no rating differs from that by wins beyond error"
