"""The CPU time that the kernel counts for a bot and everything it starts, and the search for
processes that this counter misses. The Python twin of native/counter.c.

The keeper imports this module, which therefore imports little itself.
"""

import ctypes
import os
import sys
import time
from errno import EACCES, EPERM

from arena.players.processes import is_ending, threads_of
from arena.players.sandbox.confine import CALLS, number_here

SOFTWARE = 1
TASK_CLOCK = 1
ATTRIBUTE_BYTES = 112
CLOSE_ON_EXEC = 8
INHERIT = 1 << 1
NO_KERNEL = 1 << 5
NO_HYPERVISOR = 1 << 6
NOISE_NS = 2_000_000
"""The CPU time that the counter may seem to miss at every look, because the kernel's two clocks do
not change at the same moment.
"""
STALL_NS = 40_000_000
"""How much more the counter may seem to miss before the processes are counted once more: a stall of
the machine between the readings of the two clocks is only on one of them.
"""
COUNTED_PART = 0.4
"""If the counter shows less than this part of the time that processes used by their own clocks, it
may have missed one of them. It misses the whole time of a process that left it. Of a process that
sleeps and wakes up all the time it misses the moments in which the kernel changes from one process
to the next, which the clocks include: from 2 to 12 us each, measured to be 13 to 81 % of the time
of a program in Python that wakes up 5,000 times a second.
"""
MOST_COUNTERS = 500
"""How many threads are counted once more at the same time."""


def count_processor_time(thread: int, libc: ctypes.CDLL) -> int:
    """A descriptor from which the CPU time, in ns, of a thread and of everything that it will start
    can be read; -1 if the kernel does not allow it. ``thread`` is the id of a thread, or of a
    process that has one.

    The kernel adds up all of these processes, whichever process waits for them and whatever
    sessions they make. Measured: 1.1 us per reading. Only one thing stops it: a process that runs a
    program which it may not read. `MissedTime` finds such processes.
    """
    number = number_here(CALLS["perf_event_open"])
    if sys.platform != "linux" or number is None:
        return -1
    words = ctypes.c_uint64 * (ATTRIBUTE_BYTES // 8)
    attribute = words(SOFTWARE | ATTRIBUTE_BYTES << 32, TASK_CLOCK)
    attribute[5] = INHERIT | NO_KERNEL | NO_HYPERVISOR
    return int(libc.syscall(number, attribute, thread, -1, -1, CLOSE_ON_EXEC))


def kernel_counts() -> bool:
    """Whether the kernel of this machine lets the arena count the CPU time of all of a bot's
    processes together; see `count_processor_time`. Always False except on Linux.
    """
    is_linux = sys.platform == "linux"
    counter = count_processor_time(os.getpid(), ctypes.CDLL(None)) if is_linux else -1
    if counter >= 0:
        os.close(counter)
    return counter >= 0


def read_counter(counter: int) -> int:
    """The CPU time in ns that the kernel has counted so far. ``counter`` is a descriptor that
    `count_processor_time` returned.
    """
    return int.from_bytes(os.read(counter, 8), "little")


def process_ns(pid: int) -> int:
    """The CPU time of a process by its own clock, including ended threads, in ns; 0 if the process
    has ended.
    """
    try:
        return time.clock_gettime_ns(~pid << 3 | 2)
    except OSError:
        return 0


class MissedTime:
    """Looks for processes of a bot that its counter misses, in two steps. The clocks of the living
    processes say when something may be missing. Then each thread gets a counter of its own: they
    and the bot's counter leave out the same moments, so these two can be compared exactly.
    """

    def __init__(self, counter: int) -> None:
        """``counter`` is the descriptor of the bot's counter."""
        self._counter = counter
        self._clocks: dict[int, int] = {}
        self._counted_ns = self._missing_ns = 0
        self._second_count: SecondCount | None = None

    def found_ms(self, tree: list[int]) -> int:
        """The CPU time in ms that the processes in ``tree``, which are all of the bot, used lately
        without being counted; 0 if none is known to be missing. To be called at every look.
        """
        missed_ns = self._missed_ns()
        if missed_ns > NOISE_NS:
            return missed_ns // 1_000_000
        self._missing_ns = max(0, self._missing_ns + self._uncounted_ns(tree) - NOISE_NS)
        if self._missing_ns > STALL_NS:
            self._missing_ns = 0
            self._end_second_count()
            self._second_count = SecondCount(tree, self._counter)
        return 0

    def _missed_ns(self) -> int:
        """How much less the bot's counter shows than the second count, in ns; 0 if it shows most of
        it. Ends the second count, unless the processes have used too little since it began. Then,
        and without a second count, the result is 0.
        """
        second = self._second_count
        if second is None:
            return 0
        used_ns = second.used_ns()
        if used_ns <= NOISE_NS:
            return 0
        missed_ns = shortfall_ns(used_ns, second.counted_ns())
        self._end_second_count()
        return missed_ns

    def _end_second_count(self) -> None:
        """Ends the second count if there is one."""
        if self._second_count is not None:
            self._second_count.close()
            self._second_count = None

    def _uncounted_ns(self, tree: list[int]) -> int:
        """How much less CPU time the counter shows since the last call than the clocks of the
        living processes; 0 if it shows most of it.
        """
        before_ns = self._counted_ns
        self._counted_ns = read_counter(self._counter)
        used_ns = 0
        last_clocks = self._clocks
        self._clocks = {}
        for pid in tree:
            known_ns = last_clocks.get(pid, 0)
            clock_ns = process_ns(pid)
            grown_ns = clock_ns - (known_ns if known_ns <= clock_ns else 0)
            self._clocks[pid] = clock_ns
            # the counter drops a process at its end, before its memory is returned
            if grown_ns <= NOISE_NS or not is_ending(pid):
                used_ns += grown_ns
        return shortfall_ns(used_ns, read_counter(self._counter) - before_ns)


class SecondCount:
    """Counts the CPU time of living processes once more from now on, beside the bot's counter."""

    def __init__(self, tree: list[int], counter: int) -> None:
        """``tree`` has the ids of the processes; ``counter`` is the descriptor of the bot's."""
        self._counter = counter
        self._before_ns = read_counter(counter)
        self._counters: list[int] = []
        self._hidden: dict[int, int] = {}
        """The clocks of the processes that the kernel keeps from being counted. A process that runs
        a program which it may not read is kept so.
        """
        libc = ctypes.CDLL(None, use_errno=True)
        for pid in tree:
            for thread in threads_of(pid)[: MOST_COUNTERS - len(self._counters)]:
                descriptor = count_processor_time(thread, libc)
                if descriptor >= 0:
                    self._counters.append(descriptor)
                elif ctypes.get_errno() in (EACCES, EPERM):
                    self._hidden[pid] = process_ns(pid)

    def used_ns(self) -> int:
        """The CPU time in ns that the processes have used since the count began."""
        used_ns = sum(map(read_counter, self._counters))
        for pid, before_ns in self._hidden.items():
            now_ns = process_ns(pid)
            if now_ns > before_ns and not is_ending(pid):
                used_ns += now_ns - before_ns
        return used_ns

    def counted_ns(self) -> int:
        """How much of it the bot's counter shows, in ns."""
        return read_counter(self._counter) - self._before_ns

    def close(self) -> None:
        """Ends the count."""
        for counter in self._counters:
            os.close(counter)


def shortfall_ns(used_ns: int, counted_ns: int) -> int:
    """How much less CPU time was counted than used; 0 if more than `COUNTED_PART` of it was."""
    return used_ns - counted_ns if counted_ns < COUNTED_PART * used_ns else 0
