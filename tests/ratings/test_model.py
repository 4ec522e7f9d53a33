"""The share-logit model: closed forms, seats, graphs, priors, errors, and what must not matter."""

import math

import numpy as np
import pytest
from hypothesis import given
from scipy.special import logsumexp

from arena.ratings.likelihood import ELO
from arena.ratings.model import rank_intervals, rate
from tests.ratings.synthetic import count_results, duel, frame_of, small_results


def fit_of(games, prior=None, bots=()):
    [fit] = rate(count_results(frame_of(games, bots)), prior).fits
    return fit


def difference(fit, one=0, other=1):
    return fit.elo[one] - fit.elo[other]


@pytest.mark.parametrize("size", [3, 4])
def test_true_shares_at_every_rotation_give_back_ratings_and_seats(size):
    """Expected shares, as exact as twelfths go, stand for very many games."""
    rng = np.random.default_rng(size)
    elo = np.array([120.0, 20.0, -60.0, -80.0])[:size]
    elo -= elo.mean()
    seat = np.array([0.0, -30.0, -45.0, -60.0])[:size]
    names = ["a", "b", "c", "d"][:size]
    games = []
    for deal in range(1000):
        for shift in range(size):
            order = [(at + shift) % size for at in range(size)]
            utility = (elo[order] + seat) / ELO
            winner = rng.choice(size, p=np.exp(utility - logsumexp(utility)))
            games.append(
                (deal, [names[at] for at in order], [float(at == winner) for at in range(size)])
            )
    fit = fit_of(games)
    assert np.abs(fit.elo - elo).max() < 4 * fit.half_widths().max() / 1.96
    effects, errors = fit.seats[size]
    assert effects[0] == 0
    assert np.all(np.abs(effects - seat)[1:] < 4 * errors[1:])
    assert np.all(errors[1:] < 14)


def test_a_seat_that_helps_is_told_from_strength():
    games = []
    for deal in range(40):
        first_wins = deal % 4 != 0
        for seated in (("a", "b"), ("b", "a")):
            games.append((deal, seated, (1, 0) if first_wins else (0, 1)))
    fit = fit_of(games)
    assert difference(fit) == pytest.approx(0, abs=1e-9)
    assert fit.seats[2][0][1] == pytest.approx(-190.8485018879, abs=1e-8)


def test_opposite_results_in_a_deal_make_errors_small_and_equal_ones_large():
    opposite = [
        game
        for deal in range(50)
        for game in ((deal, ("a", "b"), (1, 0)), (deal, ("b", "a"), (1, 0)))
    ]
    opposite += [
        game
        for deal in range(50, 100)
        for game in ((deal, ("a", "b"), (0, 1)), (deal, ("b", "a"), (0, 1)))
    ]
    equal = duel(50, 50)
    assert fit_of(opposite).difference_error()[0, 1] < 1e-6
    independent = [(number, seated, shares) for number, (_, seated, shares) in enumerate(equal)]
    assert fit_of(equal).difference_error()[0, 1] == pytest.approx(
        math.sqrt(2) * fit_of(independent).difference_error()[0, 1], rel=0.02
    )


def test_errors_take_the_t_quantile_of_the_deals_less_one():
    assert fit_of(duel(6, 4)).quantiles() == pytest.approx(2.262157, abs=1e-5)
    assert fit_of(duel(20, 20)).quantiles() == pytest.approx(2.022691, abs=1e-5)
    assert np.all(fit_of(duel(101, 101)).quantiles() == 1.96)


def test_one_deal_has_no_error():
    fit = fit_of(
        [
            (0, ("a", "b"), (1, 0)),
            (0, ("a", "b"), (0, 1)),
            (0, ("b", "a"), (1, 0)),
            (0, ("b", "a"), (0, 1)),
        ]
    )
    assert np.isnan(fit.half_widths()).all()
    assert rank_intervals(fit)[0].tolist() == [1, 1]
    assert rank_intervals(fit)[1].tolist() == [2, 2]


def test_a_prior_rates_who_won_everything_too():
    fit = fit_of(duel(20, 0), 1.0)
    assert fit.prior == 1
    assert fit.by_prior == (0, 1)
    assert 200 < difference(fit) < 2000


def test_a_prior_tells_what_the_games_leave_open_between_two_groups():
    games = (
        duel(5, 5, names=("a", "b"))
        + duel(5, 5, names=("c", "d"))
        + duel(10, 0, names=("a", "c"))
        + duel(10, 0, names=("b", "d"))
    )
    fit = fit_of(games, 1.0)
    assert fit.by_prior == (2, 3)
    assert fit.marks.tolist() == [["", "", ">", ">"]] * 2 + [["<", "<", "", ""]] * 2


def test_a_prior_can_be_asked_for_and_pulls_to_the_middle():
    free, pulled = fit_of(duel(30, 10)), fit_of(duel(30, 10), prior=20.0)
    assert 0 < difference(pulled) < difference(free)
    assert (free.prior, pulled.prior) == (0, 20)


def test_all_draws_are_all_equal():
    fit = fit_of(duel(0, 0, 20))
    assert fit.elo.tolist() == pytest.approx([0, 0], abs=1e-9)
    assert fit.superiority()[0, 1] == 0.5


def test_rank_intervals_hold_the_order_when_it_is_clear_and_open_when_not():
    games = (
        duel(60, 40, names=("a", "b"))
        + duel(80, 20, names=("b", "c"))
        + duel(90, 10, names=("a", "c"))
    )
    games = [
        (deal + 1000 * (index // 2000), seated, shares)
        for index, (deal, seated, shares) in enumerate(games)
    ]
    low, high = rank_intervals(fit_of(games))
    assert high[2] == low[2] == 3
    close = rank_intervals(fit_of(duel(11, 10)))
    assert close[0].tolist() == [1, 1]
    assert close[1].tolist() == [2, 2]


@given(small_results())
def test_any_results_however_few_have_a_finite_answer(games):
    for fit in rate(count_results(frame_of(games))).fits:
        assert np.isfinite(fit.elo).all()
        assert fit.level @ fit.elo == pytest.approx(0, abs=1e-6)
        assert np.abs(fit.elo).max() < 5000
        assert np.isfinite(fit.freedom).all()
        is_told = np.isfinite(fit.quantiles()) & (fit.clusters > 1)
        assert (np.isfinite(fit.half_widths()) == np.diag(is_told)).all()
        assert (np.isfinite(fit.superiority()) >= is_told).all()
        low, high = rank_intervals(fit)
        assert (low <= high).all()
