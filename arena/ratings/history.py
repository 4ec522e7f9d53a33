"""How the versions in a league came on: each with its rating on the league's scale, and with what
it gained over the version before it.

All of it is from one fit of all games, so that the ratings of any two versions can be compared, and
the error of a gain is that of the difference: what is uncertain about both alike cancels.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from arena.ratings.columns import HISTORY, frame_names
from arena.ratings.model import Component, rate
from arena.ratings.outside import bound_interval
from arena.ratings.results import Counts
from arena.ratings.scale import league_counts, level_on
from arena.records.league import League, read_league, versions_before
from arena.records.record import name_of
from arena.records.runfile import read_run

Rated = Mapping[str, Any]


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


def read_history(run: Path) -> History:
    """The history of the league in a run's folder. Raises RunError, NoAnswerError."""
    info = read_run(run)
    names, match = [bot.name for bot in info.bots], list(info.config.get("match") or [])
    return history_of(run, league_counts(run, names, match, own_decks=info.has_own_decks))


def history_of(run: Path, counts: Counts) -> History:
    """The same where its games have been counted."""
    league = read_league(run)
    return History(history_table(counts, league), dict(league.scale))


def history_table(counts: Counts, league: League) -> pd.DataFrame:
    """One row for each member of a league.

    ``version``, ``bot``, ``status``, ``joined``, ``before``  str
    ``mark``       ``<`` or ``>``: ``elo`` is a bound; ``?``: few deals; ``~``: no rating
    ``elo``, ``elo_low``, ``elo_high``  float64, on the league's scale, with the 95 % interval; NaN
                                        at the open side of a bound, and where there is none
    ``gain``, ``gain_error``  float64, over the version ``before``, with the half-width of the 95 %
                              interval; NaN if one of the two has no rating
    ``games``, ``forfeits``, ``placed_games``  int64
    """
    rated: dict[str, Rated] = {}
    for part in rate(counts.results).components:
        rated |= _rated(part, counts.results.bots, league)
    sums = counts.totals.groupby("bot")[["games", "forfeits"]].sum()
    sums.index = pd.Index([counts.results.bots[bot] for bot in sums.index], dtype="str")
    before = versions_before(league.members)
    rows = [
        {
            "version": bot,
            "bot": name_of(bot),
            "status": member.status,
            "joined": member.joined,
            "before": before.get(bot, ""),
            "games": int(sums["games"].get(bot, 0)),
            "forfeits": int(sums["forfeits"].get(bot, 0)),
            "placed_games": member.placed.games if member.placed else 0,
            **_figures(rated, bot, before.get(bot, "")),
        }
        for bot, member in league.members.items()
    ]
    return pd.DataFrame(rows, columns=frame_names(HISTORY))


def _figures(rated: Mapping[str, Rated], bot: str, before: str) -> Rated:
    """The rating of a bot, and its gain over another one."""
    unknown = {"mark": "~", "elo": np.nan, "elo_low": np.nan, "elo_high": np.nan}
    own = dict(rated.get(bot, unknown))
    gains = own.pop("gains", {})
    gain, error = gains.get(before, (np.nan, np.nan))
    return {**own, "gain": gain, "gain_error": error}


def _rated(part: Component, bots: list[str], league: League) -> dict[str, Rated]:
    """What is known of the bots of a component."""
    fit = part.fit
    if fit is None:
        return {}
    names = [bots[member] for member in fit.members]
    level = level_on(names, fit, league.with_status("benchmark"), league.scale)
    found: dict[str, Rated] = {}
    errors = fit.difference_half_widths()
    if part.is_rated:
        for at, name in enumerate(names):
            elo, half = float(fit.elo[at]) + level.shift, level.error_of(at)
            gains = {
                other: (float(fit.elo[at] - fit.elo[to]), float(errors[at, to]))
                for to, other in enumerate(names)
            }
            found[name] = {
                "mark": "?" if fit.is_few[at] else "",
                "elo": elo,
                "elo_low": elo - half,
                "elo_high": elo + half,
                "gains": gains,
            }
    for bound in part.bounds:
        elo, low, high = bound_interval(bound.elo + level.shift, bound.side)
        found[bots[bound.member]] = {
            "mark": bound.side,
            "elo": elo,
            "elo_low": low,
            "elo_high": high,
        }
    return found
