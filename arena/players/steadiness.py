"""How this machine counts processor time, and how steadily a program runs on it."""

import ctypes
import os
import sys
import time
from pathlib import Path

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


def longest_stall_ns(seconds: float) -> int:
    """Computes for that long; returns the longest time in which it could not."""
    end = time.monotonic_ns() + int(seconds * 1_000_000_000)
    longest, before = 0, time.monotonic_ns()
    while before < end:
        now = time.monotonic_ns()
        longest, before = max(longest, now - before), now
    return longest
