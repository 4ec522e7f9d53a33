"""The moments that a bot gets after a failed exchange, before it is judged."""

import sys
import time

import pytest

from arena.errors import Forfeit, Void
from arena.faults import FaultKind
from arena.players import keeper_client
from arena.players.bot import BotPlayer
from arena.players.channel import Channel, OutputEnded
from arena.players.failures import Aftermath
from arena.players.folder import bot_at
from arena.players.process import STEP_NS, BotProcess, moments
from arena.players.sandbox.tiers import OPEN

SPAN_NS = 10 * STEP_NS


def test_moments_pass_and_a_step_in_which_the_machine_stood_still_counts_as_two():
    assert 5 <= len([time.sleep(STEP_NS / 1e9) for _ in moments(SPAN_NS)]) <= 10
    assert len([time.sleep(5 * STEP_NS / 1e9) for _ in moments(SPAN_NS)]) == 5


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ("os.close(1); time.sleep(0.5); os._exit(7)", FaultKind.EXIT, "exited with status 7"),
        ("os.close(1); time.sleep(600)", FaultKind.CLOSED_OUTPUT, "kept running"),
    ],
)
def test_a_bot_may_take_a_while_between_its_last_word_and_its_exit(tmp_path, code, kind, words):
    process = BotProcess([sys.executable, "-c", f"import os, time; {code}"], tmp_path)
    channel = Channel(process.to_bot, process.from_bot)
    try:
        with pytest.raises(OutputEnded) as ended:
            channel.read_line(time.monotonic_ns() + 60_000_000_000)
        after = Aftermath(
            bot_at(tmp_path, name="b", command=["python3"]),
            process,
            channel,
            sandbox=OPEN,
            startup_ms=1000,
            is_starting=False,
            has_moved=True,
        )
        fault = after.fault_of(ended.value, 0)
        assert (fault.kind, words in fault.detail) == (kind, True)
    finally:
        channel.close()
        process.stop()


@pytest.fixture
def start_under(tmp_path, monkeypatch):
    """A function that starts a bot whose keeper is this Python code."""
    bot = bot_at(tmp_path, name="b", command=["python3", "bot.py"])
    player = BotPlayer(bot, startup_ms=1000, sandbox=OPEN)

    def start(keeper):
        (tmp_path / "bot.py").write_text("")
        command = [sys.executable, "-c", f"import os, sys; {keeper}"]
        monkeypatch.setattr(keeper_client, "keeper_command", lambda: command)
        player.start()

    yield start
    player.stop()


@pytest.mark.parametrize(
    "keeper",
    [
        "os.kill(os.getpid(), 9)",
        "os.write(int(sys.argv[1]), b'failed no more processes\\n')",
        "os.fork = lambda: os.read(-1, 1); from arena.players.keeper import main; main()",
    ],
    ids=["it was killed", "it may not start a process", "nor may the one in Python"],
)
def test_a_keeper_that_ends_before_the_bot_has_started_is_no_fault_of_the_bot(
    start_under, refused, keeper
):
    with refused(Void):
        start_under(keeper)


def test_a_sandbox_that_cannot_be_made_is_a_start_up_fault(start_under):
    with pytest.raises(Forfeit) as caught:
        start_under("sys.exit('cannot bind the folder')")
    assert caught.value.kind == FaultKind.STARTUP
    assert "cannot bind the folder" in caught.value.detail
