"""How the versions in a league came on: their ratings on a scale that its benchmarks hold.

Games tell differences only. A benchmark holds a league's scale with the rating that it had when it
began to, and the level of all others is such that the benchmarks, each weighted by how well its
rating is known, have these ratings on average. So a benchmark far above or below everybody else,
which nobody can know well, moves nothing; nor does one that has retired.
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
"""A draw with a ghost for everybody, so that the first games of a candidate rate it already."""
LEAST_VARIANCE = 1.0
"""In Elo squared; what is known better weighs no more."""


class OnScale(NamedTuple):
    """A rating in Elo, the half-width of its 95 % interval (infinite if unknown), how many games it
    is from, and how many of these it forfeited.
    """

    elo: float
    error: float
    games: int
    forfeits: int


def league_counts(
    journal: Path, bots: Sequence[str], match: Sequence[str], *, own_decks: bool
) -> Counts:
    """The counted games in the journal of a league. Raises RunError."""
    return score_journal(journal, match, own_decks=own_decks).counted.counts(bots)


def on_scale(
    counts: Counts, benchmarks: Collection[str], held: Mapping[str, float]
) -> dict[str, OnScale]:
    """The ratings of all bots on the scale of a league, for the code that decides whose games tell
    most.
    """
    found = dict[str, OnScale]()
    results = counts.results
    sums = _played(counts)
    for fit in rate(results, PRIOR).fits:
        names = [results.bots[member] for member in fit.members]
        level = level_on(names, fit, benchmarks, held)
        for at, (name, member) in enumerate(zip(names, fit.members, strict=True)):
            error = level.error_of(at)
            elo = float(fit.elo[at]) + level.shift
            found[name] = OnScale(elo, error if isfinite(error) else inf, **sums[int(member)])
    return found


class Level(NamedTuple):
    """How a fit lies on the scale: ``shift`` is to be added to its ratings, ``weights`` (n,) are
    those of its bots in that.
    """

    fit: Fit
    shift: float
    weights: Floats

    def error_of(self, at: int) -> float:
        """The half-width of the 95 % interval of a rating on the scale, NaN where too few deals
        tell.
        """
        told = self.fit.is_known
        if not told[at]:
            return nan
        return self.fit.contrast_width(np.eye(len(told))[at] - self.weights, told)


def level_on(
    names: Sequence[str], fit: Fit, benchmarks: Collection[str], held: Mapping[str, float]
) -> Level:
    """How the fit of these bots lies on the scale. Where no benchmark holds it yet, their mean is
    0, or that of all where there is none.
    """
    holders = [name in held for name in names]
    if not any(holders):
        holders = [name in benchmarks for name in names]
    chosen = np.array(holders if any(holders) else [True] * len(names)) & fit.is_known
    variance = np.diag(fit.covariance)
    weights = np.where(chosen & (variance > 0), 1 / np.maximum(variance, LEAST_VARIANCE), 0.0)
    if not weights.any():
        weights = np.ones(len(names))
    weights = weights / weights.sum()
    wanted = np.array([held.get(name, 0.0) for name in names])
    return Level(fit, float(weights @ (wanted - fit.elo)), np.asarray(weights, dtype=np.float64))


class History(NamedTuple):
    """The versions of a league, in the order in which they joined; see `history_table`.

    ``scale`` are the ratings with which benchmarks hold the scale, none as long as it is not held.
    """

    table: pd.DataFrame
    scale: Mapping[str, float]

    def of(self, bot: str) -> "History":
        """Only the versions of one bot, or one version."""
        rows = (self.table["bot"] == bot) | (self.table["version"] == bot)
        return self._replace(table=self.table[rows].reset_index(drop=True))

    @property
    def sentences(self) -> list[str]:
        """What each version gained, such as ``my-bot@2 is +38 +/- 21 Elo on my-bot@1``."""
        told = self.table[self.table["gain_error"].notna()]
        return [
            f"{version} is {gain:+.0f} +/- {error:.0f} Elo on {before}"
            for version, gain, error, before in zip(
                *(told[name] for name in ("version", "gain", "gain_error", "before")), strict=True
            )
        ]


def read_history(folder: Path, info: RunInfo) -> History:
    """The history of the league in a folder, whose run.json is ``info``. Raises RunError,
    NoAnswerError.
    """
    names = [bot.name for bot in info.bots]
    journal = journal_of(folder)
    counts = league_counts(journal, names, info.counting.match, own_decks=info.has_own_decks)
    return history_of(folder, counts)


def history_of(folder: Path, counts: Counts) -> History:
    """The history of the league in a folder, whose games have been counted."""
    league = read_league(folder)
    return History(history_table(counts, league), dict(league.scale))


def history_table(counts: Counts, league: League) -> pd.DataFrame:
    """One row for each member of a league: the columns of `columns.HISTORY`, figures float64,
    counts int64, texts str. NaN at the open side of a bound, and where there is no rating to tell.

    All are from one fit of all games: so the error of a gain is that of the difference, and what is
    uncertain about both alike cancels.
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
        if (fit := part.fit) is None:
            continue
        names = [results.bots[member] for member in fit.members]
        level = level_on(names, fit, league.with_status("benchmark"), league.scale)
        errors = fit.difference_half_widths()
        for at, name in enumerate(names if part.is_rated else ()):
            elo = fit.elo[at] + level.shift
            half = level.error_of(at)
            row = rows.get(name, {})
            row |= {"mark": "?" if fit.is_few[at] else "", "elo": elo}
            row |= {"elo_low": elo - half, "elo_high": elo + half}
            if before.get(name) in names:
                old = names.index(before[name])
                row |= {"gain": fit.elo[at] - fit.elo[old], "gain_error": errors[at, old]}
        for bound in part.bounds:
            known = bound.side, *bound_interval(bound.elo + level.shift, bound.side)
            row = rows.get(results.bots[bound.member], {})
            row |= zip(("mark", "elo", "elo_low", "elo_high"), known, strict=True)
    figures = dict.fromkeys(("elo", "elo_low", "elo_high", "gain", "gain_error"), "float64")
    return pd.DataFrame(rows.values(), columns=frame_names(HISTORY)).astype(figures)


def _played(counts: Counts) -> dict[int, dict[str, int]]:
    """Games and forfeits of each bot that played, by its number."""
    sums = counts.totals.groupby("bot")[["games", "forfeits"]].sum()
    return {
        int(bot): {"games": int(games), "forfeits": int(forfeits)}
        for bot, games, forfeits in sums.itertuples()
    }
