"""95 % intervals hold the truth about as often as they say, whatever luck the games on a deal
share.
"""

import os

import pytest

from tests.ratings.coverage import KINDS, coverage, coverage_of_both

TRIES = int(os.environ.get("ARENA_RATING_TRIES", "100"))
"""`make fuzz` raises it."""


@pytest.mark.parametrize(
    ("players", "bots", "deals"),
    [(2, 4, 8), (3, 3, 8), (4, 4, 8), (2, 2, 60), (3, 3, 60), (4, 4, 60)],
)
def test_intervals_of_ratings_differences_and_seats_hold_the_truth(players, bots, deals):
    """0.90 and 1 are what 100 tries allow an interval of 95 % that is a little too careful with few
    deals.
    """
    ratings, differences, seats, ranks, prior = coverage(players, bots, deals, TRIES)
    assert 0.90 <= ratings <= 0.99
    assert 0.90 <= differences <= 0.99
    assert 0.90 <= seats <= 0.99
    assert ranks >= 0.93
    assert prior < 0.05


@pytest.mark.parametrize(("players", "bots"), [(2, 4), (3, 3), (4, 4)])
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_the_truth_however_games_on_a_deal_depend_and_those_of_single_games_do_not(
    players, bots, kind
):
    """0.90 and 0.99 are what 100 tries allow an interval of 95 %."""
    by_deal, by_game, gain = coverage_of_both(players, bots, 60, TRIES, **KINDS[kind])
    assert 0.90 <= by_deal <= 0.99
    least, most, gains = {
        "independent": (0.90, 0.99, (0.95, 1.05)),
        "anti-correlated": (0.965, 1, (1.3, 2.2)),
        "correlated": (0.5, 0.89, (0.1, 0.7)),
    }[kind]
    assert least <= by_game <= most
    assert gains[0] <= gain <= gains[1]
