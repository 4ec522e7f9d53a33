"""Counted results: what tables and the model need from the games, as arrays that do not depend on
the order of the games.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena.ratings.components import Floats, Ints

WHOLE = 12
"""A win in integer parts, which 1, 2, 3 or 4 winners can share evenly, so that sums are exact."""
RANKS = 4
FEWEST_SEATS = 2
NS_PER_MS = 1_000_000
SEAT_BITS = 2
KEY = ["seats", "seat", "bot"]
TOTALS = [
    "games",
    "wins",
    "shared",
    "parts",
    "ranks",
    "forfeits",
    "left",
    "left_games",
    "think_ns",
    "think_games",
]
Column = NDArray[np.int32]


class SizedGames(NamedTuple):
    """The games with k players: their outcomes (O different ones, sorted), and the deals they came
    from.

    ``seats`` (O, k) bots' numbers and ``ranks`` (O, k) by seat; ``share`` (O, k) of the win;
    ``games`` (O,) with this outcome
    ``cluster``, ``outcome``  (G,) each game's deal and its row in the arrays above, sorted
    ``away``  the seats at the table that are left out of the arrays, see `restrict`
    """

    seats: Ints
    ranks: Ints
    share: Floats
    games: Floats
    cluster: Column
    outcome: Column
    away: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Seats in the arrays."""
        return int(self.seats.shape[1])

    @property
    def players(self) -> int:
        """Seats at the table."""
        return self.size + len(self.away)

    @property
    def places(self) -> list[int]:
        """The seats at the table that the columns of the arrays stand for."""
        return [seat for seat in range(self.players) if seat not in self.away]


class Results(NamedTuple):
    """Counted games of ``clusters`` deals between ``bots``, by table size."""

    bots: list[str]
    clusters: int
    tables: list[SizedGames]

    @property
    def games(self) -> int:
        """How many games were counted."""
        return sum(len(table.cluster) for table in self.tables)

    def played(self) -> Floats:
        """(n,) in how many games each bot sat; in how many seats, if it sat twice."""
        games = np.zeros(len(self.bots))
        for table in self.tables:
            np.add.at(games, table.seats, table.games[:, None])
        return games

    def deals(self) -> Ints:
        """(n,) on how many deals each bot played."""
        deals, step = np.zeros(len(self.bots), dtype=np.int64), 1 << 16
        for first in range(0, self.clusters, step):
            played = np.zeros((step, len(self.bots)), dtype=np.bool_)
            for table in self.tables:
                games = slice(*np.searchsorted(table.cluster, (first, first + step)))
                deal, bots = table.cluster[games] - first, table.seats[table.outcome[games]]
                for seat in range(table.size):
                    played[deal, bots[:, seat]] = True
            deals += played.sum(axis=0)
        return deals


class Counts(NamedTuple):
    """Counted games, and what else the tables need.

    ``deals`` (C,) is the number of each cluster's deal on its board. ``totals`` has a row for each
    table size, seat and bot with games there, sorted. All columns are float64 except the first
    four, which are int64. The sums leave out what a foreign file does not have:

    ``seats``, ``seat``, ``bot`` (its number), ``games``
    ``wins``, ``shared``, ``parts`` (of `WHOLE`), ``ranks``, ``forfeits``  sums
    ``left``, ``think_ns``  sums over the ``left_games`` and ``think_games`` that have them
    """

    results: Results
    deals: Ints
    totals: pd.DataFrame


def count_results(frame: pd.DataFrame) -> Results:
    """Counts a frame that has one row for each game and seat.

    ``game`` int64, ``seats`` int8, ``seat`` int8, ``bot`` category, ``rank`` int8, 1 is best;
    ``cluster`` int64, number of the deal
    """
    bots = [str(name) for name in frame["bot"].cat.categories]
    tables = []
    for size, rows in _by_table_size(frame):
        seats = np.asarray(rows["bot"].cat.codes, dtype=np.int64).reshape(-1, size)
        ranks = np.asarray(rows["rank"], dtype=np.int64).reshape(-1, size)
        tables.append(
            count_table(seats, ranks, np.asarray(rows["cluster"], dtype=np.int64)[::size])
        )
    return Results(bots, int(frame["cluster"].nunique()), tables)


def count_frame(frame: pd.DataFrame) -> Counts:
    """The same, with the columns ``left`` and ``think_ms`` (float64, NaN if unknown) and
    ``forfeit`` (bool).
    """
    results = count_results(frame)
    bots, seats, seat = (
        len(results.bots),
        frame["seats"].to_numpy(dtype=np.int64),
        frame["seat"].to_numpy(dtype=np.int64),
    )
    place = ((seats << SEAT_BITS) + seat) * bots + frame["bot"].cat.codes.to_numpy()
    left, think_ns = (
        frame["left"].to_numpy(dtype=np.float64),
        np.rint(frame["think_ms"].to_numpy() * NS_PER_MS),
    )
    columns = {
        "forfeits": frame["forfeit"].to_numpy(),
        "left": np.nan_to_num(left),
        "left_games": ~np.isnan(left),
        "think_ns": np.nan_to_num(think_ns),
        "think_games": ~np.isnan(think_ns),
    }
    held = np.flatnonzero(np.bincount(place))
    sums = {name: np.bincount(place, values)[held] for name, values in columns.items()}
    key = (
        {
            "seats": held // bots >> SEAT_BITS,
            "seat": held // bots & ((1 << SEAT_BITS) - 1),
            "bot": held % bots,
        }
        if bots
        else {}
    )
    return Counts(
        results,
        np.arange(results.clusters),
        totals_of(results, [pd.DataFrame({**key, **sums})] if bots else []),
    )


def frame_without(frame: pd.DataFrame, bots: Collection[str]) -> pd.DataFrame:
    """The rows of the games in which none of these bots sat, without these bots."""
    away = frame.loc[frame["bot"].isin(list(bots)), "game"].unique()
    kept = frame[~frame["game"].isin(away)]
    names = [name for name in frame["bot"].cat.categories if name not in bots]
    clusters = np.unique(kept["cluster"], return_inverse=True)[1].astype(np.int64)
    return kept.assign(bot=kept["bot"].cat.set_categories(names), cluster=clusters)


def _by_table_size(frame: pd.DataFrame) -> Iterator[tuple[int, pd.DataFrame]]:
    """The rows grouped by table size, with each game's rows together and in the order of seats."""
    for size in sorted(frame["seats"].unique()):
        rows = frame[frame["seats"] == size]
        place = rows["game"].to_numpy(dtype=np.int64) * size + rows["seat"].to_numpy(dtype=np.int64)
        yield int(size), rows if (np.diff(place) > 0).all() else rows.iloc[np.argsort(place)]


def count_table(
    seats: Ints, ranks: Ints, cluster: Ints, outcome: Column | None = None
) -> SizedGames:
    """Counts games of one table size: (O, k) bots and ranks by seat, in any order; for each game
    (G,) its deal and its row of these.

    Without ``outcome``, every game has its own row.
    """
    size, bots = seats.shape[1], int(seats.max(initial=0)) + 1
    codes = (seats @ bots ** np.arange(size)) * RANKS**size + (ranks - 1) @ RANKS ** np.arange(size)
    found, first, number = np.unique(codes, return_index=True, return_inverse=True)
    # Sorted by deal and outcome, whatever the journal's order: sums of floats depend on their order
    # in the last digits, and a table must not depend on which worker was faster.
    places = cluster * max(len(found), 1)
    places += number if outcome is None else number[outcome]
    places.sort()
    of_game = (places % max(len(found), 1)).astype(np.int32)
    won = ranks[first] == 1
    return SizedGames(
        seats=seats[first],
        ranks=ranks[first],
        share=won / np.maximum(won.sum(axis=1, keepdims=True), 1),
        games=np.bincount(of_game, minlength=len(found)).astype(np.float64),
        cluster=(places // max(len(found), 1)).astype(np.int32),
        outcome=of_game,
    )


def totals_of(results: Results, sums: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The totals of `Counts`: the given sums by ``seats``, ``seat`` and ``bot``, and those that
    follow from the results.
    """
    parts = list(sums)
    for table in results.tables:
        for seat in range(table.size):
            share, games = table.share[:, seat], table.games
            columns = {
                "games": games,
                "wins": games * (share == 1),
                "shared": games * ((share > 0) & (share < 1)),
                "parts": games * np.rint(share * WHOLE),
                "ranks": games * table.ranks[:, seat],
            }
            parts.append(
                pd.DataFrame(
                    {"seats": table.size, "seat": seat, "bot": table.seats[:, seat], **columns}
                )
            )
    empty = pd.DataFrame({name: pd.Series(dtype="int64") for name in KEY})
    totals = pd.concat(parts or [empty], ignore_index=True).groupby(KEY, sort=True).sum()
    return totals.reindex(columns=TOTALS, fill_value=0.0).reset_index().astype({"games": "int64"})


def restrict(results: Results, members: Ints) -> Results:
    """The results as the given bots see them, with these bots renumbered in order: the games at a
    table with two of them or more that one of them won, without the seats of all others.

    In the model the odds of two bots do not depend on who else sits there. So a seat that is left
    out takes nothing from what the game says about those who stay.
    """
    if len(members) == len(results.bots):
        return results
    number = np.full(len(results.bots), -1, dtype=np.int64)
    number[members] = np.arange(len(members))
    tables = [part for table in results.tables for part in _parts(table, number)]
    used = np.zeros(results.clusters, dtype=np.bool_)
    for table in tables:
        used[table.cluster] = True
    place = (np.cumsum(used) - 1).astype(np.int32)
    renumbered = [table._replace(cluster=place[table.cluster]) for table in tables]
    return Results([results.bots[member] for member in members], int(used.sum()), renumbered)


def _parts(table: SizedGames, number: Ints) -> Iterator[SizedGames]:
    """The games of a table among the bots with a number, by the seats that others have."""
    inside = number[table.seats] >= 0
    kept = (inside.sum(axis=1) >= FEWEST_SEATS) & ((table.share * inside).sum(axis=1) > 0)
    for seated in np.unique(inside[kept], axis=0):
        keep = kept & (inside == seated).all(axis=1)
        games, place = keep[table.outcome], (np.cumsum(keep) - 1).astype(np.int32)
        share = table.share[np.ix_(keep, seated)]
        yield SizedGames(
            number[table.seats[np.ix_(keep, seated)]],
            table.ranks[np.ix_(keep, seated)],
            share / share.sum(axis=1, keepdims=True),
            table.games[keep],
            table.cluster[games],
            place[table.outcome[games]],
            tuple(np.flatnonzero(~seated).tolist()),
        )
