"""How long a bot has thought about a move, on a machine that may be busy."""

import time


class Stopwatch:
    """Runs from the moment a move is asked for, and says whether there is time for more.

    A late answer loses the game, and what comes after the last look at the clock cannot be taken back. So two things are counted besides
    the time that has passed: the time in which others had the processor, a second time, as they are likely to have it again; and the most
    work done between two looks, as the next piece may be as long.
    """

    def __init__(self) -> None:
        self._began_ns = time.monotonic_ns()
        self._worked_then_ns = self._worked_ns = time.process_time_ns()
        self._longest_ns = 0
        self._has_looked = False

    @property
    def elapsed_ms(self) -> float:
        """Milliseconds since it started."""
        return (time.monotonic_ns() - self._began_ns) / 1e6

    def allows(self, limit_ms: float) -> bool:
        """Whether another piece of work, as long as the longest so far, is likely to end before ``limit_ms`` have passed."""
        worked_ns, passed_ns = time.process_time_ns(), time.monotonic_ns() - self._began_ns
        if self._has_looked:  # what came before the first look is done once a move
            self._longest_ns = max(self._longest_ns, worked_ns - self._worked_ns)
        self._has_looked, self._worked_ns = True, worked_ns
        waited_ns = max(0, passed_ns - (worked_ns - self._worked_then_ns))
        return passed_ns + waited_ns + self._longest_ns < limit_ms * 1e6
