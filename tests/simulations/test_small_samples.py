"""Where rounding, few deals or missing links would decide: ties, the t distribution, what only the
prior holds.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import stdtr

from arena.exports.text import pairs_text
from arena.ratings.likelihood import ELO
from arena.ratings.model import rank_intervals, rate
from arena.ratings.tables import make_tables
from tests.ratings.synthetic import count_results, counts_of, duel, frame_of, standings_text, twins


def fit_of(games, prior=None):
    [fit] = rate(count_results(frame_of(games)), prior).fits
    return fit


@pytest.mark.parametrize("seed", range(6))
def test_bots_with_the_same_results_share_a_rank_and_nobody_is_likely_to_be_the_stronger_one(seed):
    games = twins(40, seed)
    tables = make_tables(counts_of(games))
    table = tables.standings.set_index("bot")
    columns = ["rank", "rank_low", "rank_high", "elo"]
    assert table.loc["a", columns].tolist() == table.loc["b", columns].tolist()
    assert tables.pairs.set_index(["bot", "opponent"]).loc[
        [("a", "b"), ("b", "a")], "los"
    ].tolist() == [0.5, 0.5]
    assert fit_of(games).difference_error()[0, 1] == 0


def test_ratings_that_differ_by_more_than_rounding_stay_apart():
    fit = fit_of(duel(5001, 5000))
    assert fit.elo[0] > fit.elo[1]
    assert fit.superiority()[0, 1] > 0.5


def test_variances_of_rounding_do_not_open_the_other_intervals():
    """Two pairs of twins, one far above the other: the twins' error of 0 must not count among the
    ratios.
    """
    games = [
        (deal, order, result)
        for deal in range(60)
        for order in ("ac", "ad", "bc", "bd")
        for result in ((1, 0),)
        if deal % 7
    ]
    games += [
        (deal, order, (0, 1)) for deal in range(0, 60, 7) for order in ("ac", "ad", "bc", "bd")
    ]
    games += [(deal, order[::-1], result[::-1]) for deal, order, result in games]
    low, high = rank_intervals(fit_of(games))
    assert low.tolist() == [1, 1, 3, 3]
    assert high.tolist() == [2, 2, 4, 4]


def test_few_deals_read_every_error_by_the_t_distribution():
    fit = fit_of(duel(7, 1, 2))
    ratio = (fit.elo[0] - fit.elo[1]) / fit.difference_error()[0, 1]
    assert fit.freedom == pytest.approx(9)
    assert 1.96 < ratio < fit.quantiles()[0, 1]
    assert fit.superiority()[0, 1] == pytest.approx(stdtr(9, ratio))
    assert fit.superiority()[0, 1] < 0.975
    assert [bounds.tolist() for bounds in rank_intervals(fit)] == [[1, 1], [2, 2]]


@pytest.mark.parametrize(
    ("won", "lost", "draws"),
    [(6, 2, 0), (5, 1, 2), (7, 2, 0), (8, 2, 0), (7, 1, 4), (9, 3, 0), (20, 8, 0), (24, 10, 0)],
)
def test_the_difference_its_likelihood_and_the_ranks_of_two_bots_tell_the_same(won, lost, draws):
    fit = fit_of(duel(won, lost, draws))
    is_clear = fit.elo[0] - fit.elo[1] > fit.difference_half_widths()[0, 1]
    assert (fit.superiority()[0, 1] > 0.975) == is_clear
    assert (rank_intervals(fit)[1][0] == 1) == is_clear


def test_a_seat_effect_that_no_deal_departs_from_has_no_error_and_is_not_told(snapshot):
    games = [
        (deal, seated, share)
        for deal in range(12)
        for seated, share in (("ab", (1, 0)), ("ba", (0, 1)), ("ab", (0, 1)), ("ba", (1, 0)))
    ]
    tables = make_tables(counts_of(games))
    assert tables.seats["elo"].tolist() == pytest.approx([0, 0], abs=1e-9)
    assert np.isnan(tables.seats["elo_error"].iloc[1])
    assert "first seat" not in standings_text(tables)
    assert tables.notes == snapshot


def test_seats_whose_effect_the_games_do_not_limit_count_as_equal_and_that_is_told(snapshot):
    games = [(deal, seated, (1, 0)) for deal in range(12) for seated in ("ab", "ba")]
    tables = make_tables(counts_of(games))
    assert tables.seats["elo"].isna().all()
    assert "first seat" not in standings_text(tables)
    told = "with 2 players one of the seats won everything or nothing"
    assert tables.notes == snapshot
    assert tables.standings["elo"].tolist() == [0, 0]
    held = make_tables(counts_of(games), 1.0)
    assert held.seats["elo"].isna().all()
    assert told in held.notes


def test_one_deal_tells_no_seat_effect():
    games = [(0, seated, share) for seated in ("ab", "ba") for share in ((1, 0), (0, 1), (1, 0))]
    assert "first seat" not in standings_text(make_tables(counts_of(games)))


def ladder(*groups):
    """Groups of two even bots each; every group won everything against the next."""
    games = []
    for group in groups:
        games += duel(6, 6, names=tuple(group))
    for above, below in pairwise(groups):
        games += duel(12, 0, names=(above[0], below[0]))
    return games


def test_with_a_prior_all_outside_the_core_are_marked(snapshot):
    tables = make_tables(counts_of(ladder("ab", "cd", "ef", "gh")), 1.0)
    marks = tables.standings.set_index("bot")["mark"]
    assert "".join(mark or "." for mark in marks[list("abcdefgh")]) == "~~..~~~~"
    assert tables.standings["elo"].notna().all()
    assert tables.notes == snapshot


def test_pairs_whose_difference_rests_on_the_prior_are_marked():
    games = ladder("ab", "cd")
    games += duel(12, 0, names=("a", "x"))
    tables = make_tables(counts_of(games), 1.0)
    marks = tables.pairs.set_index(["bot", "opponent"])["mark"]
    shown = sorted(f"{bot}{mark or '='}{opponent}" for (bot, opponent), mark in marks.items())
    assert shown == ["a=b", "a~c", "a~x", "b=a", "c=d", "c~a", "d=c", "x~a"]
    assert fit_of(games, 1.0).marks[2, 4] == "~"
    text = pairs_text(tables.data["pairs"].rows())
    assert "one with ~ depends on the prior" in text
    assert len([line for line in text.splitlines()[1:-1] if "~" in line]) == 4
    assert "prior" not in pairs_text(make_tables(counts_of(duel(7, 5))).data["pairs"].rows())


@pytest.mark.parametrize("deals", [8, 20, 100])
def test_who_won_everything_is_ahead_by_no_more_than_so_many_deals_can_show(deals):
    """The exact bound (Clopper-Pearson) for as many wins as deals; the deals' spread alone, which
    is none, would claim far more.
    """
    fit = fit_of(duel(deals, 0), 1.0)
    chance = 0.025 ** (1 / deals)
    exact = ELO * np.log(chance / (1 - chance))
    low = fit.elo[0] - fit.elo[1] - fit.difference_half_widths()[0, 1]
    assert exact - 120 < low < exact


def test_the_width_that_a_loose_group_adds_stays_out_of_the_groups():
    fit = fit_of(ladder("ab", "cd"), 1.0)
    error = fit.difference_error()
    assert error[0, 1] == pytest.approx(fit_of(duel(6, 6)).difference_error()[0, 1], rel=0.3)
    assert error[0, 2] > 1.5 * error[0, 1]


def test_bots_and_seats_that_only_together_run_away_are_rated_without_seats():
    games = [(deal, "ab", (1, 0) if deal < 5 else (0, 1)) for deal in range(8)] + [
        (deal, "ba", (0, 1)) for deal in range(8)
    ]
    fit = fit_of(games)
    assert (fit.prior, fit.open_seats, fit.seats) == (0, (2,), {})
    assert fit.elo[0] - fit.elo[1] == pytest.approx(ELO * np.log(13 / 3))
    assert "first seat" not in standings_text(make_tables(counts_of(games)))
    assert np.isfinite(fit_of(games, 1.0).half_widths()).all()
