"""How often the one-sided bounds of bots outside the rated group are wrong."""

import numpy as np

from arena.ratings.model import rate
from tests.ratings.worlds import play


def with_last(world, elo):
    """The last bot is this much stronger than the mean of the others, or weaker."""
    others = world.elo[:-1] - world.elo[:-1].mean()
    return world._replace(elo=np.append(others, elo))


def bounds(world, deals):
    """A trial: whether the last bot is outside the rated group; whether its bound is wrong; and
    which share of its bounds against the bots of the rated group.
    """
    last, elo = len(world.elo) - 1, world.elo

    def trial(rng):
        ratings = rate(play(world, deals, rng).results())
        found = [bound for bound in ratings.bounds if bound.member == last]
        if not found:
            return 0.0, 0.0, 0.0
        [bound] = found
        sign = -1 if bound.side == "<" else 1
        apart = elo[last] - elo[bound.rivals]
        wrong = sign * (apart.mean() - bound.elo) < 0
        return 1.0, float(wrong), (sign * (apart - bound.differences) < 0).mean()

    return trial
