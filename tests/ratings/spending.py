"""What runs that decide by their own results how much is played do to error bars, on simulated
games of two.
"""

import msgspec
import numpy as np
from scipy.special import logit

from arena.ratings.information import precision, promises
from arena.ratings.model import ELO, rate
from arena.tournament.allotment import fix_allotment, next_allotment
from arena.tournament.config import make_config
from tests.ratings.coverage import held
from tests.ratings.worlds import World, every_line_up, play, truth_of

LADDER = tuple(float(elo) for elo in logit(np.linspace(0.9, 0.1, 6)) * ELO)
UNEVEN = (300.0, 120.0, 105.0, 90.0, -200.0, -400.0)
RUNS = {
    "--deals 60": {"deals": 60},
    "--deals 60 --adaptive": {"deals": 60, "adaptive": True},
    "--until 40": {"deals": 500, "until": 40.0},
    "--until 40 --adaptive": {"deals": 500, "until": 40.0, "adaptive": True},
}


def world_of(elo, luck=0.3):
    """Each plays each; deals share luck by bot."""
    return World(np.array(elo), every_line_up(2, len(elo)), bot_luck=luck)


def line_ups_of(world):
    """The names of a run's line-ups, in order."""
    return [tuple(world.names[bot] for bot in line_up) for line_up in world.line_ups]


def results_of(played, allotted):
    """The results of the first deals of each line-up: the same however many more are looked at."""
    deals = np.repeat([allotted["+".join(names)] for names in line_ups_of(played.world)], 2)
    return played.results(np.arange(len(played.ranks))[:, None] < deals)


def spend(world, settings, rng):
    """A run to its end: its results, fits, and how precise they are."""
    config = make_config({"bots": world.names, "seed": "s", **settings})
    most = config.deals * (len(world.line_ups) if config.adaptive else 1)
    played, config = play(world, most, rng), fix_allotment(config, None)
    line_ups = line_ups_of(world)
    while True:
        allotted = config.allotted or dict.fromkeys(map("+".join, line_ups), config.deals)
        results = results_of(played, allotted)
        ratings = rate(results)
        found = precision(results, ratings, config.until)
        if config.allotted is None or (config.until and found.widest <= config.until):
            return results, ratings.fits, found
        grown = next_allotment(config, promises(results, ratings, line_ups, config.until))
        if not grown:
            return results, ratings.fits, found
        config = msgspec.structs.replace(config, allotted=grown)


def spending(elo, settings):
    """A trial: how many games a run took; what it tells; how wide its widest interval is, and which
    share of neighbours it has in the wrong order.
    """
    world = world_of(elo)
    truth, order = truth_of(world), np.argsort(-np.array(elo), kind="stable")

    def trial(rng):
        results, [fit, *_], found = spend(world, settings, rng)
        rated = fit.elo[np.searchsorted(fit.members, order)]
        wrong = (np.diff(rated) > 0).mean()
        return (results.games, *held(*truth, fit).means()[:4], found.widest, wrong)

    return trial
