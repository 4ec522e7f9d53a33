"""What healthy bots write to stderr, as a user meets it: in play, in a run, in replay and pages."""

import json

import pytest

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


def test_play_shows_no_stderr_unless_asked(talker):
    assert "stderr" not in talker("play", "talker", "random", "--seed", 1)[0]
    _, err = talker("play", "talker", "random", "--stderr", "--json", status=2)
    assert "expected --stderr or --json" in err
