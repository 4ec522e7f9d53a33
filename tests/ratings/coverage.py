"""How often intervals hold the truth: games of which the truth is known, and luck that the games on
one deal share.

Run it with ``python -m tests.ratings.coverage [TRIES]``.
"""

import sys
import time
from itertools import combinations

import numpy as np
from scipy.special import ndtr, softmax

from arena.ratings.model import ELO, rate
from arena.ratings.ranks import rank_intervals
from arena.ratings.results import Results, count_table

SEAT_STEP = -15.0
SHARED = 0.1
CASES = [(2, 2), (2, 4), (3, 3), (3, 5), (4, 4), (4, 6)]
"""Players and bots."""
DEALS = (8, 20, 200)


def truth_of(players, bots):
    """Ratings with mean 0 and effects of seats, in Elo."""
    return np.linspace(75, -75, bots), SEAT_STEP * np.arange(players)


def seatings_of(players, bots):
    """(G, k) who sits where in the games of a deal: all line-ups with rotated seats."""
    rotations = (np.arange(players)[:, None] + np.arange(players)) % players
    return np.array(list(combinations(range(bots), players)))[:, rotations].reshape(-1, players)


def sample(players, bots, deals, rng, luck=0.5, later_seats=0.5):
    """Results whose chances in each game are exactly the model's.

    What comes up is decided by a normal variable that correlates by ``luck`` with that of every
    other game on the deal. On the part ``later_seats`` of the deals a high one favours later seats,
    so that what a bot gets from one seat it pays from another; on the others later bots, so that it
    gets or pays from every seat. Of a tenth of the games two winners are drawn; they share if they
    differ.
    """
    elo, effects = truth_of(players, bots)
    seats = seatings_of(players, bots)
    shape = (deals, len(seats), players)
    order = np.where(
        rng.random((deals, 1, 1)) < later_seats, np.arange(players), np.argsort(seats, axis=1)
    )
    chances = np.broadcast_to(softmax((elo[seats] + effects) / ELO, axis=1), shape)
    limits = np.cumsum(np.take_along_axis(chances, order, axis=2), axis=2)
    drawn = np.sqrt(luck) * rng.standard_normal((deals, 1, 2)) + np.sqrt(
        1 - luck
    ) * rng.standard_normal((*shape[:2], 2))
    place = (ndtr(drawn)[..., None] > limits[:, :, None, :-1]).sum(axis=3)
    place[..., 1] = np.where(rng.random(shape[:2]) < SHARED, place[..., 1], place[..., 0])
    winners = np.take_along_axis(order, place, axis=2)
    ranks = np.where((winners[..., None] == np.arange(players)).any(axis=2), 1, 2)
    table = count_table(
        np.tile(seats, (deals, 1)),
        ranks.reshape(-1, players),
        np.repeat(np.arange(deals), len(seats)),
    )
    return Results([f"bot-{bot}" for bot in range(bots)], deals, [table])


def coverage(players, bots, deals, tries, seed=1):
    """How often intervals of ratings, of differences, of seats, and all of the ranks held the
    truth; how often there was a prior.
    """
    rng = np.random.default_rng(seed)
    return np.mean(
        [
            held(*truth_of(players, bots), *rate(sample(players, bots, deals, rng)).fits)
            for _ in range(tries)
        ],
        axis=0,
    )


def held(elo, effects, fit):
    """The same of one sample."""
    off = fit.elo - elo
    differences = np.abs(off[:, None] - off) <= fit.difference_half_widths()
    estimates, _ = fit.seats[len(effects)]
    seats = np.abs(estimates - effects) <= fit.seat_half_widths(len(effects))
    low, high = rank_intervals(fit)
    place = np.arange(1, len(elo) + 1)
    return (
        (np.abs(off) <= fit.half_widths()).mean(),
        differences[np.triu_indices(len(elo), 1)].mean(),
        seats[1:].mean(),
        ((low <= place) & (place <= high)).all(),
        fit.prior > 0,
    )


def coverage_of_both(players, bots, deals, tries, seed=1, **kind):
    """How often intervals of differences held the truth: clustered by deal, and with every game for
    itself; and the mean gain.
    """
    rng = np.random.default_rng(seed)
    elo, _ = truth_of(players, bots)
    found = []
    for _ in range(tries):
        results = sample(players, bots, deals, rng, **kind)
        [clustered], [apart] = (
            rate(counted).fits for counted in (results, results._replace(clusters=results.games))
        )
        found.append((*(differences_held(elo, fit) for fit in (clustered, apart)), clustered.gain))
    return np.nanmean(found, axis=0)


def differences_held(elo, fit):
    """The share of the intervals of differences that hold the true one."""
    off = fit.elo - elo
    held_at = np.abs(off[:, None] - off) <= fit.difference_half_widths()
    return held_at[np.triu_indices(len(elo), 1)].mean()


KINDS = {
    "independent": {"luck": 0.0},
    "anti-correlated": {"luck": 0.8, "later_seats": 1.0},
    "correlated": {"luck": 0.8, "later_seats": 0.0},
}
"""Of the games on a deal, as arguments of `sample`."""


def main(tries):
    """Prints a row for each case and number of deals."""
    print("players bots deals  ratings  differences  seats  ranks  prior  seconds")
    for deals in DEALS:
        for players, bots in CASES:
            began = time.perf_counter()
            shares = "  ".join(f"{share:.3f}" for share in coverage(players, bots, deals, tries))
            print(
                f"{players:7} {bots:4} {deals:5}  {shares}  {time.perf_counter() - began:.0f}",
                flush=True,
            )
    print("\nplayers bots deals  kind  differences by deal  by game  gain")
    for players, bots in CASES:
        for name, kind in KINDS.items():
            shares = "  ".join(
                f"{share:.3f}" for share in coverage_of_both(players, bots, 60, tries, **kind)
            )
            print(f"{players:7} {bots:4} {60:5}  {name}  {shares}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
