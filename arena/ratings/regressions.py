"""The results of a league's regression tests: a version against an earlier version of the same bot,
over a number of games that was fixed beforehand.

Only the games of the test count. Which versions are tested does not depend on these games, and
neither does their number, so the result is free of the luck by which versions are picked and
accepted.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import hypot, nan
from typing import NamedTuple

import numpy as np

from arena.ratings.model import rate
from arena.ratings.results import Counts, Results, restrict
from arena.ratings.sequential import FAR
from arena.records.league import League, RegressionBegun, versions_before


class RegressionResult(NamedTuple):
    """A regression test of the version ``bot`` against the version ``old``, of which ``games`` of
    ``planned`` games have been counted.

    ``gain``        the rating of ``bot`` minus that of ``old``, in Elo, by these games alone; NaN
                    if they give none
    ``gain_error``  half the width of the 95 % interval of ``gain``; NaN if unknown
    ``claimed``     the sum of what ``bot`` and the versions between the two had gained when they
                    were placed, in Elo; NaN if the league's file does not say it of each, or if the
                    sum is known worse than to `FAR` Elo
    ``claimed_error``  half the width of the 95 % interval of ``claimed``, as if these gains were
                    independent; NaN if ``claimed`` is
    ``sweep``       ``better`` or ``worse`` if one of the two lost no game, so that there is no
                    ``gain``, and that is no luck; else empty
    """

    bot: str
    old: str
    games: int
    planned: int
    gain: float = nan
    gain_error: float = nan
    claimed: float = nan
    claimed_error: float = nan
    sweep: str = ""

    @property
    def is_over(self) -> bool:
        """Whether all games of the test have been counted."""
        return self.games >= self.planned

    @property
    def is_known(self) -> bool:
        """Whether the games tell the difference of the two versions at least to `FAR` Elo."""
        return bool(np.isfinite(self.gain) and self.gain_error <= FAR)

    @property
    def verdict(self) -> str:
        """``better`` or ``worse`` if the new version clearly is, by the games of a test that is
        over; ``unclear`` if it is over and neither is clear; empty before its end.
        """
        if not self.is_over:
            return ""
        if self.sweep:
            return self.sweep
        if not self.is_known or abs(self.gain) <= self.gain_error:
            return "unclear"
        return "better" if self.gain > 0 else "worse"

    @property
    def sentence(self) -> str:
        """What the test says, or how far it is, as a sentence for people."""
        if not self.is_over:
            so_far = "nothing is known yet"
            if self.is_known:
                so_far = f"so far {self._measured}"
            return (
                f"regression test of {self.bot} against {self.old}: {self.games:,} of"
                f" {self.planned:,} games played, {so_far}"
            )
        answer = {
            "better": f"{self.bot} is clearly better than {self.old}",
            "worse": f"{self.bot} is clearly worse than {self.old}",
            "unclear": f"whether {self.bot} is better than {self.old} is not clear",
        }
        begun = f"regression test over {self.games:,} games: {answer[self.verdict]}"
        if self.sweep:
            result = "it lost no game" if self.sweep == "better" else "it won no game"
            return f"{begun} ({result})"
        figure = f" ({self._measured})" if self.is_known else ""
        return f"{begun}{figure}; {self._comparison}"

    @property
    def _measured(self) -> str:
        """The gain that the games of the test show, with its error."""
        return f"{self.gain:+.0f} +/- {self.gain_error:.0f} Elo"

    @property
    def _comparison(self) -> str:
        """How the gain in the test compares with the gains that were claimed at the placing."""
        claimed = f"the sum of the gains that the versions after {self.old} showed when placed"
        if not np.isfinite(self.claimed):
            return f"{claimed} is not known"
        claimed = f"{claimed}, {self.claimed:+.0f} +/- {self.claimed_error:.0f} Elo"
        difference = self.gain - self.claimed
        if not self.is_known or abs(difference) <= hypot(self.gain_error, self.claimed_error):
            return f"that does not contradict {claimed}"
        if difference < 0:
            return f"that is clearly less than {claimed}; that sum was partly luck"
        return f"that is clearly more than {claimed}"


def regression_tests(
    counts: Counts, league: League, *, per_game: int = 1
) -> list[RegressionResult]:
    """The regression tests of ``league`` in the order in which they began, with their results in
    ``counts``. ``per_game`` is the number of games in each counted one: 1, or the games of a match
    if ``counts`` counts matches.
    """
    deals = defaultdict[str, list[int]](list)
    for drawn in league.drawn:
        if drawn.tested:
            deals[drawn.tested].extend(range(drawn.first, drawn.first + drawn.deals))
    results = []
    for begun in league.regressions.values():
        result = _result(counts, league, begun, deals[begun.bot], per_game)
        results.append(result)
    return results


def _result(
    counts: Counts, league: League, begun: RegressionBegun, deals: Sequence[int], per_game: int
) -> RegressionResult:
    """The result of the test ``begun``, whose games are on the ``deals`` with these numbers."""
    played = counts.results.on_deals(np.isin(counts.deals, deals))
    test = RegressionResult(begun.bot, begun.old, played.games * per_game, begun.games)
    claimed, claimed_error = _claimed(league, begun)
    test = test._replace(claimed=claimed, claimed_error=claimed_error)
    if not {begun.bot, begun.old} <= {*played.bots}:
        return test
    return _measured(test, played)


def _measured(test: RegressionResult, played: Results) -> RegressionResult:
    """The ``test`` with the gain that its games, ``played``, show."""
    bots = [played.bots.index(test.bot), played.bots.index(test.old)]
    both = restrict(played, np.array(bots, dtype=np.int64))
    ratings = rate(both)
    if not ratings.fits:
        sides = {both.bots[bound.member]: bound for bound in ratings.bounds}
        bound = sides.get(test.bot) or sides.get(test.old)
        if bound is None or not bound.is_clear.all() or not len(bound.rivals):
            return test
        is_above = (bound.side == ">") == (test.bot in sides)
        return test._replace(sweep="better" if is_above else "worse")
    [fit] = ratings.fits
    # In a league of these two bots alone, `restrict` leaves them in the order of their names.
    rated = [both.bots[member] for member in fit.members]
    new = rated.index(test.bot)
    old = rated.index(test.old)
    errors = fit.difference_half_widths()
    gain = float(fit.elo[new] - fit.elo[old])
    return test._replace(gain=gain, gain_error=float(errors[new, old]))


def _claimed(league: League, begun: RegressionBegun) -> tuple[float, float]:
    """The sum of the gains that the versions after ``begun.old`` up to ``begun.bot`` had when they
    were placed, and half the width of its 95 % interval, both in Elo. Both are NaN if one of these
    gains or its error is not known, or if the sum is known worse than to `FAR` Elo.
    """
    before = versions_before(league.members)
    total = 0.0
    error = 0.0
    version = begun.bot
    while version != begun.old:
        placed = league.members[version].placed
        if placed is None or placed.gain is None or placed.gain_error is None:
            return nan, nan
        if version not in before:
            return nan, nan
        total += placed.gain
        error = hypot(error, placed.gain_error)
        version = before[version]
    return (total, error) if error <= FAR else (nan, nan)
