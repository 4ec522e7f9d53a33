"""The strict decoder refuses at least what the JSON Schema of a record refuses."""

import json

import pytest

from arena.records.record import GameRecord
from arena.records.strict import decode_strictly
from tests.protocol.schemas import RECORDS, VALIDATORS

JUNK = (
    None,
    -1,
    0,
    1,
    5,
    25,
    73,
    1.5,
    10_000_000,
    "",
    "x",
    "late",
    "RR" * 72,
    [],
    [0],
    [-1, 0],
    [1, 2, 3, 4, 5],
    {},
    "2026-01-01",
)


def line_of(record):
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_records_as_the_arena_writes_them_pass(record):
    assert isinstance(decode_strictly(line_of(record)), GameRecord)


def mutations(record):
    fault = {"seat": 0, "turn": 3, "kind": "late", "detail": "x"}
    for key in record:
        yield {name: value for name, value in record.items() if name != key}
        if key != "moves":
            yield from ({**record, key: junk} for junk in JUNK)
    yield {**record, "more": 1}
    for key in fault:
        yield {**record, "faults": [{name: value for name, value in fault.items() if name != key}]}
        yield from ({**record, "faults": [{**fault, key: junk}]} for junk in JUNK)
    yield {**record, "faults": [{**fault, "more": 1}]}
    yield {**record, "faults": [fault]}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_what_the_schema_refuses_is_refused_and_the_field_is_named(record):
    refused = passed = 0
    for changed in mutations(record):
        found = decode_strictly(line_of(changed))
        if VALIDATORS["record"].is_valid(changed):
            passed += isinstance(found, GameRecord)
        else:
            refused += 1
            assert not isinstance(found, GameRecord), changed
            assert found.expected
            assert found.got
    assert refused > 150
    assert passed > 5


@pytest.mark.parametrize(
    ("line", "field", "expected"),
    [
        (b"\n", "line", "a record by the schema (Input data was truncated)"),
        (b"\xff\n", "line", "a record by the schema (JSON is malformed"),
        (line_of({**RECORDS[0], "deal": "3"}), "deal", "`int`"),
        (line_of({**RECORDS[0], "left": [3]}), "left", "`array` of length >= 2"),
        (line_of({**RECORDS[0], "left": [3, 4, 5]}), "left", "2 values"),
        (
            line_of({**RECORDS[0], "end": "bored"}),
            "end",
            "a record by the schema (Invalid enum value 'bored')",
        ),
        (line_of({**RECORDS[0], "slowest_ms": [1e9, 0]}), "slowest_ms", "at most "),
        (
            line_of(
                {**RECORDS[0], "faults": [{"seat": 2, "turn": 0, "kind": "late", "detail": "x"}]}
            ),
            "faults",
            "a seat below 2",
        ),
        (
            line_of(
                {
                    **RECORDS[0],
                    "faults": [{"seat": 1, "turn": 0, "kind": "late", "detail": "x"}] * 2,
                }
            ),
            "faults",
            "at most one fault per seat",
        ),
    ],
)
def test_complaints_name_the_field_and_what_was_expected(line, field, expected):
    found = decode_strictly(line)
    assert found.field == field
    assert found.expected.startswith(expected)
