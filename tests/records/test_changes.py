"""changes.jsonl: written by the arena, changed by hand."""

import json

import pytest

from arena.errors import RunError
from arena.records.changes import FILE, Changes, append_changes, read_changes

CHANGES = Changes(
    v=1,
    bot="my@2",
    before="my@1",
    when="2026-11-22T12:00:00Z",
    games=8,
    asked=[60, 70, 70],
    other=[10, 70, 0],
    faults=0,
    again=(200, 3),
    moves=200,
    deeds={"found": (20, 30)},
    pagodas=(250, -3),
    examples=[],
)


def test_what_is_written_is_read(tmp_path):
    append_changes(tmp_path, CHANGES)
    assert read_changes(tmp_path) == {"my@2": CHANGES}


@pytest.mark.parametrize(
    "change",
    [
        {"other": [61, 0, 0]},
        {"asked": [10**400, 70, 70]},
        {"again": [200, 201]},
        {"deeds": {"found": [20, 201]}},
        {"pagodas": [10**7, 0]},
    ],
    ids=str,
)
def test_numbers_that_cannot_be_are_refused(tmp_path, change):
    append_changes(tmp_path, CHANGES)
    (line,) = (tmp_path / FILE).read_text().splitlines()
    (tmp_path / FILE).write_text(json.dumps({**json.loads(line), **change}) + "\n")
    with pytest.raises(RunError, match="line 1"):
        read_changes(tmp_path)
