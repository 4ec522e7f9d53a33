"""Results counted: all that the model needs of the games, as small arrays whose order does not depend on the order of the games."""

from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.ratings.components import Floats, Ints

WHOLE = 12
"""A win in integer parts that 1, 2, 3 and 4 winners share evenly, so that sums are exact."""


class Table(NamedTuple):
    """The games of one table size, counted by line-up in seat order (L of them) and by deal.

    ``seats`` (L, k) bots' numbers; ``games`` (L,) how many; ``shares`` (L, k) summed shares; ``products`` (L, k, k) those of two seats
    multiplied game by game, and summed.
    ``pair_*`` (P,) the same by (deal, line-up): ``pair_cluster`` and ``pair_line_up`` are indices, ``pair_games`` counts,
    ``pair_shares`` (P, k) summed shares.
    """

    seats: Ints
    games: Floats
    shares: Floats
    products: Floats
    pair_cluster: Ints
    pair_line_up: Ints
    pair_games: Floats
    pair_shares: Floats

    @property
    def size(self) -> int:
        """Seats at the table."""
        return int(self.seats.shape[1])


class Results(NamedTuple):
    """Counted games of ``clusters`` deals between ``bots``, by table size."""

    bots: list[str]
    clusters: int
    tables: list[Table]

    @property
    def games(self) -> int:
        """How many games were counted."""
        return sum(int(table.games.sum()) for table in self.tables)


def count_results(frame: pd.DataFrame) -> Results:
    """Counts a `frames.seat_frame`."""
    bots = [str(name) for name in frame["bot"].cat.categories]
    tables = []
    for size, rows in by_table_size(frame):
        seats = np.asarray(rows["bot"].cat.codes, dtype=np.int64).reshape(-1, size)
        parts = np.rint(rows["share"].to_numpy() * WHOLE).astype(np.int64).reshape(-1, size)
        tables.append(count_table(seats, parts, np.asarray(rows["cluster"], dtype=np.int64)[::size]))
    return Results(bots, int(frame["cluster"].nunique()), tables)


def by_table_size(frame: pd.DataFrame) -> Iterator[tuple[int, pd.DataFrame]]:
    """The rows of a `frames.seat_frame` by the seats at the table, each game's rows together and in the order of seats."""
    for size in sorted(frame["seats"].unique()):
        rows = frame[frame["seats"] == size]
        place = rows["game"].to_numpy(dtype=np.int64) * size + rows["seat"].to_numpy(dtype=np.int64)
        yield int(size), rows if (np.diff(place) > 0).all() else rows.iloc[np.argsort(place)]


def count_table(seats: Ints, parts: Ints, clusters: Ints) -> Table:
    """Counts games of one table size: (G, k) bots by seat, (G, k) what each got in parts of `WHOLE`, (G,) deals."""
    size, bots = seats.shape[1], int(seats.max(initial=0)) + 1
    line_ups, of_game = np.unique(seats @ bots ** np.arange(size - 1, -1, -1), return_inverse=True)
    pairs, of_pair = np.unique(clusters * len(line_ups) + of_game, return_inverse=True)
    pair_line_up = pairs % len(line_ups)
    pair_shares = np.column_stack([np.bincount(of_pair, seat_parts) for seat_parts in parts.T])
    return Table(
        seats=np.column_stack(np.unravel_index(line_ups, (bots,) * size)),
        games=np.bincount(of_game).astype(np.float64),
        shares=np.column_stack([np.bincount(pair_line_up, seat_parts) for seat_parts in pair_shares.T]) / WHOLE,
        products=_products(of_game, parts),
        pair_cluster=pairs // len(line_ups),
        pair_line_up=pair_line_up,
        pair_games=np.bincount(of_pair).astype(np.float64),
        pair_shares=pair_shares / WHOLE,
    )


def _products(of_game: Ints, parts: Ints) -> Floats:
    """(L, k, k) summed products of the shares (G, k) of two seats."""
    size = parts.shape[1]
    products = np.empty((of_game.max(initial=-1) + 1, size, size))
    for one, other in combinations_with_replacement(range(size), 2):
        summed = np.bincount(of_game, parts[:, one] * parts[:, other])
        products[:, one, other] = products[:, other, one] = summed / WHOLE**2
    return products


def restrict(results: Results, members: Ints) -> Results:
    """The results of the tables at which only the given bots sat, with those bots renumbered in their order."""
    if len(members) == len(results.bots):
        return results
    number = np.full(len(results.bots), -1, dtype=np.int64)
    number[members] = np.arange(len(members))
    tables = []
    for table in results.tables:
        keep = number[table.seats].min(axis=1) >= 0
        if keep.any():
            line_up = np.cumsum(keep) - 1
            pairs = keep[table.pair_line_up]
            tables.append(
                Table(
                    number[table.seats[keep]],
                    table.games[keep],
                    table.shares[keep],
                    table.products[keep],
                    table.pair_cluster[pairs],
                    line_up[table.pair_line_up[pairs]],
                    table.pair_games[pairs],
                    table.pair_shares[pairs],
                )
            )
    used = np.unique(np.concatenate([table.pair_cluster for table in tables])) if tables else np.empty(0, dtype=np.int64)
    renumbered = [table._replace(pair_cluster=np.searchsorted(used, table.pair_cluster)) for table in tables]
    return Results([results.bots[member] for member in members], len(used), renumbered)
