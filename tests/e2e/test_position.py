"""`arena play --from`: a game of a run is played on, by other bots, from any turn."""

import json
import re

import jsonschema
import pytest

from arena.sdk import position_of
from tests.support.commandline import ROOT, Arena
from tests.support.wording import lines_with, messages, without_figures

SCHEMA = ROOT / "protocol" / "schemas" / "record.json"

READY = '{"type":"ready","id":1}'


@pytest.fixture(scope="module", name="played")
def a_run(tmp_path_factory):
    """An arena with a run of built-in bots, and a record of it."""
    made = Arena(tmp_path_factory.mktemp("from"))
    made.ladder = "on"
    made("run", "greedy", "random", "--deals", 1, "--seed", "from", "--out", "r")
    yield made, min(made.records("r"), key=lambda record: record["id"])
    made.close()


def test_the_same_bots_play_the_same_game_and_others_another(played, snapshot):
    arena, old = played
    source = ("--from", "r", old["id"], "--turn", 12)
    out, err = arena("play", *old["bots"], *source)
    first = out.splitlines()[0]
    assert old["id"] in first
    assert first == snapshot
    assert f"turn 13: {old['bots'][0]} plays {old['moves'][12]}" in out
    assert "turn 12: " not in out
    assert f"end ({old['end']}): " in out
    assert without_figures("\n".join(out.splitlines()[-2:])) == snapshot
    assert f"--from r {old['id']} --turn 12\n" in err
    assert lines_with(err, "--from") == snapshot
    out, _ = arena("play", "careful", "greedy-python", *source)
    parted = out.splitlines()[-1]
    assert int(re.search(r"\d+", parted)[0]) > 12
    assert without_figures(parted) == snapshot


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


def test_a_person_plays_on_with_a_hand_of_the_record(played, snapshot):
    arena, old = played
    source = ("--from", "r", old["id"], "--turn", 7)
    out, _ = arena("play", "greedy", "--human", 1, *source, status=130)
    first = out.splitlines()[0]
    assert old["id"] in first
    assert first == snapshot
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
    ("words", "status"),
    [
        (("--from", "r", "GAME", "--turn", 99), 1),
        (("--from", "r", "GAME", "--deal", 1), 2),
        (("--from", "r", "GAME", "--board", "lion"), 2),
        (("--from", "r", "bird/x"), 1),
        (("--from", "s", "GAME"), 1),
        (("--turn", 3), 2),
        (("careful", "--from", "r", "GAME"), 2),
    ],
    ids=["no such turn", "deal", "board", "no such game", "no such run", "no game", "bots"],
)
def test_what_cannot_be_played_on_gets_a_sentence(played, words, status, snapshot):
    arena, old = played
    words = [old["id"] if word == "GAME" else word for word in words]
    _, err = arena("play", "greedy", "random", *words, status=status)
    # The examples are the runs of other tests, and the first games in whatever order they ended.
    assert re.sub(r"(for example|results:) .*", r"\1 ...", messages(err)) == snapshot


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


def test_a_board_file_that_has_changed_does_not_matter(played, snapshot):
    arena, _ = played
    board = arena.home / "tiny.txt"
    board.write_text("R....\n..V..\n....B\n.....\n")
    arena("run", "greedy", "random", "--deals", 1, "--board", "tiny.txt", "--out", "tiny")
    board.write_text("Y\n")
    old = arena.records("tiny")[0]
    source = ("--from", "tiny", old["id"], "--turn", 2)
    out, _ = arena("play", *old["bots"], *source)
    assert out.splitlines()[-1] == snapshot
    line, _ = arena("replay", "tiny", old["id"], "--turn", 0, "--line", "--seat", 1)
    assert line.startswith("R.4/.2V.2/.4B/.5 0 24,24 ??????,")
