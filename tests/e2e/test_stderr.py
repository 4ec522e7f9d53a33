"""What bots write to stderr, as a user meets it in play; and older runs that kept it."""

import json

import pytest

from tests.support.wording import messages

TALKER = """
import json, sys
def say(*words):
    print(*words, file=sys.stderr, flush=True)
say("here I am")
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "id": message["id"], "view": "full"}), flush=True)
    elif message["type"] == "turn":
        say("\\x1b[31mred\\u202e <b>" + " ".join(message["hand"]))
        reply = {"type": "move", "id": message["id"], "move": message["legal"][0]}
        print(json.dumps(reply), flush=True)
        say("answered", message["id"])
    elif message["type"] == "end":
        say("ranks", message["ranks"])
    elif message["type"] == "quit":
        break
"""
SHOWN = "\\x1b[31mred\\u202e <b>"


@pytest.fixture
def talker(arena):
    arena.add_bot("talker", TALKER)
    return arena


def test_play_shows_stderr_beside_the_move_it_was_written_for(talker):
    out, _ = talker("play", "talker", "random", "--seed", 1, "--stderr", "--log", "wire.jsonl")
    moves = f"\n{out}".split("\nturn ")[1:]
    own = [move for move in moves if move.partition(": ")[2].startswith("talker plays")]
    assert all(f"\n  stderr: {SHOWN}" in move and "\n  stderr: answered" in move for move in own)
    assert all("stderr" not in move for move in moves if move not in own and "end (" not in move)
    assert "  stderr, before its first turn: here I am" in own[0]
    assert "talker stderr, after the end: ranks [" in out
    wire = [json.loads(line) for line in (talker.home / "wire.jsonl").read_text().splitlines()]
    said = [line["line"] for line in wire if line["way"] == "stderr"]
    assert said[0] == "here I am"
    assert said[-1].startswith("ranks [")
    assert sum(line.startswith("answered") for line in said) == len(own)


def test_a_person_who_plays_sees_stderr_only_after_the_end(talker):
    out, _ = talker("play", "talker", "--human", 1, "--seed", 1, "--stderr", status=130)
    turns, _, rest = out.partition("talker stderr, before its first turn")
    assert "red" not in turns
    assert f"talker stderr, turn 1: {SHOWN}" in rest


def test_play_shows_no_stderr_unless_asked(talker, snapshot):
    assert "stderr" not in talker("play", "talker", "random", "--seed", 1)[0]
    _, err = talker("play", "talker", "random", "--stderr", "--json", status=2)
    assert messages(err) == snapshot


def test_a_run_of_an_older_version_that_kept_it_is_read_and_goes_on(talker, snapshot):
    line = ("run", "random", "greedy", "--seed", "x", "--out", "r", "--in-process")
    talker(*line, "--deals", 1)
    run = talker.home / "results/r"
    info = json.loads((run / "run.json").read_text())
    info["config"]["keep_stderr"] = ["random"]
    (run / "run.json").write_text(json.dumps(info))
    (run / "stderr").mkdir()
    (run / "stderr/1.jsonl.gz").write_bytes(b"not looked at")
    assert talker("verify", "r")[0] == snapshot
    talker(*line, "--deals", 2)
    assert len(talker.records("r")) == 4
    assert talker("verify", "r")[0] == snapshot


def test_a_file_that_asks_to_keep_it_is_told_what_to_use_instead(talker, snapshot):
    (talker.home / "arena.toml").write_text('bots = ["random", "greedy"]\nkeep_stderr = true\n')
    _, err = talker("run", "--config", "arena.toml", status=1)
    assert messages(err) == snapshot
