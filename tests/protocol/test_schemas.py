"""protocol/schemas/: what the arena writes fits them, what does not fit them the arena refuses, and
mutations do not fit.
"""

import copy
import functools
import json
import operator

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import Forfeit
from arena.players.decoding import decode_reply
from tests.protocol.schemas import HEARD, RECORDS, SCHEMAS, VALIDATORS
from tests.protocol.vectors import lines

SAMPLES = {
    name: [message for message in HEARD if message["type"] == name]
    for name in ("hello", "start", "turn", "played", "end", "quit")
}
SAMPLES["start"].append(
    {**SAMPLES["start"][0], "options": {"depth": 3, "c": 1.4, "fast": False, "style": "calm"}}
)
SAMPLES["record"] = RECORDS
SAMPLES["ready"] = [
    {"type": "ready", "id": 1},
    {"type": "ready", "id": 7, "view": "full"},
    {"type": "ready", "id": 0, "view": "incremental"},
]
SAMPLES["note"] = [{"value": 0.61, "text": "a larger province", **dict.fromkeys("abcdefgh", 7.5)}]
SAMPLES |= {
    f"vector-{name}": lines(file)
    for name, file in (("perft", "perft"), ("game", "games"), ("position", "positions"))
}
SAMPLES["move"] = [
    {"type": "move", "id": 2, "move": "Rc4Yd4"},
    {"type": "move", "id": 9, "move": "pass", "extra": [1]},
    {"type": "move", "id": 9, "move": "pass", "note": {"value": 0.5}},
]


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_the_schema_is_a_schema_and_there_is_something_to_try_it_on(name):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    assert SAMPLES[name]


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_real_messages_fit(name):
    for message in SAMPLES[name]:
        VALIDATORS[name].validate(message)


def places(value, path=()):
    """The paths of every value in a message."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(min(len(value), 2)):
            yield from places(value[index], (*path, index))


def change(message, path, new):
    changed = copy.deepcopy(message)
    target = changed
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = new
    return changed


def at(message, path):
    return functools.reduce(operator.getitem, path, message)


def shortened(name, message):
    """The message with only two items in each list that may be so short: `places` goes no further,
    and the rest would be copied and validated for each of them.
    """
    for path in list(places(message)):
        if path and isinstance(value := at(message, path), list):
            shorter = change(message, path, value[:2])
            message = shorter if VALIDATORS[name].is_valid(shorter) else message
    return message


def of_other_types(value):
    """Values that are not of the type of this one, and integers out of any range."""
    yield from (
        candidate
        for candidate in (True, 1.5, {"x": 1}, "no such word", -1, ["x"])
        if not same_type(candidate, value)
    )
    if isinstance(value, int) and not isinstance(value, bool):
        yield -1
        yield 2**60


def same_type(one, other):
    return type(one) is type(other) or {type(one), type(other)} <= {int, float}


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_mutated_messages_do_not_fit(name):
    validator, tried = VALIDATORS[name], 0
    samples = sorted(SAMPLES[name], key=lambda message: -len(json.dumps(message)))[:2]
    for message in (shortened(name, sample) for sample in samples):
        for path in places(message):
            if not path or path[0] in ("extra", "note", "options"):  # of which anything may be said
                continue
            for new in of_other_types(at(message, path)):
                assert not validator.is_valid(change(message, path, new)), (path, new)
                tried += 1
        for key in set(message) & set(SCHEMAS[name]["required"]):
            assert not validator.is_valid(
                {other: value for other, value in message.items() if other != key}
            )
            tried += 1
        if SCHEMAS[name]["additionalProperties"] is False:
            assert not validator.is_valid({**message, "surprise": 1})
            tried += 1
    assert tried


@pytest.mark.parametrize("field", ["bots", "left", "ranks", "think_ms", "slowest_ms"])
@pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"{len(record['bots'])} players")
def test_a_record_has_one_entry_for_each_seat(record, field):
    shorter, longer = record[field][:-1], [*record[field], record[field][-1]]
    assert not VALIDATORS["record"].is_valid({**record, field: shorter})
    assert not VALIDATORS["record"].is_valid({**record, field: longer})


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False).filter(
        lambda number: not number.is_integer()
    )
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
FIELDS = {
    "type": st.sampled_from(["ready", "move", "turn", ""]) | JSON_VALUES,
    "id": st.integers(-3, 2**54) | JSON_VALUES,
    "move": st.text(max_size=8) | JSON_VALUES,
    "view": st.sampled_from(["full", "incremental", "none"]) | JSON_VALUES,
    "other": JSON_VALUES,
}


@given(st.fixed_dictionaries({}, optional=FIELDS) | JSON_VALUES)
def test_the_decoder_and_the_schemas_of_replies_agree(value):
    fits = VALIDATORS["ready"].is_valid(value) or VALIDATORS["move"].is_valid(value)
    try:
        decode_reply(json.dumps(value).encode())
    except Forfeit:
        assert not fits
    else:
        assert fits


@pytest.mark.parametrize(
    "line",
    [
        b"", b"nope", b"{", b'{"type":"move","id":NaN,"move":"x"}',
        b'{"type":"move","id":1,"move":"x"} x', b"[" * 60_000,
        b'{"type":"move","id":1,"move":"x","deep":' + b"[" * 50_000,
        b'{"type":"move","id":' + b"9" * 5000 + b',"move":"x"}',
        b'{"type":"move","id":1,"move":"\xff"}', b'{"type":"move","id":1,"move":"x","c":"\xff"}',
        b"\xff\xfe{}", b'{"type":"move","id":1,"move":"\\ud800"}', b"\x00", b"'{}'",
        b'{"id":1,"move":"x"}', b'{"type":"move","id":1.0,"move":"x"}',
    ],
)  # fmt: skip
def test_a_hostile_line_is_a_forfeit_and_nothing_else(line):
    with pytest.raises(Forfeit) as caught:
        decode_reply(line)
    assert caught.value.kind in ("not json", "wrong shape")
    assert len(str(caught.value)) < 400
