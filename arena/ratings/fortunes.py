"""The luck of hands: what others made of the same tiles in the same seat.

All line-ups play the same deals, so what everybody who held a hand made of it tells the hand from
the bot.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ratings.components import Floats, Ints
from arena.ratings.results import Column

FEWEST = 3
"""The fewest games of others that tell the luck of a hand."""
DIGITS = 9
"""Hands that agree to this many decimals are equal; the rest is rounding."""


class Holding(NamedTuple):
    """A hand that a bot held in ``games``, and others in ``other_games``.

    ``share``, ``other_share``  mean shares of the win, and ``expected``, ``other_expected`` what
                                ratings and seats made of the opponents
    ``worst``, ``best``         places in the list of seats: the bot's worst game with it, and the
                                best of the others
    """

    games: int
    share: float
    expected: float
    other_games: int
    other_share: float
    other_expected: float
    worst: int
    best: int


class Fortunes:
    """Everybody's hands, from a list of the seats of all games: ``hand`` (N,) is equal where the
    tiles and the seat are, ``bot`` (N,) numbers, ``share`` and ``expected`` (N,), where NaN is left
    out.
    """

    def __init__(self, hand: Ints, bot: Column, share: Floats, expected: Floats) -> None:
        self._place = np.flatnonzero(~np.isnan(expected))
        self._hand = np.unique(hand[self._place], return_inverse=True)[1].astype(np.int32)
        self._bot, self._share = bot[self._place], share[self._place]
        self._excess = self._share - expected[self._place]
        self._bots = int(bot.max(initial=0)) + 1
        # One sort for all bots: a pass for each of 23 bots took 3 s with a million games.
        keys, self._held, self._games = np.unique(
            self._hand * np.int64(self._bots) + self._bot, return_inverse=True, return_counts=True
        )
        self._held = self._held.astype(np.int32)
        self._hand_of, self._bot_of = keys // self._bots, keys % self._bots
        # The seats by hand, then bot, and where each begins.
        self._sorted = np.argsort(self._held, kind="stable").astype(np.int32)
        self._starts = np.append(0, np.cumsum(self._games))
        self._others = np.bincount(self._hand)[self._hand_of] - self._games
        self._own, self._other = self._means(self._excess)
        self._own_share, self._other_share = self._means(self._share)

    def _means(self, values: Floats) -> tuple[Floats, Floats]:
        """For each hand that a bot held, the bot's mean and that of the others."""
        own = np.bincount(self._held, values, len(self._games))
        everyone = np.bincount(self._hand, values)[self._hand_of]
        with np.errstate(invalid="ignore", divide="ignore"):
            return own / self._games, np.round((everyone - own) / self._others, DIGITS)

    def unlucky(self, bot: int, most: int) -> list[Holding]:
        """The hands with which the bot fell short, and the others did too; the worst for the others
        first.
        """
        short = (self._own < 0) & (self._other < 0)
        return self._first(bot, short, self._other, most)

    def outplayed(self, bot: int, most: int) -> list[Holding]:
        """The hands with which the others did better than the bot; the widest difference first."""
        behind = np.round(self._own - self._other, DIGITS)
        return self._first(bot, (behind < 0) & (self._other > 0), behind, most)

    def _first(self, bot: int, fits: NDArray[np.bool_], by: Floats, most: int) -> list[Holding]:
        found = np.flatnonzero((self._bot_of == bot) & (self._others >= FEWEST) & fits)
        return [self._holding(row) for row in found[np.argsort(by[found], kind="stable")][:most]]

    def _holding(self, row: int) -> Holding:
        own = self._sorted[self._starts[row] : self._starts[row + 1]]
        first, last = np.searchsorted(self._hand_of, self._hand_of[row] + np.arange(2))
        everyone = self._sorted[self._starts[first] : self._starts[last]]
        others = everyone[self._held[everyone] != row]
        return Holding(
            games=int(self._games[row]),
            share=float(self._own_share[row]),
            expected=float(self._own_share[row] - self._own[row]),
            other_games=int(self._others[row]),
            other_share=float(self._other_share[row]),
            other_expected=float(self._other_share[row] - self._other[row]),
            worst=int(self._place[own[np.argmin(self._excess[own])]]),
            best=int(self._place[others[np.argmax(self._excess[others])]]),
        )
