"""Probabilities of how a sequential test ends, which is treated as a Brownian motion that stops at
two bounds.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.integrate import simpson

from arena.ratings.results import Floats
from arena.ratings.scipy_parts import ndtr

# Both series are exact; they differ in how many terms they need. The terms of reflections fade with
# growing distance over the root of time, those of waves with time: at the time SHORT, both are
# exact to rounding with these numbers of terms.
IMAGES = np.arange(-4, 5)[:, None]
WAVES = np.arange(1, 13)[:, None]
SHORT = 0.2
"""In units of the squared distance of the bounds: before this time the series of reflections
converges faster, after it the series of waves.
"""
VERY_SHORT = 1e-4
"""In units of the squared distance of the bounds: before this time the motion is treated as if it
had not come near a bound.
"""
STEPS = 1001
EARLIEST = 12
"""The grid of times starts at the outcome's time divided by e to the power of this number."""


class Endpoint(NamedTuple):
    """Where a Brownian motion is at ``time``: at ``place``. It started at 0, has variance 1 per
    unit of time, and stops when it reaches ``lower`` or ``upper``.
    """

    lower: float
    upper: float
    time: float
    place: float


def chance_of_less(outcome: Endpoint, drift: float) -> float:
    """The probability that a motion with this drift, between the bounds of ``outcome``, ends no
    higher than ``outcome``. The order of endings, from the lowest, is: a stop at the lower bound,
    the sooner the lower; the places between the bounds at the outcome's time; and a stop at the
    upper bound, the later the lower. The probability falls as the drift grows.
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
    """The probability that the motion with this drift reaches ``bound`` before the other bound, no
    later than the time of ``outcome``.
    """
    logs, flow = _flow(outcome, bound)
    tilt = drift * bound - drift**2 * np.exp(logs) / 2
    return float(simpson(np.exp(flow + tilt + logs), x=logs))


@lru_cache(maxsize=4)
def _flow(outcome: Endpoint, bound: float) -> tuple[Floats, Floats]:
    """The density of the time at which a motion without drift reaches ``bound`` before the other
    bound. Returns the logs of a grid of times up to that of ``outcome``, and the log densities
    there.
    """
    # The grid is even in log time: near 0 the density rises from nothing to its peak within a few
    # thousandths of the time, which even steps in time would miss.
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
    """The density, at the time of ``outcome``, of a motion without drift that has met neither
    bound. Returns a grid of places from the lower bound to the outcome's place, and the log
    densities there.
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
    """For each wave of the series and each of the ``times``, the x of the factor exp(-x) by which
    the wave has decayed, for bounds ``width`` apart.
    """
    return np.asarray((WAVES * np.pi / width) ** 2 * times / 2, dtype=np.float64)


def _log(values: Floats) -> Floats:
    """The logarithms of ``values``; negative values, which are rounding errors, count as 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(values, 0.0)), dtype=np.float64)
