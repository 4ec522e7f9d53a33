"""The results of regression tests: from the games of the test alone."""

from math import nan

import numpy as np
import pytest

from arena.exports.history_text import history_object, history_text
from arena.ratings.history import History, history_table
from arena.ratings.regressions import RegressionResult, regression_tests
from arena.records.league import Drawn, Joined, League, PlaceFound, RegressionBegun
from tests.tournament.placing_games import World

WHEN = "2026-11-22T12:00:00Z"
STRENGTHS = {"b@1": 0.0, "my@1": 0.0, "my@2": 30.0, "my@3": 50.0}


def league_with_test(world, blocks, planned=400, gains=(None, 60.0, 40.0), error=50.0):
    """The games that ``world`` has played, and then ``blocks`` deals of a test of my@3 against
    my@1.
    """
    league = League()
    before = world.deal[-1] + 1 if world.deal else 0
    for bot in STRENGTHS:
        league.add(Joined(bot, "candidate", WHEN))
    for number, gain in enumerate(gains, 1):
        league.add(PlaceFound(f"my@{number}", WHEN, 0.0, 45.0, 200, gain, error if gain else None))
    league.add(RegressionBegun("my@3", "my@1", planned, WHEN))
    if before:
        league.add(Drawn("my@1+my@3", 0, before))
    if blocks:
        league.add(Drawn("my@1+my@3", before, blocks, "my@3"))
    for _ in range(blocks):
        world.play("my@1", "my@3")
    return league


def lucky_world():
    """In the games before the test, my@1 wins far more often than it would."""
    world = World({**STRENGTHS, "my@1": 300.0}, 1)
    for _ in range(100):
        world.play("my@1", "my@3")
    world.elo[world.bots.index("my@1")] = 0.0
    return world


def test_only_the_games_of_the_test_count(snapshot):
    world = lucky_world()
    league = league_with_test(world, 200)
    [test] = regression_tests(world.counts(), league)
    assert (test.bot, test.old, test.games, test.planned) == ("my@3", "my@1", 400, 400)
    assert test.gain == pytest.approx(50, abs=1.3 * test.gain_error)
    assert 25 < test.gain_error < 45
    assert (test.claimed, test.claimed_error) == (100.0, pytest.approx(50 * 2**0.5))
    assert test.sentence == snapshot


def over(gain, gain_error, claimed=100.0, claimed_error=20.0, games=400):
    return RegressionResult("b", "a", games, 400, gain, gain_error, claimed, claimed_error)


@pytest.mark.parametrize(
    ("test", "verdict"),
    [
        (over(40, 30), "better"),
        (over(160, 30), "better"),
        (over(-40, 30), "worse"),
        (over(20, 30), "unclear"),
        (over(447, 895), "unclear"),
        (over(nan, nan), "unclear"),
        (over(40, 30, games=200), ""),
        (over(447, 895, games=200), ""),
    ],
)
def test_a_test_that_is_over_has_a_verdict_in_words(test, verdict, snapshot):
    assert test.verdict == verdict
    assert test.sentence == snapshot


def test_gains_that_were_hardly_known_when_placed_are_not_summed(snapshot):
    world = lucky_world()
    league = league_with_test(world, 20, planned=40, gains=(None, 806.0, 0.0), error=895.0)
    [test] = regression_tests(world.counts(), league)
    assert np.isnan(test.claimed)
    assert test.sentence == snapshot


def test_in_a_league_of_two_bots_the_gain_is_that_of_the_newer_one():
    world = World({"my@1": 0.0, "my@3": 150.0}, 1)
    league = league_with_test(world, 100)
    [test] = regression_tests(world.counts(), league)
    assert test.gain == pytest.approx(150, abs=1.3 * test.gain_error)


def test_the_history_has_the_test_in_its_text_its_rows_and_its_json():
    world = lucky_world()
    league = league_with_test(world, 100)
    tests = regression_tests(world.counts(), league)
    history = History(history_table(world.counts(), league, tests), league.scale, tests)
    words = "regression test of my@3 against my@1: 200 of 400 games played, so far +"
    assert words in history_text(history)
    row = history.table.set_index("version").loc["my@3"]
    assert (row["tested_against"], row["test_games"]) == ("my@1", 200)
    assert row["test_gain"] == pytest.approx(tests[0].gain)
    [shown] = history_object(history)["regressions"]
    assert (shown["version"], shown["against"], shown["games"]) == ("my@3", "my@1", 200)
    assert history.of("b").regressions == []
    assert history.of("my@3").regressions == tests


def test_a_test_without_games_or_with_unknown_gains_says_what_is_known(snapshot):
    world = lucky_world()
    league = league_with_test(world, 0, gains=(None, None, 40.0))
    tests = regression_tests(world.counts(), league)
    assert tests[0].sentence == snapshot
    history = History(history_table(world.counts(), league, tests), league.scale, tests)
    [shown] = history_object(history)["regressions"]
    figures = (shown[name] for name in ("gain", "gain_error", "claimed", "claimed_error"))
    assert [*figures, shown["verdict"]] == [None] * 5


@pytest.mark.parametrize(("elo", "verdict"), [(3000.0, "better"), (-3000.0, "worse")])
def test_a_version_that_wins_or_loses_every_game_is_better_or_worse(elo, verdict, snapshot):
    """Such games give no figure in Elo, but an answer."""
    world = World({**STRENGTHS, "my@3": elo}, 1)
    league = league_with_test(world, 60, planned=120)
    [test] = regression_tests(world.counts(), league)
    assert not test.is_known
    assert test.verdict == verdict
    assert test.sentence == snapshot
