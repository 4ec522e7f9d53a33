"""Estimates of the Elo difference after a sequential test. Such a test tends to stop on a lucky
streak, so the plain mean is biased; `unbiased_estimate` corrects that.
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
"""How far a random walk with normal steps overshoots a bound when it crosses it, in standard
deviations of a step (Siegmund 1985, 10.37).
"""
CERTAIN = 0.99
"""The confidence with which the test must show that margins and wins disagree before we say so."""
NEAR = 20.0
"""One more round of blocks rarely moves an estimate by more than this many Elo."""
MOST_ELO = 4000.0
"""Differences larger than this many Elo count as infinite."""


class Estimate(NamedTuple):
    """A difference in Elo with its 95 % interval; an end is infinite if the results do not bound
    it.
    """

    elo: float
    low: float
    high: float


def plain_estimate(test: SequentialTest) -> Estimate:
    """The estimate as if the number of blocks had been fixed in advance. It is biased away from 0
    if the test stopped at a bound.
    """
    half = float(quantile(test.blocks - 1)) * sqrt(test.variance / max(test.blocks, 1))
    return Estimate(
        elo=_elo(test, test.mean),
        low=_elo(test, test.mean - half),
        high=_elo(test, test.mean + half),
    )


def unbiased_estimate(test: SequentialTest) -> Estimate:
    """The median-unbiased estimate: the Elo difference at which the test would end below this
    outcome as often as above it.

    The interval ends where the test would end on one side of this outcome in only 2.5 % of cases.
    The log likelihood ratio is treated as a Brownian motion whose bounds are widened by the
    overshoot of a walk in steps.
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
        """The Elo difference at which an outcome at or below this one has probability
        ``chance``.
        """
        drifts = [(end - null) / step - 0.5 for end in (-1, 1)]
        return _elo(
            test,
            (_root(lambda drift: chance_of_less(outcome, drift) - chance, *drifts) + 0.5) * step
            + null,
        )

    return Estimate(elo_with(0.5), elo_with((1 + COVERAGE) / 2), elo_with((1 - COVERAGE) / 2))


class Look(NamedTuple):
    """The state of a sequential test after a round of blocks.

    ``blocks``   the number of blocks so far
    ``llr``      the log likelihood ratio; the test is decided when it reaches a bound of the
                 question
    ``elo``      the plain estimate, infinite if the blocks do not bound it
    ``error``    the half-width of its 95 % interval, infinite if the interval is open
    ``verdict``  the verdict so far
    """

    blocks: int
    llr: float
    elo: float
    error: float
    verdict: Verdict


def look_at(test: SequentialTest, before: Look | None = None) -> Look:
    """The state of a test now. ``before``, the look before this one, only makes it faster.

    For a test on margins a plain estimate with both ends of its interval takes 22 ms, a look 2 ms.
    """
    near = before.elo if before else 0.0
    elo = _elo_near(test, test.mean, near) if isfinite(near) else _elo(test, test.mean)
    half = float(quantile(test.blocks - 1)) * sqrt(test.variance / max(test.blocks, 1))
    error = half / _slope(test, elo) if isfinite(elo) else inf
    return Look(test.blocks, test.llr, elo, error if error < MOST_ELO else inf, test.verdict)


def _elo_near(test: SequentialTest, value: float, near: float) -> float:
    """Like `_elo`, but faster if the answer is within `NEAR` Elo of ``near``."""
    low = near - NEAR
    high = near + NEAR
    if not test.worth(low) < value < test.worth(high):
        return _elo(test, value)
    return float(brentq(lambda elo: test.worth(elo) - value, low, high, xtol=1e-4))


def disagreement(test: "MarginTest") -> Estimate:
    """How many Elo more the margins say than the wins say, with a 99 % interval. Both come from the
    same blocks, so most of their luck cancels.
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
    """How much the expected mean of a block rises per point of Elo."""
    return (test.worth(elo + 0.5) - test.worth(elo - 0.5)) or ROUNDING


def _root(falls: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function is 0 between ``low`` and ``high``, or the end where it is closest to
    0.
    """
    if falls(low) < 0:
        return low
    return high if falls(high) > 0 else float(brentq(falls, low, high, xtol=1e-9))


def _elo(test: SequentialTest, value: float) -> float:
    """The difference in Elo at which a block has the expected value ``value``."""
    if abs(value) >= abs(test.worth(MOST_ELO if value > 0 else -MOST_ELO)):
        return inf if value > 0 else -inf
    return float(brentq(lambda elo: test.worth(elo) - value, -MOST_ELO, MOST_ELO, xtol=1e-9))


# Either series is exact; they differ in how soon they may stop. Reflections fade with growing
# distance over the root of time, waves with time: at SHORT both are exact to rounding with these.
IMAGES = np.arange(-4, 5)[:, None]
WAVES = np.arange(1, 13)[:, None]
SHORT = 0.2
"""In units of the squared distance of the bounds: before this time the series of reflections
converges faster, after it the series of waves.
"""
VERY_SHORT = 1e-4
"""In units of the squared distance of the bounds: before this time the motion has not come near a
bound.
"""
STEPS = 1001
EARLIEST = 12
"""The grid of times starts at the outcome's time divided by e to this power."""


class Endpoint(NamedTuple):
    """Where a Brownian motion is at ``time``. It started at 0 with variance 1 per unit of time, and
    stops when it reaches ``lower`` or ``upper``.
    """

    lower: float
    upper: float
    time: float
    place: float


def chance_of_less(outcome: Endpoint, drift: float) -> float:
    """The probability that a motion with this drift ends at or below the outcome; it falls as the
    drift grows.
    """
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
    """The probability that the motion reaches ``bound`` before the other bound, no later than the
    outcome's time.
    """
    logs, flow = _flow(outcome, bound)
    tilt = drift * bound - drift**2 * np.exp(logs) / 2
    return float(simpson(np.exp(flow + tilt + logs), x=logs))


@lru_cache(maxsize=4)
def _flow(outcome: Endpoint, bound: float) -> tuple[Floats, Floats]:
    """The log density of the time at which a motion without drift reaches ``bound`` before the
    other bound. Returns the logs of a grid of times up to the outcome's, and the log densities
    there.
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
    """The log density, at the outcome's time, of a motion without drift that has met neither bound.
    Returns a grid of places from the lower bound to the outcome's place, and the log densities
    there.
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
    """The exponent by which each wave has decayed at these times, for bounds ``width`` apart."""
    return np.asarray((WAVES * np.pi / width) ** 2 * times / 2, dtype=np.float64)


def _log(values: Floats) -> Floats:
    """Logarithms of the values; negative values, which are rounding errors, count as 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(values, 0.0)), dtype=np.float64)
