"""The time control of a game: the limits on a bot's time, and the clock that measures it."""

import sys

from msgspec import Struct

from arena.values import ClockKind

BEST_CLOCK: ClockKind = "cpu" if sys.platform == "linux" else "wall"
"""The clock of a run for which the user chooses none: CPU time on Linux, the only system that
counts it reliably, else the wall clock.
"""


class Timing(Struct, frozen=True):
    """The time control of a game, in ms.

    ``move_ms``       the time for one answer
    ``game_ms``       the time bank for a whole game; None means no bank
    ``increment_ms``  what is added to the bank for each move
    ``startup_ms``    the time that a bot's process has to answer hello
    ``clock``         how a bot's time is measured: ``cpu``, the CPU time of its processes, or
                      ``wall``, the wall clock
    """

    move_ms: int = 1000
    game_ms: int | None = None
    increment_ms: int = 0
    startup_ms: int = 10_000
    clock: ClockKind = BEST_CLOCK
