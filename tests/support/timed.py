"""A bot made of a few lines of Python, which is asked for one move under a clock."""

import os

import pytest

from arena.players.bot import BotPlayer
from arena.players.folder import bot_at
from arena.players.messages import Start
from arena.players.sandbox.tiers import choose
from arena.rules import State
from arena.rules.boards import built_in
from arena.rules.notation import parse_deck
from arena.tournament.schedule import single_game
from tests.support.stalls import unless_the_machine_stalled

BIRD = built_in("bird")


START = Start(players=2, seat=0, board=BIRD.rows, pagodas=24, seed=1, move_ms=400)


BUDGET_NS = 400_000_000


HEAD = """
import json, os, signal, sys, time
def messages():
    for line in sys.stdin:
        yield json.loads(line)
def send(**message):
    print(json.dumps(message), flush=True)
def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
def crowd(number, seconds=99):
    for _ in range(number):
        if os.fork() == 0:
            os.setsid()
            compute(seconds)
            os._exit(0)
def ring(number):
    for _ in range(number):
        if os.fork() == 0:
            while True:
                os.killpg(0, signal.SIGCONT)
                compute(0.001)
for message in messages():
    if message["type"] == "hello":
        send(type="ready", id=message["id"], view="full")
    elif message["type"] == "start":
        AT_START
    elif message["type"] == "turn":
        IN_TURN
        send(type="move", id=message["id"], move=message["legal"][0])
        AFTER_TURN
"""


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

    def make(
        name,
        *,
        at_start="pass",
        in_turn="pass",
        after_turn="pass",
        clock="cpu",
        sandbox="off",
        startup_ms=30_000,
    ):
        folder = tmp_path / name
        folder.mkdir()
        text = HEAD.replace("AT_START", at_start).replace("IN_TURN", in_turn)
        (folder / "bot.py").write_text(text.replace("AFTER_TURN", after_turn))
        walls = choose(sandbox, accept_none=True).sandbox
        made.append(
            BotPlayer(
                bot_at(folder, name=name, command=["python3", "bot.py"]), startup_ms, walls, clock
            )
        )
        return made[-1]

    yield make
    for each in made:
        each.stop()


def begun(player):
    player.begin(START)
    return player


def choose_move(player):
    state = State(BIRD, 2, parse_deck(single_game("time", "bird", 0, ["a", "b"]).deck))
    return player.choose(state, BUDGET_NS)


def ask(player):
    with unless_the_machine_stalled(player):
        return choose_move(player)
