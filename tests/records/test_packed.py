"""Journals that were compressed to be kept: read like any other, and never cut short in silence."""

import gzip

import pytest

from arena.errors import RunError
from arena.exports.report.material import gather
from arena.records.journal import Journal, find_record, journal_of, read_records
from arena.records.record import encode_record
from arena.tournament.run import Run
from tests.exports.runs import duels, write_run

RECORDS = duels("abc", 20)
LINES = b"".join(encode_record(record) + b"\n" for record in RECORDS)


@pytest.fixture
def run(tmp_path):
    """A run with a compressed journal."""
    run = write_run(tmp_path / "run", "abc", RECORDS)
    (run / "games.jsonl").unlink()
    (run / "games.jsonl.gz").write_bytes(gzip.compress(LINES))
    return run


def test_records_are_read_and_found(run):
    assert list(read_records(run)) == RECORDS
    assert find_record(run, RECORDS[30].id) == RECORDS[30]
    half = len(b"".join(LINES.splitlines(keepends=True)[:20]))
    # as 'cat' joins two
    journal_of(run).write_bytes(gzip.compress(LINES[:half]) + gzip.compress(LINES[half:]))
    assert list(read_records(run)) == RECORDS


def test_records_of_a_scan_are_those_asked_for_whatever_their_order(run):
    found = gather(Run(run)).scan.records([40, 3, 41, 3])
    assert found == {game: RECORDS[game] for game in (3, 40, 41)}


def test_what_is_cut_off_or_spoilt_is_an_error(run, refused):
    journal = journal_of(run)
    data = journal.read_bytes()
    for spoilt in (data[: len(data) // 2], data[:-1], b"plain text\n"):
        journal.write_bytes(spoilt)
        with refused(RunError):
            list(read_records(run))


def test_nothing_is_appended(run, refused):
    with refused(RunError):
        Journal(run)
