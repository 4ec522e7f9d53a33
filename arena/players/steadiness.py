"""How this machine counts processor time, and how steadily a program runs on it."""

import ctypes
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

from arena.players.keeper import count_processor_time

PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


def kernel_counts() -> bool:
    """Whether the kernel adds up the processor time of everything a bot starts; see
    `keeper.count_processor_time`.
    """
    counter = (
        count_processor_time(os.getpid(), ctypes.CDLL(None)) if sys.platform == "linux" else -1
    )
    if counter < 0:
        return False
    os.close(counter)
    return True


def paranoia() -> int | None:
    """The kernel.perf_event_paranoid of this machine: above 2, only root may count. None if there
    is no such setting.
    """
    try:
        return int(PARANOID.read_text())
    except (OSError, ValueError):
        return None


class Pauses(NamedTuple):
    """The longest time in which a program that only computes could not, and the longest that the
    kernel counted as its processor time all the same; in ns.
    """

    stall_ns: int
    jump_ns: int


def longest_pauses(seconds: float) -> Pauses:
    """Computes for that long, and watches both clocks.

    A stall alone is another program's turn. A jump of the processor time between two readings is a
    hypervisor that held the virtual processor: the kernel below it cannot tell, and charges the
    program that ran. Seen: 15 to 30 ms.
    """
    stall = jump = 0
    wall, used = time.monotonic_ns(), time.process_time_ns()
    end = wall + int(seconds * 1_000_000_000)
    while wall < end:
        wall_now, used_now = time.monotonic_ns(), time.process_time_ns()
        stall, jump = max(stall, wall_now - wall), max(jump, used_now - used)
        wall, used = wall_now, used_now
    return Pauses(stall, jump)
