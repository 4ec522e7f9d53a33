"""A run whose journal was compressed to be kept: everything reads it, and nothing adds to it."""

import gzip
import json
import subprocess

import pytest

from tests.support.wording import messages


def pack(arena):
    subprocess.run(["gzip", arena.home / "results" / "r" / "games.jsonl"], check=True)


@pytest.fixture
def packed(arena):
    """A run of four games, compressed."""
    arena("run", "--deals", 2, "--seed", 1, "--out", "r")
    pack(arena)
    return arena


def test_every_command_says_the_same_of_a_compressed_run(arena):
    arena("run", "--deals", 2, "--seed", 1, "--out", "r")
    game = arena.records("r")[0]["id"]
    commands = [
        ("standings", "r"),
        ("replay", "r", game),
        ("export", "r", "--to", "before"),
        ("verify", "r"),
        ("analyse", "r", "--json"),
    ]
    before = [arena(*command)[0] for command in commands]
    pack(arena)
    assert [arena(*command)[0] for command in commands] == before
    assert json.loads(arena("runs", "--json")[0])[0]["games"] == 4
    arena("report", "r")
    assert "bird/fst+rnd/0/0" in (arena.home / "results" / "r" / "report.html").read_text()


def test_nothing_is_added_to_a_compressed_run(packed, snapshot):
    arena = packed
    _, err = arena("run", "--deals", 3, "--seed", 1, "--out", "r", status=1)
    assert messages(err) == snapshot
    assert not (arena.home / "results" / "r" / "games.jsonl").exists()


@pytest.mark.parametrize(
    "spoil",
    [lambda data: data[:-30], lambda data: data[:-8] + b"\xff" * 8, lambda _: b"plain text\n"],
)
def test_a_damaged_file_is_named_with_the_cure(packed, spoil, snapshot):
    arena = packed
    journal = arena.home / "results" / "r" / "games.jsonl.gz"
    journal.write_bytes(spoil(journal.read_bytes()))
    _, err = arena("standings", "r", status=1)
    assert messages(err) == snapshot


def test_an_edited_record_is_found_by_its_line(packed):
    arena = packed
    journal = arena.home / "results" / "r" / "games.jsonl.gz"
    lines = gzip.decompress(journal.read_bytes()).splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"turns":', b'"turns":1')
    journal.write_bytes(gzip.compress(b"".join(lines)))
    assert "games.jsonl.gz, line 2, turns: expected" in arena("verify", "r", status=1)[0]
