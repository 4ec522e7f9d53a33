"""Forecasts of a sequential test: in which range the number of further blocks lies with a
probability of 80 %, and how likely it is by now that the new bot is the better one.

A forecast simulates the rest of the test many times. Each simulation draws the true difference and
the variance of a block from what the blocks so far leave possible, then walks on until the log
likelihood ratio reaches a bound. The draws have a fixed seed, so the same blocks give the same
forecast.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from arena.ratings.fit import ROUNDING
from arena.ratings.results import Floats, Ints
from arena.ratings.scipy_parts import stdtr
from arena.ratings.sequential import WIDEST, SequentialTest

SURE = 0.8
"""The probability with which the number of further blocks lies in the range of a forecast."""
USUAL_ELO = 100.0
"""The standard deviation of the differences in Elo between two versions of a bot, as far as the
forecast knows before the first block. It is at the upper end of what is usual: with 60, the ranges
held in .69 to .78 of simulated comparisons of bots some 100 Elo apart; with 100, they hold where
differences are of 30 to 100 Elo (docs/statistics.md).
"""
USUAL_VARIANCE = 0.35
"""The usual variance of the value of a block, from -1 to 1. In comparisons of built-in bots that
play each other with seats swapped, it was 0.3 to 0.5.
"""
USUAL_BLOCKS = 6.0
"""How many blocks `USUAL_VARIANCE` counts for."""
OVERSHOOT = 0.583
"""How far a random walk with normal steps is beyond a bound when it crosses the bound, on average,
in standard deviations of a step (Siegmund 1985, 10.37).
"""
TRIES = 1000
"""The number of simulations. The ends of the range are then known to about 6 %."""
GROWTH = 1.06
"""A simulation looks at steps of single blocks at first, then at steps that grow with the number of
blocks, by this factor.
"""
MOST_BLOCKS = 1_000_000
"""Simulations that are longer than this count as having this many blocks."""


class BlocksLeft(NamedTuple):
    """The range, from ``low`` to ``high``, in which the number of further blocks of a test lies
    with the probability `SURE`; ``low`` is at least 1, ``high`` at most `MOST_BLOCKS`.
    """

    low: int
    high: int


def forecast(test: SequentialTest, elo: float | None = None) -> BlocksLeft:
    """The range of the number of further blocks until ``test`` is decided. The test must have at
    least one block and be undecided. ``elo`` is taken as the true difference in Elo; with None, the
    true difference is drawn from what the blocks leave possible.
    """
    rng = np.random.default_rng(TRIES)
    blocks = test.blocks
    squares = max(test.variance * (blocks + 1) - WIDEST, 0.0)
    freedom = USUAL_BLOCKS + blocks - 1
    scale = USUAL_BLOCKS * USUAL_VARIANCE + squares
    variances = scale / rng.chisquare(freedom, TRIES)
    means = _true_means(test, variances, rng) if elo is None else np.full(TRIES, test.worth(elo))
    more = _blocks_to_bound(test, means, variances, squares, rng)
    low, high = np.quantile(more, [(1 - SURE) / 2, (1 + SURE) / 2])
    return BlocksLeft(max(round(float(low)), 1), max(round(float(high)), 1))


def superiority(test: SequentialTest) -> float:
    """The probability, from 0 to 1, that the new bot is better than the old one, by the blocks of
    ``test`` alone; 0.5 with fewer than two blocks.
    """
    if test.blocks < 2:  # noqa: PLR2004 - one block has no variance
        return 0.5
    error = sqrt(test.variance / test.blocks)
    ratio = (test.mean - test.worth(0)) / max(error, ROUNDING)
    return float(stdtr(test.blocks - 1, ratio))


def _true_means(test: SequentialTest, variances: Floats, rng: np.random.Generator) -> Floats:
    """(n,) true means of a block, drawn from what the blocks of ``test`` leave possible if the
    variance of a block is the one in ``variances`` (n,).
    """
    centre = test.worth(0)
    usual = (test.worth(USUAL_ELO) - test.worth(-USUAL_ELO)) / 2
    precision = test.blocks / variances + 1 / usual**2
    middle = centre + (test.mean - centre) * test.blocks / variances / precision
    drawn = middle + rng.standard_normal(len(variances)) / np.sqrt(precision)
    return np.asarray(np.clip(drawn, -1, 1), dtype=np.float64)


def _blocks_to_bound(
    test: SequentialTest, means: Floats, variances: Floats, squares: float, rng: np.random.Generator
) -> Ints:
    """(n,) the number of blocks after those of ``test`` at which each of n simulations reaches a
    bound. ``means`` and ``variances`` (n,) are those of a block; ``squares`` is the sum of the
    squared deviations of the blocks so far.
    """
    null = test.worth(test.question.elo0)
    step = test.worth(test.question.elo1) - null
    middle = null + step / 2
    tries = len(means)
    more = np.full(tries, MOST_BLOCKS)
    # The simulations that have not ended; ``place``, ``means`` and ``variances`` are theirs.
    walking = np.arange(tries)
    place = np.full(tries, test.blocks * (test.mean - middle))
    at = test.blocks
    while walking.size and at < MOST_BLOCKS:
        rounds = max(round(at * (GROWTH - 1) / test.look), 1)
        size = rounds * test.look
        spread = np.sqrt(variances * size)
        before = place
        # Ended simulations draw, too, so that the draws of one do not depend on when others end.
        place = place + (means - middle) * size + spread * rng.standard_normal(tries)[walking]
        at += size
        # The test divides by its own estimate of the variance, which has one extra block.
        known = (squares + WIDEST + variances * (at - test.blocks)) / (at + 1)
        chance = np.zeros(len(walking))
        for bound, side in ((test.question.upper, 1), (test.question.lower, -1)):
            # A step of several rounds may cross the bound and come back in between.
            margin = OVERSHOOT * np.sqrt(variances * test.look) if rounds > 1 else 0.0
            line = side * bound * known / step + margin
            gaps = (line - side * before, line - side * place)
            crossing = np.exp(-2 * np.maximum(gaps[0], 0) * np.maximum(gaps[1], 0) / spread**2)
            crossed = crossing if rounds > 1 else (gaps[1] <= 0).astype(np.float64)
            chance = np.maximum(chance, crossed)
        has_ended = rng.random(tries)[walking] < chance
        part = np.ceil(rng.random(tries) * rounds) * test.look
        ended = walking[has_ended]
        more[ended] = (at - size - test.blocks + part[ended]).astype(np.int64)
        goes_on = ~has_ended
        walking = walking[goes_on]
        place = place[goes_on]
        means = means[goes_on]
        variances = variances[goes_on]
    return more
