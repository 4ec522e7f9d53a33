"""While one bot is asked for a move, the referee stops the others that compute."""

import sys

import pytest

from arena.match.referee import Referee
from arena.players.bot import BotPlayer
from arena.players.folder import bot_at
from arena.records.timing import Timing
from arena.rules.boards import built_in
from arena.tournament.schedule import single_game

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux counts a bot's CPU time"
)

PROGRAM = """
import json, os, sys, time

shared, task = sys.argv[1:]
seen = os.path.join(shared, "seen")
MAX_S = 60

def compute():
    open(os.path.join(shared, f"computes-{os.getpid()}"), "w").close()
    while not os.path.exists(seen):
        pass

def watch():
    # Writes down the states of the two other bots once both are stopped, or after a minute.
    deadline = time.monotonic() + MAX_S
    states = []
    while states != ["T", "T"] and time.monotonic() < deadline:
        time.sleep(0.01)
        names = [name for name in os.listdir(shared) if name.startswith("computes-")]
        states = [state(name.removeprefix("computes-")) for name in names]
    with open(seen, "w") as file:
        file.write(" ".join(states))

def state(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "id": message["id"], "view": "full"}), flush=True)
    elif message["type"] == "turn":
        if task == "watch" and not os.path.exists(seen):
            watch()
        move = {"type": "move", "id": message["id"], "move": message["legal"][0]}
        print(json.dumps(move), flush=True)
        if task == "compute":
            compute()
"""


def test_bots_that_compute_while_another_is_asked_are_stopped_until_their_next_turn(tmp_path):
    (tmp_path / "bot.py").write_text(PROGRAM)
    shared = tmp_path / "shared"
    shared.mkdir()
    tasks = {"first": "compute", "second": "compute", "third": "watch"}
    players = []
    for name, task in tasks.items():
        command = ["python3", "bot.py", str(shared), task]
        players.append(BotPlayer(bot_at(tmp_path, name=name, command=command), 60_000))
    plan = single_game("resting", "bird", 0, list(tasks))
    try:
        record = Referee(plan, built_in("bird"), players, Timing(move_ms=60_000)).play().record
    finally:
        for player in players:
            player.stop()
    assert (shared / "seen").read_text() == "T T"
    assert record.faults == []
