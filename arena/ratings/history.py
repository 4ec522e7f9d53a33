"""The ratings of all versions in a league, on a scale that benchmarks hold fixed.

Games determine only differences of ratings. When a benchmark begins to hold the scale, its rating
at that time is written to league.jsonl. The level of all ratings is then chosen such that these
benchmarks keep their written ratings on average, each weighted by how well its rating is known. So
a benchmark far above or below all other bots, whose rating is poorly known, hardly moves the scale.
A benchmark that is retired keeps its part.
"""

from collections.abc import Collection, Mapping, Sequence
from math import inf, isfinite, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.ratings.columns import HISTORY, frame_names
from arena.ratings.fit import Fit
from arena.ratings.model import bound_interval, rate
from arena.ratings.results import Counts, Floats
from arena.ratings.tally import score_journal
from arena.records.journal import journal_of
from arena.records.league import League, read_league, versions_before
from arena.records.record import name_of
from arena.records.runfile import RunInfo

PRIOR = 1.0
"""The weight of a virtual draw between each bot and an imagined bot with rating 0, so that a
candidate gets a rating with its first games.
"""
MIN_VARIANCE = 1.0
"""In Elo squared: a benchmark whose rating has a smaller variance is weighted as if it had this
one.
"""


class OnScale(NamedTuple):
    """A bot's rating in Elo on a league's scale, its ``error``, half the width of its 95 % interval
    (infinite if unknown), the number of its games, and how many of them it forfeited.
    """

    elo: float
    error: float
    games: int
    forfeits: int


def league_counts(
    journal: Path, bots: Sequence[str], match: Sequence[str], *, own_decks: bool
) -> Counts:
    """Counts the games in the journal of a league between ``bots``; with ``match``, the matches on
    these boards. ``own_decks`` says that line-ups play different decks under the same deal numbers.
    Raises RunError.
    """
    return score_journal(journal, match, own_decks=own_decks).counted.counts(bots)


def on_scale(
    counts: Counts, benchmarks: Collection[str], held: Mapping[str, float]
) -> dict[str, OnScale]:
    """The ratings of the bots in ``counts`` on the scale of a league, by name, for the code that
    chooses the next games. ``benchmarks`` are the present benchmarks, ``held`` has, by name, the
    fixed ratings of the benchmarks that define the scale.
    """
    on_scale_by_name = dict[str, OnScale]()
    results = counts.results
    sums = _played(counts)
    for fit in rate(results, PRIOR).fits:
        names = [results.bots[member] for member in fit.members]
        level = level_on(names, fit, benchmarks, held)
        for index, (name, member) in enumerate(zip(names, fit.members, strict=True)):
            error = level.error_of(index)
            elo = float(fit.elo[index]) + level.shift
            on_scale_by_name[name] = OnScale(
                elo, error if isfinite(error) else inf, **sums[int(member)]
            )
    return on_scale_by_name


class Level(NamedTuple):
    """Where a fit lies on the scale of a league: ``shift``, in Elo, is added to its ratings, and
    ``weights`` (n,) say how much each bot determines the shift.
    """

    fit: Fit
    shift: float
    weights: Floats

    def error_of(self, index: int) -> float:
        """The half-width in Elo, on the scale, of the 95 % interval of the bot at ``index`` in the
        fit; NaN if the bot played too few deals.
        """
        has_error = self.fit.is_known
        if not has_error[index]:
            return nan
        return self.fit.contrast_width(np.eye(len(has_error))[index] - self.weights, has_error)


def level_on(
    names: Sequence[str], fit: Fit, benchmarks: Collection[str], held: Mapping[str, float]
) -> Level:
    """Where ``fit``, a fit of the bots ``names``, lies on the scale: its ratings are moved so that,
    on average, the benchmarks in ``held`` have the ratings given there. ``held`` has, by name, the
    fixed ratings of the benchmarks that define the scale. If it names none of the bots, the average
    of the ``benchmarks`` is 0, or that of all bots if no benchmark is among them.

    Each bot is weighted by one over the variance of its rating (at least `MIN_VARIANCE`), and only
    bots with enough deals for an error bar count. If no bot has a weight, all bots count alike.
    """
    holders = [name in held for name in names]
    if not any(holders):
        holders = [name in benchmarks for name in names]
    chosen = np.array(holders if any(holders) else [True] * len(names)) & fit.is_known
    variance = np.diag(fit.covariance)
    weights = np.where(chosen & (variance > 0), 1 / np.maximum(variance, MIN_VARIANCE), 0.0)
    if not weights.any():
        weights = np.ones(len(names))
    weights = weights / weights.sum()
    wanted = np.array([held.get(name, 0.0) for name in names])
    return Level(fit, float(weights @ (wanted - fit.elo)), np.asarray(weights, dtype=np.float64))


class History(NamedTuple):
    """The versions in a league in the order in which they joined; ``table`` has the columns of
    `history_table`.

    ``scale`` has, by name, the fixed ratings of the benchmarks that define the scale; it is empty
    as long as none do.
    """

    table: pd.DataFrame
    scale: Mapping[str, float]

    def of(self, bot: str) -> "History":
        """The part of the history with the versions of the bot named ``bot``, or with the one
        version of that label.
        """
        rows = (self.table["bot"] == bot) | (self.table["version"] == bot)
        return self._replace(table=self.table[rows].reset_index(drop=True))

    @property
    def sentences(self) -> list[str]:
        """One sentence for each version whose gain over the version before has an error bar, such
        as ``my-bot@2 is +38 +/- 21 Elo on my-bot@1``.
        """
        gained = self.table[self.table["gain_error"].notna()]
        return [
            f"{version} is {gain:+.0f} +/- {error:.0f} Elo on {before}"
            for version, gain, error, before in zip(
                *(gained[name] for name in ("version", "gain", "gain_error", "before")), strict=True
            )
        ]


def read_history(folder: Path, info: RunInfo) -> History:
    """Reads the history of the league in a folder, whose run.json is ``info``, and rates its games.
    Raises RunError, NoAnswerError.
    """
    names = [bot.name for bot in info.bots]
    journal = journal_of(folder)
    counts = league_counts(journal, names, info.counting.match, own_decks=info.has_own_decks)
    return history_of(folder, counts)


def history_of(folder: Path, counts: Counts) -> History:
    """The history of the league in a folder, whose games are already counted in ``counts``. Raises
    RunError, NoAnswerError.
    """
    league = read_league(folder)
    return History(history_table(counts, league), dict(league.scale))


def history_table(counts: Counts, league: League) -> pd.DataFrame:
    """One row per member of a league, with the columns of `columns.HISTORY`: figures float64,
    counts int64, texts str. NaN marks the open side of a bound and missing figures; ``before`` is
    empty without an earlier version.

    All ratings of a component (versions that met, directly or through others) come from one fit. So
    the error of a gain is the error of the difference, in which the uncertainty that two versions
    share cancels.
    """
    results = counts.results
    before = versions_before(league.members)
    sums = _played(counts)
    number = {bot: place for place, bot in enumerate(counts.results.bots)}
    rows = {
        bot: {
            "version": bot,
            "bot": name_of(bot),
            "status": member.status,
            "joined": member.joined,
            "before": before.get(bot, ""),
            "mark": "~",
            "placed_games": member.placed.games if member.placed else 0,
            **sums.get(number.get(bot, -1), {"games": 0, "forfeits": 0}),
        }
        for bot, member in league.members.items()
    }
    for part in rate(results).components:
        fit = part.fit
        if fit is None:
            continue
        names = [results.bots[member] for member in fit.members]
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
    figures = dict.fromkeys(("elo", "elo_low", "elo_high", "gain", "gain_error"), "float64")
    return pd.DataFrame(rows.values(), columns=frame_names(HISTORY)).astype(figures)


def _played(counts: Counts) -> dict[int, dict[str, int]]:
    """The number of games and of forfeits of each bot that played, by the bot's number."""
    sums = counts.totals.groupby("bot")[["games", "forfeits"]].sum()
    return {
        int(bot): {"games": int(games), "forfeits": int(forfeits)}
        for bot, games, forfeits in sums.itertuples()
    }
