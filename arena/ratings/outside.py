"""Bots outside the core, which have no rating: what is known of them is a one-sided bound.

A bot that got nothing from the core is weaker than some rating with 95 % confidence: with that
rating or a higher one it would have got something with a probability of at least 95 %. The deal is
the unit of chance. Games on one deal may depend on each other in any way, so a bot that got nothing
on a deal did something at least as likely as getting nothing in one of its games there. We take the
game with the least likely result: there the core's expected share of the win is p, and the bound is
where the product of p over the deals is 5 %. For a bot that gave nothing to the core, p is the
bot's own expected share.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp, softmax

from arena.ratings.components import Floats, Ints
from arena.ratings.fit import Fit
from arena.ratings.likelihood import ELO
from arena.ratings.results import Results, SizedGames
from arena.records.record import DUEL

LEVEL = 0.05
FEW_DEALS = 10
"""Below this many deals error bars are rough, and who won nothing may yet win something."""


class Bound(NamedTuple):
    """What is known of a bot without a rating: with 95 % confidence, its rating is below ``elo`` if
    ``side`` is ``<``, and above it if ``side`` is ``>``. Nothing is known if it is ``~``.

    ``member``: its number. ``rivals`` (n,): the bots of the core. ``differences`` (n,): the same
    bound on its rating minus that of each of these. ``is_clear`` (n,): whether it is on that side
    of each of them, with 95 % confidence for all bots of the component together. ``deals``: on how
    many deals it met the core. ``elo`` and ``differences`` are NaN if nothing is known.
    """

    member: int
    side: str
    elo: float
    rivals: Ints
    differences: Floats
    is_clear: NDArray[np.bool_]
    deals: int


def bound_interval(bound: float, side: str) -> tuple[float, float, float]:
    """A bound, with its open side missing."""
    return bound, bound if side == ">" else np.nan, bound if side == "<" else np.nan


def bounds_of(results: Results, members: Ints, fit: Fit) -> list[Bound]:
    """What is known of the members of a component that the fit does not rate."""
    rest = np.setdiff1d(members, fit.members)
    if not len(rest):
        return []
    told = np.isfinite(fit.half_widths())
    return [_bound(results, int(member), fit, told, len(members)) for member in rest]


def _unknown(member: int, rivals: Ints, deals: int) -> Bound:
    nothing = np.full(len(rivals), np.nan)
    return Bound(member, "~", np.nan, rivals, nothing, np.isfinite(nothing), deals)


def _bound(results: Results, member: int, fit: Fit, told: NDArray[np.bool_], bots: int) -> Bound:
    """The bound of a bot of a component of this many ``bots``; those of the fit that are ``told``
    have an error bar.
    """
    met = _meetings(results, member, fit.members, fit.elo, fit.seats)
    if met is None:
        return _unknown(member, fit.members, 0)
    # The core's ratings are estimates, too. The bound stands as far from the median estimate as the
    # root of the sum of the two squared distances (the MOVER rule of Zou & Donner 2008).
    weights, median = met.weights(LEVEL), met.solution(0.5)
    own = fit.contrast_width(weights - fit.level, told)
    widths = np.array([fit.contrast_width(row, told) for row in weights - np.eye(len(weights))])
    if not np.isfinite(own):
        return _unknown(member, fit.members, int(met.deals.sum()))
    elo, differences, claims = (
        met.sign * (median - np.hypot(median - met.solution(level), width))
        for level, width in ((LEVEL, own), (LEVEL, widths), (LEVEL / bots, widths))
    )
    return Bound(
        member=member,
        side=met.side,
        elo=float(elo),
        rivals=fit.members,
        differences=differences - fit.elo,
        is_clear=met.sign * (claims - fit.elo) > 0,
        deals=int(met.deals.sum()),
    )


def coreless_bounds(results: Results, members: Ints) -> list[Bound]:
    """What is known of bots of whom none has a rating. Of two, one won everything: a bound on their
    difference puts one on each side of their mean, which is 0. Of more, nothing.
    """
    unknown = [_unknown(int(member), np.empty(0, dtype=np.int64), 0) for member in members]
    if len(members) > DUEL:
        return unknown
    bounds = []
    for member, rival in (members, members[::-1]):
        met = _meetings(results, member, np.array([rival]), np.zeros(1), {})
        if met is None:
            return unknown
        difference = met.sign * met.solution(LEVEL)
        is_clear = np.array([met.solution(LEVEL / DUEL) > 0])
        bounds.append(
            Bound(
                member=int(member),
                side=met.side,
                elo=difference / 2,
                rivals=np.array([rival]),
                differences=np.array([difference]),
                is_clear=is_clear,
                deals=int(met.deals.sum()),
            )
        )
    return bounds


class _Meetings(NamedTuple):
    """The games of a bot against the core, the one with the least likely result of each deal, by
    outcome (O,) of one of these.

    ``side``: ``<`` if the core won them all, ``>`` if the bot did. ``deals`` (O,): on how many it
    is the one. ``lead`` (O,): what opponents and seats add to the bot's rating, as a logit, if it
    won, and to the opposite if the core did. ``mix`` (O, n): how the rest of the win is expected to
    be shared by the core.
    """

    side: str
    deals: Ints
    lead: Floats
    mix: Floats

    @property
    def sign(self) -> int:
        """1 if the bot won, -1 if the core did."""
        return 1 if self.side == ">" else -1

    def solution(self, level: float) -> float:
        """The rating in Elo at which the product over deals is ``level``, times `sign`."""

        def excess(x: float) -> float:
            return float(self.deals @ log_expit(x + self.lead)) - log_level

        log_level = float(np.log(level))
        of_deal = log_level / self.deals.sum()
        alike = of_deal - np.log(-np.expm1(of_deal))
        ends = alike - self.lead.max() - 1, alike - self.lead.min() + 1
        return float(ELO * _root(excess, *ends))

    def weights(self, level: float) -> Floats:
        """(n,) how much the solution moves with the rating of each bot of the core."""
        slope = self.deals * expit(-self.solution(level) / ELO - self.lead)
        return np.asarray(slope @ self.mix / slope.sum(), dtype=np.float64)


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function is zero between two ends, to the last digit.

    By halving, since scipy's solvers take longer to load than a whole table to rate.
    """
    middle = (low + high) / 2
    while low < middle < high:
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
        middle = (low + high) / 2
    return middle


def _meetings(
    results: Results, member: int, core: Ints, elo: Floats, seats: dict[int, tuple[Floats, Floats]]
) -> _Meetings | None:
    """The games in which a bot met the core and one of them won; None if there are none.

    Seats of others are left out, as in `results.restrict`.
    """
    place = np.full(len(results.bots), -1, dtype=np.int64)
    place[core] = np.arange(len(core))
    leads, mixes, games, has_won = [], [], [], True
    count = 0
    for table in results.tables:
        rows = _rows_of(table, member, place)
        effects = seats[table.players][0][table.places] if table.players in seats else np.zeros(1)
        mine, at = table.seats[rows] == member, place[table.seats[rows]]
        has_won &= bool((table.share[rows] * mine).any(axis=1).all())
        utility = np.where(at >= 0, elo[at] + effects, -np.inf) / ELO
        own = logsumexp(np.where(mine, effects / ELO, -np.inf), axis=1)
        leads.append(own - logsumexp(utility, axis=1))
        mix = np.zeros((len(rows), len(core)))
        np.add.at(mix, (np.arange(len(rows))[:, None], at), softmax(utility, axis=1))
        mixes.append(mix)
        games.append(_games_of(table, rows, count))
        count += len(rows)
    if not count:
        return None
    lead = np.concatenate(leads) if has_won else -np.concatenate(leads)
    cluster, outcome = (np.concatenate(column) for column in zip(*games, strict=True))
    order = np.lexsort((outcome, lead[outcome], cluster))
    hardest = order[np.unique(cluster[order], return_index=True)[1]]
    kept, deals = np.unique(outcome[hardest], return_counts=True)
    return _Meetings(">" if has_won else "<", deals, lead[kept], np.concatenate(mixes)[kept])


def _rows_of(table: SizedGames, member: int, place: Ints) -> Ints:
    """The outcomes of games in which a bot met the core and one of them won."""
    mine, core = table.seats == member, place[table.seats] >= 0
    took = (table.share * (mine | core)).sum(axis=1) > 0
    return np.flatnonzero(mine.any(axis=1) & core.any(axis=1) & took & (table.games > 0))


def _games_of(table: SizedGames, rows: Ints, first: int) -> tuple[Ints, Ints]:
    """The deal of each game with one of these outcomes, and the outcome's number from ``first``."""
    number = np.full(len(table.games), -1, dtype=np.int64)
    number[rows] = np.arange(first, first + len(rows))
    held = np.flatnonzero(number[table.outcome] >= 0)
    return table.cluster[held].astype(np.int64), number[table.outcome[held]]
