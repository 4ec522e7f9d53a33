"""An answer costs processor time, whoever's turn it is used on: a busy machine makes nobody late,
and no crowd makes a rival late.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from arena.errors import Forfeit
from arena.match.clock import Timing
from arena.match.referee import Referee
from arena.players import process
from arena.players.bot import BotPlayer
from arena.players.folder import bot_at
from arena.players.messages import Start
from arena.players.sandbox.tiers import choose
from arena.players.usage import Meter
from arena.rules import State
from arena.rules.boards import built_in
from arena.rules.notation import parse_deck
from arena.tournament.schedule import single_game

ROOT = Path(__file__).parents[2]
BIRD = built_in("bird")
START = Start(players=2, seat=0, board=BIRD.rows, pagodas=24, seed=1, move_ms=400)
BUDGET_NS = 400_000_000
SPIN = "while True: pass"
CROWD = 14
LATE = r"the bot used \d+ ms of processor time for an answer that might take 400 ms"

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
def chain(number, seconds):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        for _ in range(number):
            if os.fork() == 0:
                compute(seconds)
                os._exit(0)
            time.sleep(seconds)
        os._exit(0)
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

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="processor time is counted by Linux"
)


@pytest.fixture(params=["counter", "proc"])
def counting(request, monkeypatch):
    """How processor time is added up: by the kernel, or process by process."""
    if request.param == "proc":
        monkeypatch.setitem(process.LIMITS, "counter", 0)
    return request.param


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
        name, *, at_start="pass", in_turn="pass", after_turn="pass", clock="cpu", sandbox="off"
    ):
        folder = tmp_path / name
        folder.mkdir()
        text = HEAD.replace("AT_START", at_start).replace("IN_TURN", in_turn)
        (folder / "bot.py").write_text(text.replace("AFTER_TURN", after_turn))
        walls = choose(sandbox, accept_none=True).sandbox
        made.append(
            BotPlayer(
                bot_at(folder, name=name, command=["python3", "bot.py"]), 30_000, walls, clock
            )
        )
        return made[-1]

    yield make
    for each in made:
        each.stop()


@pytest.fixture
def strangers():
    """Programs that compute without end, on the processor of this process."""
    started = []

    def start(number):
        started.extend(
            subprocess.Popen([sys.executable, "-c", SPIN], start_new_session=True)
            for _ in range(number)
        )

    yield start
    for each in started:
        each.kill()
    for each in started:
        each.wait()


def begun(player):
    player.begin(START)
    return player


def ask(player, budget_ns=BUDGET_NS):
    state = State(BIRD, 2, parse_deck(single_game("time", "bird", 0, ["a", "b"]).deck))
    return player.choose(state, budget_ns)


def wait_for_use(player, most_s=240):
    """Returns once the bot owes more than its next answer may cost: how soon that is depends on the
    machine.
    """
    deadline = time.monotonic() + most_s
    while player.owed_ns() <= BUDGET_NS and time.monotonic() < deadline:
        time.sleep(0.05)


def test_an_answer_costs_the_processor_time_of_the_bot(counting, player):
    answer = ask(begun(player("computes", in_turn="compute(0.2)")))
    assert 190 < answer.spent_ns / 1e6 < 400


def test_sleep_costs_nothing(counting, player):
    assert ask(begun(player("sleeps", in_turn="time.sleep(0.3)"))).spent_ns < 100e6


def test_a_bot_that_strangers_keep_from_computing_is_not_late(
    counting, one_core, player, strangers
):
    busy = begun(player("busy", in_turn="compute(0.2)"))
    strangers(CROWD)
    began = time.monotonic()
    assert ask(busy).move
    assert time.monotonic() - began > BUDGET_NS / 1e9, "the strangers took no time from the bot"


def test_a_bot_is_not_asleep_because_its_arena_was_made_more_urgent_meanwhile(
    strangers, monkeypatch
):
    meter = Meter(os.getpid(), None)
    strangers(1)
    monkeypatch.setattr(os, "getpriority", lambda *_: -20)
    deadline = time.monotonic() + 60
    while not (can_run := meter.can_run()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert can_run


@pytest.mark.parametrize(
    ("in_turn", "message"),
    [
        ("compute(0.6)", LATE),
        ("compute(9)", LATE),
        ("crowd(14); compute(9)", LATE),
        ("crowd(14); time.sleep(9)", LATE),
        (
            "time.sleep(9)",
            r"no answer came within \d+ ms \(it used \d+ of its 400 ms of processor time\): ",
        ),
        (
            "os.kill(os.getpid(), signal.SIGSTOP)",
            r"no answer came within \d+ ms \(it used \d+ of its 400",
        ),
        ("os.fork() or (os.nice(19), compute(99)); time.sleep(9)", "no answer came within|" + LATE),
    ],
)
def test_a_bot_that_takes_too_long_forfeits(counting, one_core, player, in_turn, message):
    slow = begun(player("slow", in_turn=in_turn))
    with pytest.raises(Forfeit, match=message):
        ask(slow)


@pytest.mark.parametrize(
    "ahead", ["crowd(3, 0.4)", "crowd(1, 0.6)", "os.fork() or compute(0.7)", "compute(0.6)"]
)
def test_what_a_bot_uses_unasked_is_charged_to_its_next_answer(counting, player, ahead):
    eager = begun(player("eager", after_turn=ahead))
    ask(eager)
    wait_for_use(eager)
    with pytest.raises(
        Forfeit, match=LATE + r", \d+ of them before it was asked: think only when asked"
    ):
        ask(eager)


def test_short_processes_that_nobody_waits_for_are_counted(player):
    """The kernel's counter has them, wherever they hide; without it they are nobody's."""
    eager = begun(player("chain", after_turn="chain(150, 0.005)"))
    ask(eager)
    if not eager.counts_exactly:
        pytest.skip("this machine gives no counter of processor time")
    wait_for_use(eager)
    with pytest.raises(Forfeit, match="before it was asked"):
        ask(eager)


def test_the_kernels_counter_is_read_with_each_answer(player):
    steady = begun(player("steady", in_turn="compute(0.02)"))
    if not steady.counts_exactly:
        pytest.skip("this machine gives no counter of processor time")
    costs = [ask(steady).spent_ns for _ in range(3)]
    assert all(cost >= 15_000_000 for cost in costs)
    assert steady._channel.counter == steady._process.counter
    assert sum(costs) < steady._channel.counted <= steady._process.used_ns()


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("attack", ["crowd(30)", "[chain(4000, 0.004) for _ in range(8)]"])
@pytest.mark.parametrize("sandbox", ["off", "auto"])
def test_a_crowd_ends_its_own_bot_and_no_rival(
    counting, one_core, player, attack, players, sandbox
):
    """The crowd burns the processor while the rivals think: they get more time on the wall, and
    their results stay.
    """
    at_start = "turns = 0"
    attacker = player(
        "attacker",
        at_start=at_start,
        after_turn=f"turns += 1; turns != 3 or {attack}",
        sandbox=sandbox,
    )
    few = {"at_start": "turns = 0", "in_turn": "turns += 1; turns > 12 or compute(0.05)"}
    rivals = [player(f"rival-{number}", **few, sandbox=sandbox) for number in range(players - 1)]
    seated = [attacker, *rivals]
    plan = single_game("crowd", "bird", 0, [each.name for each in seated])
    record = Referee(plan, BIRD, seated, Timing(move_ms=200)).play().record
    [fault] = record.faults
    assert (fault.seat, record.ranks[0]) == (0, players)
    assert re.search(
        "(while it was not|before it was) asked|used [0-9]+ ms of processor time for an answer"
        "|because it had [0-9]+ processes|ignores SIGCHLD",
        fault.detail,
    ), fault.detail


def test_a_bot_that_hides_the_end_of_its_children_is_ended_where_nobody_would_count_them(
    counting, player
):
    careless = begun(
        player(
            "careless",
            at_start="signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
            in_turn="time.sleep(0.6)",
        )
    )
    if counting == "counter":
        assert ask(careless).move
    else:
        with pytest.raises(
            Forfeit,
            match=(
                "its process [0-9]+ ignores SIGCHLD, so that .* could not be counted: wait for them"
            ),
        ):
            ask(careless)


UNREADABLE = """
import pathlib, shutil, subprocess
program = pathlib.Path("/tmp/program")
shutil.copy("/bin/sh", program)
program.chmod(0o111)
child = subprocess.Popen([program, "-c", "while :; do :; done"])
while time.clock_gettime(~child.pid << 3 | 2) < 0.6:
    time.sleep(0.05)
"""


def test_a_program_that_may_not_be_read_does_not_escape_the_count(counting, player):
    """The kernel ends its count where such a program starts; as a plain user too, since the sandbox
    takes root's rights away.
    """
    if choose("auto", accept_none=True).sandbox.tier != "bubblewrap":
        pytest.skip("root may read every file")
    in_turn = f"exec({UNREADABLE!r})"
    hidden = begun(player("hidden", in_turn=in_turn, sandbox="auto"))
    with pytest.raises(Forfeit, match="processor time that could not be counted|" + LATE):
        ask(hidden)


def test_a_bot_may_have_the_processes_that_its_manifest_asks_for(player):
    frugal = player(
        "frugal",
        in_turn="[os.fork() or (time.sleep(9), os._exit(0)) for _ in range(3)]; time.sleep(0.6)",
    )
    frugal.bot = msgspec.structs.replace(
        frugal.bot, manifest=msgspec.structs.replace(frugal.bot.manifest, processes=3)
    )
    with pytest.raises(
        Forfeit, match="because it had 4 processes: start fewer, or raise processes in bot.toml"
    ):
        ask(begun(frugal))


def test_by_the_wall_clock_a_bot_that_sleeps_too_long_is_late(player):
    slow = begun(player("slow", in_turn="time.sleep(0.5)", clock="wall"))
    with pytest.raises(
        Forfeit, match="the answer came [0-9]+ ms after 400 ms had passed: think less"
    ):
        ask(slow)


def test_by_the_wall_clock_an_answer_costs_what_passed(player):
    answer = ask(begun(player("sleeps", in_turn="time.sleep(0.2)", clock="wall")))
    assert 190 < answer.spent_ns / 1e6 <= 400


WORKER = """
import sys, time
sys.path[:0] = [{root!r}]
from pathlib import Path
from arena.errors import Forfeit, Void
from arena.players.bot import BotPlayer
from arena.players.folder import bot_at
from tests.players.test_timekeeper import START, ask
player = BotPlayer(bot_at(Path({folder!r}), name="bot", command=["python3", "bot.py"]), 30_000)
player.begin(START)
print("ready", flush=True)
try:
    print("answered", ask(player).move, flush=True)
except (Void, Forfeit) as error:
    print(type(error).__name__, error, flush=True)
player.stop()
"""


@pytest.mark.parametrize(
    ("in_turn", "expected"),
    [
        ("time.sleep(0.3)", "answered "),
        ("compute(0.3)", "answered "),
        ("time.sleep(9)", "Forfeit no answer came within"),
    ],
)
def test_a_worker_that_was_stopped_for_a_while_judges_no_otherwise(tmp_path, in_turn, expected):
    script = tmp_path / "bot.py"
    text = (
        HEAD.replace("AT_START", "pass").replace("IN_TURN", in_turn).replace("AFTER_TURN", "pass")
    )
    script.write_text(text)
    code = WORKER.format(root=str(ROOT), folder=str(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as worker:
        assert worker.stdout.readline() == "ready\n"
        time.sleep(0.15)
        worker.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        worker.send_signal(signal.SIGCONT)
        assert worker.stdout.readline().startswith(expected)
