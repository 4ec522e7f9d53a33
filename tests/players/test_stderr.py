"""What a process writes to stderr, cut into parts: by real processes, honest and not."""

import sys

import pytest

from arena.match.clock import Timing
from arena.match.referee import Referee
from arena.players.bot import BotPlayer, Stderr
from arena.players.folder import Bot
from arena.players.manifest import Manifest
from arena.players.player import InProcessPlayer, random_move
from arena.players.sandbox.grants import Grants
from arena.players.sandbox.tiers import OPEN, Sandbox
from arena.records.evidence import GAME_BYTES, PART_BYTES
from arena.rules.boards import built_in
from arena.tournament.schedule import single_game

BOT = """
import json, os, sys, time
game = turn = 0
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
        game, turn = game + 1, 0
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
def games(tmp_path):
    """Plays games of one process, each against a function; the parts of each game."""
    players = []

    def play(turn="pass", end="pass", begin="", count=1, sandbox=OPEN, **manifest):
        (tmp_path / "bot.py").write_text(BOT.format(turn=turn, end=end, begin=begin))
        command = [sys.executable, "-S", "bot.py"]
        bot = Bot("bot", Manifest(name="bot", command=command, **manifest), tmp_path, "")
        player = BotPlayer(bot, 10_000, sandbox, stderr=Stderr())
        players.append(player)
        found = []
        for deal in range(count):
            plan = single_game("stderr", "bird", deal, ["bot", "other"])
            seated = [player, InProcessPlayer("other", random_move)]
            outcome = Referee(plan, built_in("bird"), seated, Timing()).play()
            found.append((outcome.record, player.stderr()))
        return found

    yield play
    for player in players:
        player.stop()


def test_each_game_of_a_process_has_its_own_from_before_the_first_turn_to_after_the_end(games):
    found = games('say(f"{game}.{turn}")', 'work(); say(f"end {game}")', 'say("up")', count=3)
    for number, (record, parts) in enumerate(found, 1):
        assert [(part.when, part.turn, part.text) for part in parts] == [
            *[("start", None, "up")] * (number == 1),
            *(("turn", turn, f"{number}.{turn // 2 + 1}") for turn in range(0, record.turns, 2)),
            ("end", None, f"end {number}"),
        ]
        assert {part.seat for part in parts} == {0}


def test_a_fresh_process_is_heard_until_it_exits(games):
    found = games(end='say("end"); sys.exit()', count=2, fresh=True)
    assert [[part.text for part in parts] for _, parts in found] == [["end"], ["end"]]


def test_a_flood_is_cut_and_counted(games):
    [(record, parts)] = games('say("x" * 50_000)')
    assert record.faults == []
    assert {len(part.text) for part in parts} == {PART_BYTES, 0}
    assert sum(len(part.text) for part in parts) == GAME_BYTES
    assert {len(part.text) + part.cut for part in parts} == {50_000}
    assert [part.turn for part in parts] == list(range(0, record.turns, 2))
    assert parts[-1].lines() == ["(50,000 more bytes are not kept)"]


@pytest.mark.parametrize(
    ("act", "second"),
    [
        ("os.ftruncate(2, 0)", []),
        ("fcntl.fcntl(2, fcntl.F_SETFL, 0); os.lseek(2, 0, 0); say('forged')", ["ged"]),
        ("os.ftruncate(2, 60 << 20)", ["\0" * PART_BYTES]),
        ("os.close(2)", []),
        ("os.unlink(os.readlink('/proc/self/fd/2').removesuffix(' (deleted)'))", []),
    ],
    ids=["cut", "overwrite", "hole", "close", "delete"],
)
def test_a_bot_that_changes_its_file_changes_no_part_that_was_read(games, act, second):
    body = f"""
        if turn == 1: say("one")
        if turn == 2:
            try: {act}
            except OSError: pass
        """
    [(record, parts)] = games(body, begin="import fcntl")
    assert record.faults == []
    assert [part.text for part in parts] == ["one", *second]


def test_what_is_no_text_shows_as_escapes(games):
    [(_, parts)] = games("say(bytes([0xe2, 0x82, 0, 0x1b]))")
    assert {part.text for part in parts} == {"\\xe2\\x82\0\x1b"}


def test_the_words_of_a_crash_belong_to_the_turn_that_it_lost(games):
    [(record, parts)] = games("1 / (3 - turn)")
    assert record.faults[0].turn == parts[-1].turn == 4
    assert "ZeroDivisionError" in parts[-1].text


def test_a_value_that_is_to_be_hidden_is_found_in_pieces_too(games, monkeypatch):
    monkeypatch.setenv("LLM_KEY", "sk-SECRET-0123456789")
    sandbox = Sandbox(grants={"bot": Grants(env=("LLM_KEY",))})
    [(_, parts)] = games(
        """
        if turn == 1: say("half " + os.environ["LLM_KEY"][:9])
        if turn == 2: say(os.environ["LLM_KEY"][9:] + " done")
        if turn == 3: say("x" * (16384 - 5) + os.environ["LLM_KEY"])
        if turn == 4: say("last")
        """,
        sandbox=sandbox,
    )
    assert [part.text for part in parts] == ["half ", "[LLM_KEY] done", "x" * 16379, "last"]
