"""Estimates of the Elo difference between two bots after a sequential test. Such a test tends to
stop on a lucky streak, so the plain mean is biased; `unbiased_estimate` corrects that.
"""

from collections.abc import Callable
from math import inf, isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

from scipy.optimize import brentq

from arena.ratings.fit import ROUNDING
from arena.ratings.intervals import COVERAGE, quantile
from arena.ratings.sequential import SequentialTest, Verdict

if TYPE_CHECKING:
    from arena.ratings.margins import MarginTest
from arena.ratings.motion import Endpoint, chance_of_less

OVERSHOOT = 0.583
"""How far a random walk with normal steps is beyond a bound, on average, when it crosses the bound,
in standard deviations of a step (Siegmund 1985, 10.37).
"""
CERTAIN = 0.99
"""The confidence that margins and wins disagree from which on the arena reports it."""
NEAR = 20.0
"""In Elo: one more round of blocks rarely moves an estimate by more than this."""
MAX_ELO = 4000.0
"""Differences larger than this many Elo count as infinite."""


class Estimate(NamedTuple):
    """A difference in Elo, and the ends ``low`` and ``high`` of its 95 % interval, or of another
    interval where a function says so; a figure is infinite if the results do not bound it.
    """

    elo: float
    low: float
    high: float


UNKNOWN = Estimate(nan, -inf, inf)
"""The estimate of a difference of which nothing is known."""


def plain_estimate(test: SequentialTest) -> Estimate:
    """The estimate of ``test`` as if its number of blocks had been fixed in advance. It is biased
    away from 0 if the test stopped at a bound.
    """
    half = float(quantile(test.blocks - 1)) * sqrt(test.variance / max(test.blocks, 1))
    return Estimate(
        elo=_elo(test, test.mean),
        low=_elo(test, test.mean - half),
        high=_elo(test, test.mean + half),
    )


def unbiased_estimate(test: SequentialTest) -> Estimate:
    """The median-unbiased estimate of ``test``: the Elo difference at which the test would end
    below its present outcome as often as above it. Without blocks, 0 with an interval that is open
    at both ends.

    Each end of the interval is the difference at which the test would end on one side of this
    outcome in only 2.5 % of cases. The log likelihood ratio is treated as a Brownian motion whose
    bounds are widened by the overshoot of a walk in steps.
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
        """The Elo difference at which an outcome at or below the present one has the probability
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
    ``elo``      the plain estimate; infinite if the blocks do not bound it
    ``error``    about the half-width, in Elo, of its 95 % interval; infinite if ``elo`` is, and
                 from `MAX_ELO` on
    ``verdict``  the verdict so far
    """

    blocks: int
    llr: float
    elo: float
    error: float
    verdict: Verdict


def look_at(test: SequentialTest, before: Look | None = None) -> Look:
    """The present state of ``test``. ``before`` is the previous look at the same test; it only
    makes the computation faster.

    For a test on margins, a plain estimate with both ends of its interval takes 22 ms, a look 2 ms.
    """
    near = before.elo if before else 0.0
    elo = _elo_near(test, test.mean, near) if isfinite(near) else _elo(test, test.mean)
    half = float(quantile(test.blocks - 1)) * sqrt(test.variance / max(test.blocks, 1))
    error = half / _slope(test, elo) if isfinite(elo) else inf
    return Look(test.blocks, test.llr, elo, error if error < MAX_ELO else inf, test.verdict)


def _elo_near(test: SequentialTest, value: float, near: float) -> float:
    """The difference in Elo at which a block of ``test`` has the expected value ``value``, as
    `_elo` computes it, but faster if it is within `NEAR` Elo of ``near``.
    """
    low = near - NEAR
    high = near + NEAR
    if not test.worth(low) < value < test.worth(high):
        return _elo(test, value)
    return float(brentq(lambda elo: test.worth(elo) - value, low, high, xtol=1e-4))


def disagreement(test: "MarginTest") -> Estimate:
    """By how many Elo the estimate from margins exceeds the estimate from wins, with a 99 %
    interval. Both come from the blocks of ``test``, so most of their luck cancels. If one of the
    two is not known, the difference is 0 and the interval is open at both ends.
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
    """How much the expected mean of the blocks of ``test`` rises per Elo, at a difference of
    ``elo``.
    """
    return (test.worth(elo + 0.5) - test.worth(elo - 0.5)) or ROUNDING


def _root(falls: Callable[[float], float], low: float, high: float) -> float:
    """The place between ``low`` and ``high`` where the function ``falls``, which falls, is 0; or
    the end where it is closest to 0.
    """
    if falls(low) < 0:
        return low
    return high if falls(high) > 0 else float(brentq(falls, low, high, xtol=1e-9))


def _elo(test: SequentialTest, value: float) -> float:
    """The difference in Elo at which a block of ``test`` has the expected value ``value``; infinite
    beyond `MAX_ELO`.
    """
    if abs(value) >= abs(test.worth(MAX_ELO if value > 0 else -MAX_ELO)):
        return inf if value > 0 else -inf
    return float(brentq(lambda elo: test.worth(elo) - value, -MAX_ELO, MAX_ELO, xtol=1e-9))
