"""Three bots that beat each other in a circle, beyond error: something no rating can express."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtr

from arena.ratings.components import Floats
from arena.ratings.results import Column, Results, SizedGames


class Beats(NamedTuple):
    """Each bot's results against each other: ``score`` (n, n) is wins plus half of shared per game,
    by who ranked better. ``p`` (n, n) is the probability of this score or a better one between
    equals, with errors clustered by deal. NaN if two bots never met.
    """

    bots: list[str]
    score: Floats
    p: Floats


def beats(results: Results) -> Beats:
    """Which bot beats which."""
    count = len(results.bots)
    score, p = np.full((count, count), np.nan), np.full((count, count), np.nan)
    meetings: defaultdict[tuple[int, int], list[tuple[Floats, Column]]] = defaultdict(list)
    for table in results.tables:
        for pair, lead, cluster in _meetings(table):
            meetings[pair].append((lead, cluster))
    for (one, other), met in sorted(meetings.items()):
        mean, chance = _against_even(*(np.concatenate(column) for column in zip(*met, strict=True)))
        score[one, other], score[other, one] = 0.5 + mean, 0.5 - mean
        p[one, other], p[other, one] = chance, 1 - chance
    return Beats(results.bots, score, p)


def _meetings(table: SizedGames) -> Iterator[tuple[tuple[int, int], Floats, Column]]:
    """Pairs of different bots, lower number first, with the lead (0.5, 0 or -0.5) and the deal of
    each game; pairs may repeat.
    """
    games = np.argsort(table.outcome, kind="stable")
    ends = np.cumsum(table.games).astype(np.int64)
    for first, second in permutations(range(table.size), 2):
        seats, lead = (
            table.seats[:, [first, second]],
            np.sign(table.ranks[:, second] - table.ranks[:, first]) / 2,
        )
        pairs, of_outcome = np.unique(seats, axis=0, return_inverse=True)
        for number, (one, other) in enumerate(pairs.tolist()):
            rows = np.flatnonzero(of_outcome == number)
            if one < other:
                held = np.concatenate(
                    [
                        games[end - int(count) : end]
                        for end, count in zip(ends[rows], table.games[rows], strict=True)
                    ]
                )
                yield (
                    (one, other),
                    np.repeat(lead[rows], table.games[rows].astype(np.int64)),
                    table.cluster[held],
                )


def _against_even(lead: Floats, cluster: Column) -> tuple[float, float]:
    """The mean lead, and the probability of that much or more if the true lead is 0, by the t
    distribution over deals.
    """
    number, deal = np.unique(cluster, return_inverse=True)
    games, sums = np.bincount(deal), np.bincount(deal, lead)
    mean, deals = float(sums.sum() / games.sum()), len(number)
    if deals == 1:
        return mean, np.nan
    error = np.sqrt(deals / (deals - 1) * ((sums - mean * games) ** 2).sum()) / games.sum()
    # Every deal gave the same: as likely as a coin that always falls on one side.
    if error < 1e-12:  # noqa: PLR2004
        return mean, 0.5 if mean == 0 else 0.5**deals if mean > 0 else 1 - 0.5**deals
    return mean, float(stdtr(deals - 1, -mean / error))


def cycles(found: Beats) -> pd.DataFrame:
    """One row for each set of three bots that beat each other in a circle, clearest first.

    ``first`` beats ``second`` beats ``third`` beats ``first``; ``first`` comes first by name
    ``score_1``, ``score_2``, ``score_3``  float64, the score of each against the next
    ``p``      float64, the probability of the least clear of the three results between equals
    ``p_all``  float64, the same for the clearest circle among all sets of three, in both directions
               (Bonferroni)
    """
    rows = []
    threes = 0
    for one, two, three in combinations(range(len(found.bots)), 3):
        threes += 1
        for circle in ((one, two, three), (one, three, two)):
            steps = list(zip(circle, (*circle[1:], circle[0]), strict=True))
            scores = [float(found.score[step]) for step in steps]
            if min(scores) > 0.5:  # noqa: PLR2004 - a half is even
                rows.append(
                    (
                        *(found.bots[bot] for bot in circle),
                        *scores,
                        float(np.max([found.p[step] for step in steps])),
                    )
                )
    names = ["first", "second", "third", "score_1", "score_2", "score_3", "p"]
    table = pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[3:], "float64"))
    table["p_all"] = np.minimum(1, table["p"] * 2 * threes)
    return table.sort_values(["p", *names[:3]], kind="stable", ignore_index=True)
