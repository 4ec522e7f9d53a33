"""Games that do not follow the model, because who else sits at the table matters, or seems to."""

from itertools import combinations

import numpy as np
from scipy.special import softmax

from arena.ratings.company import company
from arena.ratings.likelihood import ELO
from arena.ratings.model import rate
from arena.ratings.results import count_games
from tests.ratings.coverage import world_of
from tests.ratings.worlds import play


def kingmaker(players, bots, deals, rng, elo=0.0, luck=0.3):
    """Games of equal bots, in which the first one gains this much where the last one sits too."""
    seats = world_of(players, bots).seats
    strength = np.where(seats == 0, elo, 0.0) * (seats == bots - 1).any(axis=1, keepdims=True)
    return drawn(softmax(strength / ELO, axis=1), seats, bots, deals, rng, luck)


def drawn(chances, seats, bots, deals, rng, luck=0.3):
    """Games with these chances (G, k) on each deal; on a part ``luck`` of the deals, the same luck
    decides all games.
    """
    own, shared = rng.random((deals, len(seats))), rng.random((deals, 1))
    place = np.where(rng.random((deals, 1)) < luck, shared, own)[..., None]
    winner = (place > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=2)
    ranks = np.where(winner[..., None] == np.arange(seats.shape[1]), 1, 2)
    return count_games(
        [f"bot-{bot:02}" for bot in range(bots)],
        deals,
        np.tile(seats, (deals, 1)),
        ranks.reshape(-1, seats.shape[1]),
        np.repeat(np.arange(deals), len(seats)),
    )


def lopsided(bots, deals, rng, effect=150.0):
    """Games of equal bots at tables of three with strong seats, where the last bot is always in the
    first seat and the first bot mostly in the best one left.
    """
    seats = np.array(
        [
            sorted(line_up, key=lambda bot: (bot != bots - 1, bot if turn else -bot))
            for line_up in combinations(range(bots), 3)
            for turn in (1, 1, 1, 0)
        ]
    )
    chances = softmax(np.broadcast_to(np.array([0, effect, -effect]) / ELO, seats.shape), axis=1)
    return drawn(chances, seats, bots, deals, rng)


def company_alarms(world, deals):
    """A trial: whether a third bot is said to decide who of two is better."""

    def trial(rng):
        results = play(world, deals, rng).results()
        return [float(company(results, rate(results).fits) is not None)]

    return trial
