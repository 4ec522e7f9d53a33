"""Three bots that beat each other in a circle, beyond error: what no rating can express."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtr

from arena.ratings.components import Floats, Ints
from arena.ratings.results import by_table_size


class Beats(NamedTuple):
    """Who did how against whom: ``score`` (n, n) wins and half of the shared by games, by who ranked better, and ``p`` (n, n) how likely
    such a score or a better one is between equals, with errors clustered by deal. NaN where two never met.
    """

    bots: list[str]
    score: Floats
    p: Floats


def beats(frame: pd.DataFrame) -> Beats:
    """Who beats whom in a `frames.seat_frame`."""
    names = [str(name) for name in frame["bot"].cat.categories]
    score, p = np.full((len(names), len(names)), np.nan), np.full((len(names), len(names)), np.nan)
    meetings = _meetings(frame)
    for pair, rows in meetings.groupby(meetings["one"] * len(names) + meetings["other"], sort=True):
        one, other = divmod(int(str(pair)), len(names))
        mean, chance = _against_even(rows["lead"].to_numpy(dtype=np.float64), rows["cluster"].to_numpy(dtype=np.int64))
        score[one, other], score[other, one] = 0.5 + mean, 0.5 - mean
        p[one, other], p[other, one] = chance, 1 - chance
    return Beats(names, score, p)


def _meetings(frame: pd.DataFrame) -> pd.DataFrame:
    """One row for each game and pair of different bots: numbers ``one`` < ``other``, ``cluster``, ``lead`` 0.5, 0 or -0.5."""
    parts = [pd.DataFrame({"one": [], "other": [], "cluster": [], "lead": []}, dtype=np.int64)]
    for size, rows in by_table_size(frame):
        ranks = rows["rank"].to_numpy(dtype=np.int64).reshape(-1, size)
        bots = rows["bot"].cat.codes.to_numpy(dtype=np.int64).reshape(-1, size)
        cluster = rows["cluster"].to_numpy()[::size]
        for first, second in combinations(range(size), 2):
            swap = np.sign(bots[:, second] - bots[:, first])
            met = swap != 0
            pair = np.sort(bots[met][:, [first, second]], axis=1)
            lead = swap[met] * np.sign(ranks[met, second] - ranks[met, first]) / 2
            parts.append(pd.DataFrame({"one": pair[:, 0], "other": pair[:, 1], "cluster": cluster[met], "lead": lead}))
    return pd.concat(parts, ignore_index=True)


def _against_even(lead: Floats, cluster: Ints) -> tuple[float, float]:
    """The mean lead, and how likely that much or more is if the true one is 0, by the t distribution over deals."""
    number, deal = np.unique(cluster, return_inverse=True)
    games, sums = np.bincount(deal), np.bincount(deal, lead)
    mean, deals = float(sums.sum() / games.sum()), len(number)
    if deals == 1:
        return mean, np.nan
    error = np.sqrt(deals / (deals - 1) * ((sums - mean * games) ** 2).sum()) / games.sum()
    if error < 1e-12:  # noqa: PLR2004 - every deal gave the same: as likely as a coin that always falls on one side
        return mean, 0.5 if mean == 0 else 0.5**deals if mean > 0 else 1 - 0.5**deals
    return mean, float(stdtr(deals - 1, -mean / error))


def cycles(found: Beats) -> pd.DataFrame:
    """One row for each three bots that beat each other in a circle, the clearest first.

    ``first`` beats ``second`` beats ``third`` beats ``first``; the first is the first by name
    ``score_1``, ``score_2``, ``score_3``  float64, of each against the next
    ``p``      float64, how likely the least clear of the three is between equals
    ``p_all``  float64, the same for the clearest circle among all threes, in both directions (Bonferroni)
    """
    rows = []
    threes = 0
    for one, two, three in combinations(range(len(found.bots)), 3):
        threes += 1
        for circle in ((one, two, three), (one, three, two)):
            steps = list(zip(circle, (*circle[1:], circle[0]), strict=True))
            scores = [float(found.score[step]) for step in steps]
            if min(scores) > 0.5:  # noqa: PLR2004 - a half is even
                rows.append((*(found.bots[bot] for bot in circle), *scores, float(np.max([found.p[step] for step in steps]))))
    names = ["first", "second", "third", "score_1", "score_2", "score_3", "p"]
    table = pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[3:], "float64"))
    table["p_all"] = np.minimum(1, table["p"] * 2 * threes)
    return table.sort_values(["p", *names[:3]], kind="stable", ignore_index=True)
