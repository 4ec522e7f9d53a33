"""The time control of a game."""

import sys

from msgspec import Struct

from arena.values import ClockKind

BEST_CLOCK: ClockKind = "cpu" if sys.platform == "linux" else "wall"
"""The clock used by default: only Linux counts CPU time reliably."""


class Timing(Struct, frozen=True):
    """The time control of a game, in ms. ``game_ms`` is None without a bank; ``startup_ms`` is the
    time that a process has to answer hello.

    ``clock`` says how a bot's time is measured: ``cpu`` by the CPU time of its processes, ``wall``
    by the wall clock.
    """

    move_ms: int = 1000
    game_ms: int | None = None
    increment_ms: int = 0
    startup_ms: int = 10_000
    clock: ClockKind = BEST_CLOCK
