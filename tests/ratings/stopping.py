"""How the sequential test behaves on simulated blocks: wrong answers, lengths, and whether its
estimates hold.

A block is two games of two bots in swapped seats. The luck of the seats cancels out in part, so the
games of a block are not independent, and a part of the games ends shared.
"""

from typing import NamedTuple

import numpy as np

from arena.ratings.estimates import plain_estimate, unbiased_estimate
from arena.ratings.likelihood import ELO
from arena.ratings.margins import MarginTest
from arena.ratings.sequential import Question, Verdict, WinTest
from tests.ratings.worlds import World, every_line_up, play

LUCK = 0.3
CHUNK = 1000
MOST = 20_000


class Case(NamedTuple):
    """A question, the true difference in Elo, the share of blocks in which the two play differently
    at all, and what decides.
    """

    elo: float
    question: Question
    differing: float = 1.0
    by: str = "wins"

    def test(self):
        """The test, without a block."""
        return (MarginTest if self.by == "margin" else WinTest)(self.question)


def blocks(case, rng, count):
    """(count, 2) the shares of the win of the first bot and its leads in the games of so many
    blocks; the mean share is what the model expects for the true difference.
    """
    expected = np.tanh(case.elo / ELO / 2) / case.differing
    elo = np.array([2 * ELO * np.arctanh(expected), 0.0])
    played = play(World(elo, every_line_up(2, 2), seat_luck=LUCK), count, rng)
    leads = played.leads() * [1, -1]
    alike = rng.random(count) >= case.differing
    leads[alike, 1] = -leads[alike, 0]
    return (1 + np.sign(leads)) / 2, leads


def decide(case, rng, most=MOST):
    """A test fed until it decides or has had the most blocks."""
    test = case.test()
    while test.blocks < most:
        shares, leads = blocks(case, rng, min(CHUNK, most - test.blocks))
        for share, lead in zip(shares.mean(axis=1).tolist(), leads.tolist(), strict=True):
            test.add(share, 1 - share, margins=(lead, [-each for each in lead]))
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
