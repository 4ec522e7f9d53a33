"""Whether processes that a test started still live, and what a bot's processes are doing."""

import os
from pathlib import Path

from arena.players.processes import read_file
from tests.support.waiting import wait_for


def is_alive(pid):
    """Whether a process exists and is no zombie, as far as the system tells."""
    try:
        os.kill(pid, 0)
        if not Path("/proc").is_dir():
            return True
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def wait_until_dead(pid, seconds=240):
    """Wait until a process has ended."""
    wait_for(lambda: not is_alive(pid), f"the end of process {pid}", seconds=seconds)


def states(process):
    """The state of each process of a bot's process, such as T for stopped."""
    stats = [read_file(f"/proc/{pid}/stat") for pid in process.processes()]
    return [text.rpartition(b")")[2].split()[0].decode() for text in stats if text]
