"""A stalled machine is told from a slow bot: the one voids a game, the other forfeits it, and a bot cannot make one of the other."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.errors import Forfeit, Void
from arena.players.bot import BotPlayer
from arena.players.folder import bot_at
from arena.players.messages import Start
from arena.players.usage import Usage, lost_ns
from arena.rules import State
from arena.rules.boards import built_in
from arena.rules.notation import parse_deck
from arena.tournament.schedule import single_game

ROOT = Path(__file__).parents[2]
BIRD = built_in("bird")
START = Start(players=2, seat=0, board=BIRD.rows, pagodas=24, seed=1, move_ms=400)
BUDGET_NS = 400_000_000
MS = 1_000_000
SPIN = "while True: pass"
CROWD = 14
TRIES = 8

HEAD = """
import json, os, signal, sys, time
def messages():
    for line in sys.stdin:
        yield json.loads(line)
def send(**message):
    print(json.dumps(message), flush=True)
def compute(seconds):
    while time.process_time() < seconds: pass
def crowd(number):
    for _ in range(number):
        if os.fork() == 0:
            os.setsid()
            while True: pass
for message in messages():
    if message["type"] == "hello":
        send(type="ready", id=message["id"], view="full")
    elif message["type"] == "start":
        AT_START
    elif message["type"] == "turn":
        IN_TURN
        send(type="move", id=message["id"], move=message["legal"][0])
"""

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def used(at_ms, own_ms=0, others_ms=0, bots=2, waited_ms=0, stolen_ms=0):
    return Usage(at_ms * MS, own_ms * MS, others_ms * MS, bots, {1: waited_ms * MS}, stolen_ms * MS)


@pytest.mark.parametrize(
    ("after", "overslept_ms", "lost_ms"),
    [
        (used(300), 0, 0),  # asleep
        (used(300, own_ms=300), 0, 0),  # it computed all the time
        (used(300, own_ms=30, waited_ms=270), 0, 270),  # strangers had the processor
        (used(300, own_ms=150, waited_ms=150), 0, 150),
        (used(300, own_ms=300, waited_ms=2000), 0, 0),  # its own crowd
        (used(300, own_ms=150, others_ms=150, waited_ms=150), 0, 0),  # another bot thinks too: a fair share
        (used(300, own_ms=10, others_ms=290, waited_ms=290), 0, 140),  # another bot's crowd: beyond a fair share
        (used(300, own_ms=0, others_ms=300, waited_ms=0), 0, 0),  # it did not even try
        (used(300, own_ms=100, stolen_ms=200), 0, 200),  # the machine's host
        (used(2300, own_ms=100), 2000, 2000),  # the worker slept
        (used(2300, own_ms=2300), 2000, 0),  # and the bot kept it from waking
    ],
)
def test_what_a_bot_was_kept_from(after, overslept_ms, lost_ms):
    assert lost_ns(used(0), after, overslept_ms * MS) == lost_ms * MS


@pytest.fixture
def one_core():
    """This process and all that it starts share one processor."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    yield
    os.sched_setaffinity(0, before)


@pytest.fixture
def player(tmp_path):
    made = []

    def make(name, *, at_start="pass", in_turn="pass"):
        script = tmp_path / f"{name}.py"
        script.write_text(HEAD.replace("AT_START", at_start).replace("IN_TURN", in_turn))
        if made and made[-1].name == name:
            made.pop().stop()
        made.append(BotPlayer(bot_at(tmp_path, name=name, command=["python3", script.name]), 30_000))
        made[-1].begin(START)
        return made[-1]

    yield make
    for each in made:
        each.stop()


@pytest.fixture
def strangers():
    """So many programs that compute without end, on the processor of this process."""
    started = []

    def start(number):
        started.extend(subprocess.Popen([sys.executable, "-c", SPIN], start_new_session=True) for _ in range(number))

    yield start
    for process in started:
        process.kill()
    for process in started:
        process.wait()


def is_forfeit(attempt):
    """Whether one of a few attempts ends in a forfeit; on a machine that is busy with other things each may end in a true stall."""
    for _ in range(TRIES):
        try:
            attempt()
        except Forfeit:
            return True
        except Void:
            continue
    if os.getloadavg()[0] > len(os.sched_getaffinity(0)) / 2:
        pytest.skip("the machine is too busy to tell")
    return False


def ask(player):
    state = State(BIRD, 2, parse_deck(single_game("stall", "bird", 0, ["a", "b"]).deck))
    return player.choose(state, BUDGET_NS)


@linux_only
def test_a_bot_that_strangers_keep_from_computing_is_not_to_blame(one_core, player, strangers):
    busy = player("busy", in_turn="compute(time.process_time() + 0.2)")
    strangers(CROWD)
    with pytest.raises(Void, match=r"the machine stalled while busy had to answer: \d+ ms went to other work"):
        ask(busy)


@linux_only
@pytest.mark.parametrize(
    "in_turn",
    [
        "time.sleep(9)",
        "compute(9)",
        "crowd(14); compute(9)",
        "crowd(14); time.sleep(9)",
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "os.fork() or (os.nice(19), compute(99)); time.sleep(9)",
    ],
)
def test_a_bot_cannot_stall_itself(one_core, player, in_turn):
    player("other")
    assert is_forfeit(lambda: ask(player("own", in_turn=in_turn)))


@linux_only
def test_a_bot_that_another_bot_s_crowd_keeps_from_computing_is_not_to_blame(one_core, player):
    busy = player("busy", in_turn="compute(time.process_time() + 0.2)")
    burner = player("burner", in_turn="crowd(40)")
    ask(burner)
    with pytest.raises(Void, match="while busy had to answer"):
        ask(busy)


@linux_only
def test_a_bot_that_shares_the_processor_with_one_that_thinks_ahead_has_no_excuse(one_core, player):
    ponderer = player("ponderer", in_turn="crowd(1)")
    ask(ponderer)
    assert is_forfeit(lambda: ask(player("spinner", in_turn="compute(9)")))


WORKER = """
import sys, time
sys.path[:0] = [{root!r}]
from pathlib import Path
from arena.errors import Forfeit, Void
from arena.players.bot import BotPlayer
from arena.players.folder import bot_at
from tests.players.test_stalls import START, ask
player = BotPlayer(bot_at(Path({folder!r}), name="bot", command=["python3", "bot.py"]), 30_000)
player.begin(START)
print("ready", flush=True)
try:
    print("answered", ask(player).move, flush=True)
except (Void, Forfeit) as error:
    print(type(error).__name__, error, flush=True)
player.stop()
"""


@linux_only
@pytest.mark.parametrize(
    ("in_turn", "stop_s", "expected"),
    [
        ("time.sleep(0.3)", 1.5, "Void the machine stalled while bot had to answer"),
        ("time.sleep(9)", 1.5, "Void the machine stalled while bot had to answer"),
        ("time.sleep(0.3)", 0.01, "answered "),
    ],
)
def test_a_stopped_worker_voids_the_game(tmp_path, in_turn, stop_s, expected):
    script = tmp_path / "bot.py"
    script.write_text(HEAD.replace("AT_START", "pass").replace("IN_TURN", in_turn))
    code = WORKER.format(root=str(ROOT), folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT) as worker:
        assert worker.stdout.readline() == "ready\n"
        time.sleep(0.15)
        worker.send_signal(signal.SIGSTOP)
        time.sleep(stop_s)
        worker.send_signal(signal.SIGCONT)
        assert worker.stdout.readline().startswith(expected)
