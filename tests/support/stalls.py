"""Whether other programs kept the processors from a test of time, so that its outcome says nothing.

The kernel's own figures tell, and not the arena's: a test that took the arena's word for it would
pass whatever the arena says.
"""

import os
import resource
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.errors import UserError

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
IDLE_FIELDS = (3, 4)
"""Time in which a processor had nothing to do, or waited for a disk."""
COUNTED_FIELDS = 8
"""The last ones of /proc/stat are in the first ones, too. The eighth is what a hypervisor took."""
TOO_BUSY = 0.5
"""The arena blames the machine if other programs leave less than a tenth: they took much more than
this part of what the bot had left.
"""


def busy_ns(cores):
    """For how long these processors have computed for anybody, or were kept by a hypervisor."""
    ticks = 0
    for line in Path("/proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if name.removeprefix("cpu").isdigit() and int(name.removeprefix("cpu")) in cores:
            counted = [int(field) for field in fields[:COUNTED_FIELDS]]
            ticks += sum(counted) - sum(counted[field] for field in IDLE_FIELDS)
    return ticks * TICK_NS


class Others:
    """What programs use that are neither this process nor one of these players, from now on."""

    def __init__(self, players):
        self._processes = [player.process for player in players]
        self._cores = os.sched_getaffinity(0)
        self._began_ns = time.monotonic_ns()
        self._busy_ns = busy_ns(self._cores)
        self._tested_ns = self._used_by_test_ns()

    def share(self):
        """The part that other programs took of the processors, of what the test had left them."""
        passed_ns = (time.monotonic_ns() - self._began_ns) * len(self._cores)
        tested_ns = self._used_by_test_ns() - self._tested_ns
        others_ns = busy_ns(self._cores) - self._busy_ns - tested_ns
        return others_ns / max(passed_ns - tested_ns, 1)

    def _used_by_test_ns(self):
        """With the bots that run, and all that has ended: keepers wait for what bots start."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        running = [
            process for process in self._processes if process.keeper.process.returncode is None
        ]
        return (
            time.process_time_ns()
            + int((ended.ru_utime + ended.ru_stime) * 1e9)
            + sum(process.meter.used_ns() for process in running)
        )


@contextmanager
def unless_the_machine_stalled(*players):
    """Skips the test if the arena finds the machine too busy for these players, and it was."""
    others = Others(players)
    try:
        yield
    except UserError as error:
        share = others.share()
        if share < TOO_BUSY:
            raise
        pytest.skip(f"the machine stalled: other programs took {share:.0%} of it ({error})")
