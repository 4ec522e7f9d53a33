"""Simulated blocks for the test on margins, whose true difference in Elo is known.

Two players: the margin is that of an ordered logit, with luck that the two games of a block share,
and some games shared or forfeited. More: ranks by stages, of which each later one depends less on
strength, as measured on real games.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from arena.ratings.estimates import disagreement
from arena.ratings.margins import MarginTest
from arena.ratings.sequential import SCALE, Question, Verdict
from arena.records.record import UNKNOWN_MARGIN

LUCK = 0.3
STEP = 0.25
"""How far on the logistic scale a pagoda is."""
STAGES = (1.0, 0.64, 0.56)
LEVELS = (-200, 200)
"""The opponents' Elo, of one set after the other."""


class Case(NamedTuple):
    """A question, the true difference, and the games; with 2 players the bots play each other.

    ``wide_wins``: how many times as high the new bot's wins are as the model of the test says. That
    changes nothing about how often it wins.
    """

    elo: float
    question: Question
    players: int = 2
    shared: float = 0.0
    forfeits: float = 0.0
    wide_wins: float = 1.0


def duel_block(case, rng):
    """A block of two games in swapped seats."""
    middle = shared_width(case.shared)
    normal = np.sqrt(LUCK) * rng.standard_normal() * np.array([1, -1]) + np.sqrt(
        1 - LUCK
    ) * rng.standard_normal(2)
    chance = ndtr(normal)
    place = strength(case.elo, middle) + np.log(chance / (1 - chance))
    times = np.where(place > 0, case.wide_wins, 1.0)
    size = np.ceil(times * (np.abs(place) - middle) / STEP).clip(0, UNKNOWN_MARGIN - 1)
    margins = (np.sign(place) * size).astype(int)
    lost = (rng.random(2) < case.forfeits) & (margins != 0)
    margins[lost] = UNKNOWN_MARGIN * np.sign(margins[lost])
    share = float(np.mean((np.sign(margins) + 1) / 2))
    return share, 1 - share, 0, (margins.tolist(), (-margins).tolist())


def shared_width(shared):
    """How far from 0 equal bots share the win, if they share it this often."""
    return np.log((1 + shared) / (1 - shared))


def strength(elo, middle):
    """The difference on the logistic scale that gives the share of the win of this one in Elo."""
    share = 1 / (1 + np.exp(-elo / SCALE))

    def beyond(place):
        ends = [1 / (1 + np.exp(-(place + sign * middle))) for sign in (1, -1)]
        return np.mean(ends) - share

    return brentq(beyond, -10, 10)


def pool_block(case, rng, group):
    """A block in which both bots play the same number of games against the same opponents."""
    margins = []
    for mine in (case.elo, 0):
        others = [LEVELS[group] + 40 * number for number in range(case.players - 1)]
        utility = np.array([mine, *others]) / SCALE
        margins.append([-4 * (rank_of_first(utility, rng) - 1) for _ in range(case.players)])
    new, old = (float(np.mean([margin == 0 for margin in side])) for side in margins)
    return new, old, group, tuple(margins)


def rank_of_first(utility, rng):
    """The rank of the first bot, when ranks are given out stage by stage."""
    left = list(range(len(utility)))
    for stage, scale in enumerate(STAGES[: len(utility) - 1]):
        weight = np.exp(scale * utility[left])
        chosen = left[rng.choice(len(left), p=weight / weight.sum())]
        if chosen == 0:
            return stage + 1
        left.remove(chosen)
    return len(utility)


def rounds(case, rng):
    """Rounds of blocks without end."""
    while True:
        if case.players == 2:
            yield [duel_block(case, rng)]
        else:
            yield [pool_block(case, rng, group) for group in range(len(LEVELS))]


def new_test(case):
    groups = 0 if case.players == 2 else len(LEVELS)
    return MarginTest(case.question, players=case.players, groups=groups, look=max(groups, 1))


class Ending(NamedTuple):
    """The answers by margin and by wins, after how many blocks each came, and whether the two
    disagreed at the end of the one by margin.
    """

    better: bool
    blocks: int
    wins_better: bool
    wins_blocks: int
    disagree: bool


def decide(case, rng):
    """Both tests on the same blocks, each until it has its answer."""
    test, source, ended, disagree = new_test(case), rounds(case, rng), {}, False
    while len(ended) < 2:
        for block in next(source):
            test.add(*block)
        for name, judged in (("margin", test), ("wins", test.wins)):
            if name not in ended and judged.verdict != Verdict.UNDECIDED:
                ended[name] = (judged.verdict == Verdict.BETTER, judged.blocks)
                if name == "margin":
                    apart = disagreement(test)
                    disagree = not apart.low <= 0 <= apart.high
    return Ending(*ended["margin"], *ended["wins"], disagree)


def answers(case, tries, seed=1):
    """The means of `Ending` over this many tests."""
    rng = np.random.default_rng(seed)
    return Ending(*np.mean([decide(case, rng) for _ in range(tries)], axis=0))


def both(case):
    """A trial: whether the answer by margin is wrong, and by wins; after how many blocks they came;
    and whether the arena said that the two disagree.
    """
    # A difference between the two hypotheses is on the side of the nearer one.
    is_better = case.elo > (case.question.elo0 + case.question.elo1) / 2

    def trial(rng):
        ending = decide(case, rng)
        return (
            ending.better != is_better,
            ending.wins_better != is_better,
            ending.blocks,
            ending.wins_blocks,
            ending.disagree,
        )

    return trial


def fed(blocks, question=None, **options):
    """A test on margins of this question that has counted these blocks."""
    test = MarginTest(question or Question(), **options)
    for block in blocks:
        test.add(*block)
    return test


def game(*margins):
    """A block of games between two bots, with these margins for the new one."""
    share = float(np.mean([(np.sign(margin) + 1) / 2 for margin in margins]))
    return share, 1 - share, 0, (margins, tuple(-margin for margin in margins))
