"""Makes the pandas data frames of standings, pairs, seats and faults, from counted games and
ratings.

Ratings and their errors are computed in `model`; counts, shares and means are computed here. The
tables of a league's history and of an analysis are made in `history` and `analysis`.
"""

import numpy as np
import pandas as pd

from arena.ratings.column import frame_names
from arena.ratings.columns import STANDINGS
from arena.ratings.fit import Fit
from arena.ratings.model import Ratings, bound_interval, component_intervals
from arena.ratings.results import Counts, Floats, Results
from arena.records.record import NS_PER_MS, WHOLE

ORDER = ["component", "place", "figure", "share"]
ELO = ["elo", "elo_low", "elo_high"]
OPPOSITE = {"<": ">", ">": "<", "~": "~"}


def covariance_table(results: Results, fits: list[Fit]) -> pd.DataFrame:
    """The covariance of the ratings in Elo squared, with one row and one column for each bot that
    has a rating in one of the ``fits``. NaN between bots of different fits, which cannot be
    compared.
    """
    covariance = _square(results, np.nan)
    for fit in fits:
        covariance[np.ix_(fit.members, fit.members)] = fit.covariance
    rated = sorted(member for fit in fits for member in fit.members)
    names = pd.Index(results.bots)
    return pd.DataFrame(covariance, names, names).iloc[rated, rated]


def _square(results: Results, value: float) -> Floats:
    """(n, n) an array filled with ``value``, with a row and a column for each of the n bots of
    ``results``.
    """
    return np.full((len(results.bots),) * 2, value)


def standings_table(counts: Counts, ratings: Ratings) -> pd.DataFrame:
    """One row per bot, the best first, with the columns of `columns.STANDINGS`: figures float64,
    counts and ranks int64, texts str.

    Equal ratings share a rank. A *component* is the bots that met, directly or through others; its
    *rated group* is the bots that can be rated together. Bots outside the rated group rank above or
    below it, ordered by who beat whom, then by their bounds. Bots of smaller components, and bots
    without games, come last. ``rank_low`` and ``rank_high`` are intervals that hold together with
    95 % confidence within the component. ``elo_low`` or ``elo_high`` is NaN at the open side of a
    bound; ``elo`` and both ends are NaN without a rating or bound. ``los`` compares a bot with the
    one in the next row; it is NaN in the last row, and if one of the two bots has no rating or is
    in another component.
    """
    results = counts.results
    parts = ratings.components
    table = _by_bot(counts).reindex(range(len(results.bots))).rename_axis(index=None)
    whole = ["games", "wins", "shared", "losses", "forfeits"]
    table[whole] = table[whole].fillna(0).astype("int64")
    table = table.assign(
        bot=results.bots, deals=results.deals(), component=len(parts), place=0, mark="~",
        elo=np.nan, elo_low=np.nan, elo_high=np.nan, rank_low=1, rank_high=len(table), los=np.nan,
    )  # fmt: skip
    for number, part in enumerate(parts):
        columns = np.full(len(part.members), number), part.places, *component_intervals(part)
        names = ["component", "place", "rank_low", "rank_high"]
        table.loc[part.members, names] = np.column_stack(columns)
        fit = part.fit
        if fit is not None:
            half = fit.half_widths()
            table.loc[fit.members, ELO] = np.column_stack([fit.elo, fit.elo - half, fit.elo + half])
            table.loc[fit.members, "mark"] = np.where(fit.is_few, "?", "").astype(object)
            table.loc[fit.members[list(fit.by_prior)], "mark"] = "~"
        for bound in part.bounds:
            table.loc[bound.member, "mark"] = bound.side
            table.loc[bound.member, ELO] = bound_interval(bound.elo, bound.side)
    # Bots without a rating are sorted by their shares of wins.
    table["share"] = table["win_rate"].where(table["elo"].isna()).fillna(0)
    table["figure"] = table["elo"].fillna(-np.inf)
    ascending = [True, True, False, False, True]
    table = table.sort_values([*ORDER, "bot"], ascending=ascending, kind="stable")
    is_new = table[ORDER].ne(table[ORDER].shift()).any(axis=1)
    table["rank"] = np.maximum.accumulate(np.where(is_new, np.arange(1, len(table) + 1), 0))
    superiority = _square(results, np.nan)
    for fit in ratings.fits:
        superiority[np.ix_(fit.members, fit.members)] = fit.superiority()
    place = table.index.to_numpy()
    table.loc[place[:-1], "los"] = superiority[place[:-1], place[1:]]
    return table[frame_names(STANDINGS)].reset_index(drop=True)


def pairs_table(results: Results, ratings: Ratings) -> pd.DataFrame:
    """One row per ordered pair of different bots that played in a game together, sorted by name,
    with the columns of `columns.PAIRS`: figures float64, counts int64, texts str.

    ``elo_diff`` comes from the ratings, so from all games, and may be a bound as in
    `standings_table`; ``mark`` is then ``<`` or ``>``. ``mark`` is ``~`` if the difference depends
    on the prior or nothing is known about it.
    """
    elo, low, high, los = (_square(results, np.nan) for _ in range(4))
    mark = np.full(elo.shape, "", dtype=object)
    for fit in ratings.fits:
        pairs = np.ix_(fit.members, fit.members)
        half = fit.difference_half_widths()
        elo[pairs] = fit.elo[:, None] - fit.elo
        low[pairs] = elo[pairs] - half
        high[pairs] = elo[pairs] + half
        los[pairs] = fit.superiority()
        mark[pairs] = np.where(fit.marks == "", "", "~")
    for bound in ratings.bounds:
        bot = bound.member
        rivals = bound.rivals
        side = bound.side
        above = (bot, rivals, 1, side)
        below = (rivals, bot, -1, OPPOSITE[side])
        for one, other, sign, of in (above, below):
            interval = bound_interval(sign * bound.differences, of)
            elo[one, other], low[one, other], high[one, other] = interval
            mark[one, other] = of
    games, wins, shared = results.meetings()
    pairs = np.nonzero(games)
    names = pd.Index(results.bots)
    return pd.DataFrame(
        {
            "bot": names[pairs[0]],
            "opponent": names[pairs[1]],
            "games": games[pairs],
            "wins": wins[pairs],
            "shared": shared[pairs],
            "losses": (games - wins - shared)[pairs],
            "score": (wins[pairs] + shared[pairs] / 2) / games[pairs],
            "elo_diff": elo[pairs],
            "elo_low": low[pairs],
            "elo_high": high[pairs],
            "los": los[pairs],
            "mark": mark[pairs],
        }
    )


def seats_table(counts: Counts, fits: list[Fit]) -> pd.DataFrame:
    """One row per number of players and seat, with the columns of `columns.SEATS`: counts int64,
    the other columns float64.

    ``elo`` and ``elo_error`` come from the first of the ``fits``, that of the largest component.
    Both are NaN without a fit, and if only the prior keeps the effect finite; the error is also NaN
    if the deals show none.
    """
    sums = counts.totals.groupby(["seats", "seat"], sort=True).sum().reset_index()
    table = sums[["seats", "seat", "games"]].assign(
        wins=sums["wins"].astype("int64"), shared=sums["shared"].astype("int64")
    )
    table["win_rate"] = sums["parts"] / (WHOLE * sums["games"])
    table["avg_left"] = sums["left"] / sums["left_games"]
    table["elo"] = np.nan
    table["elo_error"] = np.nan
    for size, (effects, _) in fits[0].seats.items() if fits else ():
        if size not in fits[0].open_seats:
            rows = table["seats"] == size
            table.loc[rows, "elo"] = effects
            table.loc[rows, "elo_error"] = fits[0].seat_half_widths(size)
    return table


def faults_table(counts: Counts) -> pd.DataFrame:
    """One row per bot with games, sorted by name: ``bot`` str, ``games``, ``forfeits`` int64,
    ``rate`` float64 (forfeits per game).
    """
    table = _by_bot(counts)[["games", "forfeits"]].reset_index()
    table["bot"] = pd.Index(counts.results.bots)[table["bot"]]
    table["rate"] = table["forfeits"] / table["games"]
    return table


def _by_bot(counts: Counts) -> pd.DataFrame:
    """The counted columns of the standings for bots with games; the index is the bot's number.
    Counts are int64, means and shares float64.
    """
    sums = counts.totals.groupby("bot", sort=True).sum()
    table = sums[["games", "wins", "shared", "forfeits"]].astype("int64")
    table["losses"] = table["games"] - table["wins"] - table["shared"]
    table["win_rate"] = sums["parts"] / (WHOLE * sums["games"])
    table["avg_rank"] = sums["ranks"] / sums["games"]
    table["avg_left"] = sums["left"] / sums["left_games"]
    table["think_ms"] = sums["think_ns"] / NS_PER_MS / sums["think_games"]
    return table
