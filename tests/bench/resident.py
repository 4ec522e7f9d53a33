"""How much memory a process holds."""

import os
import resource
import subprocess
import sys
from pathlib import Path

MEGA = 1024 * 1024


def resident_mb(process: int) -> float:
    """What a process holds now, in MB of 1024 x 1024 bytes."""
    table = Path(f"/proc/{process}/statm")
    if table.exists():
        return int(table.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MEGA
    done = subprocess.run(["ps", "-o", "rss=", "-p", str(process)], check=True, capture_output=True)
    return int(done.stdout) / 1024


def peak_mb() -> float:
    """The most this process has ever held. On Linux this leaves out the parent's memory at the
    start, which getrusage would count.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return next(
            int(line.split()[1]) / 1024
            for line in status.read_text().splitlines()
            if line.startswith("VmHWM")
        )
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / MEGA if sys.platform == "darwin" else most / 1024
