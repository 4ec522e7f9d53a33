"""The sequential test and its estimates, against closed forms and published figures."""

from math import atanh, inf, log

import numpy as np
import pytest
from scipy.special import ndtr

from arena.ratings.estimates import disagreement, look_at, plain_estimate, unbiased_estimate
from arena.ratings.motion import Endpoint, chance_of_less
from arena.ratings.sequential import Question, Verdict, WinTest, log_likelihood_ratio
from tests.ratings.margin_blocks import fed as fed_by_margin
from tests.ratings.margin_blocks import game


def fed(values, question=None, **options):
    test = WinTest(question or Question(), **options)
    for value in values:
        test.add((1 + value) / 2, (1 - value) / 2)
    return test


def test_the_match_that_cutechess_shows_has_its_ratio():
    """SPRT (0, 10) after 1477 wins, 1351 losses and 2942 draws: 2.52."""
    values = [1.0] * 1477 + [-1.0] * 1351 + [0.0] * 2942
    assert fed(values).llr == pytest.approx(2.52, abs=0.01)
    mean, variance = np.mean(values), np.var(values)
    null, alternative = 0, 2 / (1 + 10 ** (-10 / 400)) - 1
    assert log_likelihood_ratio(len(values), mean, variance, null, alternative) == pytest.approx(
        2.526, abs=0.001
    )


def test_the_bounds_are_walds():
    assert (Question().lower, Question().upper) == pytest.approx((-2.944, 2.944), abs=0.001)
    skew = Question(alpha=0.01, beta=0.1)
    assert (skew.lower, skew.upper) == pytest.approx((log(0.1 / 0.99), log(0.9 / 0.01)))


def test_what_elo_is_worth_between_two_is_the_logistic_curve():
    test = WinTest(Question())
    assert test.worth(190.8485018879) == pytest.approx(0.5, abs=1e-9)
    assert test.worth(0) == 0
    assert test.worth(-50) == -test.worth(50)


def test_what_elo_is_worth_against_others_depends_on_how_strong_they_are():
    even, strong = WinTest(Question(), groups=1), WinTest(Question(), groups=1)
    for _ in range(1000):
        even.add(0.5, 0.5)
        strong.add(0.1, 0.1)
    assert even.worth(100) == pytest.approx(2 / (1 + 10 ** (-50 / 400)) - 1, rel=0.01)
    assert strong.worth(100) == pytest.approx(0.36 * even.worth(100), rel=0.05)


def test_opponents_of_different_strength_count_by_their_blocks():
    mixed = WinTest(Question(), groups=2)
    for _ in range(1000):
        mixed.add(0.9, 0.9, 0)
        mixed.add(0.1, 0.1, 1)
    assert mixed.worth(40) == pytest.approx(
        0.36 * WinTest(Question(), groups=1).worth(40), rel=0.05
    )


@pytest.mark.parametrize(("new", "old"), [(0.3, 0.2), (0.21, 0.03), (0.6, 0.9), (0.98, 0.9)])
def test_against_others_the_difference_in_elo_is_that_of_the_odds(new, old):
    """So it is the one that a table of ratings shows, seats aside."""
    test = WinTest(Question(), groups=1)
    for _ in range(100_000):
        test.add(new, old)
    odds = (new / (1 - new)) / (old / (1 - old))
    assert plain_estimate(test).elo == pytest.approx(400 * np.log10(odds), rel=1e-3)


@pytest.mark.parametrize(("value", "verdict"), [(1, Verdict.BETTER), (-1, Verdict.NOT_BETTER)])
def test_winning_or_losing_everything_is_decided_soon_but_not_at_once(value, verdict):
    assert fed([value] * 5).verdict == Verdict.UNDECIDED
    assert fed([value] * 12).verdict == verdict


def test_blocks_that_are_all_alike_need_enough_of_them():
    """A difference that shows in every seventieth block only must have its chance to show."""
    assert fed([0.0] * 70).verdict == Verdict.UNDECIDED
    assert fed([0.0] * 90).verdict == Verdict.NOT_BETTER


def test_a_test_without_blocks_knows_nothing():
    test = WinTest(Question())
    assert (test.llr, test.verdict) == (0, Verdict.UNDECIDED)
    assert unbiased_estimate(test) == (0, -inf, inf)
    assert plain_estimate(test) == (0, -inf, inf)


def test_every_look_has_the_plain_estimate_of_the_blocks_so_far():
    test, look = WinTest(Question(0, 40)), None
    for value in [1.0, 1.0, -1.0, 0.5, 0.0, 0.5, 1.0, -0.5] * 8:
        test.add((1 + value) / 2, (1 - value) / 2)
        look, plain = look_at(test, look), plain_estimate(test)
        assert (look.blocks, look.llr, look.verdict) == (test.blocks, test.llr, test.verdict)
        assert look.elo == pytest.approx(plain.elo, abs=1e-3)
        if test.blocks > 20:
            assert look.error == pytest.approx((plain.high - plain.low) / 2, rel=0.1)
    assert look_at(WinTest(Question())) == (0, 0, 0, inf, Verdict.UNDECIDED)


@pytest.mark.parametrize(
    ("blocks", "factor"), [(2, 12.706), (4, 3.182), (10, 2.262), (30, 2.045), (400, 1.96)]
)
def test_the_error_bar_of_a_look_is_as_wide_as_students_t_makes_it(blocks, factor):
    """The factors are those of a printed table, with one degree of freedom less than blocks."""
    test = fed([1.0, -1.0] * (blocks // 2))
    assert (test.mean, test.variance) == (0, 1)
    slope = log(10) / 800  # of the logistic curve where both bots are equal
    assert look_at(test).error == pytest.approx(factor / blocks**0.5 / slope, rel=1e-3)
    width = factor / blocks**0.5
    end = atanh(width) / slope if width < 1 else inf
    assert plain_estimate(test) == pytest.approx((0, -end, end), rel=1e-3, abs=1e-6)


def test_the_interval_of_a_disagreement_has_the_factor_of_student_for_99_percent():
    """With ten blocks it is 3.250, as a printed table has it."""
    rng = np.random.default_rng(5)
    test = fed_by_margin(game(*rng.choice([1, 4, -2, -9], 2).tolist()) for _ in range(10))
    slopes = []
    for each in (test, test.wins):
        elo = plain_estimate(each).elo
        slopes.append(each.worth(elo + 0.5) - each.worth(elo - 0.5))
    by_margin, by_wins = slopes
    variance = test.variance / by_margin**2 + test.wins.variance / by_wins**2
    variance -= 2 * test.covariance / (by_margin * by_wins)
    apart = disagreement(test)
    half = 3.250 * (variance / 10) ** 0.5
    assert (apart.low, apart.high) == pytest.approx((apart.elo - half, apart.elo + half), rel=1e-3)


@pytest.mark.parametrize("drift", [-2.0, 0.0, 0.5, 3.0])
@pytest.mark.parametrize("time", [0.05, 0.5, 3.0, 8.0, 40.0])
def test_the_chances_of_all_outcomes_make_one(drift, time):
    low, high = -2.9, 2.5
    below, above = (
        chance_of_less(Endpoint(low, high, time, low), drift),
        1 - chance_of_less(Endpoint(low, high, time, high), drift),
    )
    running = chance_of_less(Endpoint(low, high, time, high - 1e-9), drift) - below
    assert below + above + running == pytest.approx(1, abs=1e-5)


def test_the_chance_of_either_bound_is_walds_in_the_long_run():
    low, high, drift = -2.9, 2.5, 0.4
    exact = (1 - np.exp(-2 * drift * high)) / (np.exp(-2 * drift * low) - np.exp(-2 * drift * high))
    assert chance_of_less(Endpoint(low, high, 300.0, low), drift) == pytest.approx(exact, abs=1e-5)


def test_far_from_the_bounds_the_chance_is_the_normal_one():
    for time in (0.001, 0.01, 0.1):
        outcome = Endpoint(-2.9, 2.9, time, 0.05)
        assert chance_of_less(outcome, 0.3) == pytest.approx(
            ndtr((0.05 - 0.3 * time) / time**0.5), abs=1e-4
        )


def test_the_chances_agree_with_simulated_motions():
    rng, step, time, drift = np.random.default_rng(3), 0.002, 2.0, 0.3
    low, high = -1.2, 1.5
    margin = 0.583 * step**0.5
    paths = np.cumsum(rng.normal(drift * step, step**0.5, (4000, int(time / step))), axis=1)
    met_low, met_high = paths <= low + margin, paths >= high - margin
    first_low = np.where(met_low.any(axis=1), met_low.argmax(axis=1), paths.shape[1])
    first_high = np.where(met_high.any(axis=1), met_high.argmax(axis=1), paths.shape[1])
    ended_low = (first_low < first_high).mean()
    ended_high = (first_high < first_low).mean()
    assert chance_of_less(Endpoint(low, high, time, low), drift) == pytest.approx(
        ended_low, abs=0.025
    )
    assert 1 - chance_of_less(Endpoint(low, high, time, high), drift) == pytest.approx(
        ended_high, abs=0.025
    )
    below = ended_low + ((first_low == first_high) & (paths[:, -1] <= 0.2)).mean()
    assert chance_of_less(Endpoint(low, high, time, 0.2), drift) == pytest.approx(below, abs=0.025)


def test_a_test_far_from_its_bounds_is_estimated_as_if_there_were_none():
    values = [1.0, -1.0, 0.5, 0.0, 0.5, -0.5] * 20
    test = fed(values)
    fair, plain = unbiased_estimate(test), plain_estimate(test)
    assert test.verdict == Verdict.UNDECIDED
    assert fair == pytest.approx(plain, abs=3)


def test_a_bound_that_was_met_draws_the_estimate_back():
    values = [1.0, -1.0, 0.5, 0.0, 0.5] * 600
    test = WinTest(Question())
    for value in values:
        test.add((1 + value) / 2, (1 - value) / 2)
        if test.verdict == Verdict.BETTER:
            break
    fair, plain = unbiased_estimate(test), plain_estimate(test)
    assert fair.low < fair.elo < plain.elo < fair.high


@pytest.mark.parametrize(
    "question",
    [Question(0, 10), Question(0, 0.1), Question(0, 300), Question(-5, 5), Question(-100, -50)],
)
@pytest.mark.parametrize("groups", [0, 2])
@pytest.mark.parametrize("shares", [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (0.0, 0.0)])
@pytest.mark.parametrize("blocks", [1, 4, 300])
def test_every_outcome_has_an_estimate_within_its_interval(question, groups, shares, blocks):
    if not groups and sum(shares) != 1:
        return
    test = WinTest(question, groups=groups)
    for number in range(blocks):
        test.add(*shares, number % max(groups, 1))
        if test.verdict != Verdict.UNDECIDED:
            break
    for estimate in (unbiased_estimate(test), plain_estimate(test)):
        assert estimate.low <= estimate.elo <= estimate.high
