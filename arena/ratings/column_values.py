"""Makes the tables standings, pairs, seats and faults, from counted games and ratings.

Ratings and their errors are computed in `model`; counts, shares and means are computed here. The
tables of a league's history and of an analysis are made in `history` and `analysis`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.ratings.bounds import bound_interval
from arena.ratings.column import frame_names
from arena.ratings.columns import STANDINGS
from arena.ratings.fit import Fit
from arena.ratings.model import Ratings, component_intervals
from arena.ratings.results import Counts, Floats, Results
from arena.ratings.table_data import TableData
from arena.records.record import NS_PER_MS, WHOLE

ELO = ["elo", "elo_low", "elo_high"]
OPPOSITE = {"<": ">", ">": "<", "~": "~"}


class Covariance(NamedTuple):
    """The covariance of ratings in Elo squared: row i and column i of ``values`` (n, n) belong to
    ``bots[i]``. Only bots with a rating are listed. Entries between bots of different fits, which
    cannot be compared, are NaN.
    """

    bots: Sequence[str]
    values: Floats


def covariance_of(results: Results, fits: Sequence[Fit]) -> Covariance:
    """One covariance matrix for all bots that any of the ``fits`` rates, in the order of
    ``results``. The covariances within a fit are copied from it; entries between bots of different
    fits are NaN.
    """
    covariance = _square(results, np.nan)
    for fit in fits:
        covariance[np.ix_(fit.members, fit.members)] = fit.covariance
    rated = []
    for fit in fits:
        rated += fit.members.tolist()
    rated.sort()
    return Covariance(results.names_of(rated), covariance[np.ix_(rated, rated)])


def _square(results: Results, value: float) -> Floats:
    """(n, n) an array filled with ``value``, with a row and a column for each of the n bots of
    ``results``.
    """
    return np.full((len(results.bots),) * 2, value)


def standings_table(counts: Counts, ratings: Ratings) -> TableData:
    """One row per bot, the best first, with the columns of `columns.STANDINGS`: figures float64,
    counts and ranks int64, texts str.

    Equal ratings share a rank. A *component* is the bots that met, directly or through others; its
    *rated group* is the bots that can be rated together. Bots outside the rated group rank above or
    below it, ordered by who beat whom, then by their bounds. Bots of smaller components, and bots
    without games, come last. ``rank_low`` and ``rank_high`` are intervals that hold together with
    95 % confidence within the component. ``elo_low`` or ``elo_high`` is NaN at the open side of a
    bound; ``elo`` and both ends are NaN without a rating or bound. ``los`` is the probability that
    a bot is stronger than the one in the next row; it is NaN in the last row, and if one of the two
    bots has no rating or is in another component.
    """
    results = counts.results
    parts = ratings.components
    bots = len(results.bots)
    nothing = np.full(bots, np.nan)
    component = np.full(bots, len(parts))
    place = np.zeros(bots, dtype=np.int64)
    low = np.ones(bots, dtype=np.int64)
    high = np.full(bots, bots)
    mark = np.full(bots, "~", dtype=object)
    elo = np.column_stack([nothing] * len(ELO))
    for number, part in enumerate(parts):
        component[part.members] = number
        place[part.members] = part.places
        low[part.members], high[part.members] = component_intervals(part)
        fit = part.fit
        if fit is not None:
            half = fit.half_widths()
            elo[fit.members] = np.column_stack([fit.elo, fit.elo - half, fit.elo + half])
            mark[fit.members] = np.where(fit.is_few, "?", "")
            mark[fit.members[list(fit.by_prior)]] = "~"
        for bound in part.bounds:
            mark[bound.member] = bound.side
            elo[bound.member] = bound_interval(bound.elo, bound.side)
    played = _by_bot(counts, range(bots))
    # Bots without a rating are sorted by their shares of wins.
    is_rated = ~np.isnan(elo[:, 0])
    share = np.where(is_rated, 0, np.nan_to_num(played["win_rate"]))
    figure = np.where(is_rated, elo[:, 0], -np.inf)
    keys = np.stack([component, place, -figure, -share])
    by_name = np.argsort(sorted(range(bots), key=results.bots.__getitem__))
    order = np.lexsort([by_name, *keys[::-1]])
    is_new = np.ones(bots, dtype=np.bool_)
    sorted_keys = keys[:, order]
    is_new[1:] = (sorted_keys[:, 1:] != sorted_keys[:, :-1]).any(axis=0)
    superiority = _square(results, np.nan)
    for fit in ratings.fits:
        superiority[np.ix_(fit.members, fit.members)] = fit.superiority()
    columns = {
        **played.columns,
        **dict(zip(ELO, elo.T, strict=True)),
        "bot": np.array(results.bots, dtype=object),
        "deals": results.deals(),
        "rank_low": low,
        "rank_high": high,
        "mark": mark,
    }
    sorted_columns = {name: column[order] for name, column in columns.items()}
    sorted_columns["rank"] = np.maximum.accumulate(np.where(is_new, np.arange(1, bots + 1), 0))
    sorted_columns["los"] = np.append(superiority[order[:-1], order[1:]], nothing[:1])
    return TableData({name: sorted_columns[name] for name in frame_names(STANDINGS)})


def pairs_table(results: Results, ratings: Ratings) -> TableData:
    """One row per ordered pair of different bots that played in a game together, sorted by name,
    with the columns of `columns.PAIRS`: figures float64, counts int64, texts str.

    ``elo_diff`` comes from the ratings, so from all games, and may be a bound as in
    `standings_table`; ``mark`` is then ``<`` or ``>``. ``mark`` is ``~`` if the difference depends
    on the prior or nothing is known about it.
    """
    elo = _square(results, np.nan)
    low = _square(results, np.nan)
    high = _square(results, np.nan)
    los = _square(results, np.nan)
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
    names = np.array(results.bots, dtype=object)
    return TableData(
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


def seats_table(counts: Counts, fits: Sequence[Fit]) -> TableData:
    """One row per number of players and seat, with the columns of `columns.SEATS`: counts int64,
    the other columns float64.

    ``elo``, in Elo compared with seat 0, and ``elo_error`` come from the first of the ``fits``,
    that of the largest component. Both are NaN without a fit, and if the games do not bound the
    effect; the error is also NaN if the deals show none.
    """
    sums = counts.totals.summed("seats", "seat")
    elo = np.full(len(sums), np.nan)
    error = np.full(len(sums), np.nan)
    for size, (effects, _) in fits[0].seats.items() if fits else ():
        if size not in fits[0].open_seats:
            rows = sums["seats"] == size
            elo[rows] = effects
            error[rows] = fits[0].seat_half_widths(size)
    return TableData(
        {
            "seats": sums["seats"],
            "seat": sums["seat"],
            "games": sums["games"],
            "wins": sums["wins"].astype(np.int64),
            "shared": sums["shared"].astype(np.int64),
            "win_rate": sums["parts"] / (WHOLE * sums["games"]),
            "avg_left": _mean(sums, "left", "left_games"),
            "elo": elo,
            "elo_error": error,
        }
    )


def faults_table(counts: Counts) -> TableData:
    """One row per bot with games, sorted by name: ``bot`` str, ``games``, ``forfeits`` int64,
    ``rate`` float64 (forfeits per game).
    """
    bots = np.unique(counts.totals["bot"]).tolist()
    played = _by_bot(counts, bots)
    games = played["games"]
    forfeits = played["forfeits"]
    names = np.array(counts.results.names_of(bots), dtype=object)
    return TableData({"bot": names, "games": games, "forfeits": forfeits, "rate": forfeits / games})


def _by_bot(counts: Counts, bots: Sequence[int]) -> TableData:
    """The counted columns of the standings for ``bots``, the numbers of bots in ascending order.
    Counts are int64, means and shares float64, which are NaN for a bot without games.
    """
    sums = counts.totals.summed("bot")
    place = np.searchsorted(bots, sums["bot"])
    every = {}
    for name, column in sums.columns.items():
        every[name] = np.zeros(len(bots), column.dtype)
        every[name][place] = column
    every["whole"] = WHOLE * every["games"]
    table = TableData(every)
    games = table["games"].astype(np.int64)
    wins = table["wins"].astype(np.int64)
    shared = table["shared"].astype(np.int64)
    forfeits = table["forfeits"].astype(np.int64)
    return TableData(
        {
            "games": games,
            "wins": wins,
            "shared": shared,
            "forfeits": forfeits,
            "losses": games - wins - shared,
            "win_rate": _mean(table, "parts", "whole"),
            "avg_rank": _mean(table, "ranks", "games"),
            "avg_left": _mean(table, "left", "left_games"),
            "think_ms": _mean(table, "think_ns", "think_games", NS_PER_MS),
        }
    )


def _mean(sums: TableData, name: str, games: str, unit: int = 1) -> Floats:
    """The sums in the column ``name`` of ``sums``, divided by ``unit`` and by the numbers of games
    in the column ``games``; NaN where that number is 0.
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[name] / unit / sums[games], dtype=np.float64)
