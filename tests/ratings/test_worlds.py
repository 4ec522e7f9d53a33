"""The generator of games makes what the simulations rely on."""

import numpy as np
import pytest

from arena.ratings.model import rate
from tests.ratings.coverage import LUCK, with_forfeits, world_of
from tests.ratings.worlds import SHARED, levels, play, truth_of

DEALS = 3000


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("luck", LUCK)
def test_shares_are_those_of_the_model_whatever_luck_the_games_share(players, luck):
    """4.5 standard errors, clustered by deal."""
    world = world_of(players, 6, luck)
    [fit] = rate(play(world, DEALS, np.random.default_rng(1)).results()).fits
    elo, effects = truth_of(world)
    assert np.abs((fit.elo - elo) / fit.half_widths()).max() < 4.5 / 1.96
    estimates, errors = fit.seats[players]
    assert np.abs((estimates - effects)[1:] / errors[1:]).max() < 4.5


def won(played, game):
    """(D, k) by deal what the bots of a game won."""
    return (played.ranks[:, game] == 1).astype(float)


@pytest.mark.parametrize(("luck", "least", "most"), [("nothing", -0.1, 0.1), ("bots", 0.4, 0.9)])
def test_luck_of_bots_goes_with_the_bot_from_game_to_game(luck, least, most):
    played = play(world_of(2, 6, luck), DEALS, np.random.default_rng(2))
    one, other = won(played, 0)[:, 0], won(played, 2)[:, 0]
    assert played.world.seats[[0, 2], 0].tolist() == [0, 0]
    assert least * 0.5 < np.corrcoef(one, other)[0, 1] < most


def test_luck_of_seats_stays_with_the_seat():
    played = play(world_of(2, 6, "seats"), DEALS, np.random.default_rng(2))
    assert np.corrcoef(won(played, 0)[:, 0], won(played, 1)[:, 0])[0, 1] > 0.4


def test_some_games_are_shared_and_a_bot_that_forfeits_loses():
    world = world_of(2, 6)
    shared = (play(world, DEALS, np.random.default_rng(3)).ranks == 1).all(axis=2).mean()
    assert SHARED / 3 < shared < 2 * SHARED / 3
    always = world._replace(forfeits=np.eye(6)[2])
    played = play(always, 100, np.random.default_rng(3))
    assert set(played.ranks[:, world.seats == 2].ravel()) == {2}


def test_the_truth_of_games_that_do_not_follow_the_model_is_that_of_very_many():
    elo, _ = truth_of(with_forfeits(world_of(2, 6)))
    strengths = levels(6)
    assert elo[0] == elo[1] == elo[2]
    assert elo[5] - elo[4] < strengths[5] - strengths[4] - 20


def test_results_of_some_games_are_those_of_these_games():
    world = world_of(3, 6)
    played = play(world, 8, np.random.default_rng(4))
    kept = np.arange(8)[:, None] < np.where((world.seats == 0).any(axis=1), 2, 8)
    results = played.results(kept)
    assert results.games == kept.sum()
    of_newcomer = (results.seats == 0).any(axis=1)[results.outcome]
    assert results.cluster[of_newcomer].max() == 1
    assert results.clusters == 8
