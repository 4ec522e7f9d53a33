"""Notes and times of moves as a user meets them: in a run, in replay, play and pages."""

import json

import pytest

NOTER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "id": message["id"], "view": "full"}), flush=True)
    elif message["type"] == "turn":
        note = {"value": 0.75, "text": "I hold \\u001b[31m" + " ".join(message["hand"]), "depth": 3}
        reply = {"type": "move", "id": message["id"], "move": message["legal"][0], "note": note}
        print(json.dumps(reply), flush=True)
    elif message["type"] == "quit":
        break
"""


@pytest.fixture
def run(arena):
    arena.add_bot("noter", NOTER)
    arena("run", "noter", "fst", "--deals", 2, "--seed", "notes", "--out", "r")
    return arena


def test_a_run_keeps_notes_and_times_and_verify_finds_nothing_wrong(run, snapshot):
    for record in run.records("r"):
        said = [note["turn"] for note in record["notes"]]
        seat = record["bots"].index("noter")
        movers = [at % 2 for at, move in enumerate(record["moves"]) if move != "pass"]
        assert [movers[turn] for turn in said] == [seat] * movers.count(seat)
        assert len(record["ms"]) == len(record["moves"])
    assert run("verify", "r")[0] == snapshot


def test_a_replay_shows_notes_and_times_and_to_one_seat_only_its_own(run):
    record = run.records("r")[0]
    seat = record["bots"].index("noter")
    out, _ = run("replay", "r", record["id"])
    assert out.count("note: value 0.75, depth 3: I hold  [31m") == len(record["notes"])
    assert out.count("\n  in ") == len(record["moves"]) - record["moves"].count("pass")
    assert "note: " in run("replay", "r", record["id"], "--seat", seat)[0]
    assert "note: " not in run("replay", "r", record["id"], "--seat", 1 - seat)[0]


def test_play_shows_notes_but_not_to_a_person_who_plays(run):
    out, _ = run("play", "noter", "fst", "--seed", 1)
    assert "note: value 0.75, depth 3: I hold" in out
    record = json.loads(run("play", "noter", "fst", "--seed", 1, "--json")[0])
    assert len(record["notes"]) >= len(record["moves"]) // 2


def test_pages_and_tables_hold_no_markup_of_a_note(run):
    record = run.records("r")[0]
    run("replay", "r", record["id"], "--html", "game.html")
    page = (run.home / "game.html").read_text()
    assert "value 0.75, depth 3: I hold  [31m" in page
    assert "I hold" not in run("export", "r", "--to", "t")[0]
    assert "I hold" not in (run.home / "t" / "games.csv").read_text()


def test_without_notes_and_without_processes_a_record_has_neither(arena):
    arena("run", "random", "greedy", "--in-process", "--deals", 1, "--seed", "x", "--out", "i")
    assert all("ms" not in record and "notes" not in record for record in arena.records("i"))
