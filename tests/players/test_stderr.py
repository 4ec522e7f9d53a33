"""What a process writes to stderr, line by line: by real processes, honest and not."""

import sys

import pytest

from arena.match.referee import Referee
from arena.players.bot import PART_BYTES, BotPlayer, Stderr
from arena.players.folder import Bot
from arena.players.manifest import Manifest
from arena.players.player import InProcessPlayer, random_move
from arena.players.sandbox.grants import Grants
from arena.players.sandbox.tiers import OPEN, Sandbox
from arena.records.timing import Timing
from arena.rules.boards import built_in
from arena.tournament.schedule import single_game

BOT = """
import json, os, sys, time
turn = 0
def say(text):
    os.write(2, text if isinstance(text, bytes) else text.encode())
def work():
    until = time.process_time() + 0.01
    while time.process_time() < until:
        pass
{begin}
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({{"type": "ready", "id": message["id"], "view": "full"}}), flush=True)
    elif message["type"] == "start":
        turn = 0
    elif message["type"] == "turn":
        turn += 1
        {turn}
        move = {{"type": "move", "id": message["id"], "move": message["legal"][0]}}
        print(json.dumps(move), flush=True)
    elif message["type"] == "end":
        {end}
    elif message["type"] == "quit":
        break
"""


@pytest.fixture
def game(tmp_path):
    """Plays a game of the bot against a function: its record, and the lines it wrote."""

    def play(turn="pass", end="pass", begin="", sandbox=OPEN, **manifest):
        (tmp_path / "bot.py").write_text(BOT.format(turn=turn, end=end, begin=begin))
        command = [sys.executable, "-S", "bot.py"]
        bot = Bot("bot", Manifest(name="bot", command=command, **manifest), tmp_path, "")
        heard = []
        player = BotPlayer(
            bot,
            10_000,
            sandbox,
            stderr=Stderr(lambda said: heard.extend(said.decode().splitlines())),
        )
        seated = [player, InProcessPlayer("other", random_move)]
        plan = single_game("stderr", "bird", 0, ["bot", "other"])
        try:
            outcome = Referee(plan, built_in("bird"), seated, Timing()).play()
        finally:
            player.stop()
        told = player.take_stderr()
        # What is heard at once has the paths of the folder that plays, what is told the author's.
        assert [line for _, line in told] == [
            line.replace(f"{tmp_path}/", "") for line in filter(None, heard)
        ]
        assert player.take_stderr() == []
        return outcome.record, told

    return play


def test_each_line_belongs_to_a_turn_from_before_the_first_to_after_the_end(game):
    record, told = game(
        'say(f"turn {turn}"); work(); say("\\n\\nthen")', 'work(); say("end")', 'say("up")'
    )
    turns = [f"turn {turn + 1}" for turn in range(0, record.turns, 2)]
    assert told == [
        ("before its first turn", "up"),
        *(
            (when, line)
            for number, when in enumerate(turns, 1)
            for line in (f"turn {number}", "then")
        ),
        ("after the end", "end"),
    ]


def test_a_fresh_process_is_heard_until_it_exits(game):
    assert game(end='say("end"); sys.exit()', fresh=True)[1] == [("after the end", "end")]


def test_a_flood_is_cut_and_counted(game, snapshot):
    record, told = game('say("x" * 50_000)')
    assert record.faults == []
    assert {len(line) for _, line in told[::2]} == {PART_BYTES}
    assert {line for _, line in told[1::2]} == snapshot
    assert len(told) == 2 * len(record.moves[::2])


@pytest.mark.parametrize(
    ("act", "second"),
    [
        ("os.ftruncate(2, 0)", []),
        ("fcntl.fcntl(2, fcntl.F_SETFL, 0); os.lseek(2, 0, 0); say('forged')", ["ged"]),
        ("os.close(2)", []),
        ("os.unlink(os.readlink('/proc/self/fd/2').removesuffix(' (deleted)'))", []),
    ],
    ids=["cut", "overwrite", "close", "delete"],
)
def test_a_bot_that_changes_its_file_changes_no_line_that_was_read(game, act, second):
    body = f"""
        if turn == 1: say("one")
        if turn == 2:
            try: {act}
            except OSError: pass
        """
    record, told = game(body, begin="import fcntl")
    assert record.faults == []
    assert [line for _, line in told] == ["one", *second]


def test_what_is_no_text_shows_as_escapes(game):
    _, told = game("say(bytes([0xe2, 0x82, 0, 0x1b]))")
    assert {line for _, line in told} == {"\\xe2\\x82\0\x1b"}


def test_the_words_of_a_crash_belong_to_the_turn_that_it_lost(game):
    record, told = game("1 / (3 - turn)")
    assert record.faults[0].turn == 4
    assert told[-1][0] == "turn 5"
    assert "ZeroDivisionError" in told[-1][1]


def test_a_value_that_is_to_be_hidden_is_found_in_pieces_too(game, monkeypatch):
    monkeypatch.setenv("LLM_KEY", "sk-SECRET-0123456789")
    sandbox = Sandbox(grants={"bot": Grants(env=("LLM_KEY",))})
    _, told = game(
        """
        if turn == 1: say("half " + os.environ["LLM_KEY"][:9])
        if turn == 2: say(os.environ["LLM_KEY"][9:] + " done")
        if turn == 3: say("x" * (16384 - 5) + os.environ["LLM_KEY"])
        if turn == 4: say("last")
        """,
        sandbox=sandbox,
    )
    flood = ["x" * 16379, "(20 more bytes are not shown)"]
    assert [line for _, line in told] == ["half ", "[LLM_KEY] done", *flood, "last"]
