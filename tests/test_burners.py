"""Nothing that a test started goes on after pytest was killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.burners import HAS_SETPRIV, all_cores, burners
from tests.support.processes import is_alive, wait_until_dead

ROOT = Path(__file__).parents[1]
TEST = """
import subprocess, sys, time
from tests.support.burners import start_burner, with_parent
started = [start_burner(), start_burner()]
if len(sys.argv) > 1:
    started.append(subprocess.Popen(with_parent("sleep", "600"), start_new_session=True))
print(*[process.pid for process in started], flush=True)
time.sleep(600)
"""


def test_what_a_killed_test_had_started_ends():
    with subprocess.Popen(
        [sys.executable, "-c", TEST, *["sleeps"] * HAS_SETPRIV],
        stdout=subprocess.PIPE, text=True, cwd=ROOT,
    ) as test:  # fmt: skip
        pids = [int(word) for word in test.stdout.readline().split()]
        assert all(is_alive(pid) for pid in pids)
        test.send_signal(signal.SIGKILL)
    assert len(pids) == 2 + HAS_SETPRIV
    for pid in pids:
        wait_until_dead(pid)


def test_burners_compute_on_their_core_until_the_test_is_over():
    with burners(all_cores()) as started:
        assert [burner.poll() for burner in started] == [None] * len(all_cores())
        if hasattr(os, "sched_getaffinity"):
            assert [os.sched_getaffinity(burner.pid) for burner in started] == [
                {core} for core in all_cores()
            ]
    assert [burner.returncode for burner in started] == [-signal.SIGKILL] * len(all_cores())


@pytest.mark.skipif(sys.platform != "linux", reason="util-linux is Linux's")
def test_linux_ends_the_commands_that_a_test_has_started():
    assert HAS_SETPRIV, "install util-linux, which has setpriv"
