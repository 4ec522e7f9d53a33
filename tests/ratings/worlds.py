"""Games of which the truth is known, for every simulation of the ratings.

A seat's bot gets its strength, the seat's effect and a Gumbel variable, and the most wins: the
shares are then exactly those of the model. The variables of a game are independent, but those of
other games on the deal may correlate with them: by seat, as when the tiles favour who moves first,
or by bot, as when a deal suits a bot's way to play (Gumbel margins, normal copula).
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from arena.ratings.likelihood import ELO
from arena.ratings.model import rate
from arena.ratings.results import RANKS, count_games

SEAT_STEP = -15.0
SHARED = 0.1
"""Of so many games two winners are drawn; they share the win if they differ."""
MAX_LINE_UPS = 60
LEFT_PER_UNIT = 2.0
MAX_LEFT = 15
GAMES_OF_TRUTH = 1_000_000


class World(NamedTuple):
    """Bots, and who meets whom on a deal.

    ``elo`` (n,) by bot; ``line_ups`` (L, k), each of which plays with rotated seats; the
    correlations ``seat_luck`` and ``bot_luck`` between the games on a deal; ``forfeits`` (n,) how
    likely a bot forfeits a game; the ``rounds`` of a match.
    """

    elo: np.ndarray
    line_ups: np.ndarray
    seat_luck: float = 0.0
    bot_luck: float = 0.0
    seat_step: float = SEAT_STEP
    forfeits: np.ndarray | None = None
    rounds: int = 1

    @property
    def effects(self):
        """(k,) of the seats, in Elo."""
        return self.seat_step * np.arange(self.line_ups.shape[1])

    @property
    def seats(self):
        """(G, k) the bots in the seats of each game on a deal; the games of a line-up are
        neighbours.
        """
        size = self.line_ups.shape[1]
        rotations = (np.arange(size)[:, None] + np.arange(size)) % size
        return self.line_ups[:, rotations].reshape(-1, size)

    @property
    def names(self):
        """Of the bots, in the order of their numbers."""
        return [f"b{number:02}" for number in range(len(self.elo))]


class Played(NamedTuple):
    """The games on each deal. ``luck`` (D, G, k) is what each seat came to: the highest wins, equal
    ones share.
    """

    world: World
    luck: np.ndarray

    @property
    def ranks(self):
        """(D, G, k) by seat."""
        seats = range(self.luck.shape[-1])
        return 1 + sum((self.luck[..., seat, None] > self.luck).astype(np.int64) for seat in seats)

    def leads(self):
        """(D, G) pagodas by which the first of two seats won; they follow an ordered logit, except
        that more games are shared.
        """
        apart = self.luck[..., 0] - self.luck[..., 1]
        return (
            np.sign(apart) * np.minimum(np.ceil(LEFT_PER_UNIT * np.abs(apart)), MAX_LEFT)
        ).astype(int)

    def results(self, kept=None, *, places=False):
        """The results, or those of the games ``kept`` (D, G), with 1 and 2 for won and lost, or all
        ``places``.
        """
        ranks = self.ranks if places else np.minimum(self.ranks, 2)
        digits = RANKS ** np.arange(ranks.shape[2])
        codes = (ranks - 1) @ digits + np.arange(ranks.shape[1]) * RANKS ** len(digits)
        deals = np.broadcast_to(np.arange(len(ranks))[:, None], codes.shape)
        taken = slice(None) if kept is None else kept
        codes, deals = codes[taken].ravel(), deals[taken].ravel()
        found = np.flatnonzero(np.bincount(codes))
        numbers = np.zeros(codes.max() + 1, dtype=np.int32)
        numbers[found] = np.arange(len(found))
        return count_games(
            self.world.names,
            int(deals.max()) + 1,
            self.world.seats[found // RANKS ** len(digits)],
            1 + found[:, None] // digits % RANKS,
            deals,
            numbers[codes],
        )


def levels(bots):
    """Half of the bots are equal, and the others are 60 Elo weaker, or up to 180."""
    equal = (bots + 1) // 2
    elo = np.concatenate([np.zeros(equal), np.linspace(-60, -180, bots - equal)])
    return elo - elo.mean()


def every_line_up(players, bots):
    """(L, k) all sets of bots, or a sample of them if there are too many."""
    line_ups = np.array(list(combinations(range(bots), players)))
    if len(line_ups) <= MAX_LINE_UPS:
        return line_ups
    return np.random.default_rng(1).permutation(line_ups)[:MAX_LINE_UPS]


def play(world, deals, rng):
    """All games of so many deals."""
    utilities = _utilities(world, deals, rng)
    if world.rounds > 1:
        later = [_utilities(world, deals, rng) for _ in range(world.rounds - 1)]
        utilities = -sum(map(_left, (utilities, *later)))
    return Played(world, utilities)


def _left(utilities):
    """Pagodas left: none for the winner, and the more the further behind."""
    behind = utilities.max(axis=-1, keepdims=True) - utilities
    return np.minimum(np.ceil(LEFT_PER_UNIT * behind), MAX_LEFT)


def _utilities(world, deals, rng):
    """(D, G, k)."""
    seats = world.seats
    shape = (deals, *seats.shape)
    means = np.broadcast_to((world.elo[seats] + world.effects) / ELO, shape)
    common, own = np.zeros(shape), 1 - world.seat_luck - world.bot_luck
    if world.seat_luck:
        common += np.sqrt(world.seat_luck) * rng.standard_normal((deals, 1, shape[2]))
    if world.bot_luck:
        common += (np.sqrt(world.bot_luck) * rng.standard_normal((deals, len(world.elo))))[:, seats]
    utilities = means + gumbel(common + np.sqrt(own) * rng.standard_normal(shape))
    if world.rounds == 1:
        twice = rng.random(shape[:2]) < SHARED
        drawn = common[twice] + np.sqrt(own) * rng.standard_normal((twice.sum(), shape[2]))
        utilities[twice] = _with_second(utilities[twice], means[twice] + gumbel(drawn))
    if world.forfeits is not None:
        utilities[rng.random(shape) < world.forfeits[seats]] = -np.inf
    return utilities


def _with_second(utilities, others):
    """The utilities, with the winner by the others made equal to the first."""
    games = np.arange(len(utilities))
    utilities[games, others.argmax(axis=1)] = utilities.max(axis=1)
    return utilities


def gumbel(normal):
    """Gumbel variables from standard normal ones."""
    return -np.log(-log_ndtr(normal))


def truth_of(world):
    """(n,) ratings and (k,) effects of seats in Elo that fits of ever more games come to."""
    if world.forfeits is None and world.rounds == 1:
        return world.elo - world.elo.mean(), world.effects
    # Shares of games that end otherwise than the model says have no closed form: a fit of very many
    # games, each with luck of its own, is the truth, up to half an Elo.
    apart = world._replace(seat_luck=0.0, bot_luck=0.0)
    deals = GAMES_OF_TRUTH // len(world.seats)
    [fit] = rate(play(apart, deals, np.random.default_rng(0)).results()).fits
    return _alike(world, fit.elo), fit.seats[len(world.effects)][0]


def _alike(world, elo):
    """The ratings, with those of bots that are alike replaced by their mean."""
    kind = world.elo if world.forfeits is None else world.elo + 1e6 * world.forfeits
    _, number = np.unique(kind, return_inverse=True)
    return (np.bincount(number, elo) / np.bincount(number))[number]
