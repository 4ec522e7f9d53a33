"""Programs that tests start beside what they test. They end with the process of the test, even if
that is killed and can end nothing any more.
"""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

HAS_SETPRIV = shutil.which("setpriv") is not None
UNLESS_ORPHANED = 'test "$PPID" = "$0" && exec "$@"'


def with_parent(*command):
    """The command so that the kernel kills it once the thread that started it has ended (Linux)."""
    if not HAS_SETPRIV:
        return list(command)
    # This process may have ended before the kernel was told.
    check = ["sh", "-c", UNLESS_ORPHANED, str(os.getpid())]
    return ["setpriv", "--pdeathsig", "KILL", *check, *command]


def start_burner():
    """Start a program that computes without end, in a session of its own: the kernel shares the
    processor among sessions.
    """
    command = [sys.executable, "-I", "-S", __file__, str(os.getpid())]
    return subprocess.Popen(command, start_new_session=True)


@contextmanager
def burners(cores):
    """Programs that compute without end, one for each entry of ``cores``, on that processor."""
    started = []
    try:
        for core in cores:
            started.append(start_burner())
            if hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(started[-1].pid, {core})
        yield started
    finally:
        for burner in started:
            burner.kill()
            burner.wait()


def all_cores():
    """The processors that this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]


def burn(parent):
    """Compute for as long as this process is a child of ``parent``."""
    while os.getppid() == parent:
        for _ in range(10_000):
            pass


if __name__ == "__main__":
    burn(int(sys.argv[1]))
