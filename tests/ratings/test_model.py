"""The share-logit model: closed forms, seats, graphs, priors, errors, and what must not matter."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from arena.ratings.likelihood import ELO
from arena.ratings.model import Ratings, rate
from arena.ratings.ranks import rank_intervals
from arena.ratings.results import count_results
from tests.ratings.synthetic import duel, frame_of


def fit_of(games, prior=None, bots=()):
    [fit] = rate(count_results(frame_of(games, bots)), prior).fits
    return fit


def difference(fit, one=0, other=1):
    return fit.elo[one] - fit.elo[other]


@pytest.mark.parametrize(
    ("won", "lost", "elo"),
    [
        (75, 25, 190.8485018879),
        (20, 10, 120.4119982656),
        (90, 10, 381.6970037757),
        (50, 50, 0.0),
        (25, 75, -190.8485018879),
    ],
)
def test_two_players_are_bradley_terry_to_nine_digits(won, lost, elo):
    assert difference(fit_of(duel(won, lost))) == pytest.approx(elo, abs=1e-9)


def test_shared_wins_count_half():
    assert difference(fit_of(duel(50, 0, 50))) == pytest.approx(190.8485018879, abs=1e-9)


def test_a_published_match_of_136_96_111():
    games = [(number, ("a", "b"), (1, 0)) for number in range(136)]
    games += [(number + 136, ("a", "b"), (0, 1)) for number in range(96)]
    games += [(number + 232, ("a", "b"), (0.5, 0.5)) for number in range(111)]
    # every game is a block of its own and a always sits first, so the seat takes the difference:
    # swap half of the seats
    games = [
        (deal, seated, shares) if deal % 2 else (deal, seated[::-1], shares[::-1])
        for deal, seated, shares in games
    ]
    fit = fit_of(games)
    elo, half = difference(fit), 1.96 * fit.difference_error()[0, 1]
    assert elo == pytest.approx(40.70, abs=0.15)
    assert half == pytest.approx(30.43, abs=0.3)
    assert fit.superiority()[0, 1] == pytest.approx(0.9960, abs=5e-4)


def test_expected_shares_of_a_table_of_four():
    elo = np.array([100.0, 0.0, -50.0, -50.0])
    theta = elo / ELO
    shares = np.exp(theta - logsumexp(theta))
    assert shares == pytest.approx(
        [0.4156734959, 0.2337503845, 0.1752880598, 0.1752880598], abs=1e-10
    )


@pytest.mark.parametrize("size", [3, 4])
def test_true_shares_at_every_rotation_give_back_ratings_and_seats(size):
    """Expected shares, as exact as twelfths go, stand for very many games."""
    rng = np.random.default_rng(size)
    elo = np.array([120.0, 20.0, -60.0, -80.0])[:size]
    elo -= elo.mean()
    seat = np.array([0.0, -30.0, -45.0, -60.0])[:size]
    names = ["a", "b", "c", "d"][:size]
    games = []
    for deal in range(3000):
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
    assert np.all(errors[1:] < 8)


def test_a_seat_that_helps_is_told_from_strength():
    games = []
    for deal in range(40):
        first_wins = deal % 4 != 0
        for seated in (("a", "b"), ("b", "a")):
            games.append((deal, seated, (1, 0) if first_wins else (0, 1)))
    fit = fit_of(games)
    assert difference(fit) == pytest.approx(0, abs=1e-9)
    assert fit.seats[2][0][1] == pytest.approx(-190.8485018879, abs=1e-8)


def test_swapped_pairs_give_the_variance_of_pairs():
    """For two players in swapped pairs the clustered error is the pentanomial one: of pair scores,
    not of games.
    """
    games = []
    rng = np.random.default_rng(4)
    scores = []
    for deal in range(200):
        one, two = rng.choice([0, 0.5, 1]), rng.choice([0, 0.5, 1])
        games += [(deal, ("a", "b"), (one, 1 - one)), (deal, ("b", "a"), (1 - two, two))]
        scores.append((one + two) / 2)
    fit = fit_of(games)
    # the derivative of the logistic curve at the mean score, seats fitted beside
    mean, variance = np.mean(scores), np.var(scores, ddof=1) / len(scores)
    seat_score = np.mean([share[0] for _, _, share in games])
    assert abs(seat_score - 0.5) < 0.1
    expected = ELO * math.sqrt(variance) / (mean * (1 - mean))
    assert fit.difference_error()[0, 1] == pytest.approx(expected, rel=0.02)


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


def test_a_seat_that_won_everything_leaves_all_seats_equal():
    games = [(deal, seated, (1, 0)) for deal in range(10) for seated in (("a", "b"), ("b", "a"))]
    fit = fit_of(games)
    assert (fit.prior, fit.open_seats, fit.seats) == (0, (2,), {})
    assert difference(fit) == pytest.approx(0, abs=1e-9)
    held = fit_of(games, 1.0)
    assert (held.open_seats, held.by_prior) == ((2,), ())
    assert held.seats[2][0][1] < -200


def test_a_prior_can_be_asked_for_and_pulls_to_the_middle():
    free, pulled = fit_of(duel(30, 10)), fit_of(duel(30, 10), prior=20.0)
    assert 0 < difference(pulled) < difference(free)
    assert (free.prior, pulled.prior) == (0, 20)


def test_separation_that_no_single_graph_shows_is_rated_without_seats():
    games = [
        (0, ("a", "b"), (1, 0)),
        (1, ("b", "a"), (1, 0)),
        (2, ("b", "a"), (1, 0)),
        (3, ("a", "c"), (1, 0)),
        (4, ("a", "c"), (0, 1)),
    ]
    games += [(5, ("c", "b"), (0, 1)), (6, ("b", "c"), (0, 1))]
    fit = fit_of(games)
    assert np.isfinite(fit.elo).all()


def test_bots_that_never_met_are_rated_apart():
    fits = rate(
        count_results(
            frame_of(
                duel(6, 4, names=("a", "b"))
                + duel(3, 7, names=("x", "y"))
                + duel(5, 5, names=("y", "z"))
            )
        )
    ).fits
    assert [fit.members.tolist() for fit in fits] == [[2, 3, 4], [0, 1]]
    assert all(fit.elo.mean() == pytest.approx(0, abs=1e-9) for fit in fits)


def test_no_games_and_self_play_are_no_ratings():
    assert rate(count_results(frame_of([(0, ("a", "b"), (1, 0))]).iloc[:0])) == Ratings([])
    alone = frame_of([(0, ("a", "a"), (1, 0)), (1, ("a", "a"), (0, 1))])
    assert rate(count_results(alone)) == Ratings([])


def test_all_draws_are_all_equal():
    fit = fit_of(duel(0, 0, 20))
    assert fit.elo.tolist() == pytest.approx([0, 0], abs=1e-9)
    assert fit.superiority()[0, 1] == 0.5


def random_games(seed=1, deals=60):
    rng = np.random.default_rng(seed)
    games = []
    for deal in range(deals):
        for seated in (("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b"), ("a", "d"), ("d", "a")):
            shares = (
                rng.permutation([1.0] + [0.0] * (len(seated) - 1))
                if rng.random() < 0.8
                else [1 / len(seated)] * len(seated)
            )
            games.append((deal, seated, list(shares)))
    return games


def test_the_order_of_the_games_changes_no_digit():
    games = random_games()
    one = fit_of(games)
    frame = frame_of(games).sample(frac=1, random_state=3)
    [other] = rate(count_results(frame)).fits
    assert one.elo.tolist() == other.elo.tolist()
    assert one.covariance.tolist() == other.covariance.tolist()


def test_new_names_only_move_the_rows():
    games = random_games()
    names = {"a": "z", "b": "m", "c": "c", "d": "a"}
    one = fit_of(games)
    other = fit_of(
        [(deal, [names[bot] for bot in seated], shares) for deal, seated, shares in games]
    )
    order = [sorted(names.values()).index(names[bot]) for bot in "abcd"]
    assert other.elo[order].tolist() == pytest.approx(one.elo.tolist(), abs=1e-9)
    assert np.diag(other.covariance)[order].tolist() == pytest.approx(
        np.diag(one.covariance).tolist(), rel=1e-9
    )


def test_half_widths_cover_the_truth_about_as_often_as_they_say():
    """Deals with luck shared by both games of a pair; 150 tables of 60 deals: 95 % within what 150
    tries allow.
    """
    rng = np.random.default_rng(9)
    truth, covered = 80.0, 0
    for _ in range(150):
        games = []
        for deal in range(60):
            luck = rng.normal(0, 150)
            for seated, sign in ((("a", "b"), 1), (("b", "a"), -1)):
                chance = 1 / (1 + 10 ** (-(truth + sign * luck) / 400))
                a_wins = rng.random() < chance
                games.append((deal, seated, (1, 0) if a_wins == (seated[0] == "a") else (0, 1)))
        fit = fit_of(games)
        # luck bends the curve: the truth of these games is the average share
        expected = ELO * math.log(1 / AVERAGE - 1) * -1
        half = fit.difference_half_widths()[0, 1]
        covered += abs(difference(fit) - expected) <= half
    assert 0.91 <= covered / 150 <= 0.99


def average_share(truth=80.0, sigma=150.0):
    luck = np.linspace(-6 * sigma, 6 * sigma, 20_001)
    weight = np.exp(-(luck**2) / (2 * sigma**2))
    return float((weight / (1 + 10 ** (-(truth + luck) / 400))).sum() / weight.sum())


AVERAGE = average_share()


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


def test_bots_and_seats_that_only_together_run_away_are_rated_without_seats():
    games = [
        (0, "aceb", (0.5, 0, 0, 0.5)),
        (0, "abd", (1 / 3, 1 / 3, 1 / 3)),
        (0, "ab", (1, 0)),
        (1, "ab", (1, 0)),
        (1, "ba", (0.5, 0.5)),
    ]
    games += [
        (1, "dbc", (1, 0, 0)),
        (2, "ab", (1, 0)),
        (3, "ab", (0.5, 0.5)),
        (3, "acbd", (1 / 3, 1 / 3, 1 / 3, 0)),
        (4, "eb", (1, 0)),
    ]
    fit = fit_of(games)
    assert fit.prior == 0
    assert fit.open_seats
    assert np.abs(fit.elo).max() < 2000


@st.composite
def small_results(draw):
    games = []
    for deal in range(draw(st.integers(1, 6))):
        for _ in range(draw(st.integers(1, 3))):
            seated = draw(st.permutations("abcde"))[: draw(st.integers(2, 4))]
            winners = draw(st.sets(st.integers(0, len(seated) - 1), min_size=1))
            games.append(
                (
                    deal,
                    seated,
                    [1 / len(winners) if seat in winners else 0 for seat in range(len(seated))],
                )
            )
    return games


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
