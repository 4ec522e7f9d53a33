"""The moments that a bot gets after a failed exchange, before it is judged."""

import sys
import time
from itertools import islice

import pytest

from arena.errors import FaultKind
from arena.players import aftermath
from arena.players.aftermath import STEP_NS, Aftermath, ending_within, moments
from arena.players.channel import Channel, OutputEnded
from arena.players.process import BotProcess

SPAN_NS = 10 * STEP_NS


class Fake:
    """A process that wants a processor or not, and has used what it is told."""

    def __init__(self, *, busy):
        self.busy = busy
        self.used = 0
        self.asked = 0

    def is_busy(self):
        return self.busy

    def used_ns(self):
        return self.used

    def ending(self, wait_s):
        """It ends when it is asked for the tenth time."""
        time.sleep(wait_s)
        self.asked += 1
        return "ended" if self.asked == 10 else None


def test_a_bot_that_sleeps_uses_its_moments_up():
    found = [time.sleep(STEP_NS / 1e9) for _ in moments(Fake(busy=False), SPAN_NS)]
    assert 5 <= len(found) <= 10


def test_a_bot_that_waits_for_a_processor_keeps_its_moments():
    waiting = islice(moments(Fake(busy=True), STEP_NS), 10)
    assert len([time.sleep(STEP_NS / 1e9) for _ in waiting]) == 10


def test_a_bot_that_computes_uses_up_what_it_computed():
    process, steps = Fake(busy=True), 0
    for _ in moments(process, SPAN_NS):
        steps += 1
        process.used += STEP_NS // 2
        time.sleep(STEP_NS / 1e9)
    assert steps == 20


@pytest.mark.parametrize(("busy", "found"), [(True, "ended"), (False, None)])
def test_a_bot_that_is_about_to_end_is_waited_for_while_it_gets_no_processor(busy, found):
    assert ending_within(Fake(busy=busy), 4 * STEP_NS) == found


def test_a_step_in_which_the_machine_stood_still_counts_as_two():
    stalled = [time.sleep(5 * STEP_NS / 1e9) for _ in moments(Fake(busy=False), SPAN_NS)]
    assert len(stalled) == 5


def test_no_bot_holds_up_a_game_for_longer_than_the_limit(monkeypatch):
    monkeypatch.setattr(aftermath, "MOST_NS", 3 * STEP_NS)
    assert len([time.sleep(STEP_NS / 1e9) for _ in moments(Fake(busy=True), SPAN_NS)]) <= 3


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ("os.close(1); time.sleep(0.5); os._exit(7)", FaultKind.EXIT, "exited with status 7"),
        ("os.close(1); time.sleep(60)", FaultKind.CLOSED_OUTPUT, "kept running"),
    ],
)
def test_a_bot_may_take_a_while_between_its_last_word_and_its_exit(tmp_path, code, kind, words):
    process = BotProcess([sys.executable, "-c", f"import os, time; {code}"], tmp_path)
    channel = Channel(process.to_bot, process.from_bot)
    try:
        with pytest.raises(OutputEnded) as ended:
            channel.read_line(time.monotonic_ns() + 60_000_000_000)
        after = Aftermath(process, channel, startup_ms=1000, is_starting=False, has_moved=True)
        fault = after.fault_of(ended.value, 0)
        assert (fault.kind, words in fault.detail) == (kind, True)
    finally:
        channel.close()
        process.stop()
