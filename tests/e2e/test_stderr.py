"""What healthy bots write to stderr, as a user meets it: in play, in a run and in replay."""

import gzip
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


@pytest.fixture
def run(talker):
    talker.add_bot("quiet", TALKER.replace("print(*words, file=sys.stderr, flush=True)", "pass"))
    line = ("run", "talker", "quiet", "random", "--deals", 2, "--seed", "x", "--out", "r")
    talker(*line, "--keep-stderr")
    return talker


def kept(arena, name="r"):
    files = sorted((arena.home / "results" / name / "stderr").iterdir())
    lines = b"".join(gzip.decompress(file.read_bytes()) for file in files).splitlines()
    return {game["id"]: game for game in map(json.loads, lines)}


def test_a_run_keeps_what_each_bot_wrote_by_game_and_turn(run):
    games, records = kept(run), {record["id"]: record for record in run.records("r")}
    assert set(games) == {name for name, record in records.items() if "talker" in record["bots"]}
    for name, game in games.items():
        seat = records[name]["bots"].index("talker")
        own = [part for part in game["parts"] if part["seat"] == seat]
        assert own == game["parts"]
        said = [part.get("turn", part.get("when")) for part in own]
        if said[0] == "start":
            assert own[0]["text"] == "here I am\n"
            said.pop(0)
        assert said.pop() == "end"
        assert said == list(range(seat, records[name]["turns"], 2))
        assert [part["text"].count("[31m") for part in own if "turn" in part] == [1] * len(said)
        # What comes after an answer may be read with the next one, but none of it is lost.
        assert sum(part["text"].count("answered") for part in own) == len(said)
        assert own[-1]["text"].endswith(f"ranks {records[name]['ranks']}\n")
    assert (
        json.loads((run.home / "results/r/run.json").read_text())["config"]["keep_stderr"] is True
    )
    assert "no difference" in run("verify", "r")[0]


def test_a_replay_shows_it_beside_the_moves_and_to_a_seat_its_own(run):
    record = next(record for record in run.records("r") if "talker" in record["bots"])
    seat = record["bots"].index("talker")
    out, _ = run("replay", "r", record["id"], "--stderr")
    assert out.count(f"\n  stderr: {SHOWN}") == len(record["moves"][seat::2])
    assert f"talker stderr, after the end: ranks {record['ranks']}" in out
    assert "stderr" not in run("replay", "r", record["id"], "--stderr", "--seat", 1 - seat)[0]
    assert "stderr" not in run("replay", "r", record["id"])[0]
    told = json.loads(run("replay", "r", record["id"], "--stderr", "--json")[0])["stderr"]
    assert told[-1]["when"] == "end"


def test_it_is_hidden_until_the_deal_is_over(run):
    journal = run.home / "results/r/games.jsonl"
    whole = journal.read_bytes()
    first = run.records("r")[0]
    others = [line for line in whole.splitlines(keepends=True) if b"talker" in line]
    journal.write_bytes(b"".join(others))
    shown = next(record for record in run.records("r") if "talker" in record["bots"])
    _, err = run("replay", "r", shown["id"], "--stderr", status=1)
    assert "expected a game whose deal is over to show its stderr" in err
    run("run", "--finish", "r")
    assert SHOWN in run("replay", "r", shown["id"], "--stderr")[0]
    assert first["id"] in {record["id"] for record in run.records("r")}


def test_a_run_goes_on_with_what_is_kept_as_its_command_says(run):
    line = ("run", "talker", "quiet", "random", "--seed", "x", "--out", "r")
    run(*line, "--deals", 3)
    assert len(kept(run)) == 8
    run(*line, "--deals", 4, "--keep-stderr=quiet,talker")
    assert len(kept(run)) == 12
    _, err = run(*line, "--deals", 5, "--keep-stderr=talkre", status=1)
    assert (
        "expected --keep-stderr to name bots that play, talker, quiet, random, got 'talkre'" in err
    )
    assert "did you mean 'talker'?" in err
    _, err = run("run", "--keep-stderr", "talker", "quiet", status=2)
    assert "expected --keep-stderr after the bots" in err
    _, err = run("run", "random", "greedy", "--keep-stderr", status=1)
    assert "expected bots with processes for --keep-stderr" in err


def test_a_run_that_kept_nothing_says_so(talker):
    talker("run", "talker", "random", "--deals", 1, "--seed", "x", "--out", "n")
    assert not (talker.home / "results/n/stderr").exists()
    _, err = talker("replay", "n", talker.records("n")[0]["id"], "--stderr")
    assert "note: no stderr of this game was kept" in err
