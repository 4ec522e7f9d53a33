"""A plan of any size begins soon and ends soon; Ctrl-C at any moment leaves no traceback."""

import json
import os
import signal
import time

import pytest

from tests.support.kills import wait_for_games
from tests.support.waiting import wait_for

CROWD = [
    "random",
    "greedy",
    *(f"{policy}-{number}" for policy in ("greedy", "careful") for number in range(1, 150)),
]
"""300 built-in bots."""


def stopped(process):
    """Asks a run to stop, as a terminal does; what it said."""
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=240)
    assert "Traceback" not in err
    assert process.returncode in (130, -signal.SIGINT), err
    return out, err


@pytest.mark.parametrize(
    ("options", "planned"),
    [
        (["--players", "4"], 300 * 299 * 298 * 297 // 24 * 40),
        (["--deals", "10000000"], 300 * 299 // 2 * 20_000_000),
        (["--players", "4", "--tables", "3000"], 120_000),
    ],
)
def test_a_plan_that_never_ends_is_played_stopped_listed_verified_and_continued(
    arena, options, planned
):
    command = ["run", *CROWD, *options, "--out", "huge"]
    process = arena.start(*command)
    wait_for_games(arena, "huge", 1, process)
    stopped(process)
    games = len(arena.records("huge"))
    assert games
    out, _ = arena("runs", "--json")
    assert [(row["games"], row["planned"]) for row in json.loads(out)] == [(games, planned)]
    assert f"{planned - games} of the {planned} planned games are missing" in "".join(
        arena("verify", "huge")
    )
    process = arena.start(*command)
    wait_for_games(arena, "huge", games + 1, process)
    stopped(process)
    ids = [record["id"] for record in arena.records("huge")]
    assert len(ids) == len(set(ids)) > games


@pytest.mark.parametrize("delay_ms", [0, 50, 150, 400, 1000])
def test_ctrl_c_while_a_run_starts_is_no_bug(arena, delay_ms):
    process = arena.start("run", *CROWD[:30], "--players", "4", "--jobs", "8", "--out", "short")
    folder = arena.home / "results" / "short"
    wait_for(folder.exists, "the folder of the run", interval_s=0.001)
    time.sleep(delay_ms / 1000)
    stopped(process)
