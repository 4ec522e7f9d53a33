"""Which games were played on a deal, whoever won them: how much a deal can tell follows from this
alone, and most deals of a run are alike in it.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from arena.ratings.components import Ints
from arena.ratings.results import Results, SizedGames


class Designs(NamedTuple):
    """The designs of the units of chance, which are deals or single games.

    ``design`` (C,) is the number of each unit's design; ``units`` (D,) is how many have it.
    ``games``: for each table size (D, O), how many games of a unit have each outcome, taken from
    the first unit of the design.
    """

    design: Ints
    units: Ints
    games: list[csr_array]


def designs_by_deal(results: Results) -> Designs:
    """The designs of the deals."""
    total = np.zeros(results.clusters, dtype=np.uint64)
    for table in results.tables:
        sums = np.zeros(len(table.outcome) + 1, dtype=np.uint64)
        np.cumsum(_codes(table)[table.outcome], out=sums[1:])
        ends = np.cumsum(np.bincount(table.cluster, minlength=results.clusters))
        total += np.diff(sums[ends], prepend=sums[:1])
    design, found = pd.factorize(total)
    first = np.empty(len(found), dtype=np.int64)
    first[design[::-1]] = np.arange(results.clusters)[::-1]
    return Designs(
        design.astype(np.int64),
        np.bincount(design),
        [games_of(table, first) for table in results.tables],
    )


def designs_by_game(results: Results) -> Designs:
    """The designs of the outcomes, if every game had its own deal; their units are games."""
    designs, units, places = list[Ints](), list[Ints](), list[Ints]()
    count = 0
    for table in results.tables:
        _, first, found = np.unique(table.seats, axis=0, return_index=True, return_inverse=True)
        designs.append(found.reshape(-1) + count)
        units.append(np.bincount(found.reshape(-1), table.games).astype(np.int64))
        places.append(first)
        count += len(first)
    starts = np.cumsum([0, *map(len, places)])
    games = [
        csr_array(
            (np.ones(len(first)), (start + np.arange(len(first)), first)),
            shape=(count, len(table.games)),
        )
        for table, first, start in zip(results.tables, places, starts[:-1], strict=True)
    ]
    return Designs(np.concatenate(designs), np.concatenate(units), games)


def games_of(table: SizedGames, deals: Ints) -> csr_array:
    """(D, O) how many games with each outcome were played on these deals."""
    wanted = deals.astype(table.cluster.dtype)  # another type would copy the games' column
    starts, ends = (np.searchsorted(table.cluster, wanted, side) for side in ("left", "right"))
    counts = ends - starts
    indptr = np.append(0, np.cumsum(counts))
    place = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], counts)
    found = csr_array(
        (np.ones(len(place)), table.outcome[place], indptr), shape=(len(deals), len(table.games))
    )
    found.sum_duplicates()
    return found


def _codes(table: SizedGames) -> NDArray[np.uint64]:
    """(O,) a random number for each seating, so that deals with equal sums have equal games."""
    # 64 random bits: among a million designs, two have the same sum by chance in one of 10^7 runs.
    _, seating = np.unique(table.seats, axis=0, return_inverse=True)
    codes = np.random.default_rng([table.players, *table.away]).integers(
        0, np.iinfo(np.uint64).max, int(seating.max(initial=0)) + 1, dtype=np.uint64
    )
    return codes[seating.reshape(-1)]
