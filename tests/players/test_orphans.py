"""What a bot leaves behind when its keeper is killed, beside processes that are nobody's bots."""

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from arena.errors import Void
from arena.players import orphans
from arena.players.orphans import is_subreaper
from arena.players.processes import stat_of
from tests.support.processes import is_alive, wait_until_dead
from tests.support.started import HIDING, PYTHON, pids_of

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux lets a process adopt orphans"
)

WAITING = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
LEAVING = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {WAITING!r}])"
UNMARKED = """
import os, subprocess, sys, time
CODE = "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(600)"
def start_unmarked():
    subprocess.Popen([sys.executable, "-c", CODE], env={})
"""
UNMARKED_CHILD = f"""{UNMARKED}
if os.fork() == 0:
    os.setsid()
    print(os.getpid(), flush=True)
    start_unmarked()
time.sleep(600)
"""
UNMARKED_ORPHAN = f"""{UNMARKED}
if os.fork() == 0:
    start_unmarked()
    os._exit(0)
os.wait()
time.sleep(600)
"""


def kill_keeper_and_stop(process):
    os.kill(process.keeper.process.pid, signal.SIGKILL)
    process.stop()


def parent_of(pid):
    return int(stat_of(pid)[1])


def test_a_killed_keeper_costs_no_process_its_life_that_is_not_the_bots(start):
    process = start(HIDING)
    pids = pids_of(process)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with ExitStack() as stack:
        child = stack.enter_context(subprocess.Popen([PYTHON, "-c", WAITING], **pipes))
        parent = stack.enter_context(subprocess.Popen([PYTHON, "-c", LEAVING], **pipes))
        assert int(child.stdout.readline()) == child.pid
        orphan = int(parent.stdout.readline())
        parent.wait()
        assert parent_of(orphan) == os.getpid()
        kill_keeper_and_stop(process)
        for pid in pids:
            wait_until_dead(pid)
        assert child.poll() is None
        assert is_alive(orphan)
    os.waitpid(orphan, 0)


def test_a_child_of_a_bots_process_is_the_bots_whatever_its_environment_says(start):
    process = start(UNMARKED_CHILD)
    pids = pids_of(process)
    kill_keeper_and_stop(process)
    for pid in pids:
        wait_until_dead(pid)


def test_an_orphan_that_could_be_anybodys_is_left_alone(start):
    process = start(UNMARKED_ORPHAN)
    [pid] = pids_of(process, 1)
    kill_keeper_and_stop(process)
    assert is_alive(pid)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


ONLY_KEEPERS = f"""
import os, signal, sys
from pathlib import Path
from arena.players.orphans import expect_only_keepers
from arena.players.process import BotProcess

def start(code):
    return BotProcess([sys.executable, "-c", code], Path("/"))

expect_only_keepers()
process, other = start({UNMARKED_ORPHAN!r}), start("import time; time.sleep(600)")
orphan = os.read(process.from_bot, 100).decode().strip()
os.kill(process.keeper.process.pid, signal.SIGKILL)
process.stop()
print(orphan, other.ending(), flush=True)
sys.stdin.read()
other.stop()
"""


def test_where_all_children_are_keepers_every_orphan_is_a_bots():
    with subprocess.Popen(
        [PYTHON, "-c", ONLY_KEEPERS],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    ) as worker:  # fmt: skip
        orphan, ending_of_other = worker.stdout.readline().split()
        wait_until_dead(int(orphan))
        assert ending_of_other == "None"


def test_a_process_adopts_orphans_only_while_it_has_a_bot(start):
    assert not is_subreaper()
    one, other = start("pass"), start("pass")
    assert is_subreaper()
    one.stop()
    one.stop()
    assert is_subreaper()
    other.stop()
    assert not is_subreaper()


def test_a_process_that_adopted_orphans_before_its_first_bot_does_so_after_the_last(start):
    orphans._set_subreaper(adopts=True)
    try:
        start("pass").stop()
        assert is_subreaper()
    finally:
        orphans._set_subreaper(adopts=False)


def test_a_bot_that_cannot_be_started_leaves_the_process_as_it_was(start, tmp_path):
    tmp_path.rmdir()
    with pytest.raises(Void):
        start("pass")
    assert not is_subreaper()
