"""Whether the model fits: compares each pair's results in games together with what their ratings
and seats predict.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array
from scipy.special import fdtrc, stdtr

from arena.ratings.components import Floats, Ints
from arena.ratings.fit import Fit
from arena.ratings.freedom import FEWEST_EFFECTIVE
from arena.ratings.leverage import effective_deals
from arena.ratings.likelihood import (
    Layout,
    bread_of,
    expected_shares,
    layout_of,
    seat_columns,
    spread,
)
from arena.ratings.results import Results, SizedGames, restrict
from arena.ratings.sandwich import deal_sums, outcome_scores

SINGULAR = 1e-8
"""A variance below this fraction of the largest one, or of one game, counts as 0: some sums of
residuals are always 0.
"""
DEALS_EACH = 2
"""So many deals are needed for each direction that the test looks into."""
FEWEST_EXPECTED = 5
"""A pair is tested only if its weaker bot is expected to get this many wins; with fewer, winning
nothing is nothing unusual.
"""


class Goodness(NamedTuple):
    """The test of one component: ``statistic`` is F with ``freedom`` and ``deals - freedom``
    degrees of freedom.

    It is NaN with too few deals, and if ``is_open``: then only a prior keeps the ratings finite,
    and the results need not follow them. ``pairs`` has a row for each pair that met:

    ``bot``, ``opponent`` str; ``games`` int64
    ``lead``, ``expected``  float64, the bot's share of the win minus the opponent's, per game
    ``t``, ``p``  float64, the difference over its error, and the probability of a larger one if the
                  model is right; NaN if not tested
    ``p_all``     float64, the same for the largest of all pairs (Holm)
    """

    bots: list[str]
    statistic: float
    freedom: int
    deals: int
    p: float
    is_open: bool
    pairs: pd.DataFrame


def goodness(results: Results, fit: Fit) -> Goodness:
    """Tests the fit of a component. Errors are clustered by deal and allow for ratings estimated
    from the same games.
    """
    inner = restrict(results, fit.members)
    layout = layout_of(inner, fit.seats)
    parameters = fit.parameters(layout)
    pairs = _Pairs(inner, layout, parameters)
    bread = bread_of(parameters, layout, inner, fit.prior)
    scores, moved = outcome_scores(inner, layout, parameters), bread @ pairs.slopes.T
    deals = inner.clusters
    is_open = bool(fit.prior) and bool(fit.open_seats or (fit.marks != "").any())
    residual = _all_games(inner, pairs.leads)
    mean = (residual - _all_games(inner, scores) @ moved) / deals
    variance, told = np.zeros((len(residual), len(residual))), np.zeros((2, len(residual)))
    sums = (deal_sums(inner, each) for each in (pairs.leads, scores, pairs.weights))
    for lead, score, weight in zip(*sums, strict=True):
        centered = lead.toarray() - score @ moved - mean
        variance += centered.T @ centered
        told += weight.sum(axis=0), weight.power(2).sum(axis=0)
    # The ratings were fitted to these games, which takes part of the residuals away: ``score @
    # moved`` is what a deal contributed to that, and was taken off above.
    variance *= deals / (deals - 1) if deals > 1 else np.nan
    tested = np.flatnonzero((pairs.fewest >= FEWEST_EXPECTED) & (not is_open))
    statistic, freedom = _quotient(residual[tested], variance[np.ix_(tested, tested)], deals)
    p = float(fdtrc(freedom, deals - freedom, statistic)) if np.isfinite(statistic) else np.nan
    t = np.full(len(residual), np.nan)
    t[tested] = (
        residual[tested]
        / np.sqrt(np.where(np.diag(variance) > SINGULAR, np.diag(variance), np.nan))[tested]
    )
    effective = effective_deals(*told)
    return Goodness(
        inner.bots, statistic, freedom, deals, p, is_open, _table(inner.bots, pairs, t, effective)
    )


def _all_games(results: Results, of_outcomes: Sequence[csr_array]) -> Floats:
    """(m,) the rows of the matrices (O, m), one matrix per table size, summed over all games."""
    sums = [table.games @ matrix for table, matrix in zip(results.tables, of_outcomes, strict=True)]
    return np.asarray(sum(sums), dtype=np.float64)


class _Pairs:
    """The pairs of bots that met.

    By pair: ``leads`` (O, m) are the residual leads of a game with each outcome, for each table
    size, and ``weights`` (O, m) their variances; ``slopes`` (m, size) are the derivatives of the
    expected leads by parameter; ``games``, ``observed`` and ``expected`` are sums; ``fewest`` is
    the number of wins expected for the weaker bot.
    """

    def __init__(self, results: Results, layout: Layout, parameters: Floats) -> None:
        self.names = list(combinations(range(layout.bots), 2))
        count, width = len(self.names), layout.size + 1
        number = np.zeros((layout.bots, layout.bots), dtype=np.int64)
        for at, (one, other) in enumerate(self.names):
            number[one, other] = number[other, one] = at
        self.games, self.observed, self.expected, self.fewest = (np.zeros(count) for _ in range(4))
        slopes, self.leads, self.weights = (
            np.zeros(count * width),
            list[csr_array](),
            list[csr_array](),
        )
        for table in results.tables:
            expected = expected_shares(parameters, layout, table)
            residual, leads = table.share - expected, csr_array((len(expected), count))
            weights = csr_array((len(expected), count))
            for one, other in combinations(range(table.size), 2):
                pair, sign = (
                    number[table.seats[:, one], table.seats[:, other]],
                    _sign(table, one, other),
                )
                self.games += np.bincount(pair, table.games * (sign != 0), count)
                self.observed += np.bincount(
                    pair, sign * table.games * (table.share[:, one] - table.share[:, other]), count
                )
                self.expected += np.bincount(
                    pair, sign * table.games * (expected[:, one] - expected[:, other]), count
                )
                self.fewest += np.bincount(
                    pair, table.games * expected[:, [one, other]].min(axis=1) * (sign != 0), count
                )
                slope = (sign * table.games)[:, None] * (
                    spread(expected)[:, one] - spread(expected)[:, other]
                )
                for seat, column in enumerate(seat_columns(layout, table)):
                    slopes += np.bincount(
                        pair * width + table.seats[:, seat], slope[:, seat], count * width
                    )
                    slopes += np.bincount(pair * width + column, slope[:, seat], count * width)
                lead = sign * (residual[:, one] - residual[:, other])
                spread_of = expected[:, one] + expected[:, other]
                spread_of = sign**2 * (spread_of - (expected[:, one] - expected[:, other]) ** 2)
                place = (np.arange(len(lead)), pair)
                leads = leads + csr_array(coo_array((lead, place), shape=leads.shape))
                weights = weights + csr_array(coo_array((spread_of, place), shape=leads.shape))
            self.leads.append(leads)
            self.weights.append(weights)
        self.slopes = slopes.reshape(count, width)[:, :-1]


def _sign(table: SizedGames, one: int, other: int) -> Ints:
    """(O,) 1 if the first seat's bot has the lower number, -1 if it has the higher one, 0 if both
    are the same.
    """
    return np.asarray(np.sign(table.seats[:, other] - table.seats[:, one]), dtype=np.int64)


def _quotient(residual: Floats, variance: Floats, deals: int) -> tuple[float, int]:
    """Hotelling's T squared as F, over the directions that can vary, and the number of these."""
    if not np.isfinite(variance).all() or not variance.size:
        return np.nan, 0
    values, vectors = np.linalg.eigh(variance)
    varying = values > SINGULAR * max(values.max(), 1.0)
    freedom = int(varying.sum())
    # With fewer deals for each direction residuals are too coarse: where swapped seats cancel
    # luck, a model that is right was rejected in up to 22 of 100 simulated runs.
    if not 0 < freedom <= deals / DEALS_EACH:
        return np.nan, freedom
    squared = float((((residual @ vectors)[varying]) ** 2 / values[varying]).sum())
    return squared * (deals - freedom) / (freedom * (deals - 1)), freedom


def _table(bots: Sequence[str], pairs: _Pairs, every_t: Floats, deals: Floats) -> pd.DataFrame:
    """The pairs that met, on so many effective ``deals`` each."""
    met = np.flatnonzero(pairs.games > 0)
    t = np.where(deals >= FEWEST_EFFECTIVE, every_t, np.nan)[met]
    p = 2 * np.asarray(stdtr(np.maximum(deals[met] - 1, 1), -np.abs(t)), dtype=np.float64)
    table = pd.DataFrame(
        {
            "bot": [bots[pairs.names[at][0]] for at in met],
            "opponent": [bots[pairs.names[at][1]] for at in met],
            "games": pairs.games[met].astype(np.int64),
            "lead": pairs.observed[met] / pairs.games[met],
            "expected": pairs.expected[met] / pairs.games[met],
            "t": t,
            "p": p,
            "p_all": holm(p),
        }
    )
    return table.sort_values(["p", "bot", "opponent"], kind="stable", ignore_index=True)


def holm(p: Floats) -> Floats:
    """The p values, adjusted so that the chance of any of them falling below 5 % is 5 %, however
    many there are; NaN stays NaN.
    """
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return adjusted
