"""The scale of a league: what keeps the ratings of its versions comparable while bots come and go.

Games determine only differences of ratings, so something has to fix the level. The *founders* do:
the benchmarks whose ratings were known well enough when the league's scale began. From then on
their ratings and their weights are frozen in league.jsonl. The level of all ratings is always
chosen such that the weighted mean of the founders is the one that is written there. No later
benchmark has a part in that, and no weight changes while games are played. So the level can only be
off by the errors of the games that link a bot to the founders, and its interval contains all of
them: the interval is that of the bot's distance from the weighted mean.
"""

from collections.abc import Collection, Mapping, Sequence
from math import inf, isfinite, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.ratings.fit import Fit
from arena.ratings.model import rate
from arena.ratings.results import Counts, Floats
from arena.ratings.tally import score_journal
from arena.records.league import LeagueScale

PRIOR = 1.0
"""The weight of a virtual draw between each bot and an imagined bot with rating 0, so that a
candidate gets a rating with its first games.
"""
MIN_VARIANCE = 1.0
"""In Elo squared: a benchmark whose rating has a smaller variance is weighted as if it had this
one.
"""
WEIGHT_DIGITS = 6
"""The decimal places of a founder's weight in league.jsonl."""
WHOLE = 0.999
"""The least sum of the founders' weights that is not taken for a failure to weigh them."""


class OnScale(NamedTuple):
    """A bot's rating in Elo on a league's scale, its ``error``, half the width of its 95 % interval
    (infinite if unknown), whether the error is rough because too few deals tell of the bot, the
    number of its games, and how many of them it forfeited. ``gain`` is its rating minus that of the
    version before it, with the half-width ``gain_error``; both are NaN where no gain was asked for.
    """

    elo: float
    error: float
    is_rough: bool
    games: int
    forfeits: int
    gain: float = nan
    gain_error: float = nan

    def is_known_to(self, elo: float) -> bool:
        """Whether the interval is reliable and reaches at most ``elo`` Elo to either side. A few
        deals that ended alike give a narrow interval by chance; one of width 0 means only that
        every deal ended alike.
        """
        return 0 < self.error <= elo and not self.is_rough


def league_counts(
    journal: Path, bots: Sequence[str], match: Sequence[str], *, own_decks: bool
) -> Counts:
    """Counts what the journal of a league has between ``bots``: the matches on the boards
    ``match``, or single games if ``match`` is empty. ``own_decks`` says that line-ups play
    different decks under the same deal numbers. Raises RunError.
    """
    return score_journal(journal, match, own_decks=own_decks).counted.counts(bots)


def on_scale(
    counts: Counts, benchmarks: Collection[str], scale: LeagueScale, before: Mapping[str, str]
) -> dict[str, OnScale]:
    """The ratings of the bots in ``counts`` on the ``scale`` of a league, by name, for the code
    that chooses the next games. They are rated with a prior, so only bots that met no other bot are
    missing. ``benchmarks`` are the present benchmarks; ``before`` has the version before each bot
    whose gain is needed, by the bot's name.
    """
    on_scale_by_name = dict[str, OnScale]()
    results = counts.results
    sums = played_games(counts)
    for fit in rate(results, PRIOR).fits:
        names = results.names_of(fit.members)
        level = level_on(names, fit, benchmarks, scale)
        half_widths = fit.difference_half_widths()
        for index, (name, member) in enumerate(zip(names, fit.members, strict=True)):
            error = level.error_of(index)
            rating = OnScale(
                elo=float(fit.elo[index]) + level.shift,
                error=error if isfinite(error) else inf,
                is_rough=bool(fit.is_few[index]),
                **sums[int(member)],
            )
            old = before.get(name)
            if old in names:
                number = names.index(old)
                rating = rating._replace(
                    gain=float(fit.elo[index] - fit.elo[number]),
                    gain_error=float(half_widths[index, number]),
                )
            on_scale_by_name[name] = rating
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
    names: Sequence[str], fit: Fit, benchmarks: Collection[str], scale: LeagueScale
) -> Level:
    """Where ``fit``, a fit of the bots ``names``, lies on the ``scale`` of a league: its ratings
    are moved so that the founders have the ratings in the scale, on average over their weights.

    Before there is a scale, or if no founder is in the fit, the average of the ``benchmarks`` is 0,
    or that of all bots if no benchmark is among them. Bots whose weights are not frozen are
    weighted by one over the variance of their ratings (at least `MIN_VARIANCE`), and only bots with
    enough deals for an error bar count. If no bot has a weight, all bots count alike.
    """
    weights = np.array([scale.weights.get(name, 0.0) for name in names])
    if not weights.any():
        holders = [name in scale.elo for name in names]
        if not any(holders):
            holders = [name in benchmarks for name in names]
        chosen = np.array(holders if any(holders) else [True] * len(names)) & fit.is_known
        variance = np.diag(fit.covariance)
        weights = np.where(chosen & (variance > 0), 1 / np.maximum(variance, MIN_VARIANCE), 0.0)
    if not weights.any():
        weights = np.ones(len(names))
    weights = weights / weights.sum()
    wanted = np.array([scale.elo.get(name, 0.0) for name in names])
    return Level(fit, float(weights @ (wanted - fit.elo)), np.asarray(weights, dtype=np.float64))


def frozen_scale(
    counts: Counts, benchmarks: Collection[str], scale: LeagueScale
) -> LeagueScale | None:
    """The scale of a league with the weights that its founders have now, after the games in
    ``counts``. Without founders in ``scale``, the ``benchmarks`` with a rating become founders with
    their present ratings; founders from an earlier version of the arena keep theirs. Weights are
    one over the variance of a rating. None if no founder has a rating with an error bar.

    The ratings are those without a prior, like the history's. A benchmark outside the rated group,
    for example one that lost all its games, cannot be a founder.
    """
    founders = scale.elo or dict.fromkeys(benchmarks, 0.0)
    for part in rate(counts.results).components:
        fit = part.fit
        if fit is None or not part.is_rated:
            continue
        names = counts.results.names_of(fit.members)
        level = level_on(names, fit, benchmarks, scale)
        elo = dict[str, float]()
        weights = dict[str, float]()
        for index, name in enumerate(names):
            weight = float(level.weights[index])
            if name in founders and weight > 0 and fit.is_known[index]:
                elo[name] = round(float(fit.elo[index]) + level.shift, 1)
                weights[name] = weight
        if sum(weights.values()) < WHOLE:
            continue
        least = 10.0**-WEIGHT_DIGITS
        for name, weight in weights.items():
            weights[name] = max(round(weight, WEIGHT_DIGITS), least)
        return LeagueScale(scale.elo or elo, weights)
    return None


def played_games(counts: Counts) -> dict[int, dict[str, int]]:
    """The number of games and of forfeits of each bot that played, by the bot's number."""
    played = {}
    for row in counts.totals.summed("bot").rows():
        played[row["bot"]] = {"games": int(row["games"]), "forfeits": int(row["forfeits"])}
    return played
