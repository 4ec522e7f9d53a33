"""How far the games settle the order of the bots: where a step down the table is clear, and how
many more deals would settle the others.

A step from one place to the next is *clear* if everyone above it is better than everyone below it.
All clear steps together are right with 95 % confidence: each step is as sure as the least sure pair
across it, and Holm's correction allows for the number of steps. What lies between two clear steps
is a group.
"""

from collections.abc import Iterator
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from arena.ratings.components import Floats
from arena.ratings.fit import Fit
from arena.ratings.freedom import COVERAGE

RISK = 1 - COVERAGE
MOST_TIMES = 10
"""A difference that so many times the deals played would not show is too close to 0 for its size,
and with it the number of deals, to be known.
"""
LIKELY = 0.84
"""The 80 % quantile of the normal distribution: with that many more standard errors a difference
becomes clear in four of five cases, and not in every second one.
"""
FINER = 1.1


class Group(NamedTuple):
    """Bots between two clear steps, best first.

    ``ahead_of`` is the place, counted in this group, from which on everyone is clearly behind the
    first; None if that is nobody. ``is_alike`` says that no two of them differ at all surely.
    ``nearest`` is the place of the bot whose step to the next one is nearest to clear, and ``more``
    about how many more deals make it clear, if the difference is what it looks like; infinite
    beyond `MOST_TIMES` what was played, None if the deals do not show the error.
    """

    bots: list[int]
    ahead_of: int | None = None
    is_alike: bool = True
    nearest: int = 0
    more: float | None = None


class _Ladder(NamedTuple):
    """Bots from the best down: for each two the difference in Elo, its standard error, and how
    likely equal bots differ so much, 1 if that is unknown; how many deals tell of each bot; and the
    ``risk`` to be wrong anywhere.
    """

    bots: list[int]
    difference: Floats
    error: Floats
    chance: Floats
    deals: Floats
    risk: float


def placed_bots(fit: Fit) -> NDArray[np.bool_]:
    """(n,) whether a bot has a place in the order: it has an error bar, and is not marked for few
    deals unless nearly all bots are. A newcomer's wide bar would leave no step clear.
    """
    known = np.isfinite(fit.half_widths())
    settled = np.asarray(known & ~fit.is_few, dtype=np.bool_)
    return settled if settled.sum() > 1 else known


def groups_of(fit: Fit, risk: float = RISK) -> list[Group]:
    """The groups of a fit from the best down, without the bots that cannot be placed; ``risk`` is
    the chance that a clear step is none.
    """
    ladder = _ladder(fit, risk)
    return [_group(ladder, places) for places in _between_clear_steps(ladder)]


def _ladder(fit: Fit, risk: float) -> _Ladder:
    known = placed_bots(fit)
    order = [int(at) for at in np.argsort(-fit.elo, kind="stable") if known[at]]
    square = np.ix_(order, order)
    error, chance = fit.difference_error()[square], 2 * (1 - fit.superiority()[square])
    # An error of 0 says that every deal gave the same result, not that the difference is certain.
    is_known = (error > 0) & np.isfinite(chance)
    return _Ladder(
        fit.members[order].tolist(),
        fit.elo[order][:, None] - fit.elo[order],
        error,
        np.where(is_known, chance, 1.0),
        fit.deals[order],
        risk,
    )


def _between_clear_steps(ladder: _Ladder) -> Iterator[range]:
    """The places from one clear step to the next."""
    above = np.maximum.accumulate(ladder.chance, axis=0)
    steps = np.diag(np.maximum.accumulate(above[:, ::-1], axis=1)[:, ::-1], 1)
    order = np.argsort(steps, kind="stable")
    passed = steps[order] <= ladder.risk / np.arange(len(steps), 0, -1)
    clear = order[: len(steps) if passed.all() else int(passed.argmin())]
    start = 0
    for end in [*sorted((clear + 1).tolist()), len(ladder.bots)]:
        if start < end:
            yield range(start, end)
        start = end


def _group(ladder: _Ladder, places: range) -> Group:
    bots = [ladder.bots[place] for place in places]
    if len(places) == 1:
        return Group(bots)
    part = np.ix_(places, places)
    difference, error, chance = (
        each[part] for each in (ladder.difference, ladder.error, ladder.chance)
    )
    steps = np.diag(error, 1)
    ratio = np.divide(np.diag(difference, 1), steps, out=np.zeros(len(steps)), where=steps > 0)
    nearest = int(ratio.argmax())
    return Group(
        bots,
        _clearly_behind(chance, ladder),
        bool((chance[np.triu_indices(len(bots), 1)] > ladder.risk).all()),
        nearest,
        _more(ratio[nearest], ladder, places[nearest]) if steps[nearest] > 0 else None,
    )


def _clearly_behind(chance: Floats, ladder: _Ladder) -> int | None:
    """The place from which on everyone is clearly behind the first, if all pairs are looked at."""
    bots = len(ladder.bots)
    is_clear = chance[0] <= ladder.risk / (bots * (bots - 1) / 2)
    unclear = np.flatnonzero(~is_clear).max()
    return int(unclear) + 1 if unclear + 1 < len(chance) else None


def _more(ratio: float, ladder: _Ladder, place: int) -> float:
    """How many more deals likely make a difference clear that now is ``ratio`` standard errors, of
    the bot at this place from the next: errors fall with the root of the number of deals.
    """
    deals = float(ladder.deals[place : place + 2].min())
    times, level = FINER, 1 - ladder.risk / max(len(ladder.bots) - 1, 1) / 2
    while times <= 1 + MOST_TIMES:
        quantile = float(stdtrit(max(deals * times - 1, 1), level))
        if ratio * sqrt(times) >= quantile + LIKELY:
            return deals * (times - 1)
        times *= FINER
    return inf
