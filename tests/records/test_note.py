"""What is kept of what a bot says: within the limits of P5.6, and never a reason to fail."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import Forfeit
from arena.players.decoding import decode_reply, read_note
from arena.players.messages import SILENCE
from arena.records.notes import LARGEST, MAX_TEXT, kept_notes, losses, note_of, wrong_note
from arena.records.record import GameRecord
from arena.records.strict import decode_strictly
from tests.protocol.schemas import RECORDS, VALIDATORS

MOVE = b'{"type":"move","id":2,"move":"Rb1Rc1"'


def kept(text):
    """What is kept of a note that is written like this in a bot's line, as the record has it."""
    reply = decode_reply(
        MOVE + b',"note":' + (text if isinstance(text, bytes) else text.encode()) + b"}"
    )
    assert (reply.id, reply.move) == (2, "Rb1Rc1")
    note = note_of(read_note(reply.note))
    return note and {name: told for name, told in note.entry(0).items() if name != "turn"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"value":0.61,"text":"good","depth":7}', {"value": 0.61, "text": "good", "depth": 7}),
        ('{"value":0.123456}', {"value": 0.1235}),
        ('{"value":1}', {"value": 1.0}),
        ('{"value":-0.0}', {"value": 0.0}),
        ('{"value":1.00000001}', {"value": 1.0}),
        ('{"value":1.01,"text":"sure"}', {"text": "sure"}),
        ('{"value":-1,"n":1}', {"n": 1}),
        ('{"value":true,"flag":false,"n":1}', {"n": 1}),
        ('{"value":"0.5","n":"7","m":null,"l":[1],"o":{"p":1},"k":1}', {"k": 1}),
        ('{"value":NaN,"text":"none"}', {"text": "none"}),
        ('{"n":Infinity,"m":-Infinity,"k":2}', {"k": 2}),
        ('{"n":1e999,"m":1e300,"k":2}', {"k": 2}),
        ('{"n":9007199254740993,"m":9007199254740991}', {"m": 9007199254740991}),
        ('{"n":' + "9" * 4000 + ',"m":1}', {"m": 1}),
        ('{"n":' + "9" * 9000 + ',"m":1}', None),
        ('{"n":123456.789,"m":0.1}', {"n": 123457.0, "m": 0.1}),
        ('{"value":0.1,"value":0.9}', {"value": 0.9}),
        ('{"turn":9,"seat":1,"n":1}', {"n": 1}),
        ('{"a b":1,"1a":2,"é":3,"":4,"ok_1":5,"' + "x" * 25 + '":6}', {"ok_1": 5}),
        (json.dumps(dict.fromkeys("abcdefghij", 1)), dict.fromkeys("abcdefgh", 1)),
        ('{"text":"' + "x" * 500 + '"}', {"text": "x" * MAX_TEXT}),
        ('{"text":"a\\u0000b\\nc\\u202ed\\u001b[31me"}', {"text": "a b c d [31me"}),
        ('{"text":" \\u200b "}', None),
        ('{"text":"\\ud83d half"}', {"text": "half"}),
        ('{"text":"\\ud83d\\ude00"}', {"text": "\N{GRINNING FACE}"}),
        (b'{"text":"tr\xe8s","n":1}', {"text": "tr\N{REPLACEMENT CHARACTER}s", "n": 1}),
        (b'{"text":"a\tb"}', {"text": "a b"}),
        ('{"text":["x"]}', None),
        ("{}", None), ("[]", None), ("null", None), ('"text"', None), ("0.5", None),
        ("[" * 900 + "]" * 900, None),
        ('{"n":1,"deep":' + "[" * 900 + "]" * 900 + "}", {"n": 1}),
        ('{"text":"=1+1","n":1}', {"text": "=1+1", "n": 1}),
        ('{"__class__":1,"constructor":2}', {"constructor": 2}),
    ],
)  # fmt: skip
def test_what_fits_is_kept_and_the_move_counts_whatever_the_note(text, expected):
    assert kept(text) == expected


def test_only_a_line_that_nests_too_deeply_to_be_read_is_a_fault(refused):
    with refused(Forfeit):
        kept("[" * 20_000 + "]" * 20_000)


def test_without_a_note_nothing_was_said():
    assert decode_reply(MOVE + b"}").note is SILENCE


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)
NAMES = st.sampled_from(["value", "text", "turn", "seat", "depth", "a b"]) | st.text(max_size=3)


@given(st.dictionaries(NAMES, ANYTHING, max_size=14) | ANYTHING)
def test_what_is_kept_is_by_the_schema_and_stays_as_it_is(told):
    note = note_of(told)
    if note is None:
        return
    entry = json.loads(msgspec.json.encode(note.entry(3)))
    assert kept_notes([entry]) == {3: note}
    assert wrong_note([entry], 4) is None
    assert VALIDATORS["record"].is_valid({**RECORDS[0], "notes": [entry]})
    assert VALIDATORS["note"].is_valid({key: entry[key] for key in entry if key != "turn"})
    assert "\n" not in str(note)


@given(st.dictionaries(NAMES, ANYTHING, max_size=14) | ANYTHING)
def test_what_is_lost_of_a_note_is_told_part_by_part_and_nothing_else(told):
    note, lost = note_of(told), losses(told)
    assert all(len(loss.got) < 100 and loss.expected for loss in lost)
    if isinstance(told, dict):
        kept = note.kept if note else {}
        parts = {loss.part for loss in lost}
        for name, said in told.items():
            is_blank = name == "text" and isinstance(said, str) and not said.strip()
            assert name in parts or name in kept or is_blank
            assert not (name in parts and name in kept) or name == "text"


def test_what_is_lost_says_what_was_expected_and_what_came(snapshot):
    told = {"value": 61, "text": "x" * 300, "p win": 3, "n": "7", "seat": 1, "ok": 2, "l": [[]]}
    assert [(loss.part, loss.expected.split()[0], loss.got) for loss in losses(told)] == [
        ("value", "a", "61"),
        ("text", "at", "300 characters"),
        ("p win", "a", "3"),
        ("n", "a", "'7'"),
        ("seat", "another", "1"),
        ("l", "a", "a list"),
    ]
    assert losses("hello")[0].expected == snapshot
    assert [loss.part for loss in losses(dict.fromkeys("abcdefghij", 1))] == ["i", "j"]
    assert losses({"value": 0.123456, "text": " fine ", "n": 10**400 // 10**395}) == []


GOOD = {"turn": 0, "value": 0.5, "text": "x", "n": 1}


def strictly(**fields):
    record = {**RECORDS[0], **fields}
    return record, decode_strictly(json.dumps(record, separators=(",", ":")).encode() + b"\n")


def test_a_record_with_notes_passes():
    record, found = strictly(notes=[GOOD, {"turn": 3, "text": "y"}])
    assert isinstance(found, GameRecord)
    assert VALIDATORS["record"].is_valid(record)


@pytest.mark.parametrize(
    "notes",
    [
        [], {}, "x", [1], [None], [{}], [{"turn": 0}], [{"value": 0.5}],
        [GOOD, GOOD], [{**GOOD, "turn": 5}, GOOD], [{**GOOD, "turn": 72}], [{**GOOD, "turn": -1}],
        [{**GOOD, "turn": 0.0}], [{**GOOD, "turn": "0"}], [{**GOOD, "turn": True}],
        [{**GOOD, "seat": 0}], [{**GOOD, "value": 1.5}], [{**GOOD, "value": "0.5"}],
        [{**GOOD, "value": None}], [{**GOOD, "value": 0.123456}], [{**GOOD, "text": ""}],
        [{**GOOD, "text": "x" * (MAX_TEXT + 1)}], [{**GOOD, "text": "a\u202eb"}],
        [{**GOOD, "text": 1}], [{**GOOD, "a b": 1}], [{**GOOD, "n": "1"}], [{**GOOD, "n": [1]}],
        [{**GOOD, "n": LARGEST + 1}], [{**GOOD, **dict.fromkeys("abcdefgh", 1)}],
    ],
)  # fmt: skip
def test_notes_that_the_arena_would_not_write_are_found(notes):
    _, found = strictly(notes=notes)
    assert not isinstance(found, GameRecord)
    assert found.field.startswith("notes")


def test_what_the_schema_refuses_of_notes_is_refused():
    for notes in (
        [],
        [{"turn": 0}],
        [{**GOOD, "seat": 0}],
        [{**GOOD, "n": "1"}],
        [{**GOOD, "a b": 1}],
    ):
        record, found = strictly(notes=notes)
        assert not VALIDATORS["record"].is_valid(record)
        assert not isinstance(found, GameRecord)


@pytest.mark.parametrize(
    "change",
    [
        lambda ms, _: ms[:-1],
        lambda ms, _: [*ms, None],
        lambda ms, _: [None, *ms[1:]],
        lambda ms, _: [-1.0, *ms[1:]],
        lambda ms, most: [most[0] + 0.1, *ms[1:]],
        lambda ms, _: ["1", *ms[1:]],
        lambda ms, _: [],
    ],
)
def test_times_that_do_not_fit_the_moves_are_found(change):
    assert len(RECORDS[0]["ms"]) == len(RECORDS[0]["moves"])
    _, found = strictly(ms=change(RECORDS[0]["ms"], RECORDS[0]["slowest_ms"]))
    assert not isinstance(found, GameRecord)
    assert found.field.startswith("ms")


def test_notes_of_a_stranger_are_cut_before_anybody_sees_them():
    hostile = [
        {"turn": 1, "text": "\x1b[2J" + "x" * 9999, "n": 1.5},
        {"turn": 2.5, "n": 1},
        {"n": 1},
    ]
    assert kept_notes(hostile) == {1: note_of({"text": " [2J" + "x" * (MAX_TEXT - 4), "n": 1.5})}
    assert kept_notes(None) == {}
