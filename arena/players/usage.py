"""What a bot's processes use: which processes they are, their processor time, and whether they want
to run.

The time for an answer is processor time, so what is counted here decides games. Where the kernel
allows it, one counter adds up everything that a bot has ever started
(`keeper.count_processor_time`). Elsewhere the arena adds it up from /proc, process by process: the
processor clock of each, exact to the nanosecond, and what its ended children used, which the kernel
books when somebody waits for them.

Everything here is empty or zero if there is no /proc.
"""

import ctypes
import os
import time

from arena.players.keeper import process_ns, read_counter

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
CHILDREN_FIELDS = slice(13, 15)
STATE_FIELD, NICE_FIELD, POLICY_FIELD = 0, 16, 38
BATCH, IDLE = 3, 5
IDLE_FIELD = 4
BUBBLEWRAP = b"bwrap"
PIDFD_GETFD = 438
LOOK_NS = 20_000_000
"""How old a sum from /proc may be that charges an answer: a look at a family of four takes about
0.2 ms.
"""


class Meter:
    """The processor time of everything a keeper's bot has started, in ns. It never goes back.

    ``counter`` is the number, in the keeper, of the descriptor that counts it; None if there is
    none.
    """

    def __init__(self, keeper: int, counter: int | None) -> None:
        self._keeper = keeper
        self._counter = None if counter is None else _fetched(keeper, counter)
        self._used_ns = self._summed_ns = self._looked_ns = 0
        self._main = self._main_ns = self._last = 0
        self._nice = os.getpriority(os.PRIO_PROCESS, 0)

    @property
    def is_exact(self) -> bool:
        """Whether the kernel itself adds it up."""
        return self._counter is not None

    @property
    def counter(self) -> int:
        """The descriptor of the kernel's counter, -1 if there is none."""
        return -1 if self._counter is None else self._counter

    def used_ns(self) -> int:
        """Up to now."""
        if self._counter is not None:
            return read_counter(self._counter)
        now_ns = time.monotonic_ns()
        if now_ns - self._looked_ns > LOOK_NS or not self._main:
            self._looked_ns = now_ns
            tree = family(self._keeper)[1:]
            self._summed_ns = max(self._summed_ns, family_ns(self._keeper, tree))
            self._main = tree[-1] if tree else 0
            self._main_ns = process_ns(self._main) if tree else 0
        since_ns = max(0, process_ns(self._main) - self._main_ns) if self._main else 0
        self._used_ns = max(self._used_ns, self._summed_ns + since_ns)
        return self._used_ns

    def can_run(self) -> bool:
        """Whether one of the bot's threads wants a processor now, or has one; see
        `wants_processor`.
        """
        return wants_processor(family(self._keeper)[1:], self._nice)

    def main_can_run(self) -> bool:
        """The same of the main thread of the process that was started last: a look takes 6 us, one
        at a whole family 200.
        """
        if not self._last:
            self._last = family(self._keeper)[-1]
        stat = _stat(f"/proc/{self._last}/stat")
        if not stat:
            self._last = 0
        return bool(stat) and stat[STATE_FIELD] == b"R"

    def close(self) -> None:
        """Lets go of the counter; calling it again does nothing."""
        if self._counter is not None:
            os.close(self._counter)
            self._counter = None


def _fetched(pid: int, descriptor: int) -> int | None:
    """A copy of a descriptor of another process; None if the system refuses it."""
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return None
    try:
        copy = ctypes.CDLL(None).syscall(PIDFD_GETFD, process, descriptor, 0)
    finally:
        os.close(process)
    return int(copy) if copy >= 0 else None


def family(root: int) -> list[int]:
    """A process and everything that it and its descendants started."""
    found = [root]
    for pid in found:
        for thread in _names(f"/proc/{pid}/task"):
            found += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return found


def family_ns(keeper: int, tree: list[int]) -> int:
    """Processor time of these processes and of what ended below them or below their keeper."""
    return _ended_children_ns(keeper) + sum(
        process_ns(pid) + _ended_children_ns(pid) for pid in tree
    )


def idle_time_ns() -> int:
    """How long the processors that this process may use have been idle, the one that was so for
    longest; it only makes sense as a span.
    """
    names = (
        {f"cpu{number}".encode() for number in os.sched_getaffinity(0)}
        if hasattr(os, "sched_getaffinity")
        else set()
    )
    lines = [line.split() for line in _read("/proc/stat").splitlines() if line.startswith(b"cpu")]
    return (
        max((int(words[IDLE_FIELD]) for words in lines if words[0] in names), default=0) * TICK_NS
    )


def _ended_children_ns(pid: int) -> int:
    """Processor time of the children that a process has waited for, in whole ticks."""
    return sum(map(int, _stat(f"/proc/{pid}/stat")[CHILDREN_FIELDS])) * TICK_NS


def wants_processor(pids: list[int], given: int = -20) -> bool:
    """Whether a thread of ordinary urgency is ready to run, or runs: one that asks to come last has
    no claim.

    Ordinary is what this process has, or what it had when it started them, which is ``given``.
    Without that, whoever made an arena more urgent during its games made its bots late: they stay
    as they were, and counted as asleep.
    """
    mine = max(given, os.getpriority(os.PRIO_PROCESS, 0))
    for pid in pids:
        for thread in _names(f"/proc/{pid}/task"):
            stat = _stat(f"/proc/{pid}/task/{thread}/stat")
            if (
                stat
                and stat[STATE_FIELD] == b"R"
                and int(stat[NICE_FIELD]) <= mine
                and int(stat[POLICY_FIELD]) not in (BATCH, IDLE)
            ):
                return True
    return False


def has_pipe_open(pids: list[int], pipe: int) -> bool:
    """Whether one of the processes, other than the sandbox's own, holds this descriptor's pipe, or
    might: some cannot be inspected.
    """
    inode = os.fstat(pipe).st_ino
    return any(
        _has_open(pid, inode) for pid in pids if _read(f"/proc/{pid}/comm").strip() != BUBBLEWRAP
    )


def _has_open(pid: int, inode: int) -> bool:
    try:
        return any(
            os.stat(f"/proc/{pid}/fd/{name}").st_ino == inode  # noqa: PTH116
            for name in os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
        )
    except PermissionError:
        return True
    except OSError:
        return False


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - for speed
    except OSError:
        return []


def _stat(path: str) -> list[bytes]:
    """The fields of a stat file, starting with the process state."""
    return _read(path).rpartition(b")")[2].split()


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - for speed
            return file.read()
    except OSError:
        return b""
