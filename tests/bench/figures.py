"""Measurements: each thing takes turns with what it is compared with, several times, and the median
counts.
"""

import multiprocessing
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import NamedTuple, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Figure(NamedTuple):
    """One measured value. ``key`` is for programs, ``name`` and ``unit`` are for people; ``aim`` is
    the design's target. ``reference`` is the value of another version, measured in turn; None
    without one.
    """

    key: str
    name: str
    value: float
    unit: str
    aim: str = ""
    reference: float | None = None


def alternate(
    works: Mapping[str, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Wall-clock seconds of each piece of work, round by round. The pieces take turns, so that all
    are disturbed equally.
    """
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            began = clock()
            work()
            seconds[name].append(clock() - began)
    return seconds


def median_ratio(one: Sequence[float], other: Sequence[float]) -> float:
    """The median of the ratios of values measured in the same round."""
    return median(own / beside for own, beside in zip(one, other, strict=True))


def in_own_process(
    function: Callable[Arguments, Result], *arguments: Arguments.args, **keywords: Arguments.kwargs
) -> Result:
    """The function's result from a fresh process, whose memory nothing else has used."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments, **keywords).result()
