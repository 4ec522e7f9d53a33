"""The sequential test on margins: by how much games were won or lost, and not only who won them.

With two players, the outcome of a game is the margin in pagodas; with more, it expresses the rank
(see `records.record.margins`). The model is an ordered logit: for any line between good and bad
outcomes, the log odds that the new bot ends above the line are those of the old one plus one fixed
amount. If the line is drawn at winning, that amount is the difference in Elo, so the question is
the same as for wins.

The evidence is how often an outcome of the new bot beats one of the old bot, over all pairs of
games. If the two play each other, this is Wilcoxon's signed-rank statistic; against opponents it is
that of Mann and Whitney. Both are the efficient score of an ordered logit for bots of about equal
strength. The games of a block may depend on each other in any way: the variance is that of the
blocks' placements (DeLong, DeLong and Clarke-Pearson 1988; Obuchowski 1997).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arena.ratings.sequential import BORROWED, SCALE, WIDEST, Question, SequentialTest, WinTest
from arena.records.record import DUEL, NO_MARGINS, UNKNOWN_MARGIN, Margins

if TYPE_CHECKING:
    # For annotations only: importing it would load scipy, which a comparison does not need.
    from numpy.typing import NDArray

    from arena.ratings.results import Floats

MAX_SHARING = 4
SHARED_WINS = 50
"""The most iterations with which `MarginTest` allows for shared wins; two are enough if shared wins
are rare.
"""
CLOSE = 1e-9
FARTHEST = 20.0
"""On the logistic scale: two bots further apart than this count as if one won every game."""
WIDEST_GUESS = 3.0


class _BlockSums(NamedTuple):
    """Figures computed from all blocks of a test.

    ``mean``        how often the new bot's outcome is the better one, see `MarginTest.mean`
    ``variance``    the variance of ``mean`` times the number of blocks
    ``covariance``  the covariance of ``mean`` with the mean of the test on wins, times the number
                    of blocks
    ``thresholds``  (sets of opponents, outcomes - 1) the thresholds of the ordered logit
    """

    mean: float
    variance: float
    covariance: float
    thresholds: "Floats"


class MarginTest(SequentialTest):
    """The sequential test on margins.

    ``wins`` is the test on wins of the same blocks. ``groups`` is 0 if the two bots play each
    other; otherwise it is the number of different sets of opponents. Margins are those of
    `records.record.margins`, for games of ``players`` seats. A decision is made after every
    ``look`` blocks.
    """

    def __init__(
        self, question: Question, *, players: int = 2, groups: int = 0, look: int = 1
    ) -> None:
        super().__init__(question, look=look)
        self.wins = WinTest(question, groups=groups, look=look)
        self._gaps = 1 if groups else 2
        outcomes = _outcomes(players)
        self._groups = [_Opposed(outcomes) for _ in range(max(groups, 1))]
        self._shares = _win_shares(outcomes)
        self._sums: _BlockSums | None = None

    def add(self, new: float, old: float, group: int = 0, margins: Margins = NO_MARGINS) -> None:
        """Counts a block: ``new`` and ``old`` are the mean shares of the win of the two bots,
        ``group`` is the number of the set of opponents, and ``margins`` has the margins of both
        bots in each game.
        """
        self.blocks += 1
        self.wins.add(new, old, group)
        self._groups[group].add(margins, new - old)
        self._sums = None

    @property
    def mean(self) -> float:
        """The share of pairs in which the new bot's outcome is better than the old bot's, minus
        0.5; from -0.5 to 0.5, and 0 without blocks. Each game of the new bot is paired with each
        game of the old bot against the same opponents, or with each one of the test if the two bots
        play each other. Equal margins count a half; all blocks weigh the same.
        """
        return self._block_sums().mean

    @property
    def variance(self) -> float:
        """The variance of `mean` times the number of blocks, including one extra block as in the
        test on wins.
        """
        return self._block_sums().variance

    @property
    def covariance(self) -> float:
        """The covariance of `mean` with the mean of the test on wins, times the number of
        blocks.
        """
        return self._block_sums().covariance

    def worth(self, elo: float) -> float:
        """The value of `mean` to be expected if the new bot is ``elo`` Elo better than the old one,
        with the thresholds that fit the blocks so far.
        """
        thresholds = self._block_sums().thresholds
        half = self._half_gaps(thresholds, elo / SCALE * self._gaps)
        new = _chances(thresholds, half)
        old = _chances(thresholds, -half)
        beats = (new * _placements(old)).sum(axis=1) - 0.5
        weights = [group.blocks if self.blocks else 1 for group in self._groups]
        return float(np.average(beats, weights=weights))

    def _half_gaps(self, thresholds: "Floats", gap: float) -> "Floats":
        """(n,) for each of the n sets of opponents, how far the new bot is above the middle of the
        logistic scale, and the old bot below it, if the log odds of their shares of the win differ
        by ``gap``. ``thresholds`` (n, outcomes - 1) are the thresholds of the ordered logit.
        """
        half = np.full(len(thresholds), gap / 2)
        # Without shared wins the first guess is right. A shared win is an outcome between winning
        # and losing, so that shares respond a little less than the odds of each threshold do.
        for _ in range(SHARED_WINS if gap else 0):
            new = _chances(thresholds, half) @ self._shares
            old = _chances(thresholds, -half) @ self._shares
            reached = _log_odds(new) - _log_odds(old)
            if np.abs(reached - gap).max() < CLOSE:
                break
            half = np.clip(half * gap / reached, -FARTHEST, FARTHEST)
        return half

    def _block_sums(self) -> _BlockSums:
        """The figures of the blocks so far, computed at most once after each block."""
        if self._sums is None:
            self._sums = self._summed()
        return self._sums

    def _summed(self) -> _BlockSums:
        """Computes the figures of the blocks so far."""
        blocks = max(self.blocks, 1)
        placed = [group.placed() for group in self._groups]
        mean = sum(each.beats for each in placed) / blocks
        squares = sum(each.squares for each in placed) / blocks
        products = sum(each.products for each in placed) / blocks
        outcomes = [each.outcomes for each in placed]
        pooled = self._pooled(outcomes)
        level = float(np.mean(pooled @ self._shares))
        # One extra block, half at each end of the range, as in the test on wins, so that a few
        # identical blocks cannot decide the test: its width in Elo must be that of the extra block
        # there.
        slope = (1 - float((np.mean(pooled, axis=0) ** 3).sum())) / 6
        extra = WIDEST * (slope / (level * (1 - level))) ** 2
        spread = max(squares - (2 * mean) ** 2, 0.0) * blocks
        return _BlockSums(
            mean=mean,
            variance=(spread + extra) / (blocks + 1),
            covariance=products - 2 * mean * self.wins.mean,
            thresholds=self._thresholds(pooled),
        )

    def _pooled(self, outcomes: "Sequence[Floats]") -> "Floats":
        """For each set of opponents, the frequencies of the outcomes of both bots together, from
        ``outcomes``, the counts for each set. As in the test on wins, they are pulled towards the
        frequencies against all opponents, to which one block at the two ends is added.
        """
        every = np.sum(outcomes, axis=0)
        every[[0, -1]] += 0.5
        every /= self.blocks + 1
        pulled = []
        for group, frequencies in zip(self._groups, outcomes, strict=True):
            own = (frequencies + BORROWED * every) / (group.blocks + BORROWED)
            pulled.append(own)
        return np.array(pulled)

    def _thresholds(self, pooled: "Floats") -> "Floats":
        """The thresholds at which the ordered logit gives the frequencies ``pooled``, if the two
        bots are as far apart as their wins say.
        """
        new, old = self.wins.odds
        half = np.clip((new - old) / 2, -WIDEST_GUESS, WIDEST_GUESS)
        # The mean of two logistic curves at -half and half is (below + 1) / 2: a quadratic equation
        # for exp(threshold).
        below = 2 * np.cumsum(pooled, axis=1)[:, :-1] - 1
        wide = below * np.cosh(half)
        return np.asarray(np.log((wide + np.sqrt(wide**2 + 1 - below**2)) / (1 - below)))


class _Placed(NamedTuple):
    """Sums over the blocks against one set of opponents. The *placement* of an outcome is the share
    of the other bot's outcomes that it beats.

    ``beats``     how often outcomes of the new bot beat outcomes of the old one, minus a half,
                  summed
    ``squares``   the squared placements of the blocks
    ``products``  the placements of the blocks times their values in the test on wins
    ``outcomes``  (outcomes,) how often each outcome occurred, as the mean of both bots
    """

    beats: float
    squares: float
    products: float
    outcomes: "Floats"


class _Opposed:
    """The blocks against one set of opponents, stored as sums whose size does not grow with the
    number of blocks.
    """

    def __init__(self, outcomes: "NDArray[np.int64]") -> None:
        size = len(outcomes) + 2
        self.blocks = 0
        self._outcomes = outcomes
        self._counts = np.zeros((2, size))
        self._squares = np.zeros((2 * size, 2 * size))
        self._products = np.zeros(2 * size)

    def add(self, margins: Margins, value: float) -> None:
        """Counts a block with these ``margins``; ``value`` is its value in the test on wins."""
        size = len(self._outcomes) + 2
        first = self._outcomes[0] - 1
        frequencies = []
        for side in margins:
            numbers = np.bincount(np.subtract(side, first), minlength=size)
            frequencies.append(numbers / len(side))
        counts = np.array(frequencies)
        signed = np.concatenate([counts[0], -counts[1]])
        held = np.flatnonzero(signed)
        self.blocks += 1
        self._counts += counts
        self._squares[np.ix_(held, held)] += np.outer(signed[held], signed[held])
        self._products += value * signed

    def _forfeited(self) -> "tuple[Floats, Floats]":
        """Two distributions of outcomes: of lost games, and of won games. A forfeited game counts
        as a loss and a win of unknown size, so these distributions stand in for its margin.
        """
        counts = self._counts.sum(axis=0)[1:-1]
        lost = np.where(self._outcomes < 0, counts, 0.0)
        won = np.where(self._outcomes > 0, counts, 0.0)
        for sign, distribution in ((-1, lost), (1, won)):
            if not distribution.any():
                distribution[np.abs(self._outcomes - sign).argmin()] = 1.0
        return lost / lost.sum(), won / won.sum()

    def placed(self) -> "_Placed":
        """The sums over the blocks so far, with each outcome of one bot placed among those of the
        other bot.
        """
        lost, won = self._forfeited()
        new, old = (counts[1:-1] + counts[0] * lost + counts[-1] * won for counts in self._counts)
        blocks = max(self.blocks, 1)
        # The mean over pairs of games is the mean placement. Its variance is that of the placements
        # of both bots together, because each game of either bot is a part of many pairs.
        among = [_placements(old) / blocks, _placements(new) / blocks]
        parts: list[Any] = []
        for place in among:
            parts += [[lost @ place], place, [won @ place]]
        placements = np.concatenate(parts)
        return _Placed(
            beats=float(new @ among[0]) - self.blocks / 2,
            squares=float(placements @ self._squares @ placements),
            products=float(placements @ self._products),
            outcomes=(new + old) / 2,
        )


def _outcomes(players: int) -> "NDArray[np.int64]":
    """The margins that a game of ``players`` players can have, the worst first; for two players
    without that of a forfeited game.
    """
    if players == DUEL:
        return np.arange(-UNKNOWN_MARGIN + 1, UNKNOWN_MARGIN)
    return np.arange(-4 * (players - 1), 1)


def _win_shares(outcomes: "NDArray[np.int64]") -> "Floats":
    """The share of the win for each of the margins ``outcomes``. With two players a margin above 0
    is a win, 0 half a win, and a margin below 0 a loss. With more players, 0 is a win alone, -k a
    win shared with k others, if k is below `MAX_SHARING`, and any lower margin a loss.
    """
    if outcomes[-1] > 0:
        return np.asarray((np.sign(outcomes) + 1) / 2, dtype=np.float64)
    return np.where(outcomes > -MAX_SHARING, 1 / (1.0 + np.abs(outcomes)), 0.0)


def _placements(counts: "Floats") -> "Floats":
    """For each outcome, how often worse outcomes occur in ``counts``, plus half of how often the
    outcome itself does. ``counts`` has the counts or frequencies of the outcomes, the worst first.
    """
    return np.asarray(np.cumsum(counts, axis=-1) - counts / 2, dtype=np.float64)


def _chances(thresholds: "Floats", shift: "Floats") -> "Floats":
    """For each set of opponents, the probability of each outcome for a bot that is ``shift`` above
    the middle of the logistic scale; ``thresholds`` are the thresholds of the ordered logit.
    """
    below = 1 / (1 + np.exp(shift[:, None] - thresholds))
    # `np.diff` with its own first and last values takes several times as long.
    bounds = np.empty((len(below), below.shape[1] + 2))
    bounds[:, 0] = 0.0
    bounds[:, 1:-1] = below
    bounds[:, -1] = 1.0
    return bounds[:, 1:] - bounds[:, :-1]


def _log_odds(share: "Floats") -> "Floats":
    tiny = np.finfo(np.float64).tiny
    return np.asarray(np.log(np.maximum(share, tiny) / np.maximum(1 - share, tiny)))
