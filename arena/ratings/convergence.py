"""How ratings settled: from the first deals alone, then from more and more deals."""

import numpy as np
import pandas as pd

from arena.errors import NoAnswerError
from arena.ratings.model import rate
from arena.ratings.results import Counts, Results, SizedGames

COLUMNS = ["deals", "bot", "elo", "elo_low", "elo_high"]
POINTS = 24
FEWEST = 2
"""The fewest deals that give error bars."""


def convergence_table(counts: Counts, prior: float | None = None) -> pd.DataFrame:
    """Ratings from the first deals, in order of their numbers and with all boards together; for the
    largest component each time.

    ``deals``  int64, how many were counted; the last value is all of them
    ``bot``    str; ``elo``, ``elo_low``, ``elo_high`` float64, 95 % interval, NaN without error
               bars

    A bot has no row for deals that do not give it a rating.
    """
    results = _in_order(counts)
    rows: list[tuple[int, str, float, float, float]] = []
    for count in checkpoints(results.clusters):
        try:
            fits = rate(_first(results, count), prior).fits
        except NoAnswerError:
            continue
        for fit in fits[:1]:
            values = zip(
                fit.members.tolist(), fit.elo.tolist(), fit.half_widths().tolist(), strict=True
            )
            rows += [
                (count, results.bots[member], elo, elo - half, elo + half)
                for member, elo, half in values
            ]
    return pd.DataFrame(rows, columns=COLUMNS)


def checkpoints(deals: int) -> list[int]:
    """The numbers of deals at which to look: each larger than the last by the same factor, ending
    with all deals.
    """
    if deals < FEWEST:
        return []
    return sorted(
        {round(count) for count in np.geomspace(FEWEST, deals, min(POINTS, deals - FEWEST + 1))}
    )


def _in_order(counts: Counts) -> Results:
    """The results with clusters numbered by deal, then board, instead of by board, then deal."""
    place = np.argsort(np.argsort(counts.deals, kind="stable")).astype(np.int32)
    tables = []
    for table in counts.results.tables:
        cluster = place[table.cluster]
        order = np.argsort(cluster, kind="stable")
        tables.append(table._replace(cluster=cluster[order], outcome=table.outcome[order]))
    return counts.results._replace(tables=tables)


def _first(results: Results, count: int) -> Results:
    """The results of the first ``count`` deals."""
    tables = [_first_of_table(table, count) for table in results.tables]
    return results._replace(
        clusters=count, tables=[table for table in tables if len(table.cluster)]
    )


def _first_of_table(table: SizedGames, count: int) -> SizedGames:
    end = np.searchsorted(table.cluster, count)
    games = np.bincount(table.outcome[:end], minlength=len(table.games)).astype(np.float64)
    return table._replace(games=games, cluster=table.cluster[:end], outcome=table.outcome[:end])
