"""Measures the CPU time that a bot uses, and sees whether the bot computes, waits or sleeps.

Where the kernel allows it, one counter adds up the CPU time of everything that a bot has ever
started (`count_processor_time`). Elsewhere the arena adds up what it sees in /proc, which is good
enough for the user's own bots.
"""

import os
import time
from collections.abc import Iterator

from arena.players.counter import process_ns, read_counter
from arena.players.keeper_client import KeeperClient
from arena.players.processes import family, is_exiting, read_file, stat_of, threads_of

RUNNABLE = [b"R"]
"""The state of a thread that runs or waits for a CPU."""
UNINTERRUPTED = [b"D"]
"""The state of a thread that waits for a disk, or for a child of vfork to end."""
IN_VFORK = (b"kernel_clone", b"wait_for_vfork_done", b"_do_fork")
"""Where a thread waits in the kernel for a child of vfork, see /proc/PID/wchan."""
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
CHILDREN_FIELDS = slice(13, 15)
LOOK_NS = 20_000_000
"""A sum from /proc that charges an answer may be at most this old. Making the sum takes about 0.2
ms.
"""


class Meter:
    """The CPU time of everything that a keeper's bot has started, in ns. It never decreases.

    Before the keeper has reported that the bot is ``started``, nothing counts as used. Where the
    kernel does not count, the meter adds up the CPU time of the bot's living processes and, in
    whole ticks, of the ended ones that some process has waited for; such a sum is up to 20 ms old.
    """

    def __init__(self, keeper: KeeperClient) -> None:
        self._keeper = keeper
        self._is_started = False
        self._used_ns = self._others_ns = self._looked_ns = self._main = 0

    @property
    def is_started(self) -> bool:
        """Whether the bot has been started."""
        if not self._is_started:
            self._keeper.read()
            self._is_started = bool(self._keeper.started)
        return self._is_started

    @property
    def counter(self) -> int:
        """The descriptor from which the kernel's count can be read, -1 if there is none."""
        return self._keeper.counter if self.is_started else -1

    def used_ns(self) -> int:
        """The CPU time that the bot's processes have used so far, in ns."""
        if not self.is_started:
            return 0
        if self._keeper.counter >= 0:
            return read_counter(self._keeper.counter)
        now_ns = time.monotonic_ns()
        if now_ns - self._looked_ns > LOOK_NS or not self._main:
            self._looked_ns = now_ns
            tree = family(self._keeper.process.pid)
            ended_ns = sum(map(_ended_children_ns, tree))
            *others, self._main = tree[self._keeper.helpers :] or [0]
            self._others_ns = ended_ns + sum(map(process_ns, others))
        main_ns = process_ns(self._main) if self._main else 0
        self._used_ns = max(self._used_ns, self._others_ns + main_ns)
        return self._used_ns

    def is_idle(self) -> bool:
        """Whether the main thread of the bot's newest process waits for something, or has ended;
        False before the bot has been started.
        """
        if not self.is_started:
            return False
        self._main = self._main or family(self._keeper.process.pid)[-1]
        fields = stat_of(self._main)
        if not fields:
            self._main = 0
        return not _is_runnable(fields)

    def wants_processor(self) -> bool:
        """Whether a thread of the bot runs, or waits for a CPU or a disk, or the keeper, which has
        to let a stopped bot go on, waits for a CPU; True before the bot has been started.
        """
        if not self.is_started:
            return True
        tree = family(self._keeper.process.pid)
        if any(map(_wants_processor, _places_of_threads(tree[self._keeper.helpers :]))):
            return True
        return any(map(_is_runnable, _threads_in(tree[: self._keeper.helpers])))

    def is_runnable(self) -> bool:
        """Whether a thread of the bot runs or waits for a CPU."""
        bot = family(self._keeper.process.pid)[self._keeper.helpers :]
        return any(map(_is_runnable, _threads_in(bot)))

    def is_starved(self) -> bool:
        """Whether a thread of the bot or of its keeper runs or waits for a CPU, and none of these
        is exiting. A bot of which this is true, and which gets next to no CPU time, is kept waiting
        by others, and not by the ends of its own processes, which are not counted.
        """
        runnable = filter(_is_runnable, _threads_in(family(self._keeper.process.pid)))
        exiting = list(map(is_exiting, runnable))
        return bool(exiting) and not any(exiting)

    def stop_bot(self) -> None:
        """Stops all processes of the bot, and waits until they have stopped, but not for ever."""
        self._keeper.stop_bot(at_once=False)

    def resume_bot(self) -> None:
        """Lets all processes of the bot go on."""
        self._keeper.resume_bot()


def _places_of_threads(pids: list[int]) -> Iterator[str]:
    """Yields the place of each thread of the processes ``pids`` in /proc."""
    for pid in pids:
        for thread in threads_of(pid):
            yield f"{pid}/task/{thread}"


def _threads_in(pids: list[int]) -> Iterator[list[bytes]]:
    """Yields the fields of `stat_of` of each thread of the processes ``pids``; empty if the thread
    has ended meanwhile.
    """
    return map(stat_of, _places_of_threads(pids))


def _wants_processor(place: str) -> bool:
    """Whether the thread at this place in /proc runs, or waits for a CPU or a disk."""
    state = stat_of(place)[:1]
    if state == UNINTERRUPTED:
        return read_file(f"/proc/{place}/wchan") not in IN_VFORK
    return state == RUNNABLE


def _is_runnable(fields: list[bytes]) -> bool:
    """Whether a thread with these fields of `stat_of` runs or waits for a CPU."""
    return fields[:1] == RUNNABLE


def _ended_children_ns(pid: int) -> int:
    """The CPU time of the ended children that a process has waited for, in ns, counted in whole
    ticks.
    """
    return sum(map(int, stat_of(pid)[CHILDREN_FIELDS])) * TICK_NS
