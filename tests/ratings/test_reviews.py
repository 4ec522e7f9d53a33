"""Tables of a review: what the decisions of each bot cost, and which cost most."""

import math

import numpy as np
import pytest

from arena.ratings.analysis import bots_table, decisions_table, mean_by_cluster, worst_decisions
from arena.records.grades import Grade
from tests.exports.runs import game_of


def graded(deal, costs, error=0.05, bots=("a", "b")):
    """A game with decisions of the first seat that cost so much."""
    record = game_of(list(bots), deal=deal)
    grades = {
        2 * at: Grade(
            2 * at, 0, 90, "Ra1Ra2", "Ra1Ra2" if cost == 0 else "Yb1Yb2", cost, error, 0.5
        )
        for at, cost in enumerate(costs)
    }
    return record, grades


def test_the_mean_cost_of_a_bot_has_an_error_by_deal():
    games = [graded(0, [0.2, 0.0]), graded(1, [0.0, -0.02]), graded(2, [0.12, 0.0])]
    [row] = bots_table(decisions_table(games)).to_dict("records")
    assert (row["bot"], row["games"], row["deals"], row["decisions"]) == ("a", 3, 3, 6)
    assert row["cost"] == pytest.approx(0.05)
    # three deals with means of .1, -.01 and .06, and the t quantile of two degrees of freedom
    assert row["error"] == pytest.approx(
        4.3027 * np.std([0.1, -0.01, 0.06], ddof=1) / 3**0.5, rel=1e-3
    )
    assert (row["blunders"], row["agreed"]) == (2, 0.5)


def test_several_games_of_a_deal_are_one_cluster():
    games = [graded(0, [0.1]), graded(0, [0.1]), graded(1, [0.0])]
    [row] = bots_table(decisions_table(games)).to_dict("records")
    assert (row["games"], row["deals"]) == (2, 2)
    [row] = bots_table(decisions_table(games[:2])).to_dict("records")
    assert math.isnan(row["error"])


def test_own_decks_are_deals_of_their_own():
    games = [graded(0, [0.1]), graded(0, [0.2], bots=("a", "c"))]
    for own_decks, deals in ((False, 1), (True, 2)):
        [row] = bots_table(decisions_table(games), own_decks=own_decks).to_dict("records")
        assert row["deals"] == deals


def test_the_worst_decisions_are_those_that_cost_most_at_least():
    games = [graded(0, [0.3], error=0.29), graded(1, [0.15, 0.04]), graded(2, [0.2])]
    worst = worst_decisions(decisions_table(games), 3)
    assert worst["cost"].tolist() == [0.2, 0.15, 0.3]
    assert worst_decisions(decisions_table([graded(0, [0.01])]), 3).empty


def test_moves_without_a_choice_do_not_count():
    record, grades = graded(0, [0.2])
    grades[2] = Grade(2, 0, 1, "Ra1Ra2", "Ra1Ra2", 0.0, 0.0, 0.5)
    table = decisions_table([(record, grades)])
    assert table["turn"].tolist() == [0]
    assert table["sure"].tolist() == [pytest.approx(1.0)]


def test_intervals_by_cluster_cover():
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(400):
        sizes = rng.integers(1, 20, 15).astype(float)
        sums = sizes * rng.normal(0.02, 0.03, 15) + rng.normal(0, 0.05, 15) * np.sqrt(sizes)
        mean, error = mean_by_cluster(sums, sizes)
        inside += abs(mean - 0.02) <= error
    assert 360 <= inside <= 396
