"""The journal: what is written stays, what is torn is cut, what is damaged is named, and one arena
writes.
"""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import RunError
from arena.match.referee import Referee
from arena.players.player import InProcessPlayer, random_move
from arena.records.journal import Journal, find_record, read_ids, read_records
from arena.records.record import decode_record, encode_record, margins, shares
from arena.records.regular import BLOCK, FullError, durable_file, write_durably
from arena.records.timing import Timing
from arena.rules.boards import built_in
from arena.tournament.schedule import single_game
from tests.exports.runs import game_of


def make_records(count):
    records = []
    for deal in range(count):
        plan = single_game("journal", "bird", deal, ["a", "b"])
        players = [InProcessPlayer("a", random_move), InProcessPlayer("b", random_move)]
        records.append(Referee(plan, built_in("bird"), players, Timing()).play(host="here").record)
    return records


RECORDS = make_records(4)
LINES = b"".join(encode_record(record) + b"\n" for record in RECORDS)


def test_a_record_goes_through_a_line_unchanged():
    for record in RECORDS:
        assert decode_record(encode_record(record)) == record
        assert list(msgspec.json.decode(encode_record(record)))[:4] == ["v", "id", "board", "deal"]


def test_lines_stay_under_one_and_a_half_kilobytes():
    assert max(len(encode_record(record)) for record in RECORDS) < 1500


def test_shares_of_a_win():
    assert shares([1, 2]) == [1, 0]
    assert shares([1, 1, 3]) == [0.5, 0.5, 0]
    assert shares([2, 1, 1, 1]) == [0, 1 / 3, 1 / 3, 1 / 3]


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [([2, 1, 3], [-4, 0, -8]), ([1, 3, 1], [-1, -8, -1]), ([1, 1, 1, 4], [-2, -2, -2, -12])],
)
def test_margins_of_three_and_four_players_follow_from_the_ranks_and_who_shares_them(
    ranks, expected
):
    game = game_of("abcd"[: len(ranks)])
    assert margins(msgspec.structs.replace(game, ranks=ranks)) == expected


def holds(ids, records):
    """Whether these are the ids, and no others."""
    return len(ids) == len(records) and all(record.id in ids for record in records)


def test_records_are_appended_and_found_again(tmp_path):
    with Journal(tmp_path) as journal:
        journal.append(RECORDS[:2])
        journal.append(RECORDS[2:])
        assert holds(journal.ids, RECORDS)
    assert (tmp_path / "games.jsonl").read_bytes() == LINES
    with Journal(tmp_path) as journal:
        assert holds(journal.ids, RECORDS)
        assert journal.repaired == 0
    assert list(read_records(tmp_path)) == RECORDS
    assert find_record(tmp_path, RECORDS[2].id) == RECORDS[2]


def cuts():
    """At, before and after each border of records, and at every 97th byte."""
    borders = [at + 1 for at, byte in enumerate(LINES) if byte == ord("\n")]
    beside = {at + step for at in (0, *borders) for step in (-1, 0, 1)}
    return sorted({*range(0, len(LINES), 97), *beside} & {*range(len(LINES) + 1)})


def test_a_journal_cut_anywhere_loses_only_the_torn_record(tmp_path, monkeypatch):
    """Its whole records are kept, its torn one is set aside, and the journal can be completed."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(os, "fdatasync", lambda _: None)
    for length in cuts():
        (tmp_path / "games.jsonl").write_bytes(LINES[:length])
        whole = LINES[:length].count(b"\n")
        torn = length - (LINES[:length].rfind(b"\n") + 1)
        assert list(read_ids(tmp_path / "games.jsonl")) == [record.id for record in RECORDS[:whole]]
        with Journal(tmp_path) as journal:
            assert holds(journal.ids, RECORDS[:whole])
            assert journal.repaired == torn
            journal.append(RECORDS[whole:])
        assert (tmp_path / "games.jsonl").read_bytes() == LINES
        if torn:
            assert (tmp_path / "games.torn").read_bytes() == LINES[length - torn : length]
            (tmp_path / "games.torn").unlink()


@given(st.integers(0, len(LINES) - 1), st.integers(0, 255))
def test_one_changed_byte_is_named_or_is_read_and_nothing_else_is_lost(tmp_path_factory, at, byte):
    """Damage in a journal is never cut away silently: the other records stay, byte by byte."""
    folder = tmp_path_factory.mktemp("byte")
    damaged = LINES[:at] + bytes([byte]) + LINES[at + 1 :]
    (folder / "games.jsonl").write_bytes(damaged)
    try:
        with Journal(folder) as journal:
            kept = damaged[: len(damaged) - journal.repaired]
    except RunError as error:
        # It may also be no error at all.
        assert "expected a record, got" in str(error)  # noqa: PT017
        kept = damaged
    assert (folder / "games.jsonl").read_bytes() == kept
    assert LINES.startswith(kept[:at])
    assert len(damaged) - len(kept) <= len(LINES) - (LINES.rfind(b"\n", 0, -1) + 1), (
        "only a last record may be cut off"
    )
    shutil.rmtree(folder)


def test_a_tail_of_zeros_left_by_a_crashed_machine_is_cut(tmp_path):
    (tmp_path / "games.jsonl").write_bytes(LINES + b"\0" * 5000)
    with Journal(tmp_path) as journal:
        assert journal.repaired == 5000
    assert (tmp_path / "games.jsonl").read_bytes() == LINES


@pytest.mark.parametrize("torn", [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_a_torn_tail_longer_than_one_read_costs_no_whole_record(tmp_path, torn):
    (tmp_path / "games.jsonl").write_bytes(LINES + b"x" * torn)
    with Journal(tmp_path) as journal:
        assert holds(journal.ids, RECORDS)
        assert journal.repaired == torn
    assert (tmp_path / "games.jsonl").read_bytes() == LINES
    assert (tmp_path / "games.torn").read_bytes() == b"x" * torn


def test_append_flushes_all_its_records_to_the_disk_at_once_before_they_count(
    tmp_path, monkeypatch
):
    """What a disk would hold after a power cut cannot be read, so each flush is recorded."""
    flushed = []
    flush = os.fdatasync
    with Journal(tmp_path) as journal:

        def record_and_flush(descriptor):
            flushed.append((journal.path.read_bytes(), len(journal.ids)))
            flush(descriptor)

        monkeypatch.setattr(os, "fdatasync", record_and_flush)
        journal.append(RECORDS[:3])
        journal.append(RECORDS[3:])
    first = LINES[: LINES.rfind(b"\n", 0, -1) + 1]
    assert flushed == [(first, 0), (LINES, 3)]


def test_records_that_could_not_be_flushed_do_not_count_and_are_taken_back(
    tmp_path, monkeypatch, refused
):
    def fail(_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with Journal(tmp_path) as journal:
        journal.append(RECORDS[:2])
        before = journal.path.read_bytes()
        with monkeypatch.context() as broken:
            broken.setattr(os, "fdatasync", fail)
            with refused(FullError):
                journal.append(RECORDS[2:])
        assert holds(journal.ids, RECORDS[:2])
        assert journal.path.read_bytes() == before
        journal.append(RECORDS[2:])
    assert (tmp_path / "games.jsonl").read_bytes() == LINES


def test_a_damaged_line_is_named_and_nothing_is_changed(tmp_path, refused):
    damaged = LINES.replace(b'{"v":1', b'{"v":1,,', 1)
    (tmp_path / "games.jsonl").write_bytes(damaged)
    with refused(RunError):
        Journal(tmp_path)
    assert (tmp_path / "games.jsonl").read_bytes() == damaged
    with refused(RunError):
        list(read_records(tmp_path))


def test_the_first_record_of_an_id_counts(tmp_path):
    (tmp_path / "games.jsonl").write_bytes(
        LINES + encode_record(RECORDS[0]).replace(b'"here"', b'"there"') + b"\n"
    )
    assert list(read_records(tmp_path)) == RECORDS


def test_a_reader_leaves_out_a_line_that_is_being_written(tmp_path):
    (tmp_path / "games.jsonl").write_bytes(LINES[:-20])
    assert list(read_ids(tmp_path / "games.jsonl")) == [record.id for record in RECORDS[:3]]


def test_a_missing_journal_is_named(tmp_path, refused):
    with refused(RunError):
        list(read_records(tmp_path))


def test_an_unknown_game_names_similar_ones(tmp_path, refused):
    with Journal(tmp_path) as journal:
        journal.append(RECORDS)
    with refused(RunError) as caught:
        find_record(tmp_path, "bird/a")
    assert "bird/a+b/" in caught.value.hint


OTHER = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from arena.records.journal import Journal
from arena.errors import RunError
try:
    Journal(Path({folder!r}))
except RunError as error:
    print(error)
"""


def test_a_second_arena_is_refused(tmp_path, snapshot):
    code = OTHER.format(root=str(Path(__file__).parents[2]), folder=str(tmp_path))
    with Journal(tmp_path):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout == snapshot
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == ""
    )


FULL = """
import sys, os, resource, signal
sys.path.insert(0, {root!r})
from pathlib import Path
from arena.records.journal import Journal
from arena.records.regular import FullError
from arena.records.record import decode_record
records = [decode_record(line) for line in Path({lines!r}).read_bytes().splitlines()]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Journal(Path({folder!r})) as journal:
    journal.append(records[:2])
    size = os.path.getsize(journal.path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 300, size + 300))
    try:
        journal.append(records[2:])
    except FullError as error:
        print(error, "|", error.hint)
"""


def test_when_nothing_more_can_be_written_what_was_written_is_whole(tmp_path, snapshot):
    (tmp_path / "lines").write_bytes(LINES)
    run = tmp_path / "run"
    run.mkdir()
    code = FULL.format(
        root=str(Path(__file__).parents[2]), folder=str(run), lines=str(tmp_path / "lines")
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == snapshot
    assert (run / "games.jsonl").read_bytes() == b"".join(
        encode_record(record) + b"\n" for record in RECORDS[:2]
    )


def test_a_file_is_replaced_in_one_step(tmp_path, refused):
    path = tmp_path / "file"
    write_durably(path, b"one")
    write_durably(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["file"]
    with refused(RunError):
        write_durably(tmp_path / "no" / "file", b"")


@pytest.fixture
def flushes(monkeypatch):
    """Every call of `os.fsync`: the name of the file or folder, and the bytes or names in it. What
    a disk would hold after a power cut cannot be read.
    """
    found = []
    flush = os.fsync

    def record_and_flush(descriptor):
        place = Path(f"/proc/self/fd/{descriptor}").readlink()
        if place.is_dir():
            content = sorted(path.name for path in place.iterdir())
        else:
            content = place.read_bytes()
        found.append((place.name, content))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", record_and_flush)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the name of an open file")
def test_a_file_is_flushed_before_it_gets_its_name_and_its_folder_afterwards(tmp_path, flushes):
    for data in (b"one", b"two"):
        write_durably(tmp_path / "file", data)
        (temporary, written), folder = flushes
        assert temporary.startswith(f".file.{os.getpid()}-")
        assert (written, folder) == (data, (tmp_path.name, ["file"]))
        flushes.clear()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the name of an open file")
def test_the_name_of_a_new_journal_is_flushed_before_its_first_record(tmp_path, flushes):
    with Journal(tmp_path):
        assert flushes == [(tmp_path.name, ["games.jsonl"])]


def test_what_a_killed_arena_left_of_a_file_goes_with_the_next_write(tmp_path):
    dead = subprocess.Popen(["true"])
    dead.wait()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as cat:
        old, older, own = f"{dead.pid}-1234abcd", f"{dead.pid}", f"{os.getpid()}-1234abcd"
        young, living = "4194305-1234abcd", f"{cat.pid}-1234abcd"
        for number in (old, older, own, young, living):
            left_over = tmp_path / f".run.json.{number}"
            left_over.write_bytes(b"{")
            if number != young:
                os.utime(left_over, (0, 0))
        write_durably(tmp_path / "run.json", b"{}")
        left = sorted(os.listdir(tmp_path))
    assert left == sorted([f".run.json.{young}", f".run.json.{living}", "run.json"])


def test_two_processes_with_one_number_write_a_file_one_after_the_other(tmp_path):
    """Two containers may share a folder, and the arena be process 1 in both."""
    path = tmp_path / "file"
    with durable_file(path) as slow:
        slow.write(b"slow, ")
        slow.flush()
        write_durably(path, b"quick")
        assert path.read_bytes() == b"quick"
        slow.write(b"and whole")
    assert path.read_bytes() == b"slow, and whole"
    assert os.listdir(tmp_path) == ["file"]
