"""Decides how long a bot should think about each move so that no answer is late, and measures what
an answer has cost so far.
"""

import time
from collections.abc import Sequence

from arena.players.messages import Start
from arena.values import ClockKind

LOOK_NS = 20_000
"""The CPU time is read at most once in this time, in ns. A reading takes 250 ns (of the wall clock,
50 ns), and a piece of a bot's work perhaps 2 us.
"""
NEVER = -LOOK_NS
"""The time of the last reading when there has been none."""
RESERVE_MS = 15
"""The time of an answer that is kept back for surprises, in ms.

Measured on two busy cores: one answer in a thousand takes 10 ms longer than it should, because a
stall of the machine may be charged as CPU time. Garbage collections take longer as a search grows.
"""
RESERVE = 0.05
"""The smallest share of a limit that is kept back; it counts if the limit is long."""
MAX_RESERVE = 0.2
"""The largest share of a limit that is kept back; it counts if the limit is short."""
MIN_SHARE = 0.4
"""The smallest share of a limit that a bot may think for, however late earlier answers were."""
FORGETTING = 0.8
"""The factor by which a remembered lateness shrinks with each answer. A full garbage collection, or
another surprise, comes every few moves, and should be remembered until the next one.
"""
MORE_MOVES = 3
"""The number of moves that are added to the fewest pagodas left when a bank is divided."""


class Stopwatch:
    """Measures the time of one answer, which the bot means to think about for ``think_ms``, and
    says whether there is time for more work.

    By the clock ``cpu``, an answer costs the CPU time used since the answer before it, so a busy
    machine costs nothing; ``since_ns`` is the CPU time of this process at that answer, None for the
    CPU time now. By the clock ``wall``, it costs the time that passes. Time in which other programs
    had the CPU then counts twice, because they are likely to take it again.

    A late answer loses the game, and work done after the last look at the clock cannot be taken
    back. So the longest piece of work between two looks is expected once more.

    ``nodes`` counts the positions that were made. If ``most_nodes`` is above 0, it alone limits the
    answer, and no clock does.
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
        """What the answer has cost so far, in ms, by the stopwatch's clock."""
        if self.clock == "wall":
            return (time.monotonic_ns() - self._began_ns) / 1e6
        return (time.process_time_ns() - self._charged_ns) / 1e6

    def allows(self, share: float) -> bool:
        """Whether another piece of work would probably keep the answer below this ``share`` (from 0
        to 1) of its time or nodes.
        """
        if self.most_nodes:
            return self.nodes < share * self.most_nodes
        now_ns = time.monotonic_ns()
        if now_ns - self._looked_ns >= LOOK_NS:
            self._look(now_ns)
        return self._expected_ns < share * self.think_ms * 1e6

    def _look(self, now_ns: int) -> None:
        """Reads the CPU time at the wall-clock time ``now_ns``, and works out what the answer will
        cost if the longest piece of work comes once more.
        """
        worked_ns = time.process_time_ns()
        if self._looked_ns != NEVER:  # work before the first look is done only once a move
            self._longest_ns = max(self._longest_ns, worked_ns - self._worked_ns)
        self._looked_ns = now_ns
        self._worked_ns = worked_ns
        if self.clock == "wall":
            passed_ns = now_ns - self._began_ns
            spent_ns = passed_ns + max(0, passed_ns - (worked_ns - self._worked_then_ns))
        else:
            spent_ns = worked_ns - self._charged_ns
        self._expected_ns = spent_ns + self._longest_ns


class TimeManager:
    """Divides a bot's thinking time: starts a stopwatch for every answer, and learns how late the
    bot stops.

    A seat makes about as many moves as the seat with the fewest pagodas still has to place (1.0 to
    1.3 times as many, measured with two to four players on both boards), and up to nine more. So a
    bank is divided by that number plus `MORE_MOVES`. Time that is kept too long is left for the
    moves that follow, and the bank never runs out.
    """

    def __init__(self) -> None:
        self._clock: ClockKind = "cpu"
        self._move_ms = self._increment_ms = self._most_nodes = 0
        self._bank_ms: float | None = None
        self._late_ms = 0.0

    def begin(self, start: Start) -> None:
        """Begins a game with the time control in its message ``start``."""
        self._clock = start.clock
        self._move_ms = start.move_ms
        self._bank_ms = start.game_ms
        self._increment_ms = start.increment_ms
        nodes = start.options.get("nodes")
        self._most_nodes = max(0, nodes) if type(nodes) is int else 0  # a bool is no number of them

    def watch(self, time_ms: int, left: Sequence[int], answered_ns: int | None = None) -> Stopwatch:
        """Starts the stopwatch of an answer that may take ``time_ms``. ``left`` has the pagodas
        left by seat, and ``answered_ns`` the CPU time of this process at its previous answer.
        """
        think_ms = self._most_ms(time_ms)
        if self._bank_ms is not None:
            if time_ms < self._move_ms:  # the smaller of the two, so this is the bank
                self._bank_ms = time_ms
            share_ms = self._bank_ms / (min(left) + MORE_MOVES) + self._increment_ms
            think_ms = min(think_ms, share_ms)
        return Stopwatch(think_ms, self._clock, answered_ns, self._most_nodes)

    def _most_ms(self, time_ms: int) -> float:
        """The most time to think, in ms, about an answer that may take ``time_ms``: without the
        reserve, and without the lateness of earlier answers.
        """
        if self._clock == "wall":  # a stall of a busy machine must fit in as well
            reserve_ms = 0.25 * time_ms + 25
        else:
            reserve_ms = max(RESERVE * time_ms, min(RESERVE_MS, MAX_RESERVE * time_ms))
        return max(MIN_SHARE * time_ms, time_ms - reserve_ms - self._late_ms)

    def answered(self, watch: Stopwatch) -> None:
        """Notes that the answer that ``watch`` measured has been sent, and by how
        much it was late.
        """
        cost_ms = watch.elapsed_ms
        self._late_ms = max(FORGETTING * self._late_ms, cost_ms - watch.think_ms)
        if self._bank_ms is not None:
            self._bank_ms = max(0.0, self._bank_ms - cost_ms) + self._increment_ms
