"""What a measurement is, and how often a thing is measured."""

import time
from collections.abc import Callable
from typing import NamedTuple


class Figure(NamedTuple):
    """One measured value. ``key`` is for programs, ``name`` and ``unit`` for people; ``aim`` says what the design asks for."""

    key: str
    name: str
    value: float
    unit: str
    aim: str = ""


def best_seconds(work: Callable[[], object], times: int) -> float:
    """The shortest of several runs: on a shared machine the one that was disturbed least."""
    shortest = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - began)
    return shortest
