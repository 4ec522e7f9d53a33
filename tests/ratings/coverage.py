"""How often intervals of simulated runs hold the truth, and how often equal bots are told apart."""

from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from arena.ratings.model import rank_intervals, rate
from arena.ratings.order import groups_of
from tests.ratings.worlds import World, every_line_up, levels, play, truth_of

CLEAR = 0.975
"""The likelihood of superiority from which the order of two neighbours counts as settled."""
LUCK = {"nothing": {}, "seats": {"seat_luck": 0.8}, "bots": {"bot_luck": 0.8}}
"""What the games on a deal have in common."""
HOPELESS = 3000.0
LEAST = 1e-6
"""In Elo: bots that differ by less are equal."""


class Held(NamedTuple):
    """What one run's table told, of all bots; NaN where it told nothing.

    ``ratings`` (n,) and ``differences`` (n, n): 1 if the interval holds the truth, 0 if not;
    ``seats``: the share of the intervals that do; ``ranks``: whether all ranges of ranks together
    do; ``clear``: the share of pairs of equal bots of which LOS says that one is ahead; ``said``:
    whether a sentence says of a bot that it is clearly ahead of one that is as good, or better.
    """

    ratings: np.ndarray
    differences: np.ndarray
    seats: float
    ranks: float
    clear: float
    said: float

    def means(self):
        """The shares, as the rows of the table have them."""
        told = (self.seats, self.ranks, self.clear, self.said)
        return (_mean(self.ratings), _mean(self.differences), *told)

    def of(self, bot):
        """The same of one bot: its rating, its differences, the ratings of the others; and whether
        it had no interval.
        """
        return (
            self.ratings[bot],
            _mean(self.differences[bot]),
            _mean(np.delete(self.ratings, bot)),
            self.ranks,
            float(np.isnan(self.ratings[bot])),
        )


def held(elo, effects, fit):
    """What a fit tells where these are the true ratings and effects of seats."""
    known = np.isfinite(fit.half_widths())
    true = elo[fit.members]
    true = true - true[known if known.any() else slice(None)].mean()
    off, apart = fit.elo - true, true[:, None] - true
    ratings, differences = np.full(len(elo), np.nan), np.full((len(elo), len(elo)), np.nan)
    ratings[fit.members] = _within(off, fit.half_widths())
    differences[np.ix_(fit.members, fit.members)] = _within(
        off[:, None] - off, fit.difference_half_widths()
    )
    np.fill_diagonal(differences, np.nan)
    seats = np.full(1, np.nan)  # without one, every seat counts as equally good
    if len(effects) in fit.seats:
        off_by_seat = fit.seats[len(effects)][0] - effects
        seats = _within(off_by_seat, fit.seat_half_widths(len(effects)))[1:]
    low, high = rank_intervals(fit)
    better, worse = (apart < -LEAST).sum(axis=1), (apart > LEAST).sum(axis=1)
    above = fit.superiority()
    equal = np.triu(np.abs(apart) <= LEAST, 1)
    return Held(
        ratings,
        differences,
        _mean(seats),
        float(((low <= 1 + better) & (high >= len(true) - worse)).all()),
        ((above > CLEAR) | (above < 1 - CLEAR))[equal].mean() if equal.any() else np.nan,
        float(any(elo[one] < elo[other] + LEAST for one, other in _said(fit))),
    )


def _said(fit):
    """The pairs of bots of which the sentences say that the first is clearly ahead."""
    groups = groups_of(fit)
    for upper, lower in combinations(groups, 2):
        yield from product(upper.bots, lower.bots)
    for group in groups:
        if group.ahead_of is not None:
            yield from product(group.bots[:1], group.bots[group.ahead_of :])


def _within(off, half_width):
    return np.where(np.isnan(half_width), np.nan, np.abs(off) <= half_width)


def _mean(values):
    return np.nanmean(values) if not np.isnan(values).all() else np.nan


def repeat(trial, tries, seed=1):
    """The means of what a trial gives, as a vector, and half-widths of their 95 % intervals."""
    rng = np.random.default_rng(seed)
    found = np.array([trial(rng) for _ in range(tries)], dtype=np.float64)
    known = ~np.isnan(found)
    counts = np.maximum(known.sum(axis=0), 1)
    sums = np.where(known, found, 0.0).sum(axis=0)
    means = np.where(known.any(axis=0), sums / counts, np.nan)
    spread = np.where(known, found - means, 0.0)
    return means, 1.96 * np.sqrt((spread**2).sum(axis=0) / counts / counts)


def world_of(players, bots, luck="nothing", **kind):
    """A run of all against all."""
    line_ups = every_line_up(players, bots)
    return World(levels(bots), line_ups, **LUCK[luck], **kind)


def gauntlet(players, bots, luck):
    """One bot against all others, which do not meet each other unless the table is larger."""
    world = world_of(players, bots, luck)
    return world._replace(line_ups=world.line_ups[(world.line_ups == 0).any(axis=1)])


def of_equal_bots(world):
    """No bot is better than another."""
    return world._replace(elo=np.zeros(len(world.elo)))


def with_forfeits(world):
    """The last bot forfeits every tenth game, the others every hundredth."""
    return world._replace(
        forfeits=np.where(np.arange(len(world.elo)) == len(world.elo) - 1, 0.1, 0.01)
    )


def with_winless(world):
    """The last bot wins nothing."""
    return world._replace(elo=np.append(world.elo[:-1], -HOPELESS))


def planned(world, deals):
    """A trial: a run of so many deals."""
    truth = truth_of(world)

    def trial(rng):
        [fit, *_] = rate(play(world, deals, rng).results()).fits
        return held(*truth, fit).means()

    return trial


def newcomer(world, deals, own, bot=0):
    """A trial: a run in which one bot plays fewer deals than the others; what it tells of that
    one.
    """
    truth, plays = truth_of(world), (world.seats == bot).any(axis=1)
    kept = ~plays | (np.arange(deals)[:, None] < own)

    def trial(rng):
        [fit, *_] = rate(play(world, deals, rng).results(kept)).fits
        return held(*truth, fit).of(bot)

    return trial


def apart(world, deals):
    """A trial: how many intervals of differences hold clustered by deal, and with every game for
    itself.
    """
    truth = truth_of(world)

    def trial(rng):
        results = play(world, deals, rng).results()
        fits = [rate(counted).fits[0] for counted in (results, _each_for_itself(results))]
        return [_mean(held(*truth, fit).differences) for fit in fits]

    return trial


def _each_for_itself(results):
    """The results, with every game on a deal of its own."""
    games = np.arange(results.games, dtype=np.int32)
    return results._replace(clusters=results.games, cluster=games)
