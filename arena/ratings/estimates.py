"""How much better one bot is, after a test that stopped once it knew enough. Such a test tends to
stop on a lucky streak.
"""

from collections.abc import Callable
from functools import lru_cache
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.integrate import simpson
from scipy.optimize import brentq
from scipy.special import ndtr

from arena.ratings.fit import ROUNDING
from arena.ratings.likelihood import COVERAGE, quantile
from arena.ratings.results import Floats
from arena.ratings.sequential import SequentialTest, Verdict

if TYPE_CHECKING:
    from arena.ratings.margins import MarginTest


OVERSHOOT = 0.583
"""How far a walk in normal steps overshoots a bound when it crosses it, in steps (Siegmund 1985,
10.37).
"""
CERTAIN = 0.99
"""How sure we want to be before we say that margins and wins disagree."""
NEAR = 20.0
"""How many Elo a round of blocks rarely moves an estimate."""
MOST_ELO = 4000.0
"""Differences larger than this count as infinite."""


class Estimate(NamedTuple):
    """A difference in Elo with its 95 % interval; infinite if the results do not bound it."""

    elo: float
    low: float
    high: float


def plain_estimate(test: SequentialTest) -> Estimate:
    """The mean of the blocks, as if their number had been fixed in advance: biased away from 0 if a
    bound was reached.
    """
    half = float(quantile(test.blocks - 1)) * sqrt(test.variance / max(test.blocks, 1))
    return Estimate(
        elo=_elo(test, test.mean),
        low=_elo(test, test.mean - half),
        high=_elo(test, test.mean + half),
    )


def unbiased_estimate(test: SequentialTest) -> Estimate:
    """The median-unbiased estimate: the difference for which the test would have ended below this
    outcome as often as above it.

    The ends of the interval are the differences for which it would have done so in 2.5 % of cases
    on either side. The log likelihood ratio is treated as a Brownian motion, with its bounds
    widened by the overshoot of a walk in steps.
    """
    if not test.blocks:
        return Estimate(0.0, -inf, inf)
    null = test.worth(test.question.elo0)
    step = test.worth(test.question.elo1) - test.worth(test.question.elo0)
    rate = step**2 / test.variance
    margin = OVERSHOOT * sqrt(rate * test.look)
    lower = test.question.lower - margin
    upper = test.question.upper + margin
    place = {"better": upper, "not better": lower}.get(test.verdict, test.llr)
    outcome = Endpoint(lower, upper, rate * test.blocks, place)

    def elo_with(chance: float) -> float:
        drifts = [(end - null) / step - 0.5 for end in (-1, 1)]
        return _elo(
            test,
            (_root(lambda drift: chance_of_less(outcome, drift) - chance, *drifts) + 0.5) * step
            + null,
        )

    return Estimate(elo_with(0.5), elo_with((1 + COVERAGE) / 2), elo_with((1 - COVERAGE) / 2))


class Look(NamedTuple):
    """What a test says after a round of blocks.

    ``blocks``   so far
    ``llr``      the log likelihood ratio, which decides when it reaches a bound of the question
    ``elo``      the plain estimate, infinite if the blocks do not bound it
    ``error``    the half-width of its 95 % interval, infinite where that knows no end
    ``verdict``  so far
    """

    blocks: int
    llr: float
    elo: float
    error: float
    verdict: Verdict


def look_at(test: SequentialTest, before: Look | None = None) -> Look:
    """What a test says now; ``before`` is the look before this one, which saves time.

    By margin, a plain estimate with the two ends of its interval takes 22 ms, this 2 ms.
    """
    near = before.elo if before else 0.0
    elo = _elo_near(test, test.mean, near) if isfinite(near) else _elo(test, test.mean)
    half = float(quantile(test.blocks - 1)) * sqrt(test.variance / max(test.blocks, 1))
    error = half / _slope(test, elo) if isfinite(elo) else inf
    return Look(test.blocks, test.llr, elo, error if error < MOST_ELO else inf, test.verdict)


def _elo_near(test: SequentialTest, value: float, near: float) -> float:
    """`_elo`, for one that is probably near to another."""
    low = near - NEAR
    high = near + NEAR
    if not test.worth(low) < value < test.worth(high):
        return _elo(test, value)
    return float(brentq(lambda elo: test.worth(elo) - value, low, high, xtol=1e-4))


def disagreement(test: "MarginTest") -> Estimate:
    """By how much more the new bot is better by margin than by wins, with its 99 % interval. All of
    it is from the same blocks, so most of their luck cancels.
    """
    by_margin = plain_estimate(test).elo
    by_wins = plain_estimate(test.wins).elo
    if not (test.blocks and isfinite(by_margin) and isfinite(by_wins)):
        return Estimate(0.0, -inf, inf)
    slopes = (_slope(test, by_margin), _slope(test.wins, by_wins))
    variance = (
        test.variance / slopes[0] ** 2
        + test.wins.variance / slopes[1] ** 2
        - 2 * test.covariance / (slopes[0] * slopes[1])
    )
    half = float(quantile(test.blocks - 1, CERTAIN)) * sqrt(max(variance, 0.0) / test.blocks)
    difference = by_margin - by_wins
    return Estimate(difference, difference - half, difference + half)


def _slope(test: SequentialTest, elo: float) -> float:
    """How much the mean rises for a point of Elo."""
    return (test.worth(elo + 0.5) - test.worth(elo - 0.5)) or ROUNDING


def _root(falls: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a falling function, or the end where it comes closest to 0."""
    if falls(low) < 0:
        return low
    return high if falls(high) > 0 else float(brentq(falls, low, high, xtol=1e-9))


def _elo(test: SequentialTest, value: float) -> float:
    """The difference in Elo that gives this expected value of a block."""
    if abs(value) >= abs(test.worth(MOST_ELO if value > 0 else -MOST_ELO)):
        return inf if value > 0 else -inf
    return float(brentq(lambda elo: test.worth(elo) - value, -MOST_ELO, MOST_ELO, xtol=1e-9))


# Either series is exact; they differ in how soon they may stop. Reflections fade with growing
# distance over the root of time, waves with time: at SHORT both are exact to rounding with these.
IMAGES = np.arange(-4, 5)[:, None]
WAVES = np.arange(1, 13)[:, None]
SHORT = 0.2
"""In units of the squared distance of the bounds: below this time, reflections converge faster than
waves.
"""
VERY_SHORT = 1e-4
"""In the same units: before this time, no motion has come near a bound."""
STEPS = 1001
EARLIEST = 12
"""How far below the outcome's time the times reach that we look at, as a power of e."""


class Endpoint(NamedTuple):
    """The place, at a time, of a motion that started at 0 with variance 1 per unit of time, and
    stops at ``lower`` or ``upper``.
    """

    lower: float
    upper: float
    time: float
    place: float


def chance_of_less(outcome: Endpoint, drift: float) -> float:
    """The probability of an outcome that ranks at or below this one; it falls with the drift."""
    low, high, time, place = outcome
    if place <= low:
        return _leaving(outcome, drift, low)
    if place >= high:
        return 1 - _leaving(outcome, drift, high)
    if time < VERY_SHORT * (high - low) ** 2:
        return float(ndtr((place - drift * time) / np.sqrt(time)))
    x, density = _staying(outcome)
    tilt = drift * x - drift**2 * time / 2
    return _leaving(outcome, drift, low) + float(simpson(np.exp(density + tilt), x=x))


def _leaving(outcome: Endpoint, drift: float, bound: float) -> float:
    """The probability of reaching the bound first, and by the outcome's time."""
    logs, flow = _flow(outcome, bound)
    tilt = drift * bound - drift**2 * np.exp(logs) / 2
    return float(simpson(np.exp(flow + tilt + logs), x=logs))


@lru_cache(maxsize=4)
def _flow(outcome: Endpoint, bound: float) -> tuple[Floats, Floats]:
    """The log density, at the logs of times up to the outcome's, of reaching the bound before the
    other one, without drift.
    """
    # In steps of log time: near 0 the density rises from nothing to its peak within a few parts in
    # a thousand of the time, which even steps would jump over.
    logs = np.linspace(np.log(outcome.time) - EARLIEST, np.log(outcome.time), STEPS)
    times = np.exp(logs)
    near = abs(bound)
    width = outcome.upper - outcome.lower
    distance = near + 2 * IMAGES * width
    images = (distance * np.exp(-(distance**2 - near**2) / (2 * times))).sum(axis=0)
    waves = (
        WAVES
        * np.sin(WAVES * np.pi * (1 - near / width))
        * (-1.0) ** (WAVES + 1)
        * np.exp(-_decay(times, width))
    )
    short = _log(images) - near**2 / (2 * times) - np.log(2 * np.pi * times**3) / 2
    long = _log(waves.sum(axis=0) * np.pi / width**2)
    return logs, np.where(times < SHORT * width**2, short, long)


@lru_cache(maxsize=4)
def _staying(outcome: Endpoint) -> tuple[Floats, Floats]:
    """Places up to the outcome's, and the log density there, at its time, of a motion without drift
    that has met neither bound.
    """
    low, high, time, place = outcome
    x = np.linspace(low, place, STEPS)
    width = high - low
    if time >= SHORT * width**2:
        waves = (
            np.sin(WAVES * np.pi * -low / width)
            * np.sin(WAVES * np.pi * (x - low) / width)
            * np.exp(-_decay(time, width))
        )
        return x, _log(waves.sum(axis=0) * 2 / width)
    direct = x - 2 * IMAGES * width
    mirrored = 2 * high - x - 2 * IMAGES * width
    images = np.exp(-(direct**2 - x**2) / (2 * time)) - np.exp(-(mirrored**2 - x**2) / (2 * time))
    return x, _log(images.sum(axis=0)) - x**2 / (2 * time) - np.log(2 * np.pi * time) / 2


def _decay(times: Floats | float, width: float) -> Floats:
    """The factor by which each wave has decayed."""
    return np.asarray((WAVES * np.pi / width) ** 2 * times / 2, dtype=np.float64)


def _log(values: Floats) -> Floats:
    """Logarithms; values that are 0 except for rounding count as 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(values, 0.0)), dtype=np.float64)
