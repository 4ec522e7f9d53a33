"""The sequential test on simulated blocks: it errs no more often than it says, and its estimates
are not biased by stopping.
"""

import os

import numpy as np
import pytest

from arena.ratings.sequential import Question, Verdict, WinTest
from tests.ratings.coverage import repeat
from tests.ratings.stopping import Case, behaviour

TRIES = int(os.environ.get("ARENA_RATING_TRIES", "150"))
"""`make fuzz` raises it."""


@pytest.mark.parametrize("elo", [0, 50])
def test_the_wrong_answer_is_as_rare_as_was_asked_for(elo):
    """5 % of 300 tries, and what chance allows."""
    (better, not_better, blocks, *_), _ = repeat(behaviour(Case(elo, Question(0, 50))), TRIES)
    assert (better if elo == 0 else not_better) <= 0.09
    assert better + not_better == 1
    assert 80 < blocks < 120


def test_half_of_the_median_unbiased_estimates_are_above_the_truth_and_most_plain_ones():
    (*_, fair, plain, held, _), _ = repeat(behaviour(Case(50, Question(0, 50))), TRIES)
    assert abs(fair - 0.5) < 0.08
    assert plain > fair + 0.08
    assert held > 0.9


def test_versions_that_seldom_differ_are_not_judged_by_the_first_blocks():
    (_, not_better, *_), _ = repeat(behaviour(Case(20, Question(0, 20), 0.1)), TRIES)
    assert not_better < 0.12


def test_against_opponents_of_different_strength_the_errors_are_the_same():
    """Bots 15 Elo apart, or equal, against one opponent 200 Elo above and one 200 below."""
    rng = np.random.default_rng(5)
    wrong = {0: 0, 60: 0}
    for elo in wrong:
        for _ in range(60):
            verdict = play_pool(rng, elo)
            wrong[elo] += verdict != (Verdict.BETTER if elo else Verdict.NOT_BETTER)
    assert max(wrong.values()) <= 9


def play_pool(rng, elo):
    test = WinTest(Question(0, 60), groups=2, look=2)
    against = np.array([-200, 200])
    chances = [1 / (1 + 10 ** (-(mine + against) / 400)) for mine in (elo, 0)]
    while test.verdict == Verdict.UNDECIDED:
        shares = [(rng.random((2, 2)) < chance[:, None]).mean(axis=1) for chance in chances]
        for group in range(2):
            test.add(shares[0][group], shares[1][group], group)
    return test.verdict
