"""A sequential test of whether a new bot is better than an old one. It reads blocks of games in
which only these two bots differ, and stops as soon as the answer is clear.

It is a generalised sequential probability ratio test (GSPRT; Van den Bergh, "A practical
introduction to the GSPRT", eq. 2.3): after N blocks of mean m and variance v, ``LLR = N (d1 - d0)(2
m - d0 - d1) / (2 v)``, where d0 and d1 are the expected values of a block under the two hypotheses.
The test ends when the LLR reaches ``ln(beta / (1 - alpha))`` or ``ln((1 - beta) / alpha)`` (Wald
1945).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from math import cosh, exp, log, sqrt, tanh
from typing import NamedTuple

from arena.records.record import NO_MARGINS, Margins

SCALE = 400 / log(10)
"""Elo points per unit of the logistic scale."""
WIDEST = 1.0
"""The square of the largest possible value of a block."""
FAR = 300.0
"""In Elo: if a 95 % interval has 0 in it and reaches further than this to either side on average,
nothing is known yet. The better one of two bots 300 Elo apart wins 85 % of their games.
"""
BORROWED = 2.0
"""The weight, in blocks, that the mean level against all opponents has in the estimated level
against each set of opponents.
"""


class Verdict(StrEnum):
    """The answer of a sequential test after the blocks so far."""

    BETTER = "better"
    NOT_BETTER = "not better"
    UNDECIDED = "undecided"


class Question(NamedTuple):
    """The question of a sequential test: whether the new bot is ``elo1`` rather than ``elo0`` Elo
    better than the old one.

    ``alpha`` is the probability of the answer "better" if the truth is ``elo0``, ``beta`` that of
    "not better" if the truth is ``elo1``.
    """

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def lower(self) -> float:
        """The log likelihood ratio at which the test answers "not better"."""
        return log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The log likelihood ratio at which the test answers "better"."""
        return log((1 - self.beta) / self.alpha)


def log_likelihood_ratio(
    blocks: int, mean: float, variance: float, null: float, alternative: float
) -> float:
    """The log likelihood ratio of the GSPRT after ``blocks`` blocks; above 0 it favours
    ``alternative``. ``mean`` is the mean value of a block, ``variance`` that of a single block's
    value; ``null`` and ``alternative`` are the means to be expected under the two hypotheses.
    """
    return blocks * (alternative - null) * (2 * mean - null - alternative) / (2 * variance)


class SequentialTest(ABC):
    """A sequential test between two bots. A subclass says how a block is valued: by wins or by
    margins.

    ``blocks`` is the number of blocks so far, which are added in the order of the schedule. Callers
    read `verdict` after every ``look`` blocks. The variance includes one extra block, half of it at
    each end of the possible range, so that a few identical blocks cannot decide the test.
    """

    def __init__(self, question: Question, *, look: int = 1) -> None:
        self.question = question
        self.look = look
        self.blocks = 0

    @abstractmethod
    def add(self, new: float, old: float, group: int = 0, margins: Margins = NO_MARGINS) -> None:
        """Counts a block: ``new`` and ``old`` are the mean shares of the win that the new and the
        old bot got in its games, from 0 to 1. ``group`` is the number of the set of opponents, 0 if
        the two bots play each other. ``margins`` are two sequences, of the new and of the old bot,
        with the margin of each game (see `records.record.margins`).
        """

    @property
    @abstractmethod
    def mean(self) -> float:
        """By how much the new bot did better than the old one in the blocks so far, above 0 if it
        did; 0 without blocks. The unit is that of the subclass: shares of the win, or pairs of
        outcomes.
        """

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of `mean` times the number of blocks, including the extra block."""

    @abstractmethod
    def worth(self, elo: float) -> float:
        """The expected value of `mean` if the new bot is ``elo`` Elo better than the old one."""

    @property
    def llr(self) -> float:
        """The log likelihood ratio of the two hypotheses after the blocks so far; it rises if the
        new bot does better.
        """
        null = self.worth(self.question.elo0)
        alternative = self.worth(self.question.elo1)
        return log_likelihood_ratio(self.blocks, self.mean, self.variance, null, alternative)

    @property
    def verdict(self) -> Verdict:
        """The answer of the test after the blocks so far."""
        if self.llr >= self.question.upper:
            return Verdict.BETTER
        return Verdict.NOT_BETTER if self.llr <= self.question.lower else Verdict.UNDECIDED


class WinTest(SequentialTest):
    """The sequential test on wins.

    A block's value is the mean share of the win of the new bot minus that of the old one, from -1
    to 1. ``groups`` is 0 if the two bots play each other, and split the wins of a block between
    them. Otherwise each of the two plays the same games against the same opponents, and ``groups``
    is the number of different sets of opponents.
    """

    def __init__(self, question: Question, *, groups: int = 0, look: int = 1) -> None:
        super().__init__(question, look=look)
        self._sum = 0.0
        self._level_sum = 0.5
        self._squares = 0.0
        self._counts = [0] * groups
        self._levels = [0.0] * groups

    def add(
        self,
        new: float,
        old: float,
        group: int = 0,
        margins: Margins = NO_MARGINS,  # noqa: ARG002 - a win is a win
    ) -> None:
        """Counts a block: ``new`` and ``old`` are the mean shares of the win that the new and the
        old bot got in its games, from 0 to 1; ``group`` is the number of the set of opponents.
        Margins are ignored.
        """
        self.blocks += 1
        self._sum += new - old
        self._level_sum += (new + old) / 2
        self._squares += (new - old) ** 2
        if self._counts:
            self._counts[group] += 1
            self._levels[group] += (new + old) / 2

    @property
    def mean(self) -> float:
        """The mean over the blocks so far of the new bot's mean share of the win minus the old
        bot's, from -1 to 1; 0 without blocks.
        """
        return self._sum / max(self.blocks, 1)

    @property
    def variance(self) -> float:
        """The variance of `mean` times the number of blocks, including the extra block."""
        # The extra block is needed because ten equal blocks have no spread, and would decide any
        # question.
        return (max(self._squares - self.blocks * self.mean**2, 0.0) + WIDEST) / (self.blocks + 1)

    @property
    def odds(self) -> tuple[float, float]:
        """The log odds of the shares of the win of the new bot and of the old bot, with one extra
        block in which both have a half.
        """
        level = self._level_sum / (self.blocks + 1)
        half = self._sum / (self.blocks + 1) / 2
        return _log_odds(level + half), _log_odds(level - half)

    def worth(self, elo: float) -> float:
        """The expected value of `mean` if the new bot is ``elo`` Elo better than the old one.

        Against opponents it depends on how strong these are. The level halfway between the two bots
        is estimated from the blocks with each set of opponents, and pulled towards the mean of all
        sets while there are few blocks.
        """
        if not self._counts:
            return tanh(elo / SCALE / 2)
        levels = _shrunk(self._counts, self._levels)
        groups = zip(self._counts, levels, strict=True)
        total = sum(count * _apart(level, elo) for count, level in groups)
        return total / self.blocks if self.blocks else _apart(0.5, elo)


def _shrunk(counts: Sequence[int], sums: Sequence[float]) -> list[float]:
    """The mean of each group, given the ``counts`` and ``sums`` of the groups, pulled towards the
    mean of all groups. That mean has a weight of `BORROWED` blocks, and itself includes one block
    at a half.
    """
    mean = (sum(sums) + 0.5) / (sum(counts) + 1)
    groups = zip(counts, sums, strict=True)
    return [(total + BORROWED * mean) / (count + BORROWED) for count, total in groups]


def _log_odds(share: float) -> float:
    return log(share / (1 - share))


def _apart(level: float, elo: float) -> float:
    """The difference between the shares of the win of two bots that are ``elo`` Elo apart and whose
    mean share is ``level``.
    """
    # The odds halfway between both bots on the scale of Elo solve a quadratic equation. An earlier
    # formula, which started from the mean share, made large differences too small: 297 Elo instead
    # of 370.
    rare = min(level, 1 - level)
    bend = 2 * cosh(elo / SCALE / 2) * (1 - 2 * rare)
    odds = 4 * rare / (bend + sqrt(bend**2 + 16 * rare * (1 - rare)))
    return _moved(odds, elo / 2) - _moved(odds, -elo / 2)


def _moved(odds: float, elo: float) -> float:
    """The share of the win of a bot that is ``elo`` Elo better than a bot whose odds of winning are
    ``odds``.
    """
    odds *= exp(elo / SCALE)
    return odds / (1 + odds)
