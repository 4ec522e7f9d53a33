"""Simulated regression tests: how often the newest version of a bot is said to be worse than an
earlier one, where it is not and where it is.

The arena's own function rates the games of the test. Only their results are drawn by lot, from
known strengths, with luck that the games on a deal share, as in the simulated leagues. In games of
three and four, other bots of the older version's strength have the further seats.
"""

from typing import NamedTuple

import numpy as np

from arena.ratings.likelihood import ELO
from arena.ratings.regressions import regression_tests
from arena.ratings.results import Outcomes, counts_of
from arena.records.league import Drawn, Joined, League, RegressionBegun
from tests.ratings.leagues import DEALS, SEAT_STEP, luck_of_deal

WHEN = "2026-11-22T12:00:00Z"
NEW, OLD = "my@6", "my@1"
OTHERS = ("a@1", "b@1", "c@1", "d@1")
"""The bots among which the further seats go round, draw by draw."""


class Case(NamedTuple):
    """A test over this many ``games``, of a version that is ``elo`` better than the earlier one."""

    elo: float
    games: int = 400
    players: int = 2


def drawn_line_ups(case):
    """(draws, players) the numbers of the bots in each draw, the new version first."""
    draws = -(-case.games // (DEALS * case.players))
    others = case.players - 2
    turns = (np.arange(draws)[:, None] + np.arange(others)) % len(OTHERS)
    pair = np.broadcast_to([0, 1], (draws, 2))
    return np.hstack([pair, 2 + turns])


def played_games(case, rng):
    """The games of a test as the arena counts them."""
    line_ups = drawn_line_ups(case)
    strengths = np.array([case.elo, *np.zeros(1 + len(OTHERS))]) / ELO
    deals = DEALS * len(line_ups)
    of_deal = np.repeat(line_ups, DEALS, axis=0)
    luck = np.array([luck_of_deal(rng, case.players) for _ in range(deals)])
    effects = SEAT_STEP / ELO * np.arange(case.players)
    seats, values = [], []
    for turn in range(case.players):
        bots = np.roll(of_deal, turn, axis=1)
        seats.append(bots)
        values.append(strengths[bots] + np.roll(luck[:, turn], turn, axis=1) + effects)
    ranks = (-np.concatenate(values)).argsort(axis=1).argsort(axis=1) + 1
    deal = np.tile(np.arange(deals), case.players)
    games = np.arange(len(deal))
    order = np.argsort(deal, kind="stable")
    outcomes = Outcomes(np.concatenate(seats)[order], ranks[order], deal[order], games, {})
    return counts_of([NEW, OLD, *OTHERS], np.arange(deals), outcomes)


def league_of(case):
    """The league that has drawn the games of a test."""
    bots = [NEW, OLD, *OTHERS]
    league = League()
    for bot in bots:
        league.add(Joined(bot, "candidate", WHEN))
    league.add(RegressionBegun(NEW, OLD, case.games, WHEN))
    for number, line_up in enumerate(drawn_line_ups(case)):
        names = "+".join(sorted(bots[bot] for bot in line_up))
        league.add(Drawn(names, number * DEALS, DEALS, NEW))
    return league


def regression(case):
    """A trial: whether the interval of the gain lies below zero, and above; whether it holds the
    true gain; and its half-width.
    """
    league = league_of(case)

    def trial(rng):
        [test] = regression_tests(played_games(case, rng), league)
        assert test.games >= case.games
        return (
            test.gain + test.gain_error < 0,
            test.gain - test.gain_error > 0,
            abs(test.gain - case.elo) <= test.gain_error,
            test.gain_error,
        )

    return trial
