"""How long an answer may take, and what it cost: in processor time, with a limit for bots that only
sleep, or by the wall clock.
"""

import sys
import time
from collections.abc import Callable
from typing import Protocol

from arena.errors import Void
from arena.players.channel import Channel, TimedOut
from arena.players.messages import ClockKind
from arena.players.usage import idle_time_ns

BEST_CLOCK: ClockKind = "cpu" if sys.platform == "linux" else "wall"
"""Only Linux counts processor time so that it can be relied on."""
SLICE_NS = 100_000_000
"""How long to wait for an answer before looking at who uses the processor."""
SHORTEST_SLICE_NS = 5_000_000
OVERSLEPT_NS = 50_000_000
"""How much longer than asked a slice may take; anything beyond that is a stall of the machine and
is not charged.
"""
LEAST_PATIENCE_NS = 1_000_000_000
PATIENCE = 2
"""A bot may sleep for this many times its budget, and for LEAST_PATIENCE_NS at the least."""
STARVED, STARVED_NS = 20, 120_000_000_000
"""After this many times its budget, and at least this long, a bot that always wanted a processor
shows that the machine is too busy to play on.
"""
NS_PER_MS, NS_PER_S = 1_000_000, 1_000_000_000


class OutOfTime(TimedOut):
    """No answer came within ``allowance``, a text such as ``100 ms``."""

    def __init__(self, partial: bytes, allowance: str) -> None:
        super().__init__(partial)
        self.allowance = allowance


class Overspent(Exception):  # noqa: N818 - an outcome, judged by the caller
    """The answer cost more than it might, whether it came or not: ``unasked_ns`` of it were used
    before it was asked for.
    """

    def __init__(self, cost_ns: int, unasked_ns: int) -> None:
        super().__init__()
        self.cost_ns = cost_ns
        self.unasked_ns = unasked_ns


class Metered(Protocol):
    """What uses the time of one bot; see `BotProcess`, which is one."""

    @property
    def counter(self) -> int:
        """The descriptor of the kernel's count, -1 if there is none."""

    def used_ns(self) -> int:
        """The processor time used up to now."""

    def can_run(self) -> bool:
        """Whether it wants a processor now."""


class Timekeeper:
    """Asks one bot over its channel, each answer within a budget.

    By the clock ``cpu`` an answer costs the processor time that all processes of the bot have used
    since the one before. What they use while nobody asks is charged to the next answer, so thinking
    on another's turn costs what it takes. Waiting counts only while the bot does not want a
    processor: a busy machine makes nobody late, and no crowd makes a rival late. A bot that seems
    starved for too long ends in Void or OutOfTime.
    """

    def __init__(
        self, channel: Channel, process: Metered, clock: ClockKind, processors: int = 1
    ) -> None:
        self._processors = processors
        self._channel = channel
        self._process = process
        self._clock = clock
        self._charged_ns = 0

    def ask(
        self,
        request: bytes,
        budget_ns: int,
        meanwhile: Callable[[], None],
        patience_ns: int | None = None,
    ) -> tuple[bytes, int]:
        """The reply and what it cost, in ns. ``meanwhile`` is called now and then during a long
        wait.

        Raises OutOfTime, Overspent, Void, and what `Channel.ask` does.
        """
        began_ns = time.monotonic_ns()
        if self._clock == "wall":
            return self._ask_by_the_wall(request, budget_ns, began_ns)
        try:
            line = self._channel.ask(request, began_ns + min(budget_ns, SLICE_NS))
        except TimedOut as late:
            line = self._wait_on(
                late.partial, began_ns, budget_ns, patience_ns or patience(budget_ns), meanwhile
            )
        cost_ns = (
            self.charge() if self._channel.counter < 0 else self._charge(self._channel.counted)
        )
        if cost_ns > budget_ns:
            raise overspent(cost_ns, began_ns, self._processors)
        return line, cost_ns

    def owed_ns(self) -> int:
        """What the bot has used since its last answer; 0 by the wall clock."""
        return 0 if self._clock == "wall" else self._process.used_ns() - self._charged_ns

    def charge(self) -> int:
        """The same, charged now and not again."""
        return self._charge(self._charged_ns + self.owed_ns())

    def _charge(self, used_ns: int) -> int:
        owed_ns, self._charged_ns = used_ns - self._charged_ns, used_ns
        return owed_ns

    def begin(self) -> None:
        """Ends start-up, which is not charged to the first answer. From now on the channel reads
        the kernel's counter with each reply.
        """
        self.charge()
        if self._clock == "cpu":
            self._channel.counter = self._process.counter

    def _ask_by_the_wall(self, request: bytes, budget_ns: int, began_ns: int) -> tuple[bytes, int]:
        try:
            line = self._channel.ask(request, began_ns + budget_ns)
        except TimedOut as late:
            raise OutOfTime(late.partial, f"{budget_ns // NS_PER_MS} ms") from None
        return line, min(budget_ns, time.monotonic_ns() - began_ns)

    def _wait_on(
        self,
        partial: bytes,
        began_ns: int,
        budget_ns: int,
        patience_ns: int,
        meanwhile: Callable[[], None],
    ) -> bytes:
        """Waits on in slices, for as long as there is budget and the bot uses it.

        Measured: where a wait for the processor is booked only when it ends, as in schedstat, the
        usual stall counts as none. So nothing is concluded from how long the bot waited, only from
        what it used and whether it wants to run.
        """
        waited_ns, asked_ns = time.monotonic_ns() - began_ns, began_ns
        slept_ns, starved_ns = self._slept(waited_ns, 0), max(STARVED_NS, STARVED * budget_ns)
        idle_ns = idle_time_ns()
        while True:
            meanwhile()
            owed_ns = self.owed_ns()
            if owed_ns >= budget_ns:
                raise overspent(owed_ns, asked_ns, self._processors)
            if slept_ns >= patience_ns:
                used = (
                    f"it used {owed_ns // NS_PER_MS} of its {budget_ns // NS_PER_MS} ms of"
                    " processor time"
                )
                raise OutOfTime(partial, f"{round(waited_ns / NS_PER_MS)} ms ({used})")
            if waited_ns >= starved_ns:
                raise self._starved(partial, owed_ns, waited_ns, idle_time_ns() - idle_ns)
            began_ns = time.monotonic_ns()
            slice_ns = max(SHORTEST_SLICE_NS, min(budget_ns - owed_ns, SLICE_NS))
            try:
                return self._channel.go_on(began_ns + slice_ns)
            except TimedOut as late:
                partial = late.partial
            passed_ns = min(time.monotonic_ns() - began_ns, slice_ns + OVERSLEPT_NS)
            waited_ns += passed_ns
            slept_ns += self._slept(passed_ns, self.owed_ns() - owed_ns)

    def _starved(
        self, partial: bytes, owed_ns: int, waited_ns: int, idle_ns: int
    ) -> Void | OutOfTime:
        """What a long wait of a bot that always seemed to want a processor comes to: the machine's
        fault only if it was really busy.

        A bot that wakes up whenever it is looked at would seem to want one. But then a processor
        was idle most of the time.
        """
        used = f"{owed_ns // NS_PER_MS} ms of processor time in {waited_ns // NS_PER_S} s"
        if idle_ns > waited_ns // 2:
            return OutOfTime(
                partial,
                f"{waited_ns // NS_PER_MS} ms (it used {used}, and a processor was idle for"
                f" {idle_ns // NS_PER_S} s)",
            )
        return Void(
            f"the machine had no time for a bot: it got {used}",
            "stop other programs on this machine, or use fewer --jobs",
        )

    def _slept(self, passed_ns: int, used_ns: int) -> int:
        """How much of a time the bot did not want a processor."""
        return 0 if self._process.can_run() else max(0, passed_ns - used_ns)


def overspent(cost_ns: int, asked_ns: int, processors: int = 1) -> Overspent:
    """The outcome of an answer that was asked for then and cost this much: no processor can have
    been used for longer since than has passed.
    """
    return Overspent(cost_ns, max(0, cost_ns - processors * (time.monotonic_ns() - asked_ns)))


def patience(budget_ns: int) -> int:
    """How long a bot may sleep over an answer with this budget, in ns."""
    return max(LEAST_PATIENCE_NS, PATIENCE * budget_ns)
