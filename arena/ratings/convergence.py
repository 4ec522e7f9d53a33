"""How ratings settled: those of the first deals alone, then of more and more of them."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from arena.errors import NoAnswerError
from arena.ratings.components import Ints
from arena.ratings.model import rate
from arena.ratings.results import Results, Table, count_results

POINTS = 24
FEWEST = 2
"""Deals without which there are no errors."""


def convergence_table(frame: pd.DataFrame, deals: Mapping[tuple[str, int], int], prior: float | None = None) -> pd.DataFrame:
    """Ratings of the first deals by their numbers, those of all boards together; of the largest component of each.

    ``frame`` is a `frames.seat_frame`, and ``deals`` are those of its `frames.Games`.

    ``deals``  int64, how many were counted; the last value is all of them
    ``bot``    str; ``elo``, ``elo_low``, ``elo_high`` float64, 95 % interval, NaN without errors

    Bots have no row for deals that do not rate them.
    """
    results = count_results(frame)
    place = _places(deals)
    rows: list[tuple[int, str, float, float, float]] = []
    for count in checkpoints(len(place)):
        try:
            fits = rate(_first(results, place, count), prior)
        except NoAnswerError:
            continue
        for fit in fits[:1]:
            values = zip(fit.members.tolist(), fit.elo.tolist(), fit.half_widths().tolist(), strict=True)
            rows += [(count, results.bots[member], elo, elo - half, elo + half) for member, elo, half in values]
    return pd.DataFrame(rows, columns=["deals", "bot", "elo", "elo_low", "elo_high"])


def checkpoints(deals: int) -> list[int]:
    """After how many deals to look: each as much more than the one before, all of them last."""
    if deals < FEWEST:
        return []
    return sorted({round(count) for count in np.geomspace(FEWEST, deals, min(POINTS, deals - FEWEST + 1))})


def _places(deals: Mapping[tuple[str, int], int]) -> Ints:
    """The place of each cluster of a frame, which numbers deals by board, in the order of the deals' numbers."""
    clusters: Sequence[tuple[str, int]] = sorted(deals)
    order = sorted(range(len(clusters)), key=lambda cluster: (clusters[cluster][1], clusters[cluster][0]))
    return np.argsort(np.array(order, dtype=np.int64)).astype(np.int64)


def _first(results: Results, place: Ints, count: int) -> Results:
    """The results of the first so many deals."""
    tables = [_first_of_table(table, place, count) for table in results.tables]
    return results._replace(clusters=count, tables=[table for table in tables if table.games.any()])


def _first_of_table(table: Table, place: Ints, count: int) -> Table:
    keep = place[table.pair_cluster] < count
    line_up, games, shares = table.pair_line_up[keep], table.pair_games[keep], table.pair_shares[keep]
    length = len(table.seats)
    return table._replace(
        games=np.bincount(line_up, games, length).astype(np.float64),
        shares=np.column_stack([np.bincount(line_up, seat_shares, length) for seat_shares in shares.T]),
        pair_cluster=place[table.pair_cluster[keep]],
        pair_line_up=line_up,
        pair_games=games,
        pair_shares=shares,
    )
