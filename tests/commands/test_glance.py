"""What a run tells at a glance."""

import gzip
import os

import pytest

from arena.commands.runs import NOTHING, count_games, glance, is_quiet
from arena.tournament.run import Run
from tests.exports.runs import duels, write_run

GAMES = duels("abc", 2)


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "run", "abc", GAMES[:8], deals=2)


def test_games_are_counted_on_from_where_the_last_count_ended(run):
    counted = count_games(run)
    assert counted[:2] == ((run / "games.jsonl").stat().st_size, 8)
    with (run / "games.jsonl").open("ab") as file:
        file.write(b"{}\n{}\n{torn")
    assert count_games(run, counted).games == 10
    (run / "games.jsonl").write_bytes(b"{}\n")
    assert count_games(run, counted)[:2] == (3, 1)
    (run / "games.jsonl").unlink()
    assert count_games(run, counted) == NOTHING


def test_a_run_is_playing_stopped_or_finished(run):
    assert glance(Run(run), count_games(run))[1:] == ("playing", 8, 12, None)
    os.utime(run / "games.jsonl", (1, 1))
    assert is_quiet(run)
    assert glance(Run(run), count_games(run)).state == "stopped"
    write_run(run.with_name("whole"), "abc", GAMES, deals=2)
    assert (
        glance(Run(run.with_name("whole")), count_games(run.with_name("whole"))).state == "finished"
    )


def test_a_compressed_run_is_finished(run):
    (run / "games.jsonl.gz").write_bytes(gzip.compress((run / "games.jsonl").read_bytes()))
    (run / "games.jsonl").unlink()
    told = glance(Run(run), count_games(run))
    assert (told.state, told.games) == ("finished", 12)
