"""The orders in which a page lists the games of a run, and which of them it lists."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.exports.report.choice import margins
from arena.exports.report.material import Material

UPSETS, LATEST, CLOSEST, LONGEST = "upsets", "latest", "closest", "longest"
ORDERS = {
    UPSETS: "the largest upsets first",
    LATEST: "the latest first",
    CLOSEST: "the closest first",
    LONGEST: "the longest first",
}
"""By the name of each order, what the page says about it."""


def order_named(name: str, bots: Sequence[str]) -> str:
    """``name`` if it is one of `ORDERS`. For any other name, the usual order: upsets first in a
    list of games of several ``bots``, the latest first in another.
    """
    if name in ORDERS:
        return name
    return UPSETS if len(bots) > 1 else LATEST


def games_in_order(
    material: Material, bots: Sequence[str], order: str, winner: str
) -> NDArray[np.int64]:
    """The numbers, in the journal, of the games in which all of ``bots`` played. They are in
    ``order``, one of `ORDERS`; of games that are equal by it, the latest comes first. With a
    ``winner``, the name of a bot, only the games that this bot won or shared; an empty text means
    all.
    """
    scan = material.scan
    listed = scan.has_bots(Counter(bots))
    if winner:
        seats = zip(scan.outcome_bots, scan.outcome_ranks, strict=True)
        listed &= scan.by_game(_has_won(winner, seated, ranks) for seated, ranks in seats) == 1
    found = np.flatnonzero(listed)[::-1]
    keys: dict[str, NDArray[Any]] = {
        UPSETS: -margins(scan, material.elo),
        CLOSEST: scan.leads,
        LONGEST: -scan.turns,
    }
    return found if order == LATEST else found[np.argsort(keys[order][found], kind="stable")]


def _has_won(bot: str, seated: Sequence[str], ranks: Sequence[int]) -> bool:
    """Whether ``bot`` has rank 1 among the bots ``seated``, whose ``ranks`` are by seat."""
    return (bot, 1) in zip(seated, ranks, strict=True)
