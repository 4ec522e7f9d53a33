"""Scales: map numbers to positions in a chart, and choose round numbers to mark."""

import math
from collections.abc import Iterable
from typing import NamedTuple

STEPS = (1, 2, 2.5, 5, 10)
CLOSE = 0.75
"""A mark so near the end of a scale would cover that of the end."""


class Scale(NamedTuple):
    """Maps ``low`` to ``high`` onto the pixels ``start`` to ``end``, linearly or logarithmically;
    ``ticks`` are the numbers to mark.
    """

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """The position of a value; values outside the scale are placed at its edge."""
        low, high, at = (
            math.log10(part) if self.is_log else part
            for part in (self.low, self.high, self.clip(value))
        )
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    def clip(self, value: float) -> float:
        """The value, limited to the scale."""
        return min(max(value, self.low), self.high)


def linear(
    values: Iterable[float], start: float, end: float, count: int = 4, least: float = 0.0
) -> Scale:
    """A scale over the finite values with about ``count`` round steps of at least ``least``; its
    ends are round numbers too.
    """
    known = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(known), max(known)
    if high - low < 1e-9:  # noqa: PLR2004 - all the same
        low, high = low - 1, high + 1
    step = round_step(max((high - low) / count, least))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return Scale(
        first * step,
        last * step,
        start,
        end,
        tuple(number * step for number in range(first, last + 1)),
    )


def logarithmic(values: Iterable[float], start: float, end: float) -> Scale:
    """A logarithmic scale (powers of ten) over the positive values."""
    known = [value for value in values if math.isfinite(value) and value > 0] or [1.0]
    first, last = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    last = max(last, first + 1)
    return Scale(
        10.0**first,
        10.0**last,
        start,
        end,
        tuple(10.0**power for power in range(first, last + 1)),
        is_log=True,
    )


def between(low: float, high: float, start: float, end: float) -> Scale:
    """A logarithmic scale with these ends, marked at 1, 2, 5, 10 and so on, and at its end."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    round_ones = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    inside = [tick for tick in round_ones if low <= tick < high * CLOSE]
    return Scale(low, high, start, end, (*inside, high), is_log=True)


def round_step(width: float) -> float:
    """The next round number above a width."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in STEPS if step * power >= width * (1 - 1e-9))
