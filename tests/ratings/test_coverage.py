"""95 % intervals hold the truth about as often as they say, whatever luck the games on a deal share."""

import pytest

from tests.ratings.coverage import coverage

TRIES = 200


@pytest.mark.parametrize(("players", "bots", "deals"), [(2, 4, 8), (3, 3, 8), (4, 4, 8), (2, 2, 60), (3, 3, 60), (4, 4, 60)])
def test_intervals_of_ratings_differences_and_seats_hold_the_truth(players, bots, deals):
    """0.90 and 1 are what 200 tries allow an interval of 95 % that is a little too careful with few deals."""
    ratings, differences, seats, ranks, prior = coverage(players, bots, deals, TRIES)
    assert 0.90 <= ratings <= 0.99
    assert 0.90 <= differences <= 0.99
    assert 0.90 <= seats <= 0.99
    assert ranks >= 0.93
    assert prior < 0.05
