"""The files that keep what bots printed, and what a stranger may have put in their place."""

import gzip
import os

import msgspec
import pytest

from arena.errors import RunError
from arena.records import evidence
from arena.records.evidence import GameStderr, KeptStderr, StderrPart, pack, read_stderr


def game(name, *texts):
    parts = [StderrPart(0, text, turn=2 * turn) for turn, text in enumerate(texts)]
    return GameStderr(name, ["a", "b"], parts)


def write(run, *games):
    kept = KeptStderr(run)
    kept.append(map(pack, games))
    assert kept.ended == ""
    return kept


def test_games_are_found_again_over_sessions_and_zcat_reads_all(tmp_path):
    kept = write(tmp_path, game("g/1", "one\n"), game("g/2", "two\n"))
    kept.append([pack(game("g/3")), pack(game("g/4", "é\x00" * 50, "x"))])
    write(tmp_path, game("g/5", "five"))
    found = read_stderr(tmp_path, ["g/2", "g/3", "g/4", "g/5", "g/6"])
    assert {name: [part.text for part in one.parts] for name, one in found.items()} == {
        "g/2": ["two\n"],
        "g/4": ["é\x00" * 50, "x"],
        "g/5": ["five"],
    }
    files = sorted(os.listdir(tmp_path / "stderr"))
    assert files == ["1.jsonl.gz", "2.jsonl.gz"]
    lines = gzip.decompress((tmp_path / "stderr" / files[0]).read_bytes()).splitlines()
    assert [msgspec.json.decode(line)["id"] for line in lines] == ["g/1", "g/2", "g/4"]


def test_of_a_game_played_again_the_last_counts(tmp_path):
    write(tmp_path, game("g", "lost"), game("h", "h"), game("g", "new"))
    write(tmp_path, game("h", "newer"))
    found = read_stderr(tmp_path, ["g", "h"])
    assert [found[name].parts[0].text for name in "gh"] == ["new", "newer"]


@pytest.mark.parametrize("left", [1, 19, 30])
def test_what_a_kill_leaves_torn_costs_one_game_and_no_later_one(tmp_path, left):
    write(tmp_path, game("g/1", "one"))
    file = tmp_path / "stderr/1.jsonl.gz"
    with file.open("ab") as more:
        more.write(pack(game("g/2", "two"))[:left])
    write(tmp_path, game("g/3", "three"))
    assert set(read_stderr(tmp_path, ["g/1", "g/2", "g/3"])) == {"g/1", "g/3"}


def test_a_run_has_a_budget_over_all_its_sessions(tmp_path, monkeypatch):
    write(tmp_path, game("g/1", "one"))
    monkeypatch.setattr(evidence, "RUN_BYTES", len(pack(game("g/1", "one"))) + 10)
    kept = KeptStderr(tmp_path)
    kept.append([pack(game("g/2", "two"))])
    assert "has reached" in kept.ended
    assert set(read_stderr(tmp_path, ["g/1", "g/2"])) == {"g/1"}


def test_a_disk_that_is_almost_full_is_left_to_the_journal(tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "LEAST_FREE", 1 << 60)
    kept = KeptStderr(tmp_path)
    kept.append([pack(game("g", "one"))])
    assert "are free on its disk" in kept.ended


@pytest.mark.parametrize("place", ["stderr", "stderr/1.jsonl.gz"])
def test_nothing_is_written_through_a_link_and_no_game_fails_for_it(tmp_path, place):
    run, other = tmp_path / "run", tmp_path / "other"
    (run / place).parent.mkdir(parents=True)
    other.mkdir()
    (run / place).symlink_to(other if place == "stderr" else other / "file")
    kept = KeptStderr(run)
    kept.append([pack(game("g", "one"))])
    assert not list(other.iterdir())
    if place == "stderr":
        assert "got a link" in kept.ended
    with pytest.raises(RunError, match="got a link"):
        read_stderr(run, ["g"])


@pytest.mark.parametrize(
    "data",
    [
        b'{"id":"g","bots":[],"parts":[{"seat":0,"text":"' + b"x" * (8 << 20) + b'"}]}',
        b"[" * 100_000,
        b'{"id":"other","bots":[],"parts":[]}',
        b'{"id":"g","bots":[],"parts":[{"seat":9,"text":""}]}',
        b'{"id":"g","bots":[],"parts":[{"seat":0,"text":"","turn":-1}]}',
        b"\xff",
    ],
    ids=["bomb", "deep", "other name", "seat", "turn", "bytes"],
)
def test_bombs_and_lies_of_a_stranger_are_left_out(tmp_path, data):
    (tmp_path / "stderr").mkdir()
    (tmp_path / "stderr/7.jsonl.gz").write_bytes(gzip.compress(data) + b"\n")
    (tmp_path / "stderr/x.jsonl.gz").mkdir()
    assert read_stderr(tmp_path, ["g", "h"]) == {}
    write(tmp_path, game("g", "one"))
    assert (tmp_path / "stderr/8.jsonl.gz").exists()
    assert set(read_stderr(tmp_path, ["g"])) == {"g"}


def test_a_game_of_more_parts_than_there_can_be_is_left_out(tmp_path):
    parts = [StderrPart(1, "", turn=1, cut=number) for number in range(evidence.MOST_PARTS + 1)]
    write(tmp_path, GameStderr("g/1", ["a", "b"], parts), GameStderr("g/2", ["a"], parts[1:]))
    assert set(read_stderr(tmp_path, ["g/1", "g/2"])) == {"g/2"}


def test_what_a_strangers_files_hold_is_looked_through_for_a_limited_time(tmp_path, monkeypatch):
    write(tmp_path, game("g/1", "one"))
    monkeypatch.setattr(evidence, "MOST_UNPACKED", 10)
    write(tmp_path, game("g/2", "two"))
    assert set(read_stderr(tmp_path, ["g/1", "g/2"])) == {"g/1"}


def test_no_file_is_written_that_would_not_be_read(tmp_path):
    write(tmp_path, game("g/1", "one"))
    (tmp_path / "stderr/1.jsonl.gz").rename(tmp_path / "stderr/999999.jsonl.gz")
    kept = KeptStderr(tmp_path)
    kept.append([pack(game("g/2", "two"))])
    assert "999999" in kept.ended
    assert os.listdir(tmp_path / "stderr") == ["999999.jsonl.gz"]
