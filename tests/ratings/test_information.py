"""How precise ratings are, what would make them more so, and what spending deals by it does."""

import numpy as np
import pytest

from arena.ratings.information import precision, promises
from arena.ratings.model import rate
from arena.ratings.results import count_results
from tests.ratings.coverage import repeat
from tests.ratings.spending import LADDER, line_ups_of, results_of, spend, spending, world_of
from tests.ratings.synthetic import duel, frame_of
from tests.ratings.worlds import play

LINE_UPS = [("b00", "b01"), ("b00", "b02"), ("b01", "b02")]


def world(elo, deals, seed=1):
    made = world_of(elo)
    played = play(made, max(deals), np.random.default_rng(seed))
    allotted = dict(zip(map("+".join, line_ups_of(made)), deals, strict=True))
    results = results_of(played, allotted)
    return results, rate(results)


def test_the_widest_interval_counts_and_games_fall_with_its_square():
    results, ratings = world((60, 0, -60), (50, 50, 50))
    found = precision(results, ratings, None)
    assert found.widest == pytest.approx(ratings.fits[0].half_widths().max())
    assert found.games == 0
    half = precision(results, ratings, float(ratings.fits[0].half_widths().max()) / 2)
    assert half.games == pytest.approx(3 * results.games, rel=0.25)
    assert precision(results, ratings, 1000).games == 0


def test_games_still_needed_are_about_those_that_it_takes():
    results, ratings = world((60, 0, -60), (60, 60, 60))
    wanted = precision(results, ratings, 20).games
    more = round(60 * (1 + wanted / results.games))
    later, ratings = world((60, 0, -60), (more, more, more))
    assert precision(later, ratings, 20).widest == pytest.approx(20, rel=0.15)


def test_a_line_up_with_the_bot_of_fewest_games_promises_most():
    results, ratings = world((60, 0, -60), (200, 20, 20))
    found = promises(results, ratings, LINE_UPS, until=5)
    assert found["b00+b01"] < found["b00+b02"]
    assert found["b00+b01"] < found["b01+b02"]


def test_only_ratings_that_are_too_wide_count():
    results, ratings = world((60, 0, -60), (200, 20, 20))
    between = float(np.sort(ratings.fits[0].half_widths())[1:].mean())
    found = promises(results, ratings, LINE_UPS, until=between)
    assert found["b00+b01"] < 0.5 * max(found.values())


def test_without_a_width_the_neighbours_in_question_count():
    results, ratings = world((400, 0, 0), (100, 100, 100))
    assert precision(results, ratings, None).open_pairs == 1
    found = promises(results, ratings, LINE_UPS, until=None)
    assert max(found, key=found.get) == "b01+b02"


def test_when_nothing_is_in_question_all_ratings_count():
    results, ratings = world((400, 0, -400), (100, 100, 100))
    assert precision(results, ratings, None).open_pairs == 0
    assert all(value > 0 for value in promises(results, ratings, LINE_UPS, until=None).values())


def test_the_promise_is_the_fall_of_the_variance_when_games_are_added():
    """The gradient against a difference: 10 % more games of one line-up at a time."""
    base, falls, found = (400, 400, 400), [], None
    for deals in (base, (440, 400, 400), (400, 440, 400), (400, 400, 440)):
        variances = []
        for seed in range(20):
            results, ratings = world((150, 0, -150), deals, seed)
            variances.append(np.trace(ratings.fits[0].covariance))
            found = found or promises(results, ratings, LINE_UPS, until=1)
        falls.append(np.mean(variances))
    measured = falls[0] - np.array(falls[1:])
    expected = np.array(list(found.values()))
    assert measured / measured.sum() == pytest.approx(expected / expected.sum(), abs=0.12)


def test_bots_without_errors_or_in_groups_of_their_own_are_played_first():
    results = count_results(frame_of(duel(1, 0, names=("a", "b"))))
    found = promises(results, rate(results), [("a", "b")], until=5)
    assert found == {"a+b": np.inf}
    assert precision(results, rate(results), 5) == (np.inf, 0, np.inf)
    apart = count_results(frame_of(duel(6, 5, names=("a", "b")) + duel(6, 5, names=("c", "d"))))
    found = promises(apart, rate(apart), [("a", "b"), ("a", "c")], until=5)
    assert np.isinf(found["a+c"])
    assert np.isfinite(found["a+b"])


SETTINGS = {
    "even": {"deals": 300, "until": 60.0},
    "adaptive": {"deals": 300, "until": 60.0, "adaptive": True},
}


@pytest.mark.parametrize("run", SETTINGS)
def test_error_bars_of_runs_that_stop_when_they_are_narrow_hold_the_truth(run):
    """0.90 is what 40 runs of six bots allow 95 %."""
    (_, ratings, differences, *_), _ = repeat(spending(LADDER, SETTINGS[run]), 40)
    assert ratings > 0.90
    assert differences > 0.90


def test_adaptive_needs_fewer_games_for_the_same_width():
    rng = np.random.default_rng(1)
    games = {run: [] for run in SETTINGS}
    for run, settings in SETTINGS.items():
        for _ in range(5):
            results, _, found = spend(world_of(LADDER), settings, rng)
            assert found.widest <= 60
            games[run].append(results.games)
    assert np.mean(games["adaptive"]) < 0.85 * np.mean(games["even"])


def test_nobody_waits_for_the_interval_of_a_bot_that_may_never_have_one():
    games = duel(40, 30) + duel(30, 35, names=("b", "c")) + duel(20, 0, names=("a", "z"))
    results = count_results(frame_of(games))
    found = precision(results, rate(results), 500)
    assert found.widest < 500
    assert found.games == 0
    line_ups = [("a", "b"), ("a", "z"), ("b", "z")]
    assert promises(results, rate(results), line_ups, until=5) == {
        "a+b": pytest.approx(promises(results, rate(results), [("a", "b")], until=5)["a+b"]),
        "a+z": 0,
        "b+z": 0,
    }


def test_a_bot_that_lost_everything_on_a_few_deals_is_played_first():
    games = duel(40, 30) + duel(30, 35, names=("b", "c")) + duel(5, 0, names=("a", "z"))
    results = count_results(frame_of(games))
    assert np.isinf(precision(results, rate(results), 500).widest)
    found = promises(results, rate(results), [("a", "b"), ("a", "z")], until=5)
    assert np.isinf(found["a+z"])
    assert np.isfinite(found["a+b"])
