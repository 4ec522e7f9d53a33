"""Who is to blame for a wait without an answer: the bot, or the machine. What the bot uses and what
this process gets of a processor are scripted, as how busy a machine is cannot be.
"""

import sys
from itertools import chain, repeat
from types import SimpleNamespace

import pytest

from arena.errors import Forfeit, UserError
from arena.players import timekeeper
from arena.players.timekeeper import PROBES, OutOfTime, Overspent, Timekeeper
from tests.players.test_timekeeper import begun, choose_move, player  # noqa: F401 - a fixture

BUDGET_NS, WAITED_NS = 400_000_000, 4_000_000_000
BUSY, FAIR = 0.02, 0.12

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="processor time is counted by Linux"
)


class ScriptedMeter:
    """What a bot has used at one look after another, in ms; it stays at the last figure."""

    def __init__(self, *used_ms):
        self._used_ms = chain(used_ms, repeat(used_ms[-1]))

    def used_ns(self):
        return next(self._used_ms) * 1_000_000


def verdict(used_ms, shares):
    """What becomes of a bot whose patience is over. The first figure is what it has used before
    this process looks at its own share, the second what it has used after that.
    """
    keeper = Timekeeper(channel=None, meter=ScriptedMeter(*used_ms), clock="cpu")
    asked = iter(shares)
    keeper._share = asked.__next__
    found = keeper._overdue(b"", BUDGET_NS, WAITED_NS)
    assert next(asked, None) is None, "it looks as often as it has to"
    return found


def test_a_bot_that_wanted_a_processor_on_a_machine_too_busy_to_be_fair_is_not_to_blame():
    stopped = verdict(used_ms=[90, 120], shares=[BUSY] * PROBES)
    assert isinstance(stopped, UserError)
    assert not isinstance(stopped, Forfeit)
    assert "left 2% of a processor" in str(stopped)
    assert "--jobs 1" in stopped.hint


def test_a_bot_that_slept_on_a_busy_machine_is_late():
    late = verdict(used_ms=[90, 91], shares=[BUSY] * PROBES)
    assert isinstance(late, OutOfTime)
    assert late.allowance == "4000 ms (it used 90 of its 400 ms of processor time)"


def test_a_bot_is_late_if_the_machine_was_fair_at_one_look():
    shares = [BUSY, BUSY, FAIR]
    assert isinstance(verdict(used_ms=[90, 120], shares=shares), OutOfTime)


def test_a_bot_that_used_what_it_might_is_late_however_busy_the_machine_is():
    spent = verdict(used_ms=[400, 400], shares=[])
    assert isinstance(spent, Overspent)
    assert spent.cost_ns == BUDGET_NS


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


def test_where_the_machine_is_to_blame_an_answer_ends_the_run(player, monkeypatch):  # noqa: F811
    asleep = begun(player("asleep", in_turn="time.sleep(600)"))
    meter = asleep.process.meter
    looks = SimpleNamespace(taken=0)

    def look(_):
        looks.taken += 1
        return BUSY

    used_ns = meter.used_ns
    monkeypatch.setattr(Timekeeper, "_share", look)
    monkeypatch.setattr(meter, "used_ns", lambda: used_ns() + looks.taken * 5_000_000)
    with pytest.raises(UserError, match="left 2% of a processor"):
        choose_move(asleep)
    assert looks.taken == PROBES
