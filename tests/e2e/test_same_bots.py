"""Bots that are one player under two names: in comparisons, in runs, and in the seeds they get."""

import json

import pytest

from tests.support.commandline import FIRST, RANDOM
from tests.support.wording import lines_with, messages

FEW = ("--seed", "twins", "--max-blocks", 6)


@pytest.fixture
def twins(arena):
    """A home with two bots of different names and files that play the same moves."""
    arena.add_bot("one", RANDOM)
    arena.add_bot("two", f"{RANDOM}# a comment\n")
    return arena


def test_two_names_of_one_player_are_called_that_and_get_no_figures(twins):
    out, _ = twins("compare", "one", "two", *FEW, "--out", "twins", status=5)
    first, second = out.splitlines()
    assert first == "one against two: every game was the same: these are the same player"
    assert second.startswith("12 games in 6 blocks")
    found = json.loads(
        twins("compare", "one", "two", *FEW, "--out", "twins", "--json", status=5)[0]
    )
    assert found["identical"] is True
    assert [found[key] for key in ("elo", "elo_low", "elo_high", "bound")] == [None] * 3 + [False]


def test_a_pool_shows_the_same_player_too(twins):
    out, _ = twins("compare", "one", "two", *FEW, "--pool", "fst", "--out", "pool", status=5)
    assert "every game was the same" in out


def test_bots_that_differ_are_not_called_the_same(twins):
    out = twins.ended("compare", "one", "fst", *FEW, "--out", "other")[1]
    assert "same" not in out


def test_the_games_of_a_comparison_do_not_depend_on_the_names_of_the_bots(twins):
    """The names sort in another order, so seats or seeds that follow from names would differ."""
    twins.add_bot("aaa", FIRST)
    twins.add_bot("zzz", RANDOM)
    played = []
    for new, old, pool, run in (
        ("one", "fst", "aaa", "first"),
        ("zzz", "aaa", "fst", "second"),
        ("one", "fst", "", "third"),
        ("zzz", "aaa", "", "fourth"),
    ):
        opponents = ("--pool", pool) if pool else ()
        twins.ended("compare", new, old, *opponents, *FEW, "--elo1", 1, "--out", run)
        roles = {new: "new", old: "old", pool: "pool"}
        played.append(
            sorted(
                (game["deal"], game["seating"], [roles[bot] for bot in game["bots"]], game["moves"])
                for game in twins.records(run)
            )
        )
    assert played[0] == played[1]
    assert played[2] == played[3]


def test_a_comparison_of_an_older_version_keeps_the_seeds_that_follow_from_names(twins, snapshot):
    command = ("compare", "one", "fst", "--seed", "old", "--elo1", 1, "--out", "old")
    twins.ended(*command, "--max-blocks", 2)
    path = twins.home / "results" / "old" / "run.json"
    info = json.loads(path.read_text())
    assert info["config"]["compare"].pop("luck") == "roles"
    path.write_text(json.dumps(info))
    _, err = twins(*command, "--max-blocks", 3, status=5)
    assert lines_with(err, "4 games") == snapshot
    assert json.loads(path.read_text())["config"]["compare"]["luck"] == "names"


def test_a_run_refuses_one_bot_under_two_names_and_notes_copies(twins, snapshot):
    twins.add_bot("copy", RANDOM)
    _, err = twins("run", "one", "one@1", status=1)
    assert messages(err) == snapshot
    out, _ = twins("run", "one", "two", "--deals", 1, "--out", "pair")
    assert "same program" not in out


def test_a_bound_in_json_has_no_figure_but_one_end(arena):
    out, _ = arena("run", "--in-process", "careful", "random", "--deals", 8, "--seed", 1, "--json")
    found = json.loads(out, parse_constant=pytest.fail)
    best, worst = found["standings"]
    assert (best["elo"], best["elo_high"], best["bound"]) == (None, None, True)
    assert best["elo_low"] > 0
    assert (worst["elo"], worst["elo_low"], worst["bound"]) == (None, None, True)
    assert worst["elo_high"] < 0
