"""Whether bots do better on deals that they met before. A bot that remembers a deal, or is told
of it, knows the other hands and what will be drawn.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from arena.ratings.goodness import holm
from arena.ratings.tally import GameList
from arena.records.record import shares

FEWEST = 10
"""With fewer deals, the error is too rough to accuse anybody."""
SMALL, MOST_TURNS = 1e-9, 200
LEAST = 0.01
"""The variance of order that seats must leave, for order to be told apart from them."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def reunions_table(games: GameList, bots: list[str]) -> pd.DataFrame:
    """How much more of a win each bot got in the later games of its blocks than in the first one
    played, one row for each bot.

    ``bot``     str
    ``games``   int64, those in blocks of several games
    ``deals``   int64, how many deals these blocks have
    ``gain``    float64, in wins per game, without the effect of seats; NaN if seat and order cannot
                be told apart
    ``error``   float64, half the width of the 95 % interval, clustered by deal
    ``p``       float64, how likely chance gives a gain at least this far from 0
    ``p_all``   float64, the same for the largest gain of all bots (Holm)
    """
    outcome = np.array(games.outcome, dtype=np.int64)
    blocks, order = _blocks(games, outcome)
    clusters = games.board_deals()
    rows = [_reunion(games, bot, outcome, blocks, order, clusters) for bot in bots]
    table = pd.DataFrame(rows, columns=["games", "deals", "gain", "error", "p"])
    table.insert(0, "bot", bots)
    return table.assign(p_all=holm(table["p"].to_numpy(dtype=np.float64)))


def _blocks(games: GameList, outcome: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """(G,) the block of each game, and whether another game of it comes earlier in the journal."""
    heads = [(board, tuple(sorted(bots))) for board, bots, _ in games.outcomes]
    number = {head: place for place, head in enumerate(sorted(set(heads)))}
    places = (
        np.array([number[head] for head in heads], dtype=np.int64)[outcome] if heads else outcome
    )
    keys = np.stack([places, np.array(games.deal, dtype=np.int64)], axis=1)
    _, first, block = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    later = np.ones(len(outcome), dtype=np.bool_)
    later[first] = False
    return block.reshape(-1), later


def _reunion(
    games: GameList, bot: str, outcome: Ints, blocks: Ints, later: NDArray[np.bool_], clusters: Ints
) -> tuple[int, int, float, float, float]:
    """A bot's row without its name: least squares on order, within blocks and within the seats of
    each line-up.
    """
    score = np.full(len(games.outcomes), np.nan)
    seat = np.zeros(len(games.outcomes), dtype=np.int64)
    seats: dict[tuple[str, tuple[str, ...], int], int] = {}
    for number, (board, bots, ranks) in enumerate(games.outcomes):
        if bot in bots:
            place = bots.index(bot)
            score[number] = shares(ranks)[place]
            # Each line-up has its own: what a seat is worth depends on the rivals. With one effect
            # for all, runs whose first seating was always the same accused honest bots.
            key = board, tuple(sorted(bots)), place
            seat[number] = seats.setdefault(key, len(seats))
    mine = np.flatnonzero(~np.isnan(score[outcome]))
    _, block, sizes = np.unique(blocks[mine], return_inverse=True, return_counts=True)
    mine = mine[sizes[block] > 1]
    _, block = np.unique(blocks[mine], return_inverse=True)
    _, cluster = np.unique(clusters[mine], return_inverse=True)
    count = int(cluster.max(initial=-1)) + 1
    columns = np.column_stack([score[outcome[mine]], later[mine].astype(np.float64)])
    gain, error = _slope(_within(columns, block, seat[outcome[mine]]), cluster, count)
    freedom = max(1, count - 1)
    p = float(2 * stdtr(freedom, -abs(gain / error))) if error > 0 else np.nan
    half = error * float(stdtrit(freedom, 0.975)) if error > 0 else np.nan
    return len(mine), count, gain, half, p


def _within(columns: Floats, *groupings: Ints) -> Floats:
    """The columns without the means of the groups of each grouping, by projecting in turn."""
    for _ in range(MOST_TURNS if len(columns) else 0):
        before = columns
        for group in groupings:
            sizes = np.maximum(np.bincount(group), 1)
            sums = [np.bincount(group, column, len(sizes)) for column in columns.T]
            columns = columns - (np.stack(sums, axis=1) / sizes[:, None])[group]
        if np.abs(columns - before).max() < SMALL:
            break
    return columns


def _slope(columns: Floats, cluster: Ints, count: int) -> tuple[float, float]:
    """The slope of the first column on the second, and its standard error by clusters; NaN if the
    data cannot tell.
    """
    if count < FEWEST:
        return np.nan, np.nan
    score, later = columns.T
    weight = float(later @ later)
    if weight < LEAST * len(later):
        return np.nan, np.nan
    gain = float(later @ score) / weight
    sums = np.bincount(cluster, later * (score - gain * later), count)
    return gain, float(np.sqrt(count / (count - 1) * (sums @ sums))) / weight
