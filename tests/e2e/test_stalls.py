"""Stopped workers, bots that stop them, bots that compute on others' turns: none of it costs a
rival a game, or saves a bot one.
"""

import json
import os
import signal
import sys
import time

import pytest

from tests.support.commandline import FIRST, SLOW, TINY, TURN
from tests.support.kills import wait_for_games, workers
from tests.support.wording import lines_with

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="CPU time is counted by Linux"),
    pytest.mark.alone,
]

STOPPER = FIRST.replace(
    "import sys\n", "import os, signal, sys, time\nfrom pathlib import Path\n"
).replace(
    TURN,
    """    elif message["type"] == "turn" and message["position"]["pile"] < 60:
        stat = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
        worker = int(stat[1])
        if os.fork() == 0:
            os.kill(worker, signal.SIGSTOP)
            time.sleep(1.0)
            os.kill(worker, signal.SIGCONT)
            os._exit(0)
        time.sleep(600)
"""
    + TURN,
)
KILLER = FIRST.replace(
    "import sys\n", "import os, signal, sys, time\nfrom pathlib import Path\n"
).replace(
    TURN,
    """    elif message["type"] == "turn" and message["position"]["pile"] < 60:
        stat = Path(f"/proc/{os.getppid()}/stat").read_text()
        os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)
        time.sleep(600)
"""
    + TURN,
)


def test_stopped_workers_cost_no_bot_a_game_and_void_none(arena):
    """The workers are stopped for longer than a move may take."""
    arena.add_bot("slow", SLOW)
    arena.add_bot("slower", SLOW)
    process = arena.start(
        "run",
        "slow",
        "slower",
        "--deals",
        3,
        "--move-ms",
        500,
        "--jobs",
        2,
        "--seed",
        "s",
        "--out",
        "stopped",
    )
    for games in (1, 2):  # from then on another worker is in the middle of a game
        wait_for_games(arena, "stopped", games, process)
        stopped = workers(arena)
        assert stopped
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(1.2)  # the stop itself, more than twice --move-ms
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    _, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    assert "void" not in err
    assert "forfeit" not in err
    records = arena.records("stopped")
    assert len({record["id"] for record in records}) == len(records) == 6
    assert {record["clock"] for record in records} == {"cpu"}


def test_a_bot_that_stops_its_worker_forfeits(arena):
    """Without a sandbox a bot can do this."""
    arena.add_bot("stopper", STOPPER)
    _, err = arena(
        "run",
        "stopper",
        "fst",
        "--deals",
        1,
        "--move-ms",
        400,
        "--jobs",
        1,
        "--sandbox",
        "off",
        "--out",
        "s",
        status=1,
    )
    assert "void" not in err
    assert [
        [record["bots"][fault["seat"]] for fault in record["faults"]]
        for record in arena.records("s")
    ] == [["stopper"]] * 2


def test_games_whose_worker_is_killed_are_kept_as_far_as_they_are_known(arena):
    """Without a sandbox a bot can do this too: the games are given up after three attempts, of
    which only the games are known.
    """
    arena.add_bot("killer", KILLER)
    _, err = arena(
        "run",
        "killer",
        "fst",
        "--deals",
        1,
        "--jobs",
        1,
        "--sandbox",
        "off",
        "--out",
        "k",
        status=1,
    )
    voids = [
        json.loads(line)
        for line in (arena.home / "results" / "k" / "voids.jsonl").read_text().splitlines()
    ]
    assert sorted((void["id"], void["attempt"]) for void in voids) == [
        (f"bird/fst+killer/0/{game}", n) for game in (0, 1) for n in (1, 2, 3)
    ]
    assert all(
        len(void["deck"]) == 144 and void["reason"] == "its worker died" and "so_far" not in void
        for void in voids
    )
    assert "error: bird/fst+killer/0/0 could not be played: its worker died" in err
    analysis, _ = arena("analyse", "k")
    assert "its worker died: 6 times in 2 games" in analysis
    assert "not played since: 2 games" in analysis


def test_a_bot_that_computes_on_its_rivals_turns_is_stopped_there(arena, zoo_bot):
    name = zoo_bot("burns")
    arena.add_bot("slow", SLOW.replace("0.06", "0.3"))
    (arena.home / "tiny.txt").write_text(TINY)
    limits = ("--board", "tiny.txt", "--deals", 1, "--move-ms", 9000)
    arena("run", "slow", name, *limits, "--out", "b")
    for record in arena.records("b"):
        assert record["faults"] == []
        seat = record["bots"].index(name)
        # Three processes would use at least 300 ms on every turn of the rival.
        assert record["think_ms"][seat] < 150 * record["turns"] / 2


def test_the_clock_in_force_is_said(arena, snapshot):
    arena("run", "rnd", "fst", "--deals", 1, "--clock", "wall", "--out", "w")
    out, _ = arena("standings", "w", "--wide")
    assert lines_with(out, "--clock") == snapshot
    assert json.loads(arena("standings", "w", "--json")[0])["clock"] == "wall"
    assert (
        json.loads((arena.home / "results" / "w" / "run.json").read_text())["config"]["clock"]
        == "wall"
    )
