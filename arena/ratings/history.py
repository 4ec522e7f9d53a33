"""The versions in a league: their ratings on its scale, what each of them gained over the version
before it, and the results of its regression tests.
"""

from collections.abc import Hashable, Mapping, Sequence
from math import isfinite, nan
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from arena.ratings.bounds import bound_interval
from arena.ratings.column import frame_names
from arena.ratings.columns import HISTORY
from arena.ratings.gains import mean_gain, shrunk
from arena.ratings.model import rate
from arena.ratings.regressions import RegressionResult, regression_tests
from arena.ratings.results import Counts
from arena.ratings.scale import league_counts, level_on, played_games
from arena.records.journal import journal_of
from arena.records.league import League, LeagueScale, read_league, versions_before
from arena.records.record import name_of
from arena.records.runfile import RunInfo

FIGURES = (
    *("elo", "elo_low", "elo_high", "gain", "gain_error"),
    *("gain_likely", "test_gain", "test_error"),
)
"""The columns of the history that are float64."""
MIN_RATED = 2
"""The number of rated versions from which one of them leads."""


class History(NamedTuple):
    """The versions in a league in the order in which they joined; ``table`` has the columns of
    `history_table`.

    ``scale`` has the founders (the benchmarks that fix the scale) with their ratings and weights;
    it is empty as long as the league has none. ``regressions`` are the regression tests in the
    order in which they began. ``mean_gain`` is the mean gain in Elo towards which the likely gains
    of the whole league are moved; NaN if too few gains have an interval.
    """

    table: pd.DataFrame
    scale: LeagueScale = LeagueScale()
    regressions: Sequence[RegressionResult] = ()
    mean_gain: float = nan

    def of(self, bot: str) -> "History":
        """The part of the history with the versions of the bot named ``bot``, or with the one
        version of that label; without rows if there is neither. The scale and the mean gain stay
        those of the whole league.
        """
        rows = (self.table["bot"] == bot) | (self.table["version"] == bot)
        table = self.table[rows].reset_index(drop=True)
        versions = {*table["version"]}
        regressions = [test for test in self.regressions if test.bot in versions]
        return self._replace(table=table, regressions=regressions)

    @property
    def sentences(self) -> list[str]:
        """One sentence for each version whose gain over the version before has an error bar, such
        as ``my-bot@2 is +38 +/- 21 Elo on my-bot@1, likely +29``.
        """
        gained = self.table[self.table["gain_error"].notna()]
        return [_gain_sentence(row) for row in gained.to_dict("records")]

    @property
    def leader(self) -> str:
        """The label of the version with the highest rating, if it is probably rated too high
        because the next one may be as good. Empty if the first is clearly better than the second,
        if one of the two has a mark (too few games), if a version that lost nothing may be better,
        or with fewer than two ratings.
        """
        rated = self.table[self.table["elo_low"].notna() & self.table["elo_high"].notna()]
        if len(rated) < MIN_RATED or ">" in {*self.table["mark"]}:
            return ""
        first, second = rated.sort_values("elo", ascending=False, kind="stable").to_dict("records")[
            :MIN_RATED
        ]
        if first["mark"] or second["mark"]:
            return ""
        is_clear = first["elo_low"] > second["elo"]
        return "" if is_clear else str(first["version"])


def _gain_sentence(row: Mapping[Hashable, Any]) -> str:
    """A sentence about the gain in ``row``, a row of the history with a gain and its error."""
    likely = row["gain_likely"]
    shrunk_to = f", likely {likely:+.0f}" if isfinite(likely) else ""
    return (
        f"{row['version']} is {row['gain']:+.0f} +/- {row['gain_error']:.0f} Elo on"
        f" {row['before']}{shrunk_to}"
    )


def read_history(folder: Path, info: RunInfo) -> History:
    """Reads the history of the league in a folder, whose run.json is ``info``, and rates its games.
    Raises RunError, NoAnswerError.
    """
    names = info.bot_names
    journal = journal_of(folder)
    counts = league_counts(journal, names, info.counting.match, own_decks=info.has_own_decks)
    return history_of(folder, counts, info.counting.match)


def history_of(folder: Path, counts: Counts, match: Sequence[str]) -> History:
    """The history of the league in a folder. Its games are already counted in ``counts``: as
    matches on the boards ``match``, or singly if ``match`` is empty. Raises RunError,
    NoAnswerError.
    """
    league = read_league(folder)
    per_game = max(1, len(match))
    tests = regression_tests(counts, league, per_game=per_game)
    table = history_table(counts, league, tests)
    mean = mean_gain(table["gain"].to_numpy(), table["gain_error"].to_numpy())
    return History(table, league.scale, tests, mean)


def history_table(
    counts: Counts, league: League, tests: Sequence[RegressionResult] = ()
) -> pd.DataFrame:
    """One row per member of a league, with the columns of `columns.HISTORY`: figures float64,
    counts int64, texts str. NaN marks the open side of a bound and missing figures; ``before`` is
    empty without an earlier version, ``tested_against`` without a regression test. ``tests`` are
    the league's regression tests.

    All ratings of a component (versions that met, directly or through others) come from one fit. So
    the error of a gain is the error of the difference, in which the uncertainty that two versions
    share cancels.
    """
    results = counts.results
    before = versions_before(league.members)
    sums = played_games(counts)
    number = {bot: place for place, bot in enumerate(counts.results.bots)}
    rows: dict[str, dict[str, Any]] = {}
    for bot, member in league.members.items():
        games = sums.get(number.get(bot, -1), {"games": 0, "forfeits": 0})
        rows[bot] = {
            "version": bot,
            "bot": name_of(bot),
            "status": member.status,
            "joined": member.joined,
            "before": before.get(bot, ""),
            "mark": "~",
            "placed_games": member.placed.games if member.placed else 0,
            "tested_against": "",
            "test_games": 0,
            **games,
        }
    for part in rate(results).components:
        fit = part.fit
        if fit is None:
            continue
        names = results.names_of(fit.members)
        level = level_on(names, fit, league.with_status("benchmark"), league.scale)
        errors = fit.difference_half_widths()
        for index, name in enumerate(names if part.is_rated else ()):
            elo = fit.elo[index] + level.shift
            half = level.error_of(index)
            row = rows.get(name, {})
            row |= {"mark": "?" if fit.is_few[index] else "", "elo": elo}
            row |= {"elo_low": elo - half, "elo_high": elo + half}
            if before.get(name) in names:
                old = names.index(before[name])
                row |= {"gain": fit.elo[index] - fit.elo[old], "gain_error": errors[index, old]}
        for bound in part.bounds:
            known = bound.side, *bound_interval(bound.elo + level.shift, bound.side)
            row = rows.get(results.bots[bound.member], {})
            row |= zip(("mark", "elo", "elo_low", "elo_high"), known, strict=True)
    for test in tests:
        row = rows[test.bot]
        row |= {"tested_against": test.old, "test_games": test.games}
        row |= {"test_gain": test.gain, "test_error": test.gain_error}
    columns = frame_names(HISTORY)
    table = pd.DataFrame(rows.values(), columns=columns)
    table = table.astype(dict.fromkeys(FIGURES, "float64"))
    table["gain_likely"] = shrunk(table["gain"].to_numpy(), table["gain_error"].to_numpy())
    return table
