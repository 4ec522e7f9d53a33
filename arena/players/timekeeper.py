"""How long an answer may take and what it cost, in processor time or by the wall clock; and how
well this machine keeps time.

The time for an answer is processor time, so what is counted here decides games. Where the kernel
allows it, one counter adds up everything that a bot has ever started (`count_processor_time`).
Elsewhere the arena adds up what it sees in /proc, which is good enough for one's own bots.
"""

import ctypes
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from arena.errors import BusyMachineError
from arena.players.channel import Channel, TimedOut, Unanswered
from arena.players.keeper import (
    count_processor_time,
    names_in,
    process_ns,
    read_counter,
    read_file,
    stat_of,
)
from arena.records.record import NS_PER_MS
from arena.values import ClockKind

FIRST_SLICE_NS, SLICE_NS = 5_000_000, 20_000_000
"""How long to wait for an answer before looking at who else uses the processor, and then again."""
RUNNING_NS = 1_000_000
"""A bot that uses more than this from one look to the next is running."""
OVERSLEPT_NS = 50_000_000
"""A slice may take so much longer than asked; beyond, the machine stalled, which is not charged."""
LEAST_PATIENCE_NS = 3_000_000_000
PATIENCE = 10
"""An answer may take this many times its budget by the wall, and LEAST_PATIENCE_NS at the least: so
a bot is in time even if it gets no more than a tenth of a processor.
"""
PROBES, PROBE_NS = 5, 20_000_000
"""How often, and for how long, this process computes to find out what others leave it."""
PIDFD_GETFD = 438
WANTING = ([b"R"], [b"D"])
"""The states of a thread that runs or waits for a processor, and of one that waits for a disk."""
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
CHILDREN_FIELDS = slice(13, 15)
LOOK_NS = 20_000_000
"""How old a sum from /proc may be that charges an answer: a look takes about 0.2 ms."""


class OutOfTime(TimedOut):
    """No answer came within ``allowance``, a text such as ``100 ms``. ``use`` is a text such as
    ``it used 90 ms of processor time in 4000 ms``, empty by the wall clock.
    """

    def __init__(self, partial: bytes, allowance: str, use: str = "") -> None:
        super().__init__(partial)
        self.allowance = allowance
        self.use = use


class Overspent(Unanswered):
    """The answer cost more than it might."""

    def __init__(self, cost_ns: int) -> None:
        super().__init__()
        self.cost_ns = cost_ns


class Timekeeper:
    """Asks one bot over its channel, each answer within a budget.

    By the clock ``cpu`` an answer costs the processor time that all processes of the bot have used
    since the one before, also while nobody asked. By the wall, an answer has its `patience`, no
    more. Start-up is an answer, too, in which the bot may be idle no longer than it may compute.
    """

    def __init__(self, channel: Channel, meter: "Meter", clock: ClockKind) -> None:
        self._channel = channel
        self._meter = meter
        self._clock = clock
        self._charged_ns = self._seen_ns = 0
        self.idle_ns = 0
        """How long the bot was idle before its last answer, see `IdleTime`; 0 by the wall clock."""

    def ask(
        self,
        request: bytes,
        budget_ns: int,
        meanwhile: Callable[[], None],
        most_idle_ns: int | None = None,
    ) -> tuple[bytes, int]:
        """The reply and what it cost, in ns; ``meanwhile`` is called now and then during a long
        wait. ``most_idle_ns`` is how long the bot may be idle meanwhile; None sets no limit but
        its patience. Raises OutOfTime, Overspent, BusyMachineError, and what `Channel.ask` does.
        """
        began_ns = time.monotonic_ns()
        self.idle_ns = 0
        if self._clock == "wall":
            try:
                line = self._channel.ask(request, began_ns + budget_ns)
            except TimedOut as late:
                raise OutOfTime(late.partial, f"{budget_ns // NS_PER_MS} ms") from None
            return line, min(budget_ns, time.monotonic_ns() - began_ns)
        try:
            line = self._channel.ask(request, began_ns + FIRST_SLICE_NS)
        except TimedOut as late:
            line = self._wait_on(late.partial, began_ns, budget_ns, most_idle_ns, meanwhile)
        cost_ns = self.charge(self._channel.counted if self._channel.counter >= 0 else None)
        if cost_ns > budget_ns:
            raise Overspent(cost_ns)
        return line, cost_ns

    def owed_ns(self) -> int:
        """What the bot has used since its last answer; 0 by the wall clock."""
        return 0 if self._clock == "wall" else self._meter.used_ns() - self._charged_ns

    def ran_ns(self) -> int:
        """What the bot has used since the last look, or its last answer; 0 if that is little."""
        owed_ns = self.owed_ns()
        ran_ns = owed_ns - self._seen_ns
        self._seen_ns = owed_ns
        return ran_ns if ran_ns > RUNNING_NS else 0

    def charge(self, used_ns: int | None = None) -> int:
        """Charge what the bot owes, and return it, in ns. ``used_ns`` is the processor time that
        the bot has used so far, if it is known.
        """
        owed_ns = self.owed_ns() if used_ns is None else used_ns - self._charged_ns
        self._charged_ns += owed_ns
        self._seen_ns = 0
        return owed_ns

    def begin(self) -> None:
        """Ends start-up, which no answer pays; replies bring the counter from now on."""
        self.charge()
        if self._clock == "cpu":
            self._channel.counter = self._meter.counter

    def _wait_on(
        self,
        partial: bytes,
        began_ns: int,
        budget_ns: int,
        most_idle_ns: int | None,
        meanwhile: Callable[[], None],
    ) -> bytes:
        """Waits on in slices, for as long as there is budget and patience."""
        waited_ns = min(time.monotonic_ns() - began_ns, FIRST_SLICE_NS + OVERSLEPT_NS)
        idle = IdleTime(self._meter)
        longest_idle_ns = patience(budget_ns) if most_idle_ns is None else most_idle_ns
        while True:
            meanwhile()
            if (owed_ns := self.owed_ns()) >= budget_ns:
                raise Overspent(owed_ns)
            if waited_ns >= patience(budget_ns) or idle.so_far_ns >= longest_idle_ns:
                raise self._overdue(partial, budget_ns, waited_ns)
            slice_began_ns = time.monotonic_ns()
            try:
                return self._channel.go_on(slice_began_ns + SLICE_NS)
            except TimedOut as late:
                partial = late.partial
            slice_ns = min(time.monotonic_ns() - slice_began_ns, SLICE_NS + OVERSLEPT_NS)
            waited_ns += slice_ns
            idle.add(slice_ns)
            self.idle_ns = idle.so_far_ns

    def _overdue(
        self, partial: bytes, budget_ns: int, waited_ns: int
    ) -> OutOfTime | Overspent | BusyMachineError:
        """A wait without an answer: a bot that slept, or had a fair machine, is late."""
        if (owed_ns := self.owed_ns()) >= budget_ns:
            return Overspent(owed_ns)
        share = 0.0
        for _ in range(PROBES):
            share = max(share, self._share()) if share < 1 / PATIENCE else share
        # who wants a processor has got about as much of it meanwhile as this process
        wants_more = self.owed_ns() - owed_ns > PROBE_NS or not self._meter.is_started
        if share < 1 / PATIENCE and wants_more:
            return BusyMachineError(
                "expected a machine with time for bots, got one whose other programs left"
                f" {share:.0%} of a processor: a bot was late that may not be to blame",
                "stop other programs, then go on with the same command, with --jobs 1",
            )
        used_ms = owed_ns // NS_PER_MS
        waited_ms = round(waited_ns / NS_PER_MS)
        used = f"it used {used_ms} of its {budget_ns // NS_PER_MS} ms of processor time"
        use = f"it used {used_ms} ms of processor time in {waited_ms} ms"
        return OutOfTime(partial, f"{waited_ms} ms ({used})", use)

    def _share(self) -> float:
        """The part of a processor that this process gets, of what the bot leaves."""
        began_ns, own_ns, bot_ns = (
            time.monotonic_ns(), time.thread_time_ns(), self._meter.used_ns(),
        )  # fmt: skip
        while (got_ns := time.thread_time_ns() - own_ns) < PROBE_NS:
            pass
        passed_ns = time.monotonic_ns() - began_ns - (self._meter.used_ns() - bot_ns)
        return got_ns / max(got_ns, passed_ns)


def patience(budget_ns: int) -> int:
    """How long an answer with this budget may take by the wall, in ns."""
    return max(LEAST_PATIENCE_NS, PATIENCE * budget_ns)


def kernel_counts() -> bool:
    """Whether the kernel adds up all processor time; see `count_processor_time`."""
    is_linux = sys.platform == "linux"
    counter = count_processor_time(os.getpid(), ctypes.CDLL(None)) if is_linux else -1
    if counter >= 0:
        os.close(counter)
    return counter >= 0


def paranoia() -> int | None:
    """This machine's kernel.perf_event_paranoid, if it has one: above 2, only root may count."""
    try:
        return int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    except (OSError, ValueError):
        return None


class Pauses(NamedTuple):
    """The longest times that a computing program stood still and that it was charged, in ns."""

    stall_ns: int
    jump_ns: int


def longest_pauses(seconds: float) -> Pauses:
    """Computes for that long, and watches both clocks.

    A stall alone is another program's turn. A jump of the processor time is a hypervisor that held
    the virtual processor: the kernel cannot tell, and charges whoever ran. Seen: 15 to 30 ms.
    """
    stall = jump = 0
    wall = time.monotonic_ns()
    used = time.process_time_ns()
    end = wall + int(seconds * 1_000_000_000)
    while wall < end:
        wall_now = time.monotonic_ns()
        used_now = time.process_time_ns()
        stall = max(stall, wall_now - wall)
        jump = max(jump, used_now - used)
        wall = wall_now
        used = used_now
    return Pauses(stall, jump)


class Meter:
    """The processor time of everything a keeper's bot has started, in ns. It never goes back.

    ``told`` gives what the keeper has told so far, as words and their numbers: before it has told
    that the bot is ``started``, nothing is used. Where the kernel does not count, it is the sum of
    what the processes used that are there and, in whole ticks, of those that somebody waited for.
    """

    def __init__(self, keeper: int, told: Callable[[], Mapping[str, str]]) -> None:
        self._keeper = keeper
        self._told = told
        self._is_started = False
        self._counter = -1
        self._used_ns = self._others_ns = self._looked_ns = self._main = 0

    @property
    def is_started(self) -> bool:
        """Whether the bot has been started."""
        if not self._is_started and "started" in (words := self._told()):
            self._is_started = True
            self._counter = _fetched(self._keeper, words.get("counter"))
        return self._is_started

    @property
    def counter(self) -> int:
        """The descriptor from which the kernel's count can be read, -1 if there is none."""
        return self._counter if self.is_started else -1

    def used_ns(self) -> int:
        """Processor time that the bot's processes have used so far, in ns."""
        if not self.is_started:
            return 0
        if self._counter >= 0:
            return read_counter(self._counter)
        now_ns = time.monotonic_ns()
        if now_ns - self._looked_ns > LOOK_NS or not self._main:
            self._looked_ns, [*others, self._main] = now_ns, family(self._keeper)
            ended_ns = sum(map(_ended_children_ns, [*others, self._main]))
            self._others_ns = ended_ns + sum(map(process_ns, others[1:]))
        main_ns = process_ns(self._main) if self._main != self._keeper else 0
        self._used_ns = max(self._used_ns, self._others_ns + main_ns)
        return self._used_ns

    def is_idle(self) -> bool:
        """Whether the main thread of the process started last waits for something, or has ended."""
        if not self.is_started:
            return False
        self._main = self._main or family(self._keeper)[-1]
        if not (fields := stat_of(self._main)):
            self._main = 0
        return fields[:1] != [b"R"]

    def wants_processor(self) -> bool:
        """Whether a thread of the bot runs, or waits for a processor or a disk; True before the bot
        has been started.
        """
        if not self.is_started:
            return True
        return any(
            stat_of(f"{pid}/task/{thread}")[:1] in WANTING
            for pid in family(self._keeper)[1:]
            for thread in names_in(f"/proc/{pid}/task")
        )

    def close(self) -> None:
        """Lets go of the counter; calling it again does nothing."""
        if self._counter >= 0:
            os.close(self._counter)
            self._counter = -1


class IdleTime:
    """Adds up how long a bot is idle: it does not compute, and nothing of it waits for a processor
    or a disk. A bot that a busy machine keeps waiting is not idle. A bot that sleeps is.
    """

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._used_ns = meter.used_ns()
        self.so_far_ns = 0

    def add(self, span_ns: int) -> None:
        """Counts the last ``span_ns``, less what the bot computed in it, unless the bot wants to
        compute now.
        """
        used_ns = self._meter.used_ns()
        computed_ns = used_ns - self._used_ns
        self._used_ns = used_ns
        if not self._meter.wants_processor():
            self.so_far_ns += max(0, span_ns - computed_ns)


def _fetched(pid: int, descriptor: str | None) -> int:
    """A copy of a descriptor of another process; -1 without one, or if the system refuses it."""
    try:
        process = os.pidfd_open(pid) if descriptor else -1
    except OSError:
        process = -1
    if descriptor is None or process < 0:
        return -1
    try:
        return int(ctypes.CDLL(None).syscall(PIDFD_GETFD, process, int(descriptor), 0))
    finally:
        os.close(process)


def _ended_children_ns(pid: int) -> int:
    """Processor time of the children that a process has waited for, in whole ticks."""
    return sum(map(int, stat_of(pid)[CHILDREN_FIELDS])) * TICK_NS


def family(root: int) -> list[int]:
    """A process and everything that it and its descendants started."""
    found = [root]
    for pid in found:
        for thread in names_in(f"/proc/{pid}/task"):
            found += map(int, read_file(f"/proc/{pid}/task/{thread}/children").split())
    return found


def has_pipe_open(pids: list[int], pipe: int) -> bool:
    """Whether a process, but the sandbox's own, has this pipe open, or may not be looked at."""
    inode = os.fstat(pipe).st_ino
    return any(
        _has_open(pid, inode) for pid in pids if read_file(f"/proc/{pid}/comm").strip() != b"bwrap"
    )


def _has_open(pid: int, inode: int) -> bool:
    try:
        names = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
        return any(os.stat(f"/proc/{pid}/fd/{name}").st_ino == inode for name in names)  # noqa: PTH116
    except OSError as error:
        return isinstance(error, PermissionError)
