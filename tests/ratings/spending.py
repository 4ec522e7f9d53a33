"""What runs that decide by their own results how much is played do to error bars, on simulated
games of two.

Deals share luck between all games on them. ``python -m tests.ratings.spending [TRIES]`` prints a
table; it takes some minutes.
"""

import sys
import time
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtri

from arena.ratings.information import precision, promises
from arena.ratings.model import ELO, rate
from arena.ratings.results import Results, count_table
from arena.tournament.allotment import fix_allotment, next_allotment
from arena.tournament.config import make_config

LUCK = 0.3
FIRST_SEAT = 30


class Case(NamedTuple):
    """The bots' ratings, and the settings of a run between them."""

    name: str
    elo: tuple[float, ...]
    settings: dict[str, object]


class World:
    """Games whose results are fixed by line-up, deal and seating, however many of them are looked
    at.
    """

    def __init__(self, elo, rng, deals):
        self.elo = np.array(elo)
        self.bots = [f"b{number:02}" for number in range(len(elo))]
        pairs = list(combinations(range(len(elo)), 2))
        self.line_ups = {
            f"{self.bots[one]}+{self.bots[other]}": (one, other) for one, other in pairs
        }
        luck = np.sqrt(LUCK) * rng.standard_normal((1, deals, 1))
        self.drawn = luck + np.sqrt(1 - LUCK) * rng.standard_normal((len(pairs), deals, 2))

    def results(self, allotted):
        """The results of the first deals of each line-up."""
        seats, ranks, clusters = [], [], []
        for number, (name, pair) in enumerate(self.line_ups.items()):
            for seating, order in enumerate((pair, pair[::-1])):
                chance = expit((self.elo[order[0]] - self.elo[order[1]] + FIRST_SEAT) / ELO)
                won = self.drawn[number, : allotted[name], seating] < ndtri(chance)
                seats.append(np.tile(order, (len(won), 1)))
                ranks.append(np.column_stack([2 - won, 1 + won]))
                clusters.append(np.arange(len(won)))
        table = count_table(np.concatenate(seats), np.concatenate(ranks), np.concatenate(clusters))
        return Results(self.bots, max(allotted.values()), [table])


def play(case, rng):
    """A run to its end: what it allotted, and its fit."""
    config = make_config(
        {"bots": [f"b{number:02}" for number in range(len(case.elo))], "seed": "s", **case.settings}
    )
    world = World(case.elo, rng, config.deals * len(case.elo) * 4)
    config = fix_allotment(config, None)
    allotted = config.allotted or dict.fromkeys(world.line_ups, config.deals)
    while True:
        results = world.results(allotted)
        ratings = rate(results)
        found = precision(results, ratings, config.until)
        if config.allotted is None or (config.until and found.widest <= config.until):
            return results, ratings.fits[0], found
        line_ups = [tuple(name.split("+")) for name in world.line_ups]
        grown = next_allotment(config, promises(results, ratings, line_ups, config.until))
        if not grown:
            return results, ratings.fits[0], found
        allotted = grown
        config = type(config)(
            **{name: getattr(config, name) for name in config.__struct_fields__}
            | {"allotted": allotted}
        )


def measures(case, tries, seed=1):
    """Means over runs of: games, widest half-width, how often intervals of ratings and of
    differences held, neighbours in wrong order.
    """
    rng = np.random.default_rng(seed)
    truth = np.array(case.elo) - np.mean(case.elo)
    rows = []
    for _ in range(tries):
        results, fit, found = play(case, rng)
        off = fit.elo - truth
        held = (np.abs(off) <= fit.half_widths()).mean()
        pairs = list(combinations(range(len(truth)), 2))
        half = fit.difference_half_widths()
        differences = np.mean(
            [abs(off[one] - off[other]) <= half[one, other] for one, other in pairs]
        )
        wrong = np.mean(
            [fit.elo[one] < fit.elo[other] for one, other in pairwise(np.argsort(-truth))]
        )
        rows.append((results.games, found.widest, held, differences, wrong))
    return np.mean(rows, axis=0)


LADDER = tuple(float(elo) for elo in logit(np.linspace(0.9, 0.1, 6)) * ELO)
UNEVEN = (300.0, 120.0, 105.0, 90.0, -200.0, -400.0)
CASES = [
    *(
        Case(name, elo, {"deals": 60})
        for name, elo in (("even, 60 deals", LADDER), ("even, 60 deals", UNEVEN))
    ),
    *(
        Case(name, elo, {"deals": 60, "adaptive": True})
        for name, elo in (("adaptive, 60 deals", LADDER), ("adaptive, 60 deals", UNEVEN))
    ),
    *(Case("until 40", elo, {"deals": 500, "until": 40.0}) for elo in (LADDER, UNEVEN)),
    *(
        Case("until 40, adaptive", elo, {"deals": 500, "until": 40.0, "adaptive": True})
        for elo in (LADDER, UNEVEN)
    ),
]


def main(tries):
    """Prints a row for each case."""
    print(
        "run                  bots    games  widest  held: ratings differences  wrong neighbours "
        " seconds"
    )
    for case in CASES:
        began = time.perf_counter()
        games, widest, ratings, differences, wrong = measures(case, tries)
        name = f"{case.name:19}  {'ladder' if case.elo == LADDER else 'uneven'}"
        shares = f"{ratings:.3f}  {differences:.3f}  {wrong:.3f}"
        print(
            f"{name}  {games:7.0f}  {widest:6.1f}  {shares}  {time.perf_counter() - began:.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
