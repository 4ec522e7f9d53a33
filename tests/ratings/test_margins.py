"""The test on margins: what it counts, that it errs as seldom as it says, and that it takes fewer
blocks.
"""

import os
from math import inf

import numpy as np
import pytest

from arena.ratings.estimates import disagreement, plain_estimate, unbiased_estimate
from arena.ratings.margins import MarginTest
from arena.ratings.sequential import Question, Verdict
from tests.ratings.margin_blocks import Case, answers, decide, duel_block, fed, game

TRIES = int(os.environ.get("ARENA_RATING_TRIES", "20"))
"""`make fuzz` raises it."""
ALLOWED = 0.05 + 3 * (0.05 * 0.95 / TRIES) ** 0.5 + 0.02


def simulated(wide_wins):
    """The shares of the new bot in simulated blocks, and the sum of the margins of its wins."""
    rng = np.random.default_rng(1)
    case = Case(0, Question(0, 50), wide_wins=wide_wins)
    shares, margins = [], 0
    for _ in range(200):
        share, _, _, (new, _) = duel_block(case, rng)
        shares.append(share)
        margins += sum(margin for margin in new if margin > 0)
    return shares, margins


def test_simulated_wins_that_are_higher_than_the_model_says_come_no_more_often():
    usual, wide = simulated(1), simulated(1.5)
    assert wide[0] == usual[0]
    assert wide[1] > 1.2 * usual[1]


def test_the_mean_is_wilcoxons_signed_rank_statistic():
    margins = [5, -1, 3, 3, -2, 8, 0]
    beats = [(np.sign(one + other) + 1) / 2 for one in margins for other in margins]
    assert fed(game(margin) for margin in margins).mean == pytest.approx(np.mean(beats) - 0.5)


def test_against_opponents_the_mean_is_that_of_mann_and_whitney():
    new, old = [0, -4, 0, -8], [-4, -8, -8, -1]
    blocks = [
        (float(one == 0), float(other == 0), 0, ((one,), (other,)))
        for one, other in zip(new, old, strict=True)
    ]
    beats = [(np.sign(one - other) + 1) / 2 for one in new for other in old]
    assert fed(blocks, players=3, groups=1).mean == pytest.approx(np.mean(beats) - 0.5)


def test_equal_bots_are_worth_nothing_and_more_elo_is_worth_more():
    rng = np.random.default_rng(1)
    test = fed(duel_block(Case(0, Question()), rng) for _ in range(500))
    worths = [test.worth(elo) for elo in (-4000, -300, -50, 0, 50, 300, 4000)]
    assert worths[3] == pytest.approx(0, abs=1e-12)
    assert worths == sorted(worths)
    assert worths[0] == pytest.approx(-worths[-1])
    assert worths[-1] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("shared", [0.0, 0.5])
@pytest.mark.parametrize("elo", [0, 40, 200])
def test_the_estimate_is_the_elo_of_the_share_of_the_win(elo, shared):
    rng = np.random.default_rng(2)
    case = Case(elo, Question(), shared=shared)
    test = fed(duel_block(case, rng) for _ in range(4000))
    estimate = plain_estimate(test)
    assert estimate.low - 3 <= elo <= estimate.high + 3
    by_wins = plain_estimate(test.wins)
    assert estimate.high - estimate.low < (1.1 if shared else 0.95) * (by_wins.high - by_wins.low)


def test_a_margin_of_one_size_says_what_wins_say():
    """Where there is nothing but winning and losing, both tests are the same."""
    rng = np.random.default_rng(3)
    test = fed(game(*rng.choice([-7, 7], 2, p=[0.4, 0.6])) for _ in range(400))
    assert plain_estimate(test) == pytest.approx(plain_estimate(test.wins), abs=1.5)
    assert test.llr == pytest.approx(test.wins.llr, abs=0.1)


def test_a_forfeited_game_is_a_loss_of_middling_size():
    small, large = [game(margin, -margin) for margin in (1, 9)] * 20, 20
    forfeit = fed([*small, *[game(-25, -25)] * large])
    least, most = (fed([*small, *[game(size, size)] * large]) for size in (-1, -24))
    assert most.mean < forfeit.mean < least.mean
    assert forfeit.wins.mean == least.wins.mean == most.wins.mean


def test_forfeits_alone_are_wins_and_losses():
    test = fed([game(25, 25)] * 30 + [game(-25, 25)] * 10, Question(0, 50))
    assert test.verdict == test.wins.verdict == Verdict.BETTER


@pytest.mark.parametrize("margins", [(24, 24), (1, 1), (25, 25), (0, 0), (-24, 24)])
@pytest.mark.parametrize("blocks", [0, 1, 4, 300])
@pytest.mark.parametrize("question", [Question(0, 10), Question(0, 300), Question(-100, -50)])
def test_every_outcome_has_an_estimate_within_its_interval(question, margins, blocks):
    test = fed([game(*margins)] * blocks, question)
    for estimate in (unbiased_estimate(test), plain_estimate(test), disagreement(test)):
        assert -inf <= estimate.low <= estimate.elo <= estimate.high <= inf


@pytest.mark.parametrize("margins", [(24, 24), (-1, -1)])
def test_winning_or_losing_everything_is_decided_soon_but_not_at_once(margins):
    question = Question(0, 50)
    assert fed([game(*margins)] * 3, question).verdict == Verdict.UNDECIDED
    assert fed([game(*margins)] * 12, question).verdict != Verdict.UNDECIDED


def test_margins_that_say_something_else_than_wins_are_found_out():
    """One wins two games of three, and loses the third by a lot."""
    rng = np.random.default_rng(4)
    odd = fed(game(*rng.choice([1, 1, -20], 2).tolist()) for _ in range(300))
    apart = disagreement(odd)
    assert apart.high < 0
    fair = fed(duel_block(Case(50, Question()), rng) for _ in range(300))
    assert disagreement(fair).low <= 0 <= disagreement(fair).high


@pytest.mark.long
@pytest.mark.parametrize(
    ("case", "wrong"),
    [
        (Case(0, Question(0, 100)), True),
        (Case(100, Question(0, 100)), False),
        (Case(0, Question(0, 100), shared=0.2, forfeits=0.1), True),
        (Case(0, Question(0, 120), players=3), True),
        (Case(120, Question(0, 120), players=4), False),
    ],
)
def test_the_wrong_answer_is_as_rare_as_was_asked_for(case, wrong):
    ending = answers(case, TRIES)
    assert (ending.better if wrong else 1 - ending.better) <= ALLOWED
    assert ending.disagree <= ALLOWED


@pytest.mark.long
def test_margins_take_fewer_blocks_than_wins():
    ending = answers(Case(50, Question(0, 50)), max(TRIES // 2, 15))
    assert ending.blocks < 0.9 * ending.wins_blocks


def test_the_answer_does_not_depend_on_how_often_it_was_looked_at():
    case = Case(50, Question(0, 50))
    assert decide(case, np.random.default_rng(5)) == decide(case, np.random.default_rng(5))
    rng = np.random.default_rng(6)
    blocks = [duel_block(case, rng) for _ in range(50)]
    often = MarginTest(Question(0, 50))
    for block in blocks:
        often.add(*block)
        assert often.llr == often.llr
    assert often.llr == fed(blocks, Question(0, 50)).llr
