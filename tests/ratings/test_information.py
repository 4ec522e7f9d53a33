"""How precise ratings are, and what playing until they are precise does to error bars."""

import numpy as np
import pytest

from arena.ratings.model import rate
from arena.ratings.order import precision
from tests.ratings.coverage import repeat
from tests.ratings.spending import LADDER, results_of, spending, world_of
from tests.ratings.synthetic import count_results, duel, frame_of
from tests.ratings.worlds import play


def world(elo, deals, seed=1):
    made = world_of(elo)
    played = play(made, max(deals), np.random.default_rng(seed))
    results = results_of(played, deals)
    return results, rate(results)


def test_the_widest_interval_counts_and_games_fall_with_its_square():
    results, ratings = world((60, 0, -60), (50, 50, 50))
    found = precision(results, ratings, 1000)
    assert found.widest == pytest.approx(ratings.fits[0].half_widths().max())
    assert found.games == 0
    half = precision(results, ratings, float(ratings.fits[0].half_widths().max()) / 2)
    assert half.games == pytest.approx(3 * results.games, rel=0.25)


def test_games_still_needed_are_about_those_that_it_takes():
    results, ratings = world((60, 0, -60), (60, 60, 60))
    wanted = precision(results, ratings, 20).games
    more = round(60 * (1 + wanted / results.games))
    later, ratings = world((60, 0, -60), (more, more, more))
    assert precision(later, ratings, 20).widest == pytest.approx(20, rel=0.15)


def test_a_bot_without_an_interval_is_waited_for():
    results = count_results(frame_of(duel(1, 0, names=("a", "b"))))
    assert precision(results, rate(results), 5) == (np.inf, np.inf)


def test_a_bot_without_games_is_waited_for():
    results = count_results(frame_of(duel(40, 30)))
    results = results._replace(
        bots=[*results.bots, "late"], seats=np.where(results.seats == 2, 3, results.seats)
    )
    assert precision(results, rate(results), 1000) == (np.inf, np.inf)


def test_error_bars_of_runs_that_stop_when_they_are_narrow_hold_the_truth():
    """0.90 is what 40 runs of six bots allow 95 %."""
    (_, ratings, differences, *_), _ = repeat(spending(LADDER, {"deals": 300, "until": 60.0}), 40)
    assert ratings > 0.90
    assert differences > 0.90


def test_nobody_waits_for_the_interval_of_a_bot_that_may_never_have_one():
    games = duel(40, 30) + duel(30, 35, names=("b", "c")) + duel(20, 0, names=("a", "z"))
    results = count_results(frame_of(games))
    found = precision(results, rate(results), 500)
    assert found.widest < 500
    assert found.games == 0


def test_a_bot_that_lost_everything_on_a_few_deals_is_waited_for():
    games = duel(40, 30) + duel(30, 35, names=("b", "c")) + duel(5, 0, names=("a", "z"))
    results = count_results(frame_of(games))
    assert np.isinf(precision(results, rate(results), 500).widest)
