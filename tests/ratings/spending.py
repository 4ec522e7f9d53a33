"""What runs that decide by their own results how much is played do to error bars, on simulated
games of two.
"""

import msgspec
import numpy as np
from scipy.special import logit

from arena.ratings.likelihood import ELO
from arena.ratings.model import rate
from arena.ratings.order import precision
from arena.tournament.consistency import make_config
from arena.tournament.lineups import fix_allotment, next_allotment
from tests.ratings.coverage import held
from tests.ratings.worlds import World, every_line_up, play, truth_of

LADDER = tuple(float(elo) for elo in logit(np.linspace(0.9, 0.1, 6)) * ELO)
UNEVEN = (300.0, 120.0, 105.0, 90.0, -200.0, -400.0)
RUNS = {"--deals 60": {"deals": 60}, "--until 40": {"deals": 500, "until": 40.0}}


def world_of(elo, luck=0.3):
    """Each plays each; deals share luck by bot."""
    return World(np.array(elo), every_line_up(2, len(elo)), bot_luck=luck)


def results_of(played, deals):
    """The results of the first deals of each line-up: the same however many more are looked at."""
    deals = np.repeat(np.broadcast_to(deals, len(played.world.line_ups)), 2)
    return played.results(np.arange(len(played.ranks))[:, None] < deals)


def spend(world, settings, rng):
    """A run to its end: its results, fits, and how precise they are."""
    config = make_config({"bots": world.names, "seed": "s", **settings})
    played, config = play(world, config.deals, rng), fix_allotment(config, None)
    while True:
        results = results_of(played, config.allotted or config.deals)
        ratings = rate(results)
        found = precision(results, ratings, config.until or np.inf)
        grown = config.allotted and next_allotment(config)
        if found.widest <= (config.until or np.inf) or not grown:
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
