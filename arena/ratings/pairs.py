"""The table of pairs: who did how against whom, and the difference of their ratings."""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pandas as pd

from arena.ratings.components import Ints
from arena.ratings.model import Ratings
from arena.ratings.outside import Bound, bound_interval
from arena.ratings.results import Results

OPPOSITE = {"<": ">", ">": "<", "~": "~"}


def pairs_table(results: Results, ratings: Ratings) -> pd.DataFrame:
    """One row per ordered pair of different bots that played together, by name.

    ``games``; ``wins``, ``shared``, ``losses``  int64, by who ranked better in the game, whoever
                                                 won it
    ``score``     float64, wins plus half of shared, per game
    ``elo_diff``, ``elo_low``, ``elo_high``  float64, the bot's rating minus the opponent's, from
                                             all games, with its 95 % interval, as in
                                             `standings_table`
    ``los``       float64, the likelihood that the bot is the stronger one
    ``mark``      ``<`` or ``>`` if the difference is a bound; ``~`` if it depends on the prior;
                  else empty
    """
    table = _meetings(results)
    table["score"] = (table["wins"] + table["shared"] / 2) / table["games"]
    table[["elo_diff", "elo_low", "elo_high", "los"]] = np.nan
    table["mark"] = ""
    number = {name: at for at, name in enumerate(results.bots)}
    one, other = (
        table[column].map(number).to_numpy(dtype=np.int64) for column in ("bot", "opponent")
    )
    for fit in ratings.fits:
        place = np.full(len(results.bots), -1, dtype=np.int64)
        place[fit.members] = np.arange(len(fit.members))
        rows = (place[one] >= 0) & (place[other] >= 0)
        at = (place[one[rows]], place[other[rows]])
        difference, half = fit.elo[at[0]] - fit.elo[at[1]], fit.difference_half_widths()[at]
        values = np.column_stack(
            [difference, difference - half, difference + half, fit.superiority()[at]]
        )
        table.loc[rows, ["elo_diff", "elo_low", "elo_high", "los"]] = values
        table.loc[rows, "mark"] = np.where(fit.marks[at] == "", "", "~").astype(object)
    _fill_bounds(table, ratings.bounds, one * len(number) + other, len(number))
    return table


def _fill_bounds(table: pd.DataFrame, bounds: Sequence[Bound], pair: Ints, count: int) -> None:
    """The bounds on the differences between bots outside the core and those in it; ``pair`` is the
    number of a row's pair among those of ``count`` bots.
    """
    row = np.full(count * count, -1, dtype=np.int64)
    row[pair] = np.arange(len(table))
    found = {}
    for bound in bounds:
        for rival, difference in zip(bound.rivals, bound.differences, strict=True):
            one, other = row[bound.member * count + rival], row[rival * count + bound.member]
            found[one] = (*bound_interval(difference, bound.side), bound.side)
            found[other] = (
                *bound_interval(-difference, OPPOSITE[bound.side]),
                OPPOSITE[bound.side],
            )
    found.pop(-1, None)
    if found:
        columns = ["elo_diff", "elo_low", "elo_high", "mark"]
        table.loc[list(found), columns] = pd.DataFrame(
            found.values(), index=list(found), columns=columns
        )


def _meetings(results: Results) -> pd.DataFrame:
    """Games, wins, shared and losses of each ordered pair of different bots that met."""
    names, count = pd.Index(results.bots), len(results.bots)
    counted = np.zeros((3, count * count))
    for table in results.tables:
        for one, other in permutations(range(table.size), 2):
            pair, ranks, others = (
                table.seats[:, one] * count + table.seats[:, other],
                table.ranks[:, one],
                table.ranks[:, other],
            )
            for row, which in enumerate((True, ranks < others, ranks == others)):
                counted[row] += np.bincount(pair, table.games * which, count * count)
    games, wins, shared = counted.astype(np.int64)
    met = np.flatnonzero((games > 0) & ~np.eye(count, dtype=np.bool_).ravel())
    pair_of = {"bot": names[met // count], "opponent": names[met % count]}
    columns = {
        "games": games[met],
        "wins": wins[met],
        "shared": shared[met],
        "losses": (games - wins - shared)[met],
    }
    return pd.DataFrame({**pair_of, **columns})
