"""The best wins and the worst losses of each bot."""

from collections import defaultdict
from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.exports.report.scan import Scan


class Feat(NamedTuple):
    """A game that a bot won or lost: the ``rivals`` it beat, or the one that won, what the best of
    them is rated, and by how many pagodas the winner was ahead of the next one.
    """

    game: int
    board: str
    rivals: tuple[str, ...]
    elo: float
    lead: int


class Feats(NamedTuple):
    """Best first, and worst first; only one against the same opponents."""

    wins: list[Feat]
    losses: list[Feat]


def feats(
    scan: Scan, elo: Mapping[str, float], games: NDArray[np.integer], most: int
) -> dict[str, Feats]:
    """For each bot at most so many wins against the highest-rated opponents and losses to the
    lowest-rated ones, each by the widest lead, among these games.
    """
    found = defaultdict[str, Feats](lambda: Feats([], []))
    for (board, bots, ranks), (game, lead) in zip(scan.outcomes, _widest(scan, games), strict=True):
        if game < 0 or ranks.count(1) > 1:
            continue
        winner = bots[ranks.index(1)]
        beaten = tuple(sorted({bot for bot in bots if bot != winner}))
        if beaten:
            best = max(_rating(elo, bot) for bot in beaten)
            found[winner].wins.append(Feat(game, board, beaten, best, lead))
        for bot in beaten:
            found[bot].losses.append(Feat(game, board, (winner,), _rating(elo, winner), lead))
    return {bot: _best(told, most) for bot, told in found.items()}


def _rating(elo: Mapping[str, float], bot: str) -> float:
    value = elo.get(bot, 0.0)
    return value if isfinite(value) else 0.0


def _widest(scan: Scan, games: NDArray[np.integer]) -> list[tuple[int, int]]:
    """The game with the widest lead of each outcome, and its lead; -1 if there is none."""
    leads = scan.leads()
    order = games[np.argsort(leads[games], kind="stable")]
    widest = np.full(len(scan.outcomes), -1, dtype=np.int64)
    widest[scan.outcome[order]] = order  # the last one stays
    return [(game, int(leads[game]) if game >= 0 else 0) for game in widest.tolist()]


def _best(told: Feats, most: int) -> Feats:
    wins = sorted(told.wins, key=lambda feat: (-feat.elo, -feat.lead, feat.game))
    losses = sorted(told.losses, key=lambda feat: (feat.elo, -feat.lead, feat.game))
    return Feats(*(_one_of_each(found)[:most] for found in (wins, losses)))


def _one_of_each(found: list[Feat]) -> list[Feat]:
    first = dict[tuple[str, ...], Feat]()
    for feat in found:
        first.setdefault(feat.rivals, feat)
    return list(first.values())
