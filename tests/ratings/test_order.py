"""What the sentences under a table claim: never more than the ratings and their errors hold."""

import numpy as np
import pytest
from scipy.special import ndtri

from arena.ratings.bounds import Bound, bounds_of
from arena.ratings.model import Component, Ratings, rank_intervals, rate
from arena.ratings.order import groups_of, one_digit, order_sentences
from arena.ratings.tables import make_tables
from tests.ratings.synthetic import count_results, counts_of, duel, fit_of, frame_of, twins

NAMES = "abcdefghijklmnopqrstuvw"


def component(members, fit, bounds):
    return Component(members, 100, fit, bounds, np.zeros(len(members), dtype=np.int64))


def said(elo, errors, deals=1000, unit="deal"):
    fit = fit_of(elo, errors, deals)
    return order_sentences(NAMES, Ratings([component(fit.members, fit, [])]), unit)


def test_of_two_bots_one_is_ahead_or_nobody_is(snapshot):
    assert said([50, 0], 10) == snapshot
    assert said([0, 50], 10) == snapshot
    assert said([20, 0], 10) == snapshot
    close = (
        "b is probably ahead of c, but that is not clear yet; if the table shows their true"
        " difference, about 50 more deals would settle which is better."
    )
    assert close in said([200, 25, 0, -200, -225], 8, deals=40)
    assert said([2, 0], 10) == snapshot


def test_groups_are_told_from_the_top_with_the_names_of_few_and_the_ends_of_many(snapshot):
    assert said([100, 20, 0, -100], 8) == snapshot
    assert said([100, 20, 15, 10, 0, -5], 8)[0] == snapshot


def test_a_clear_order_of_many_is_one_sentence(snapshot):
    assert said(np.arange(23) * -100, 8) == snapshot
    assert said([500, 400, 300, 200, 100, 97], 8) == snapshot


def test_many_bots_get_few_sentences(snapshot):
    table = said(np.repeat(np.arange(8) * -200, 2), 8)
    assert table[0] == snapshot
    assert len(table) == 6
    assert table[-1] == snapshot


def test_neighbours_that_are_close_do_not_hide_who_is_far_apart(snapshot):
    assert said(np.arange(6) * -15, 8) == snapshot


def test_a_pair_that_is_clear_is_not_advised_more_deals(snapshot):
    """c is known badly, so that no step is clear, though a is clearly ahead of b."""
    [sentence] = said([60, 0, -20], [5, 5, 60])
    assert sentence == snapshot


def test_bots_far_apart_are_not_called_close_and_unknown_differences_are_called_unknown(snapshot):
    assert said([250, 0], 80, deals=8)[0] == snapshot
    assert said([274, 0], 400, deals=8) == snapshot
    [few] = said([400, 200, 0], 85, deals=8)
    assert few == snapshot
    [alike] = said([10, 5, 0], 30, deals=8)
    assert alike == snapshot


def test_a_bot_of_which_little_is_known_is_behind_nobody_and_ahead_of_nobody():
    groups = groups_of(fit_of([200, 0, -200], [8, 150, 8]))
    assert [group.bots for group in groups] == [[0, 1, 2]]
    assert groups[0].ahead_of == 2 or groups[0].ahead_of is None


def test_a_newcomer_has_no_place_yet_and_leaves_the_steps_of_the_others_clear(snapshot):
    assert said([200, 20, 0], [8, 200, 8], deals=[60, 5, 60]) == snapshot
    assert said([200, 20, 0], 8, deals=5) == snapshot


def test_what_the_bot_with_fewer_deals_needs_is_counted():
    [few], [many] = (groups_of(fit_of([20, 0], 10, deals)) for deals in ([20, 500], [500, 500]))
    assert few.more == pytest.approx(many.more / 25, rel=0.2)


def test_a_step_is_clear_only_if_everyone_above_is_ahead_of_everyone_below():
    wide = groups_of(fit_of([300, 200, 0, -10], [300, 8, 8, 8]))
    assert [group.bots for group in wide] == [[0, 1, 2, 3]]
    assert [group.bots for group in groups_of(fit_of([300, 200, 0, -10], 8))] == [[0], [1], [2, 3]]


@pytest.mark.parametrize("ratio", [1.0, 1.5, 1.9])
def test_so_many_more_deals_make_the_difference_clear_in_four_of_five_cases(ratio):
    [group] = groups_of(fit_of([ratio * 10 * np.sqrt(2), 0], 10, 10_000))
    later = ratio * np.sqrt(1 + group.more / 10_000)
    assert later == pytest.approx(ndtri(0.975) + ndtri(0.8), rel=0.06)


def test_names_do_not_move_the_groups():
    rng = np.random.default_rng(3)
    elo, errors, order = rng.normal(0, 50, 12), rng.uniform(5, 30, 12), rng.permutation(12)
    one = [set(group.bots) for group in groups_of(fit_of(elo, errors))]
    other = [
        {int(order[bot]) for bot in group.bots}
        for group in groups_of(fit_of(elo[order], errors[order]))
    ]
    assert one == other


@pytest.mark.parametrize(
    ("truth", "errors"),
    [
        ([0] * 4, 10),
        ([0] * 20, 10),
        (np.repeat(np.arange(10) * 1000, 2), 10),
        (np.repeat(np.arange(4) * 1000, 3), 10),
        (np.repeat(np.arange(4) * 1000, 2), [10, 60] * 4),
    ],
    ids=["four equal", "twenty equal", "ten pairs", "four threes", "pairs of unlike errors"],
)
def test_all_that_is_called_clear_is_true_in_95_of_100_tables(truth, errors):
    tries = 300
    rng = np.random.default_rng(1)
    truth = np.asarray(truth, dtype=float)
    wrong = sum(
        claims_too_much(truth, fit_of(truth + rng.standard_normal(len(truth)) * errors, errors))
        for _ in range(tries)
    )
    assert wrong <= 0.05 * tries + 3 * np.sqrt(0.05 * 0.95 * tries)


def claims_too_much(truth, fit):
    """Whether anybody is called clearly ahead of a bot that is as good."""
    groups = groups_of(fit)
    order = [bot for group in groups for bot in group.bots]
    steps = np.cumsum([len(group.bots) for group in groups])[:-1]
    return any(truth[order[:step]].min() <= truth[order[step:]].max() for step in steps) or any(
        truth[group.bots[0]] <= truth[group.bots[group.ahead_of :]].max()
        for group in groups
        if group.ahead_of is not None
    )


def test_one_deal_makes_nothing_clear(snapshot):
    assert (
        make_tables(counts_of([(0, ("a", "b"), (1, 0)), (0, ("b", "a"), (1, 0))])).sentences
        == snapshot
    )


def test_no_game_makes_no_sentence():
    assert not order_sentences(["a", "b"], Ratings([]))


def test_deals_that_all_gave_the_same_result_prove_nothing():
    games = [
        (deal, seated, shares)
        for deal in range(20)
        for seated, won in ((("a", "b"), (1, 0)), (("b", "a"), (0, 1)))
        for shares in (won, (0.5, 0.5))
    ]
    [fit] = rate(count_results(frame_of(games))).fits
    assert fit.half_widths().tolist() == [0, 0]
    assert not make_tables(counts_of(games)).sentences


def test_twins_are_no_more_apart_than_their_results():
    assert not any(
        "a is clearly" in each for each in make_tables(counts_of(twins(40, 1))).sentences
    )


def test_an_anchor_changes_no_sentence():
    counts = counts_of(duel(60, 20) + duel(30, 20, names=("b", "c")))
    assert make_tables(counts).sentences == make_tables(counts, anchors={"b": 1500}).sentences


def bounded(side, is_clear):
    """A rated group of three, and a fourth bot that it bounds."""
    fit = fit_of([200, 0, -200], 8)
    bound = Bound(3, side, 0.0, fit.members, np.zeros(3), np.array(is_clear), 20)
    return order_sentences(NAMES, Ratings([component(np.arange(4), fit, [bound])]))[1:]


def test_a_bot_outside_the_core_is_behind_whom_its_bound_says(snapshot):
    assert bounded("<", [True] * 3) == snapshot
    assert bounded(">", [True] * 3) == snapshot
    assert bounded("<", [True, False, False]) == snapshot
    assert bounded("<", [False] * 3) == snapshot
    assert bounded("~", [False] * 3) == []


@pytest.mark.parametrize(("deals", "is_clear"), [(6, False), (7, True)])
def test_among_four_bots_a_bound_needs_more_deals_to_be_clear(deals, is_clear):
    """A bot wins 6 deals against an equal one with a probability below 5 %, but not below a quarter
    of that, which is the share of one of four bots; the probability of 7 wins is below both.
    """
    games = [(deal, "da", (1, 0)) for deal in range(deals)]
    results = count_results(frame_of(games, "abcd"))
    [bound] = bounds_of(results, np.arange(4), fit_of([0, 0, 0], 0.01))
    assert bound.is_clear.tolist() == [is_clear] * 3


def test_bots_of_which_the_same_is_said_share_a_sentence(snapshot):
    fit = fit_of([200, 0, -200], 8)
    bounds = [
        Bound(member, ">", 0.0, fit.members, np.zeros(3), np.zeros(3, dtype=bool), 20)
        for member in range(3, 9)
    ]
    sentences = order_sentences(NAMES, Ratings([component(np.arange(9), fit, bounds)]))[1:]
    assert sentences == snapshot


def test_of_two_bots_one_that_won_everything_is_ahead_after_enough_deals(snapshot):
    assert make_tables(counts_of(duel(12, 0))).sentences == snapshot
    assert make_tables(counts_of(duel(2, 0))).sentences == snapshot


def test_sentences_name_what_shares_luck(snapshot):
    assert said([20, 0], 10, unit="game")[0] == snapshot


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.2, 1), (1.4, 1), (9.6, 10), (14, 10), (16, 20), (949, 900), (2600, 3000)],
)
def test_a_number_of_deals_has_one_digit(value, shown):
    assert one_digit(value) == shown


def test_ranges_of_ranks_and_sentences_about_the_order_never_contradict_each_other():
    rng = np.random.default_rng(9)
    named = 0
    for _ in range(200):
        count = int(rng.integers(2, 12))
        fit = fit_of(rng.normal(0, 60, count), rng.uniform(4, 40, count), deals=1000)
        best, worst = rank_intervals(fit)
        ranked = 0
        for group in groups_of(fit):
            ranked += len(group.bots)
            assert worst[group.bots].max() <= ranked
            assert best[group.bots].min() > ranked - len(group.bots)
            behind = [] if group.ahead_of is None else group.bots[group.ahead_of :]
            assert all(best[bot] > best[group.bots[0]] for bot in behind)
            named += len(behind)
    assert named, "no random table had a group whose first bot is clearly ahead of others"
