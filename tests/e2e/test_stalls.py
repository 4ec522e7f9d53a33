"""What is the machine's fault and what a bot's, in whole runs: stopped workers, bots that stop them, bots that compute all the time."""

import os
import signal
import sys
import time

import pytest

from tests.e2e.conftest import FIRST
from tests.e2e.test_kills import journal_lines, processes, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")

SLOW = FIRST.replace("import sys\n", "import sys, time\n").replace(
    '    elif message["type"] == "turn":\n', '    elif message["type"] == "turn":\n        time.sleep(0.06)\n'
)


def workers(arena):
    return [pid for pid, command in processes(str(arena.home)).items() if "spawn_main" in command]


def test_stopped_workers_cost_no_bot_a_game(arena):
    """The workers are stopped for longer than a move may take: those games are void, and played again."""
    arena.add_bot("slow", SLOW)
    arena.add_bot("slower", SLOW)
    process = arena.start("run", "slow", "slower", "--deals", 3, "--move-ms", 500, "--jobs", 2, "--seed", "s", "--out", "stopped")
    for moment in range(2):
        wait_for(lambda moment=moment: journal_lines(arena, "stopped") >= moment or process.poll() is not None)
        wait_for(lambda: workers(arena))
        time.sleep(1.0)
        stopped = workers(arena)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(1.2)
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    _, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    assert "is void (the machine stalled while slow" in err
    assert "forfeit" not in err
    records = arena.records("stopped")
    assert len({record["id"] for record in records}) == len(records) == 6
    assert not any(record["faults"] for record in records)


STOPPER = FIRST.replace("import sys\n", "import os, signal, sys, time\nfrom pathlib import Path\n").replace(
    '    elif message["type"] == "turn":',
    """    elif message["type"] == "turn" and message["position"]["pile"] < 60:
        stat = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
        worker = int(stat[1])
        if os.fork() == 0:
            os.kill(worker, signal.SIGSTOP)
            time.sleep(1.0)
            os.kill(worker, signal.SIGCONT)
            os._exit(0)
        time.sleep(9)
    elif message["type"] == "turn":""",
)


def test_a_bot_that_stops_its_worker_gets_three_attempts_and_no_more(arena):
    """Without a sandbox a bot can do this; it is named each time, the game is given up, and the run says that it is incomplete."""
    arena.add_bot("stopper", STOPPER)
    _, err = arena(*("run", "stopper", "fst", "--deals", 1, "--move-ms", 400, "--jobs", 1, "--sandbox", "off", "--out", "s"), status=1)
    for seating in range(2):
        assert err.count(f"warning: bird/fst+stopper/0/{seating} is void (the machine stalled while stopper had to answer") == 3
        assert f"error: bird/fst+stopper/0/{seating} could not be played: the machine stalled while stopper had to answer" in err
    assert arena.records("s") == []


def test_a_bot_that_computes_all_the_time_is_told_of_once(arena, zoo_bot):
    name = zoo_bot("burns")
    arena.add_bot("slow", SLOW)
    _, err = arena("run", "slow", name, "--deals", 2, "--move-ms", 5000, "--out", "b")
    if "warning: burns" not in err and os.getloadavg()[0] > 2 * len(os.sched_getaffinity(0)):
        pytest.skip("the machine is too busy for a burner to get a processor")
    assert err.count("warning: burns computes on others' turns too, and ") == 1
    assert "warning: slow computes" not in err
    assert "the arena's own time from an answer to the next request: p50 " in err
