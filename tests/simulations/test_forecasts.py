"""The forecast of a comparison is an interval, and holds what it says of intervals."""

import os

import numpy as np
import pytest

from arena.ratings.forecast import forecast, superiority
from arena.ratings.sequential import Question, WinTest
from tests.ratings.forecasts import LOOKS, coverage

TRIES = int(os.environ.get("ARENA_RATING_TRIES", "60"))
"""`make fuzz` raises it."""


def fed(values):
    test = WinTest(Question(0, 30))
    for value in values:
        test.add((1 + value) / 2, (1 - value) / 2)
    return test


@pytest.mark.parametrize("spread", [30, 60, 100])
def test_the_games_left_lie_in_the_range_of_the_forecast_in_four_of_five_cases(spread):
    """Whether the bots are close or far apart. With 1,000 tries the shares are .76 to .86; see
    docs/statistics.md.
    """
    found = coverage(Question(0, 30), spread, TRIES)
    chance = 3 * np.sqrt(0.8 * 0.2 / TRIES)
    for look in LOOKS:
        share, _ = found[look]
        assert 0.75 - chance < share < 0.85 + chance, look


def test_the_same_blocks_give_the_same_forecast():
    values = [1, 0, 0, 1, -1, 0, 1]
    assert forecast(fed(values)) == forecast(fed(values))


def test_a_large_difference_takes_fewer_games_than_a_small_one():
    test = fed([0, 1, 0, -1])
    near = forecast(test, 40)
    far = forecast(test, 300)
    assert far.high < near.low < near.high


def test_the_forecast_gets_shorter_when_the_answer_is_near():
    few = fed([0, 1, 0, 0])
    many = fed([1, 0, 1, 0, 0, 1, 0, 1, 1, 0] * 2)
    assert forecast(many).high < forecast(few).high / 3


@pytest.mark.parametrize(("values", "low", "high"), [([1, 0] * 8, 0.99, 1), ([-1, 0], 0, 0.4)])
def test_superiority_is_the_probability_that_the_new_bot_is_better(values, low, high):
    assert low <= superiority(fed(values)) <= high


def test_without_two_blocks_either_bot_may_be_better():
    assert superiority(fed([1])) == 0.5
