"""Leaders and latest ratings as the files of runs tell them."""

import os
import resource
from math import isnan

import pytest

from arena.commands.runs import latest_ratings, leader_of, ratings_in
from arena.exports.written import write_standings
from arena.ratings.tables import run_tables
from arena.records.runfile import read_run
from arena.tournament.run import Run
from tests.exports.runs import duels, write_run

GAMES = 6 * 6


@pytest.fixture
def run(tmp_path):
    folder = write_run(tmp_path / "one", "abcd", duels("abcd", 3), deals=3)
    write_standings(Run(folder), run_tables(folder, read_run(folder)))
    return folder


def test_the_leader_of_a_run_is_that_of_its_table(run):
    table = run_tables(run, read_run(run)).standings
    leader = leader_of(Run(run), GAMES, GAMES)
    assert (leader.bot, leader.rank) == (table["bot"][0], 1)
    assert leader.games == 18
    assert leader.text == f"? {leader.elo:.0f} +/- {(leader.elo_high - leader.elo_low) / 2:.0f}"


def test_a_comparison_may_have_played_more_games_than_its_table_counts(run):
    assert leader_of(Run(run), GAMES + 5, GAMES) is not None


def test_a_rating_that_is_open_does_not_replace_one_that_is_settled(tmp_path):
    head = "rank,bot,elo,elo_low,elo_high,games,forfeits,mark\n"
    rows = {
        "one": "1,a,50,20,80,10,0,\n",
        "two": "1,a,34,34,,2,0,>\n",
        "three": "1,a,0,0,0,2,0,?\n",
    }
    runs = [write_run(tmp_path / name, "ab", []) for name in rows]
    for run, row in zip(runs, rows.values(), strict=True):
        (run / "standings.csv").write_text(head + row)
    assert latest_ratings(runs)["a", "ab" * 32].run == "one"
    assert latest_ratings(runs[1:])["a", "ab" * 32].run == "three"


def test_a_table_of_fewer_games_names_no_leader(run):
    assert leader_of(Run(run), GAMES + 1, GAMES + 1) is None


def test_matches_count_with_all_their_rounds(tmp_path):
    records = [*duels("ab", 2), *duels("ab", 2, "lion")]
    both = ("bird", "lion")
    folder = write_run(tmp_path / "two", "ab", records, deals=2, boards=both, match=both)
    write_standings(Run(folder), run_tables(folder, read_run(folder)))
    assert leader_of(Run(folder), 8, 8) is not None


HEAD = b"rank,bot,elo,elo_low,elo_high,games,forfeits,mark\n"


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"rank,bot\n1,a\n",
        b"\xff\xfe",
        b"rank,bot,elo\nx,a,1\n",
        HEAD + b"1,a\n",
        HEAD + b"x,a,1,1,1,1,0,\n",
        HEAD + b"1," + b"a" * 200_000 + b",1,1,1,1,0,\n",
    ],
)
def test_a_table_of_another_kind_says_nothing(run, text):
    (run / "standings.csv").write_bytes(text)
    assert ratings_in(run) == []
    assert leader_of(Run(run), GAMES, GAMES) is None


def test_a_table_that_is_a_link_is_not_followed(run, tmp_path):
    (run / "standings.csv").rename(tmp_path / "elsewhere.csv")
    (run / "standings.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert ratings_in(run) == []


def test_an_error_of_the_machine_is_not_taken_for_a_run_without_tables(run):
    _, hard = limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    probe = os.open(os.devnull, os.O_RDONLY)
    resource.setrlimit(resource.RLIMIT_NOFILE, (probe, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            ratings_in(run)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        os.close(probe)


def test_a_bound_has_one_end_and_no_error(tmp_path):
    head = "rank,bot,elo,elo_low,elo_high,games,forfeits,mark\n"
    folder = write_run(tmp_path / "bound", "ab", [])
    (folder / "standings.csv").write_text(f"{head}1,'=a,-1285.4,,-1285.4,10,0,<\n2,b,,,,0,0,~\n")
    bound, unknown = ratings_in(folder)
    assert (bound.bot, bound.text, isnan(bound.elo_low)) == ("=a", "< -1285", True)
    assert bound.object()["elo_low"] is None
    assert unknown.text == "-"


def test_the_latest_rating_is_that_of_the_newest_run_with_the_same_files(run, tmp_path):
    other = write_run(tmp_path / "other", "ab", duels("ab", 2), deals=2)
    write_standings(Run(other), run_tables(other, read_run(other)))
    found = latest_ratings([run, other])
    same = "ab" * 32
    assert {bot: found[bot, same].run for bot in "abcd"} == {
        "a": "other", "b": "other", "c": "one", "d": "one",
    }  # fmt: skip
    assert ("a", "0" * 64) not in found
