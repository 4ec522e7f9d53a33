"""How the sequential test behaves on simulated blocks: wrong answers, lengths, and whether its
estimates hold.

A block is two games of two bots in swapped seats. The luck of the seats cancels out in part, so the
games of a block are not independent, and a part of the games ends shared.
"""

from typing import NamedTuple

import numpy as np

from arena.ratings.estimates import plain_estimate, unbiased_estimate
from arena.ratings.model import ELO
from arena.ratings.sequential import Question, SequentialTest, Verdict
from tests.ratings.worlds import World, every_line_up, play

LUCK = 0.3
CHUNK = 1000
MOST = 20_000


class Case(NamedTuple):
    """A question, the true difference in Elo, and the share of blocks in which the two play
    differently at all.
    """

    elo: float
    question: Question
    differing: float = 1.0


def values(case, rng, count):
    """The values of so many blocks, from -1 to 1, in fourths; their mean is what the model expects
    for the true difference.
    """
    expected = np.tanh(case.elo / ELO / 2) / case.differing
    elo = np.array([2 * ELO * np.arctanh(expected), 0.0])
    world = World(elo, every_line_up(2, 2), seat_luck=LUCK, seat_step=0.0)
    ahead = np.diff(play(world, count, rng).ranks, axis=2)[..., 0] * [1, -1]
    return np.where(rng.random(count) < case.differing, ahead.mean(axis=1), 0.0)


def decide(case, rng, most=MOST):
    """A test fed until it decides or has had the most blocks."""
    test = SequentialTest(case.question)
    while test.blocks < most:
        for value in values(case, rng, min(CHUNK, most - test.blocks)).tolist():
            test.add((1 + value) / 2, (1 - value) / 2)
            if test.verdict != Verdict.UNDECIDED:
                return test
    return test


def behaviour(case):
    """A trial: whether the answer is better, or not better; the number of blocks; whether the
    median-unbiased estimate is above the truth, and the plain one; whether their intervals hold it.
    """

    def trial(rng):
        test = decide(case, rng)
        fair, plain = unbiased_estimate(test), plain_estimate(test)
        held = [estimate.low <= case.elo <= estimate.high for estimate in (fair, plain)]
        verdicts = (test.verdict == Verdict.BETTER, test.verdict == Verdict.NOT_BETTER)
        return (*verdicts, test.blocks, fair.elo > case.elo, plain.elo > case.elo, *held)

    return trial


def answer_and_interval(case):
    """A trial: whether the answer is wrong, where the question has a right one; whether it is
    better; the blocks; and whether the interval holds the truth.
    """
    question, trial = case.question, behaviour(case)

    def told(rng):
        better, not_better, blocks, _, _, held, _ = trial(rng)
        wrong = better if case.elo <= question.elo0 else not_better
        return np.nan if question.elo0 < case.elo < question.elo1 else wrong, better, blocks, held

    return told
