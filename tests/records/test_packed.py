"""Journals that were compressed to be kept: read like any other, and never cut short in silence."""

import gzip
import sys

import pytest

from arena.errors import RunError
from arena.exports.report.scan import scan_journal
from arena.ratings.matches import Score
from arena.records.find import find_record, read_records
from arena.records.journal import Journal, journal_of
from arena.records.record import encode_record
from tests.exports.runs import duels, write_run

RECORDS = duels("abc", 20)
LINES = b"".join(encode_record(record) + b"\n" for record in RECORDS)


def zstd():
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    return pytest.importorskip(name)


@pytest.fixture(params=[".gz", ".zst"])
def packed(request, tmp_path):
    """A run with a compressed journal, and what compresses bytes so."""
    pack = gzip.compress if request.param == ".gz" else zstd().compress
    run = write_run(tmp_path / "run", "abc", RECORDS)
    (run / "games.jsonl").unlink()
    (run / f"games.jsonl{request.param}").write_bytes(pack(LINES))
    return run, pack


def test_records_are_read_and_found(packed):
    run, pack = packed
    assert list(read_records(run)) == RECORDS
    assert find_record(run, RECORDS[30].id) == RECORDS[30]
    half = len(b"".join(LINES.splitlines(keepends=True)[:20]))
    journal_of(run).write_bytes(pack(LINES[:half]) + pack(LINES[half:]))  # as 'cat' joins two
    assert list(read_records(run)) == RECORDS


def test_records_of_a_scan_are_those_asked_for_whatever_their_order(packed):
    run, _ = packed
    found = scan_journal(run, Score([])).records([40, 3, 41, 3])
    assert found == {game: RECORDS[game] for game in (3, 40, 41)}


def test_what_is_cut_off_or_spoilt_is_an_error(packed):
    run, _ = packed
    journal = journal_of(run)
    data = journal.read_bytes()
    for spoilt in (data[: len(data) // 2], data[:-1], b"plain text\n"):
        journal.write_bytes(spoilt)
        with pytest.raises(
            RunError, match=r"to be whole and compressed by (gzip|zstd), got"
        ) as caught:
            list(read_records(run))
        assert caught.value.hint == "restore the file"


def test_nothing_is_appended(packed):
    run, _ = packed
    with pytest.raises(RunError, match=r"got the compressed games.jsonl.(gz|zst)") as caught:
        Journal(run)
    command = "gunzip" if journal_of(run).suffix == ".gz" else "unzstd --rm"
    assert caught.value.hint == f"unpack it first: {command} {journal_of(run)}"


def test_without_a_module_that_reads_zstd_the_cure_is_named(tmp_path, monkeypatch):
    (tmp_path / "games.jsonl.zst").write_bytes(b"")
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        RunError, match="expected a module that reads zstd for .*, found neither"
    ) as caught:
        list(read_records(tmp_path))
    assert (
        caught.value.hint == "pip install 'qin-arena[zstd]', or unpack it: unzstd --rm"
        f" {tmp_path / 'games.jsonl.zst'}"
    )
