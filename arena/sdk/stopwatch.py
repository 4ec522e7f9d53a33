"""What an answer has cost a bot so far: time, by the clock that the arena goes by, and work."""

import time

from arena.players.messages import ClockKind

LOOK_NS = 20_000
"""How often the processor time is read at the most: that takes 250 ns, the time on the wall 50, and
a piece of work perhaps 2 us.
"""
NEVER = -LOOK_NS


class Stopwatch:
    """Runs for one answer, which the bot means to think about for ``think_ms``, and says whether
    there is time for more.

    By the clock ``cpu`` an answer costs processor time, from the answer before it on: ``since_ns``
    is what this process had used when it sent that one. A busy machine then costs nothing. By the
    clock ``wall`` it costs the time that passes, and time in which others had the processor counts
    twice, as they are likely to have it again.

    A late answer loses the game, and what comes after the last look at the clock cannot be taken
    back. So the most work done between two looks is expected once more.

    ``nodes`` counts the positions that were made. With ``most_nodes`` it is these that say whether
    there may be more, and no clock.
    """

    def __init__(
        self,
        think_ms: float,
        clock: ClockKind = "cpu",
        since_ns: int | None = None,
        most_nodes: int = 0,
    ) -> None:
        self.think_ms = think_ms
        self.clock = clock
        self.nodes = 0
        self.most_nodes = most_nodes
        self._began_ns = time.monotonic_ns()
        self._worked_then_ns = self._worked_ns = time.process_time_ns()
        self._charged_ns = self._worked_ns if since_ns is None else since_ns
        self._longest_ns = self._expected_ns = 0
        self._looked_ns = NEVER

    @property
    def elapsed_ms(self) -> float:
        """What the answer has cost so far, in ms."""
        if self.clock == "wall":
            return (time.monotonic_ns() - self._began_ns) / 1e6
        return (time.process_time_ns() - self._charged_ns) / 1e6

    def allows(self, share: float) -> bool:
        """Whether another piece of work, as long as the longest so far, is likely to keep the
        answer below this share of the time or of the positions.
        """
        if self.most_nodes:
            return self.nodes < share * self.most_nodes
        now_ns = time.monotonic_ns()
        if now_ns - self._looked_ns >= LOOK_NS:
            self._look(now_ns)
        return self._expected_ns < share * self.think_ms * 1e6

    def _look(self, now_ns: int) -> None:
        worked_ns = time.process_time_ns()
        if self._looked_ns != NEVER:  # what came before the first look is done once a move
            self._longest_ns = max(self._longest_ns, worked_ns - self._worked_ns)
        self._looked_ns, self._worked_ns = now_ns, worked_ns
        if self.clock == "wall":
            passed_ns = now_ns - self._began_ns
            spent_ns = passed_ns + max(0, passed_ns - (worked_ns - self._worked_then_ns))
        else:
            spent_ns = worked_ns - self._charged_ns
        self._expected_ns = spent_ns + self._longest_ns
