"""Who else sits at the table: found where it matters, and hardly ever where it does not."""

import os

import numpy as np
import pytest

from arena.ratings.company import company
from arena.ratings.model import rate
from arena.ratings.notes import company_note
from arena.ratings.results import count_games
from tests.ratings.company import company_alarms, drawn, kingmaker, lopsided
from tests.ratings.coverage import LUCK, repeat, world_of
from tests.ratings.worlds import play

TRIES = int(os.environ.get("ARENA_RATING_TRIES", "40"))
"""`make fuzz` raises it."""


def most_by_chance(tries, level=0.05):
    """How often a test of this level may reject; more happens once in 10,000 times."""
    return level + 3.7 * np.sqrt(level * (1 - level) / tries)


def found_in(results):
    return company(results, rate(results).fits)


@pytest.mark.parametrize("luck", LUCK)
@pytest.mark.parametrize(("players", "bots", "deals"), [(3, 4, 12), (4, 5, 8)])
def test_where_company_does_not_matter_it_is_hardly_ever_said_to(players, bots, deals, luck):
    [alarms], _ = repeat(company_alarms(world_of(players, bots, luck), deals), TRIES)
    assert alarms <= most_by_chance(TRIES)


def test_strong_seats_that_the_third_bot_shifts_are_not_taken_for_company():
    rng = np.random.default_rng(4)
    alarms = [found_in(lopsided(5, 30, rng)) is not None for _ in range(TRIES)]
    assert np.mean(alarms) <= most_by_chance(TRIES)


@pytest.mark.parametrize("players", [3, 4])
def test_a_kingmaker_is_found_with_what_it_is_worth(players, snapshot):
    found = found_in(kingmaker(players, 6, 200, np.random.default_rng(7), elo=200))
    assert (found.bot, found.third) == ("bot-00", "bot-05")
    off = found.elo_with - found.elo_without - 200
    assert abs(off) < found.error_with + found.error_without
    [note] = company_note(found)
    assert "bot-00" in note
    assert note == snapshot


def test_a_third_bot_that_lost_everything_may_be_the_kingmaker():
    """It has no rating, and needs none."""
    seats = np.array([[0, 1, 3], [1, 0, 3], [0, 1, 2], [1, 0, 2], [0, 2, 3], [1, 2, 3]])
    strength = np.where(seats == 0, 2.0 * (seats == 3).any(axis=1, keepdims=True), 0.0)
    strength = np.where(seats == 3, -60.0, strength)
    weights = np.exp(strength)
    results = drawn(
        weights / weights.sum(axis=1, keepdims=True), seats, 4, 150, np.random.default_rng(3)
    )
    found = found_in(results)
    assert (found.bot, found.third) == ("bot-00", "bot-03")


def test_one_bot_that_never_loses_in_company_is_found_though_it_has_no_rating_there(snapshot):
    seats = np.array([[0, 1, 2], [1, 0, 2], [0, 1, 3], [1, 0, 3], [2, 3, 0], [3, 2, 1]])
    chances = np.full((6, 3), 1 / 3)
    chances[:2] = [[1, 0, 0], [0, 1, 0]]
    found = found_in(drawn(chances, seats, 4, 60, np.random.default_rng(8), luck=0.0))
    assert company_note(found)[0] == snapshot


def test_at_tables_of_two_there_is_no_company_and_few_deals_say_nothing():
    rng = np.random.default_rng(1)
    for players, bots, deals in ((2, 4, 20), (4, 5, 1), (3, 4, 2)):
        found = found_in(play(world_of(players, bots), deals, rng).results())
        assert found is None
        assert company_note(found) == []


def test_bots_that_sit_twice_at_a_table_are_counted_once():
    rng = np.random.default_rng(2)
    seats = np.array([[0, 0, 1], [0, 1, 1], [0, 1, 2], [2, 2, 0], [1, 2, 2]])
    assert found_in(drawn(np.full(seats.shape, 1 / 3), seats, 3, 40, rng)) is None


def test_the_figure_without_the_third_bot_is_that_of_a_table_with_its_games_left_out():
    results = kingmaker(3, 5, 60, np.random.default_rng(5), elo=200)
    found = found_in(results)
    kept = ~(results.seats == results.bots.index(found.third)).any(axis=1)
    [fit] = rate(results.only(kept)).fits
    one, other = (results.bots.index(name) for name in (found.bot, found.opponent))
    assert found.elo_without == pytest.approx(fit.elo[one] - fit.elo[other], abs=0.1)
    half = fit.difference_half_widths()[one, other]
    assert found.error_without == pytest.approx(half, rel=0.2)


def test_the_order_of_games_and_the_names_of_bots_change_nothing():
    rng = np.random.default_rng(9)
    results = kingmaker(3, 4, 30, rng, elo=150)
    order = rng.permutation(results.games)
    games = results.ranks, results.cluster[order].astype(np.int64), results.outcome[order]
    mixed = count_games(results.bots[::-1], 30, 3 - results.seats, *games)
    one, other = found_in(results), found_in(mixed)
    assert one[:4] == other[:4]
    assert one[4:] == pytest.approx(other[4:], rel=1e-9)
