"""An answer costs CPU time: a busy machine makes nobody late or stops the run, no crowd makes
a rival late, and whoever computes while another is asked is stopped.
"""

import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from arena.errors import Forfeit
from arena.match.referee import Referee
from arena.players import timekeeper
from arena.players.keeper_client import KeeperClient
from arena.players.process import LIMITS
from arena.players.timekeeper import (
    FIRST_SLICE_NS,
    OVERSLEPT_NS,
    SLICE_NS,
    OutOfTime,
    Timekeeper,
    patience,
)
from arena.records.timing import Timing
from arena.tournament.schedule import single_game
from tests.support.burners import all_cores, burners
from tests.support.processes import states
from tests.support.scripted import STALL_NS, ScriptedChannel, ScriptedClock
from tests.support.stalls import unless_the_machine_stalled
from tests.support.timed import BIRD, BUDGET_NS, HEAD, ask, begun, choose_move
from tests.support.waiting import wait_for

ROOT = Path(__file__).parents[2]
LATE = r"the bot used \d+ ms of CPU time for an answer that might take 400 ms"


pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="CPU time is counted by Linux"),
    pytest.mark.alone,
]


@pytest.fixture(params=["counter", "proc"])
def counting(request, monkeypatch):
    """How CPU time is added up: by the kernel, or process by process."""
    if request.param == "proc":
        monkeypatch.setitem(LIMITS, "counts", 0)
    return request.param


def wait_for_use(player):
    """Returns once the bot owes more than its next answer may cost: how soon that is depends on the
    machine.
    """
    meter = player.process.meter
    enough_ns = meter.used_ns() + BUDGET_NS
    wait_for(lambda: meter.used_ns() > enough_ns, "the bot to use its CPU time")


def test_an_answer_costs_the_processor_time_of_the_bot(counting, player):
    answer = ask(begun(player("computes", in_turn="compute(0.2)")))
    assert 190 < answer.spent_ns / 1e6 < 400


def test_sleep_costs_nothing(counting, player):
    assert ask(begun(player("sleeps", in_turn="time.sleep(0.3)"))).spent_ns < 100e6


def test_strangers_who_leave_a_third_of_a_processor_make_no_bot_late(one_core, player):
    busy = begun(player("busy", in_turn="compute(0.2)"))
    with burners(all_cores() * 2):
        assert ask(busy).move


@pytest.mark.parametrize(
    ("in_turn", "message"),
    [
        ("compute(0.6)", LATE),
        ("compute(9)", LATE),
        ("crowd(14); compute(9)", LATE),
        ("crowd(14); time.sleep(600)", LATE),
        pytest.param(
            "time.sleep(600)",
            r"no answer came within \d+ ms \(it used \d+ of its 400 ms of CPU time\): ",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "os.kill(os.getpid(), signal.SIGSTOP)",
            r"no answer came within \d+ ms \(it used \d+ of its 400",
            marks=pytest.mark.long,
        ),
        (
            "os.fork() or (os.nice(19), compute(99)); time.sleep(600)",
            "no answer came within|" + LATE,
        ),
    ],
)
def test_a_bot_that_takes_too_long_forfeits(one_core, player, in_turn, message):
    slow = begun(player("slow", in_turn=in_turn))
    with pytest.raises(Forfeit, match=message):
        ask(slow)


@pytest.mark.parametrize("ahead", ["crowd(3, 0.4)", "compute(0.6)"])
def test_what_a_bot_uses_unasked_is_charged_to_its_next_answer(counting, player, ahead):
    eager = begun(player("eager", after_turn=ahead))
    ask(eager)
    wait_for_use(eager)
    with pytest.raises(Forfeit, match=LATE):
        ask(eager)


def rest_until(player, condition, awaited):
    """Rests the bot again and again until ``condition`` returns something true."""

    def is_met():
        if condition():
            return True
        player.rest()
        return False

    wait_for(is_met, awaited, seconds=60)


@pytest.mark.parametrize("sandbox", ["off", "auto"])
@pytest.mark.parametrize("ahead", ["crowd(3)", "compute(99)"])
def test_who_computes_while_another_is_asked_is_stopped_until_its_next_turn(
    counting, player, ahead, sandbox
):
    eager = begun(player("eager", after_turn=ahead, sandbox=sandbox))
    ask(eager)
    rest_until(eager, lambda: set(states(eager.process)) == {"T"}, "the bot to be stopped")
    used_ns = eager.process.meter.used_ns()
    time.sleep(0.3)
    assert eager.process.meter.used_ns() == used_ns
    eager.process.go_on()
    wait_for(lambda: "T" not in states(eager.process), "the bot to go on")


def test_who_waits_for_its_turn_is_left_alone_and_who_was_stopped_goes_on(
    counting, player, monkeypatch
):
    # a busy machine may take longer than usual to let a bot read on after its answer
    monkeypatch.setattr(timekeeper, "WAKING_NS", timekeeper.RUNNING_NS)
    steady = begun(player("steady", in_turn="compute(0.02)", after_turn="compute(0.05)"))
    calm = begun(player("calm", in_turn="compute(0.02)"))
    for _ in range(3):
        assert ask(steady).move == ask(calm).move
        for _ in range(5):
            steady.rest()
            calm.rest()
            time.sleep(0.02)
        assert set(states(calm.process)) == {"S"}


def test_who_wakes_up_for_moments_while_another_is_asked_is_stopped(player):
    """To wake up takes more time from the bot that is asked than from the one that wakes up."""
    moments = "[(time.sleep(0.02), compute(0.0001)) for _ in range(500)]"
    waking = begun(player("waking", after_turn=moments))
    ask(waking)
    rest_until(waking, lambda: set(states(waking.process)) == {"T"}, "the bot to be stopped")


@pytest.mark.skipif(shutil.which("bash") is None, reason="apt install bash")
@pytest.mark.parametrize("sandbox", ["off", "auto"])
def test_a_shell_that_minds_its_child_goes_on_after_both_were_stopped(player, tmp_path, sandbox):
    """A shell that sees its child stopped ends, so it is the first to be stopped, and the last to
    be woken.
    """
    minded = player("minded", in_turn="compute(0.02)", sandbox=sandbox)
    (tmp_path / "minded" / "run.sh").write_text("set -m\npython3 bot.py\n")
    minded.bot = msgspec.structs.replace(
        minded.bot,
        manifest=msgspec.structs.replace(
            minded.bot.manifest, command=["bash", "run.sh"], programs=["python3"]
        ),
    )
    begun(minded)
    wait_for(lambda: minded.process.ending() or minded.process.may_compute, "its child to be seen")
    for _ in range(20):
        ask(minded)
        assert set(states(minded.process)) == {"T"}


def test_who_cannot_be_stopped_is_ended(player, monkeypatch, refused):
    monkeypatch.setattr(KeeperClient, "stop_bot", lambda *_, **__: None)
    awake = begun(player("awake", after_turn="compute(99)"))
    ask(awake)
    rest_until(awake, awake.process.ending, "the end of the bot")
    with refused(Forfeit):
        ask(awake)


def test_the_kernels_counter_is_read_with_each_answer(player):
    steady = begun(player("steady", in_turn="compute(0.02)"))
    if steady.process.meter.counter < 0:
        pytest.skip("this machine gives no counter of CPU time")
    costs = [ask(steady).spent_ns for _ in range(3)]
    assert all(cost >= 15_000_000 for cost in costs)
    assert steady.channel.counter == steady.process.meter.counter
    assert sum(costs) < steady.channel.counted <= steady.process.meter.used_ns()


@pytest.mark.parametrize("players", [2, pytest.param(4, marks=pytest.mark.long)])
@pytest.mark.parametrize("sandbox", [pytest.param("off", marks=pytest.mark.long), "auto"])
def test_a_crowd_costs_no_rival_the_game(one_core, player, players, sandbox):
    """The crowd would burn the processor while the rivals think."""
    at_start = "turns = 0"
    attacker = player(
        "attacker",
        at_start=at_start,
        after_turn="turns += 1; turns != 3 or crowd(30)",
        sandbox=sandbox,
    )
    few = {"at_start": "turns = 0", "in_turn": "turns += 1; turns > 12 or compute(0.05)"}
    rivals = [player(f"rival-{number}", **few, sandbox=sandbox) for number in range(players - 1)]
    seated = [attacker, *rivals]
    plan = single_game("crowd", "bird", 0, [each.name for each in seated])
    for each in seated:
        each.start()
    with unless_the_machine_stalled(*seated):
        record = Referee(plan, BIRD, seated, Timing(move_ms=200)).play().record
    assert {fault.seat for fault in record.faults} <= {0}
    for fault in record.faults:
        assert re.search(
            "used [0-9]+ ms of CPU time for an answer|because it had [0-9]+ processes", fault.detail
        ), fault.detail


def allow_processes(player, number):
    """Sets how many processes the bot may have."""
    manifest = msgspec.structs.replace(player.bot.manifest, processes=number)
    player.bot = msgspec.structs.replace(player.bot, manifest=manifest)


@pytest.mark.long
def test_a_bot_that_gets_next_to_no_processor_for_a_while_is_not_late(one_core, player):
    """Thirty programs take the processor for longer than the bot's patience, and then end."""
    busy = begun(player("busy", in_turn="compute(0.3)"))
    with burners(all_cores() * 30) as started:
        ends = threading.Timer(
            1.2 * patience(BUDGET_NS) / 1e9, lambda: [each.kill() for each in started]
        )
        ends.start()
        assert choose_move(busy).move
        ends.join()


STORM = """time.sleep(3.9)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for _ in range(24):
            if os.fork() == 0:
                os.setsid()
                while True:
                    if os.fork() == 0:
                        compute(0.004)
                        os._exit(0)
                    try:
                        os.wait()
                    except ChildProcessError:
                        pass
        time.sleep(600)"""


@pytest.mark.long
def test_a_bot_that_keeps_the_machine_busy_uncounted_ends_no_run(one_core, player, monkeypatch):
    """Where the kernel does not count, nothing shows the time of short processes for which none
    waits.
    """
    monkeypatch.setitem(LIMITS, "counts", 0)
    storm = player("storm", in_turn=STORM)
    allow_processes(storm, 60)
    begun(storm)
    with pytest.raises(Forfeit):
        choose_move(storm)


def test_a_bot_may_have_the_processes_that_its_manifest_asks_for(player, refused):
    frugal = player(
        "frugal",
        in_turn="[os.fork() or (time.sleep(600), os._exit(0)) for _ in range(3)]; time.sleep(600)",
    )
    allow_processes(frugal, 3)
    with refused(Forfeit):
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
from _pytest.outcomes import Skipped
from arena.errors import Forfeit, Void
from arena.players.bot import BotPlayer
from arena.players.folder import bot_at
from tests.support.timed import START, ask
player = BotPlayer(bot_at(Path({folder!r}), name="bot", command=["python3", "bot.py"]), 30_000)
player.begin(START)
print("ready", flush=True)
try:
    print("answered", ask(player).move, flush=True)
except (Void, Forfeit, Skipped) as error:
    print(type(error).__name__, error, flush=True)
player.stop()
"""


@pytest.mark.parametrize(
    ("in_turn", "expected"),
    [
        pytest.param("time.sleep(0.3)", "answered ", marks=pytest.mark.long),
        ("compute(0.3)", "answered "),
        pytest.param("time.sleep(600)", "Forfeit no answer came within", marks=pytest.mark.long),
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
        told = worker.stdout.readline()
    if told.startswith("Skipped the machine stalled"):
        pytest.skip(told)
    assert told.startswith(expected)


@pytest.fixture
def ask_by_script(monkeypatch):
    """A function that asks a bot which uses no CPU time; each wait for its answer takes so
    many ns longer than it should. A real machine does not stand still when a test wants it to.
    """
    clock = ScriptedClock()
    monkeypatch.setattr(timekeeper, "time", clock)

    def ask(overslept_ns):
        meter = SimpleNamespace(used_ns=lambda: 0, is_started=True, wants_processor=bool)
        keeper = Timekeeper(ScriptedChannel(clock, overslept_ns), meter, "cpu")
        return keeper.ask(b"", BUDGET_NS, lambda **_: None)

    return ask


@pytest.mark.parametrize("overslept_ns", [[STALL_NS], [0, STALL_NS], [0, STALL_NS, 0, STALL_NS]])
def test_a_bot_does_not_pay_for_a_machine_that_stood_still(ask_by_script, overslept_ns):
    assert ask_by_script(overslept_ns) == (b"the answer", 0)


@pytest.mark.parametrize("overslept_ns", [0, OVERSLEPT_NS // 2, STALL_NS])
def test_a_bot_is_late_when_its_waits_add_up_to_its_patience(ask_by_script, overslept_ns):
    """Each wait counts as long as it took, but for what goes beyond OVERSLEPT_NS."""
    waits = []

    def oversleep():
        while True:
            waits.append(overslept_ns)
            yield overslept_ns

    with pytest.raises(OutOfTime):
        ask_by_script(oversleep())
    charged_ns = min(overslept_ns, OVERSLEPT_NS)
    later_ns = SLICE_NS + charged_ns
    waited_ns = FIRST_SLICE_NS + charged_ns + (len(waits) - 1) * later_ns
    assert patience(BUDGET_NS) <= waited_ns < patience(BUDGET_NS) + later_ns
