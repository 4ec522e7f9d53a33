"""Who is to blame for a wait without an answer: the bot, or the machine. What the bot uses and what
this process gets of a processor are scripted, as how busy a machine is cannot be.
"""

import os
import re
import signal
import sys
from itertools import chain, repeat
from types import SimpleNamespace

import pytest

from arena.errors import BusyMachineError, Forfeit, UserError
from arena.faults import FaultKind
from arena.match.referee import Referee
from arena.players import timekeeper
from arena.players.meter import Meter
from arena.players.timekeeper import (
    FIRST_SLICE_NS,
    MIN_PATIENCE_NS,
    MOST_STARVED,
    PROBES,
    SLICE_NS,
    OutOfTime,
    Overspent,
    Timekeeper,
    patience,
)
from arena.records.timing import Timing
from arena.tournament.schedule import single_game
from tests.attacks.tiers import needs
from tests.support.processes import states
from tests.support.scripted import ScriptedChannel, ScriptedClock
from tests.support.timed import BIRD, begun, choose_move
from tests.support.waiting import wait_for

BUDGET_NS, WAITED_NS = 400_000_000, 4_000_000_000
BUSY, FAIR = 0.02, 0.12

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="CPU time is counted by Linux")


class ScriptedMeter:
    """What a bot has used at one look after another, in ms; it stays at the last figure. The bot
    always waits for a processor or a disk, or never (``wants``). ``starves`` says whether it always
    waits for a processor, and ``runs_on`` at how many looks it still runs though it was stopped.
    ``orders`` has what it was told.
    """

    is_started = True

    def __init__(self, *used_ms, wants=False, starves=False, runs_on=0):
        self._used_ms = chain(used_ms, repeat(used_ms[-1]))
        self._wants = wants
        self._starves = starves
        self._runs_on = runs_on
        self.orders = []

    def wants_processor(self):
        return self._wants

    def is_starved(self):
        return self._starves

    def is_runnable(self):
        self._runs_on -= 1
        return self._runs_on >= 0

    def stop_bot(self):
        self.orders.append("stop")

    def resume_bot(self):
        self.orders.append("go on")

    def used_ns(self):
        return next(self._used_ms) * 1_000_000


@pytest.fixture
def verdict(monkeypatch):
    """A function that returns what becomes of a bot whose patience is over. The first figure is
    what it has used before this process looks at its own share, the second what it has used after
    that. ``shares`` are for these looks, ``stopped`` for the looks while the bot is stopped,
    and each takes so many ms.
    """
    clock = ScriptedClock()
    monkeypatch.setattr(timekeeper, "time", clock)

    def judge(used_ms, shares, stopped=(), *, runs_on=0, look_ms=1000):
        meter = ScriptedMeter(*used_ms, runs_on=runs_on)
        keeper = Timekeeper(channel=None, meter=meter, clock="cpu")
        asked = chain(shares, stopped)

        def look():
            clock.now_ns += look_ms * 1_000_000
            return next(asked)

        keeper._share = look
        found = keeper._overdue(b"", BUDGET_NS, WAITED_NS)
        assert next(asked, None) is None, "it looks as often as it has to"
        assert meter.orders == (["stop", "go on"] if stopped else [])
        return found

    return judge


def test_a_bot_that_wanted_a_processor_on_a_machine_too_busy_to_be_fair_is_not_to_blame(
    verdict, snapshot
):
    stopped = verdict(used_ms=[90, 120], shares=[BUSY] * PROBES, stopped=[BUSY] * PROBES)
    assert isinstance(stopped, UserError)
    assert not isinstance(stopped, Forfeit)
    assert str(stopped) == snapshot
    assert stopped.hint == snapshot


SHORT_MS = 100
"""How long a look takes that leaves time for more of them within a bot's patience."""


@pytest.mark.parametrize("stopped", [[FAIR], [BUSY] * (PROBES - 1) + [FAIR]])
def test_a_bot_without_which_the_machine_is_fair_is_late_however_little_was_counted(
    verdict, stopped
):
    late = verdict(used_ms=[90, 120], shares=[BUSY] * PROBES, stopped=stopped)
    assert isinstance(late, OutOfTime)


@pytest.mark.parametrize(("last", "kind"), [(FAIR, OutOfTime), (BUSY, BusyMachineError)])
def test_the_machine_is_judged_when_no_process_of_the_bot_is_ending_any_more(verdict, last, kind):
    stopped = [BUSY] * (3 * PROBES - 1) + [last]
    shares = [BUSY] * PROBES
    found = verdict([90, 120], shares, stopped, runs_on=2, look_ms=SHORT_MS)
    assert isinstance(found, kind)


def test_a_bot_that_comes_to_rest_during_a_long_look_is_not_to_blame_for_a_busy_machine(verdict):
    found = verdict([90, 120], [BUSY] * PROBES, stopped=[BUSY] * 2 * PROBES, runs_on=1)
    assert isinstance(found, BusyMachineError)


def test_a_bot_that_runs_on_though_it_was_stopped_is_late_on_a_busy_machine(verdict):
    late = verdict([90, 120], [BUSY] * PROBES, stopped=[BUSY] * PROBES, runs_on=1000)
    assert isinstance(late, OutOfTime)


def test_a_bot_that_slept_on_a_busy_machine_is_late(verdict, snapshot):
    late = verdict(used_ms=[90, 91], shares=[BUSY] * PROBES)
    assert isinstance(late, OutOfTime)
    assert late.allowance == snapshot


def test_a_bot_is_late_if_the_machine_was_fair_at_one_look(verdict):
    shares = [BUSY, BUSY, FAIR]
    assert isinstance(verdict(used_ms=[90, 120], shares=shares), OutOfTime)


def test_a_bot_that_used_what_it_might_is_late_however_busy_the_machine_is(verdict):
    spent = verdict(used_ms=[400, 400], shares=[])
    assert isinstance(spent, Overspent)
    assert spent.cost_ns == BUDGET_NS


STARTUP_NS = 500_000_000


@pytest.fixture
def start_by_script(monkeypatch):
    """A function that asks a bot to start, which answers after so many slices of waiting, and the
    time that passes by then, in ns. The bot uses next to no CPU time; ``wants`` says whether
    it waits for a processor all the while, or for something else.
    """
    clock = ScriptedClock()
    monkeypatch.setattr(timekeeper, "time", clock)

    def start(*, wants, slices, starves=False, shares=()):
        meter = ScriptedMeter(0, wants=wants, starves=starves)
        keeper = Timekeeper(ScriptedChannel(clock, [0] * slices), meter, "cpu")
        keeper._share = iter(shares).__next__
        line, _ = keeper.ask(b"", STARTUP_NS, lambda **_: None, STARTUP_NS)
        return line, clock.now_ns

    return start


def slices_in(span_ns):
    return (span_ns - FIRST_SLICE_NS) // SLICE_NS


def test_a_start_that_waits_for_a_processor_has_the_patience_of_an_answer(start_by_script):
    answer, took_ns = start_by_script(wants=True, slices=slices_in(patience(STARTUP_NS)))
    assert answer == b"the answer"
    assert took_ns > 9 * STARTUP_NS


def test_a_bot_that_gets_no_processor_has_ten_times_its_patience(start_by_script):
    most_ns = MOST_STARVED * patience(STARTUP_NS)
    answer, took_ns = start_by_script(wants=True, starves=True, slices=slices_in(most_ns))
    assert answer == b"the answer"
    assert took_ns > 0.99 * most_ns


def test_a_bot_that_gets_no_processor_is_late_in_the_end(start_by_script):
    slices = slices_in(MOST_STARVED * patience(STARTUP_NS)) + 10
    with pytest.raises(OutOfTime):
        start_by_script(wants=True, starves=True, slices=slices, shares=[FAIR])


def test_a_start_that_is_idle_for_its_limit_is_late(start_by_script, snapshot):
    slices = slices_in(patience(STARTUP_NS))
    with pytest.raises(OutOfTime) as late:
        start_by_script(wants=False, slices=slices, shares=[FAIR])
    assert late.value.use == snapshot


def test_a_start_that_is_idle_for_less_than_its_limit_is_in_time(start_by_script):
    answer, _ = start_by_script(wants=False, slices=slices_in(STARTUP_NS))
    assert answer == b"the answer"


IMPORTS = "\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass\n"
SLEEPS = "\ntime.sleep(1.2)\n"
LIMIT_MS = 600
"""More than the CPU time of `IMPORTS`, and less than the sleep of `SLEEPS`."""


MIN_PATIENCE_MS = MIN_PATIENCE_NS // 1_000_000


def starting(player, name, before):
    """A bot that does this before it reads its input, with `LIMIT_MS` for its start."""
    slow = player(name, startup_ms=LIMIT_MS)
    script = slow.bot.folder / "bot.py"
    script.write_text(script.read_text().replace("\nfor message", f"{before}\nfor message"))
    return slow


def test_a_start_that_a_busy_machine_delays_beyond_its_limit_is_no_fault(player, monkeypatch):
    """The bot stands still for twice its limit, and the meter says that it waits for a processor:
    so it would be beside many busy programs.
    """
    monkeypatch.setattr(Meter, "wants_processor", lambda _: True)
    begun(starting(player, "delayed", SLEEPS + IMPORTS))


def test_a_start_that_sleeps_beyond_its_limit_is_a_fault_and_says_what_it_used(player):
    with pytest.raises(Forfeit) as fault:
        begun(starting(player, "sleeper", "\ntime.sleep(600)\n"))
    assert fault.value.kind == FaultKind.STARTUP
    assert f"within the {LIMIT_MS} ms allowed for start-up (it used " in str(fault.value)
    assert "start faster: load less before ready" in str(fault.value)
    waited_ms = int(re.search(r"of CPU time in (\d+) ms", str(fault.value))[1])
    assert waited_ms < MIN_PATIENCE_MS


def test_a_start_that_computes_beyond_its_limit_is_a_fault_on_any_machine(
    player, monkeypatch, refused
):
    monkeypatch.setattr(Meter, "wants_processor", lambda _: True)
    with refused(Forfeit):
        begun(starting(player, "loader", IMPORTS + IMPORTS))


def test_where_the_machine_is_to_blame_a_start_ends_the_run(player, monkeypatch, refused):
    """The bot deadlocks, and each look at the machine finds that the bot has computed meanwhile."""
    stuck = starting(player, "stuck", "\ntime.sleep(600)\n")
    stuck.open()
    meter = stuck.process.meter
    looks = SimpleNamespace(taken=0)

    def look(_):
        looks.taken += 1
        return BUSY

    used_ns = meter.used_ns
    monkeypatch.setattr(Timekeeper, "_share", look)
    monkeypatch.setattr(meter, "used_ns", lambda: used_ns() + looks.taken * 5_000_000)
    with refused(BusyMachineError):
        stuck.greet()


def test_by_the_wall_clock_a_start_is_judged_by_the_wall(player, monkeypatch, refused):
    monkeypatch.setattr(Meter, "wants_processor", lambda _: True)
    slow = starting(player, "wall", SLEEPS)
    slow.clock = "wall"
    with refused(Forfeit):
        begun(slow)


@pytest.mark.parametrize(
    "in_turn",
    ["compute(99)", "os.fork() or compute(99); time.sleep(600)",
     "import threading; threading.Thread(target=compute, args=[99]).start(); time.sleep(600)"],
)  # fmt: skip
def test_a_bot_wants_a_processor_while_any_thread_of_it_computes(player, in_turn):
    busy = begun(player("busy", at_start=in_turn))
    busy.channel.flush()
    meter, used_ns = busy.process.meter, busy.process.meter.used_ns()
    wait_for(lambda: meter.used_ns() > used_ns + 200_000_000, "the bot to compute")
    assert all(meter.wants_processor() for _ in range(5))


def test_a_bot_that_waits_for_its_input_wants_no_processor(player):
    calm = begun(player("calm"))
    wait_for(lambda: not calm.process.meter.wants_processor(), "the bot to be idle")


VFORK = """import ctypes
        ctypes.CDLL(None).syscall(56, 0x4000 | 17, 0, 0, 0, 0) or time.sleep(600)"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="clone has another number elsewhere")
def test_a_bot_that_waits_for_a_child_of_vfork_wants_no_processor(player):
    """Its state is that of a thread that waits for a disk."""
    calm = begun(player("calm", at_start=VFORK))
    calm.channel.flush()
    wait_for(lambda: sorted(states(calm.process)) == ["D", "S"], "the child of vfork")
    assert not calm.process.meter.wants_processor()


class ScriptedMachine:
    """One processor that this process, the bot and other programs share, in turns of so many
    hundredths of a millisecond.
    """

    def __init__(self, own, bot, others):
        self._own, self._bot, self._others = own, bot, others
        self._rounds = 0

    def thread_time_ns(self):
        self._rounds += 1
        return self._rounds * self._own * 10_000

    def monotonic_ns(self):
        return self._rounds * (self._own + self._bot + self._others) * 10_000

    def used_ns(self):
        return self._rounds * self._bot * 10_000


@pytest.mark.parametrize(
    ("own", "bot", "others", "share"),
    [(1, 0, 0, 1), (1, 0, 3, 1 / 4), (1, 0, 49, 1 / 50), (1, 14, 0, 1), (1, 14, 3, 1 / 4)],
)
def test_the_share_of_this_process_is_one_of_what_the_bot_leaves(
    monkeypatch, own, bot, others, share
):
    machine = ScriptedMachine(own, bot, others)
    monkeypatch.setattr(timekeeper, "time", machine)
    keeper = Timekeeper(channel=None, meter=machine, clock="cpu")
    assert keeper._share() == pytest.approx(share, rel=0.1)


def test_where_the_machine_is_to_blame_an_answer_ends_the_run(player, monkeypatch, refused):
    asleep = begun(player("asleep", in_turn="time.sleep(600)"))
    meter = asleep.process.meter
    looks = SimpleNamespace(taken=0)

    def look(_):
        looks.taken += 1
        return BUSY

    used_ns = meter.used_ns
    monkeypatch.setattr(Timekeeper, "_share", look)
    monkeypatch.setattr(meter, "used_ns", lambda: used_ns() + looks.taken * 5_000_000)
    with refused(UserError):
        choose_move(asleep)
    assert looks.taken == 2 * PROBES


def test_a_bot_that_alone_keeps_the_machine_busy_is_late_and_goes_on_after_the_look(
    player, monkeypatch
):
    """The bot sleeps, as if its processes computed uncounted until they are stopped."""
    asleep = begun(player("asleep", in_turn="time.sleep(8)"))
    meter = asleep.process.meter
    looks = SimpleNamespace(taken=0)

    def look(_):
        looks.taken += 1
        return FAIR if states(asleep.process) == ["T"] else BUSY

    used_ns = meter.used_ns
    monkeypatch.setattr(Timekeeper, "_share", look)
    monkeypatch.setattr(meter, "used_ns", lambda: used_ns() + looks.taken * 5_000_000)
    with pytest.raises(Forfeit, match="no answer came|answer came .* ms after"):
        choose_move(asleep)
    assert looks.taken == PROBES + 1
    wait_for(lambda: states(asleep.process) != ["T"], "the bot to go on")


AT_A_SIGNAL = "turns = 0; signal.signal(signal.SIGUSR1, lambda *_: {})"


def game_with_a_sleeper(player, rival_at_start, rival_after_turn):
    """A bot that never answers in its third turn, one that does this at the start and after each
    answer, and the referee of their game.
    """
    needs("bubblewrap")
    sleeper = player(
        "sleeper",
        at_start=AT_A_SIGNAL.format("compute(0.15)"),
        in_turn="turns += 1; turns != 3 or time.sleep(600)",
        sandbox="require",
    )
    rival = player("rival", at_start=rival_at_start, after_turn=rival_after_turn, sandbox="require")
    plan = single_game("x", "bird", 0, ["sleeper", "rival"])
    referee = Referee(plan, BIRD, [sleeper, rival], Timing(move_ms=200))
    return sleeper, rival, referee


@pytest.mark.usefixtures("language", "one_core")
def test_a_rival_that_computes_only_while_the_machine_is_judged_ends_no_run(player, monkeypatch):
    lurks = AT_A_SIGNAL.format("(crowd(30, 60), compute(60))")
    sleeper, rival, referee = game_with_a_sleeper(player, lurks, "pass")
    judge = Timekeeper._best_share
    asleep = [sleeper, rival]

    def wake_both(keeper):
        while asleep:
            os.kill(asleep.pop().process.processes()[0], signal.SIGUSR1)
        return judge(keeper)

    monkeypatch.setattr(Timekeeper, "_best_share", wake_both)
    record = referee.play().record
    assert [fault.seat for fault in record.faults] == [0]


@pytest.mark.usefixtures("language", "one_core")
def test_a_rival_whose_processes_wake_each_other_ends_no_run(player):
    *_, referee = game_with_a_sleeper(player, "turns = 0", "turns += 1; turns != 2 or ring(28)")
    record = referee.play().record
    assert [fault.seat for fault in record.faults] == [0]
