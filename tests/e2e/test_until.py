"""Runs that find out while they play how much is played: reproducible for any number of workers,
and after kill -9.
"""

import json
import random
import shutil
import sys

import pytest

from tests.support.commandline import FIRST, RANDOM, SMALL, Arena
from tests.support.kills import kill_while_playing
from tests.support.wording import messages

RUN = ("run", "--board", "small.txt", "--until", 65, "--deals", 60, "--seed", "look")
"""A run that has its answer at the second look, after 120 games."""


@pytest.fixture
def three(arena):
    """An arena with a third bot."""
    arena.add_bot("rn2", RANDOM)
    (arena.home / "small.txt").write_text(SMALL)
    return arena


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """An arena in which the run was played undisturbed by one worker, with what it said."""
    arena = Arena(tmp_path_factory.mktemp("quiet") / "home")
    for name, source in (("rnd", RANDOM), ("fst", FIRST), ("rn2", RANDOM)):
        arena.add_bot(name, source)
    (arena.home / "small.txt").write_text(SMALL)
    _, arena.said = arena(*RUN, "--jobs", 1, "--out", "one")
    return arena


@pytest.fixture
def played(three, quiet):
    """The arena of a test with that run in it, as if it had been played there."""
    shutil.copytree(quiet.home / "results", three.home / "results")
    three.own, three.said = quiet.own, quiet.said
    return three


def plan_of(arena, run):
    config = json.loads((arena.home / "results" / run / "run.json").read_text())["config"]
    return config["allotted"], config["settled"]


def test_a_run_ends_when_every_interval_is_narrow(played, snapshot):
    three, err = played, played.said
    assert "about " in err
    assert " games to go" in err
    assert err.split("games: ")[-1].split("; ")[1].startswith("done")
    shown = json.loads(three("standings", "one", "--json")[0])
    assert max(row["elo_high"] - row["elo_low"] for row in shown["standings"]) <= 130
    assert shown["plan"]["missing"] == 0
    allotted, settled = plan_of(three, "one")
    assert settled == allotted
    assert len(three.records("one")) == 2 * 3 * allotted
    before = three.records("one")
    three(*RUN, "--out", "one")
    assert three.records("one") == before
    three(*RUN, "--until", 48, "--out", "one")
    assert three.records("one")[: len(before)] == before
    assert len(three.records("one")) > len(before)
    _, err = three(*RUN, "--out", "one", status=1)
    assert messages(err) == snapshot


def test_the_number_of_workers_changes_nothing(three, quiet):
    three(*RUN, "--jobs", 3, "--out", "jobs-3")
    assert three.timeless("jobs-3") == quiet.timeless("one")
    assert plan_of(three, "jobs-3") == plan_of(quiet, "one")


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_killing_the_arena_changes_nothing(three, quiet):
    rng = random.Random(6)
    for _ in range(4):
        games, pause_s = rng.randint(5, 40), rng.random() * 0.1
        kill_while_playing(three, games, pause_s, *RUN, "--jobs", 2, "--out", "killed")
    three(*RUN, "--jobs", 2, "--out", "killed")
    assert three.timeless("killed") == quiet.timeless("one")
    assert plan_of(three, "killed") == plan_of(quiet, "one")


def test_a_run_that_died_just_before_or_after_a_decision_goes_on_alike(played):
    three = played
    games, plan = three.timeless("one"), plan_of(three, "one")
    folder = three.home / "results" / "one"
    lines = (folder / "games.jsonl").read_bytes().splitlines(keepends=True)
    info = json.loads((folder / "run.json").read_text())
    (folder / "games.jsonl").write_bytes(
        b"".join(line for line in lines if json.loads(line)["deal"] < 10)
    )
    (folder / "run.json").write_text(
        json.dumps({**info, "config": {**info["config"], "allotted": 10, "settled": None}})
    )
    _, err = three(*RUN, "--out", "one")
    assert "60 games already played" in err
    assert (three.timeless("one"), plan_of(three, "one")) == (games, plan)


def test_deals_that_run_out_are_said_and_an_unfinished_run_is_found_again(three):
    _, err = three("run", "--until", 1, "--deals", 2, "--seed", "s")
    assert "no deals are left: use more --deals to continue" in err
    [run] = (three.home / "results").iterdir()
    info = json.loads((run / "run.json").read_text())
    info["config"]["settled"] = None
    (run / "run.json").write_text(json.dumps(info))
    journal = run / "games.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    three("run", "--until", 1, "--deals", 2, "--seed", "s")
    assert len(list((three.home / "results").iterdir())) == 1
    assert len(three.records(run.name)) == 12
