"""How many games it takes to place a candidate to 50 Elo by a league's draws. And how well the gain
of a next version is known then, whether it meets the version before it or not.

Games are drawn by lot from given strengths, and rated by the arena's own ratings.
Run: python -m tests.tournament.placing_games [repeats]
"""

import sys
from itertools import pairwise
from statistics import mean

import numpy as np

from arena.ratings.model import rate
from arena.ratings.results import Outcomes, counts_of
from arena.ratings.scale import on_scale
from arena.records.league import LeagueScale
from arena.tournament.placing import (
    PLACED_ELO,
    PLACING_GAMES,
    Contenders,
    Rival,
    error_of,
    first_guess,
)

DEALS, MOST = 4, 3000


class World:
    """Bots of given strength, and the games that they have played, two to a deal."""

    def __init__(self, strengths, seed):
        self.bots, self.elo = list(strengths), np.array(list(strengths.values()))
        self.random = np.random.default_rng(seed)
        self.seats, self.ranks, self.deal = [], [], []

    def join(self, bot, elo):
        self.bots.append(bot)
        self.elo = np.append(self.elo, elo)

    def play(self, one, other):
        """A deal with seats swapped, with luck that both games share."""
        a, b = self.bots.index(one), self.bots.index(other)
        self.deal += [len(self.deal) // 2] * 2
        for seats in ((a, b), (b, a)):
            chance = 1 / (1 + 10 ** ((self.elo[seats[1]] - self.elo[seats[0]]) / 400))
            self.seats.append(seats)
            self.ranks.append((1, 2) if self.random.random() < chance else (2, 1))

    def counts(self):
        seats, games = np.array(self.seats), np.arange(len(self.seats))
        played = Outcomes(seats, np.array(self.ranks), np.array(self.deal), games, {})
        return counts_of(self.bots, np.arange(len(self.deal) // 2), played)


def known(world, benchmarks):
    return on_scale(world.counts(), benchmarks, LeagueScale(), {})


def settled(world, benchmarks, blocks):
    """Benchmarks that have played each other for a while, nearest most."""
    order = sorted(benchmarks, key=lambda bot: world.elo[world.bots.index(bot)])
    for one, other in pairwise(order):
        for _ in range(blocks):
            world.play(one, other)
    for one, other in zip(order, order[2:], strict=False):
        for _ in range(blocks // 2):
            world.play(one, other)


def placed_by_league(world, benchmarks, candidate, before=""):
    """The candidate's games until it is placed, ``before`` being the version before it."""
    field, games = Contenders(2), 0
    found = known(world, benchmarks)
    while games < MOST:
        elos = {bot: each.elo for bot, each in found.items()}
        rivals = []
        for bot in world.bots:
            each = found.get(bot)
            elo, error = (
                (each.elo, error_of(each.error, each.games)) if each else first_guess(elos, before)
            )
            rival = Rival(bot, is_benchmark=bot in benchmarks, elo=elo, error=error)
            rival.is_placed = bot != candidate
            rival.before = before if bot == candidate else ""
            rivals.append(rival)
        field.show(rivals)
        line_up = field.next_line_up()
        field.add(line_up, 2 * DEALS)
        for _ in range(DEALS):
            world.play(*line_up)
        games += 2 * DEALS * (candidate in line_up)
        found = known(world, benchmarks)
        if candidate in found and found[candidate].is_known_to(PLACED_ELO):
            break
    return games


def gain_error(world, one, other):
    """The half-width of the 95 % interval of the difference of two."""
    (fit,) = rate(world.counts().results).fits
    members = list(fit.members)
    at = [members.index(world.bots.index(bot)) for bot in (one, other)]
    return float(fit.difference_half_widths()[at[0], at[1]])


def next_version(elos, step, number, before):
    """How many games a next version that is better by ``step`` needs to be placed, and the error of
    its gain. ``before`` is what it is told to be the next version of.
    """
    benchmarks = [f"b{number:02}@1" for number in range(len(elos))]
    own = np.random.default_rng(number).uniform(elos[1], elos[-2])
    world = World({**dict(zip(benchmarks, elos, strict=True)), "my@1": own}, number)
    settled(world, benchmarks, 200)
    placed_by_league(world, benchmarks, "my@1")
    world.join("my@2", own + step)
    games = placed_by_league(world, benchmarks, "my@2", before)
    return games, gain_error(world, "my@2", "my@1")


LADDERS = {
    "7 benchmarks, 150 Elo apart": [150.0 * step for step in range(-3, 4)],
    "12 benchmarks, 80 Elo apart": [80.0 * step - 440 for step in range(12)],
    "7 benchmarks, 300 Elo apart": [300.0 * step for step in range(-3, 4)],
}


def main(repeats):
    for title, elos in LADDERS.items():
        benchmarks = [f"b{number:02}@1" for number in range(len(elos))]
        games = []
        for number in range(repeats):
            own = np.random.default_rng(number).uniform(elos[1], elos[-2])
            world = World({**dict(zip(benchmarks, elos, strict=True)), "new@1": own}, number)
            settled(world, benchmarks, 200)
            games.append(placed_by_league(world, benchmarks, "new@1"))
        told = f"{mean(games):.0f} games (most {max(games)})"
        print(f"{title}: {told}; the budget is {PLACING_GAMES}")
        for step in (30, 150):
            for how, before in (("meets", "my@1"), ("does not meet", "")):
                found = [next_version(elos, step, number, before) for number in range(repeats)]
                games, error = (mean(column) for column in zip(*found, strict=True))
                print(f"  +{step} Elo, {how} its last version: {games:.0f} games, +/- {error:.0f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
