"""`arena play --from`: a game of a run is played on, by other bots, from any turn."""

import json

import jsonschema
import pytest

from arena.sdk import position_of
from tests.support.commandline import ROOT, Arena
from tests.support.wording import messages

SCHEMA = ROOT / "protocol" / "schemas" / "record.json"

READY = '{"type":"ready","id":1}'


@pytest.fixture(scope="module", name="played")
def a_run(tmp_path_factory):
    """An arena with a run of built-in bots, and a record of it."""
    made = Arena(tmp_path_factory.mktemp("from"))
    made.ladder = "on"
    made("run", "greedy", "random", "--deals", 1, "--seed", "from", "--out", "r")
    yield made, made.records("r")[0]
    made.close()


def test_the_same_bots_play_the_same_game_and_others_another(played):
    arena, old = played
    source = ("--from", "r", old["id"], "--turn", 12)
    out, err = arena("play", *old["bots"], *source)
    assert out.startswith(f"turn 12 of {old['id']}: {old['bots'][0]} is to move\n")
    assert f"turn 13: {old['bots'][0]} plays {old['moves'][12]}" in out
    assert "turn 12: " not in out
    assert f"in the record: end ({old['end']}): 1. " in out
    assert out.endswith("\nboth games are the same, move by move\n")
    assert f"the same tiles again: --from r {old['id']} --turn 12\n" in err
    out, _ = arena("play", "careful", "greedy-python", *source)
    assert "\nthe games part at turn 1" in out


def test_the_record_has_the_whole_game_and_no_times_for_the_past(played):
    arena, old = played
    out, _ = arena("play", "careful", "random", "--from", "r", old["id"], "--turn", 9, "--json")
    new = json.loads(out)
    jsonschema.validate(new, json.loads(SCHEMA.read_text()))
    assert new["id"] == f"bird@9/careful+random/{old['deal']}/{old['seating']}"
    assert (new["deck"], new["moves"][:9]) == (old["deck"], old["moves"][:9])
    assert new["ms"][:9] == [None] * 9
    assert None not in new["ms"][9:]
    assert new["bots"] == ["careful", "random"]


def test_a_bot_is_told_of_the_past_in_the_ordinary_messages(played):
    arena, old = played
    source = ("--from", "r", old["id"], "--turn", 5)
    arena("play", "random", "greedy-python", *source, "--log", "wire.jsonl", "--json")
    lines = [
        json.loads(json.loads(line)["line"])
        for line in (arena.home / "wire.jsonl").read_text().splitlines()
    ]
    assert [line["type"] for line in lines[:8]] == ["hello", "ready", "start", *["played"] * 5]
    assert [line["move"] for line in lines[3:8]] == old["moves"][:5]
    assert (lines[8]["type"], lines[8]["id"]) == ("turn", 2)


def test_a_person_plays_on_with_a_hand_of_the_record(played):
    arena, old = played
    source = ("--from", "r", old["id"], "--turn", 7)
    out, _ = arena("play", "greedy", "--human", 1, *source, status=130)
    assert out.startswith(f"turn 7 of {old['id']}: human is to move\n")
    assert "?? ?? ??" in out


@pytest.fixture(scope="module", name="forfeited")
def a_run_with_forfeits(played):
    """A game of three in which seat 1 left at its first turn."""
    arena, _ = played
    source = "import sys, json\nfor line in sys.stdin:\n    message = json.loads(line)\n"
    source += "    if message['type'] == 'turn':\n        sys.exit(1)\n"
    source += "    if message['type'] == 'hello':\n        print(READY, flush=True)\n"
    arena.add_bot("mute", f"READY = '{READY}'\n{source}")
    arena("run", "greedy", "mute", "random", "--players", 3, "--deals", 1, "--out", "three")
    return next(record for record in arena.records("three") if record["bots"][1] == "mute")


def test_a_seat_that_had_forfeited_stays_out(played, forfeited, snapshot):
    arena, old = played[0], forfeited
    source = ("--from", "three", old["id"], "--turn", 8)
    new = json.loads(arena("play", "careful", "greedy", *source, "--json")[0])
    assert (new["bots"], new["faults"]) == (["careful", "mute", "greedy"], old["faults"])
    assert new["ranks"][1] == 3
    _, err = arena("play", "careful", "greedy", "random", *source, status=2)
    assert messages(err) == snapshot
    _, err = arena("play", "careful", "--human", 1, *source, status=2)
    assert messages(err) == snapshot


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("--from", "r", "GAME", "--turn", 99), 1, "expected a turn from 0 to "),
        (("--from", "r", "GAME", "--deal", 1), 2, "--from cannot be combined with --deal"),
        (("--from", "r", "GAME", "--board", "lion"), 2, "--from cannot be combined with --board"),
        (("--from", "r", "bird/x"), 1, "hint: for example bird/greedy+random/0/"),
        (("--from", "s", "GAME"), 1, "expected a run's name or folder, got 's'"),
        (("--turn", 3), 2, "--turn needs --from RUN GAME"),
        (("careful", "--from", "r", "GAME"), 2, "a bot for each of the seats 0, 1, got 3"),
    ],
)
def test_what_cannot_be_played_on_gets_a_sentence(played, words, status, told):
    arena, old = played
    words = [old["id"] if word == "GAME" else word for word in words]
    assert told in arena("play", "greedy", "random", *words, status=status)[1]


def test_a_position_is_printed_as_a_line_that_the_sdk_reads(played, snapshot):
    arena, old = played
    whole = arena("replay", "r", old["id"], "--line")[0].splitlines()
    assert len(whole) == len(old["moves"]) + 1
    assert [line.split()[1] for line in whole[:-1]] == ["0", "1"] * (len(old["moves"]) // 2) + (
        ["0"] * (len(old["moves"]) % 2)
    )
    assert whole[-1].split()[1:3] == ["-", ",".join(map(str, old["left"]))]
    [line] = arena("replay", "r", old["id"], "--line", "--turn", 8)[0].splitlines()
    assert line == whole[8]
    [seen] = arena("replay", "r", old["id"], "--line", "--turn", 8, "--seat", 0)[0].splitlines()
    assert "??????" in seen
    position = position_of(line)
    assert (position.line, position.turns, position.seat) == (seen, 8, 0)
    _, err = arena("replay", "r", old["id"], "--line", "--json", status=2)
    assert messages(err) == snapshot


def test_a_seat_that_has_left_is_named_in_the_line(played, forfeited):
    arena, old = played[0], forfeited
    turn = old["faults"][0]["turn"]
    for later, out in ((turn, "-"), (turn + 1, str(old["faults"][0]["seat"]))):
        [line] = arena("replay", "three", old["id"], "--line", "--turn", later)[0].splitlines()
        assert line.split()[-1] == out


def test_a_board_file_that_has_changed_does_not_matter(played):
    arena, _ = played
    board = arena.home / "tiny.txt"
    board.write_text("R....\n..V..\n....B\n.....\n")
    arena("run", "greedy", "random", "--deals", 1, "--board", "tiny.txt", "--out", "tiny")
    board.write_text("Y\n")
    old = arena.records("tiny")[0]
    source = ("--from", "tiny", old["id"], "--turn", 2)
    out, _ = arena("play", *old["bots"], *source)
    assert out.endswith("\nboth games are the same, move by move\n")
    line, _ = arena("replay", "tiny", old["id"], "--turn", 0, "--line", "--seat", 1)
    assert line.startswith("R.4/.2V.2/.4B/.5 0 24,24 ??????,")
