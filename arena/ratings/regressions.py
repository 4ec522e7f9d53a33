"""The results of a league's regression tests: a version against an earlier version of the same bot,
over a number of games that was fixed beforehand.

Only the games of the test count. Which versions are tested does not depend on these games, and
neither does their number, so the result is free of the luck by which versions are picked and
accepted.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np

from arena.ratings.model import rate
from arena.ratings.results import Counts, Results, restrict
from arena.records.league import League, RegressionBegun, versions_before


class RegressionResult(NamedTuple):
    """A regression test of the version ``bot`` against the version ``old``, of which ``games`` of
    ``planned`` games have been counted.

    ``gain``        the rating of ``bot`` minus that of ``old``, in Elo, by these games alone; NaN
                    if they give none
    ``gain_error``  half the width of the 95 % interval of ``gain``; NaN if unknown
    ``claimed``     the sum of what ``bot`` and the versions between the two had gained when they
                    were placed, in Elo; NaN if the league's file does not say it of each
    """

    bot: str
    old: str
    games: int
    planned: int
    gain: float = nan
    gain_error: float = nan
    claimed: float = nan

    @property
    def sentence(self) -> str:
        """What the test says, or how far it is, as a sentence for people."""
        games = f"{self.games:,}"
        if self.games < self.planned:
            games = f"{self.games:,} of {self.planned:,}"
        measured = f"the difference of {self.bot} and {self.old} is not known yet"
        if np.isfinite(self.gain):
            error = f" +/- {self.gain_error:.0f}" if np.isfinite(self.gain_error) else ""
            measured = f"{self.bot} is {self.gain:+.0f}{error} Elo on {self.old}"
        claimed = ""
        if np.isfinite(self.claimed):
            claimed = f"; when placed, the versions up to it had gained {self.claimed:+.0f} in all"
        return f"regression test over {games} games: {measured}{claimed}"


def regression_tests(
    counts: Counts, league: League, *, per_game: int = 1
) -> list[RegressionResult]:
    """The regression tests of ``league`` in the order in which they began, with their results in
    the games of ``counts``. ``per_game`` is the number of games that are counted as one, as the
    games of a match are.
    """
    deals = defaultdict[str, list[int]](list)
    for drawn in league.drawn:
        if drawn.tested:
            deals[drawn.tested].extend(range(drawn.first, drawn.first + drawn.deals))
    return [
        _result(counts, league, begun, deals[begun.bot], per_game)
        for begun in league.regressions.values()
    ]


def _result(
    counts: Counts, league: League, begun: RegressionBegun, deals: Sequence[int], per_game: int
) -> RegressionResult:
    """The result of the test ``begun``, whose games are on the ``deals`` with these numbers."""
    played = counts.results.on_deals(np.isin(counts.deals, deals))
    test = RegressionResult(begun.bot, begun.old, played.games * per_game, begun.games)
    test = test._replace(claimed=_claimed(league, begun))
    if not {begun.bot, begun.old} <= {*played.bots}:
        return test
    return _measured(test, played)


def _measured(test: RegressionResult, played: Results) -> RegressionResult:
    """The ``test`` with the gain that its games, ``played``, show."""
    bots = [played.bots.index(test.bot), played.bots.index(test.old)]
    both = restrict(played, np.array(bots, dtype=np.int64))
    fits = rate(both).fits
    if not fits:
        return test
    [fit] = fits
    # In a league of these two bots alone, `restrict` leaves them in the order of their names.
    rated = [both.bots[member] for member in fit.members]
    new = rated.index(test.bot)
    old = rated.index(test.old)
    errors = fit.difference_half_widths()
    gain = float(fit.elo[new] - fit.elo[old])
    return test._replace(gain=gain, gain_error=float(errors[new, old]))


def _claimed(league: League, begun: RegressionBegun) -> float:
    """The sum, in Elo, of the gains that the versions after ``begun.old`` up to ``begun.bot`` had
    when they were placed; NaN if one of these gains is not known.
    """
    before = versions_before(league.members)
    total = 0.0
    version = begun.bot
    while version != begun.old:
        placed = league.members[version].placed
        if placed is None or placed.gain is None or version not in before:
            return nan
        total += placed.gain
        version = before[version]
    return total
