"""How the sequential test behaves on simulated blocks: wrong answers, lengths, and whether its
estimates hold.

A block is two games of two bots in swapped seats. The games of a block share a luck of their own,
so that they are not independent, and a part of the games ends shared. ``python -m
tests.ratings.stopping [TRIES]`` prints a table; it takes some minutes.
"""

import sys
import time
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from arena.ratings.estimates import plain_estimate, unbiased_estimate
from arena.ratings.model import ELO
from arena.ratings.sequential import Question, SequentialTest, Verdict

SHARED = 0.1
LUCK = 0.3
CHUNK = 1000


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
    chance = (1 + expected / (1 - SHARED)) / 2
    normal = np.sqrt(LUCK) * rng.standard_normal((count, 1)) * [1, -1] + np.sqrt(
        1 - LUCK
    ) * rng.standard_normal((count, 2))
    won = np.where(ndtr(normal) < chance, 1.0, -1.0)
    won[rng.random((count, 2)) < SHARED] = 0.0
    return np.where(rng.random(count) < case.differing, won.mean(axis=1), 0.0)


def decide(case, rng, most):
    """A test fed until it decides or has had the most blocks."""
    test = SequentialTest(case.question)
    while test.blocks < most:
        for value in values(case, rng, min(CHUNK, most - test.blocks)).tolist():
            test.add((1 + value) / 2, (1 - value) / 2)
            if test.verdict != Verdict.UNDECIDED:
                return test
    return test


def answers(case, tries, seed=1, most=20_000):
    """Shares of better and not better, and mean blocks."""
    rng = np.random.default_rng(seed)
    tests = [decide(case, rng, most) for _ in range(tries)]
    return np.mean(
        [
            (test.verdict == Verdict.BETTER, test.verdict == Verdict.NOT_BETTER, test.blocks)
            for test in tests
        ],
        axis=0,
    )


def behaviour(case, tries, seed=1, most=20_000):
    """Shares of better, not better; mean blocks; and how the estimates of ``tries`` tests stand to
    the truth.

    Of the estimates: how often the median-unbiased one is above the truth, and the plain one; how
    often their intervals hold it.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(tries):
        test = decide(case, rng, most)
        fair, plain = unbiased_estimate(test), plain_estimate(test)
        held = [estimate.low <= case.elo <= estimate.high for estimate in (fair, plain)]
        verdicts = (test.verdict == Verdict.BETTER, test.verdict == Verdict.NOT_BETTER)
        rows.append((*verdicts, test.blocks, fair.elo > case.elo, plain.elo > case.elo, *held))
    return np.mean(rows, axis=0)


CASES = [
    *(Case(elo, Question(0, 10)) for elo in (-50, -10, 0, 5, 10, 20, 50, 200)),
    *(Case(elo, Question(0, 50)) for elo in (-50, 0, 25, 50, 200)),
    *(Case(elo, Question(0, 100)) for elo in (0, 50, 100)),
    *(Case(elo, Question(-5, 5)) for elo in (-5, 5)),
    *(Case(elo, Question(0, 10), differing) for elo in (0, 10) for differing in (0.3, 0.05)),
]


def main(tries):
    """Prints a row for each case."""
    print(
        "elo0 elo1 differing   elo  better not-better  blocks  above: fair plain  held: fair plain "
        " seconds"
    )
    for case in CASES:
        began = time.perf_counter()
        better, worse, blocks, *rest = behaviour(case, tries)
        shares = "  ".join(f"{share:.3f}" for share in (better, worse))
        others = "  ".join(f"{share:.3f}" for share in rest)
        elo0, elo1, *_ = case.question
        seconds = time.perf_counter() - began
        print(
            f"{elo0:4} {elo1:4} {case.differing:9} {case.elo:5}  {shares}  {blocks:8.1f}  {others} "
            f" {seconds:.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
