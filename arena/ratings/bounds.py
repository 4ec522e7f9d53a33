"""One-sided bounds on the ratings of bots that cannot be compared with a rated group (see
`arena.ratings.model`), because they got nothing from it or gave nothing to it.

A bot that got nothing from the rated group is weaker than some rating with 95 % confidence: with
that rating or a higher one it would have got something with a probability of at least 95 %.

The deal is the unit of chance. Games on one deal may depend on each other in any way, so "the bot
got nothing on a deal" is at most as probable as "it got nothing in one particular game there". The
bound takes the game of each deal with the least likely result: there the rated group's expected
share of the win is p, and the bound is the rating at which the product of p over the deals is 5 %.
For a bot that gave nothing to the rated group, p is the bot's own expected share.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from arena.ratings.fit import Fit
from arena.ratings.likelihood import ELO
from arena.ratings.results import Flags, Floats, Ints, Results
from arena.ratings.scipy_parts import expit, log_expit, logsumexp, softmax
from arena.records.record import DUEL

LEVEL = 0.05
"""The probability that a bound is wrong."""


class Bound(NamedTuple):
    """A one-sided 95 % bound on the rating of a bot that has no rating.

    ``member``       the number of the bot in the results
    ``side``         ``<``: its rating is below ``elo``; ``>``: it is above; ``~``: nothing is known
    ``elo``          the bound; NaN if nothing is known
    ``rivals``       (n,) the numbers of the rated bots (the rated group)
    ``differences``  (n,) the bound on the bot's rating minus that of each rival; NaN if nothing is
                     known
    ``is_clear``     (n,) whether the bot is on that side of each rival, with 95 % confidence for
                     all bots of the component together
    ``deals``        the number of deals on which the bot played against the rated bots
    """

    member: int
    side: str
    elo: float
    rivals: Ints
    differences: Floats
    is_clear: Flags
    deals: int

    @classmethod
    def unknown(cls, member: int, rivals: Ints, deals: int) -> "Bound":
        """Makes the bound of the bot ``member`` if nothing is known about its rating. ``rivals``
        are the numbers of the bots of the rated group, ``deals`` is the number of deals on which
        the bot played against them.
        """
        nothing = np.full(len(rivals), np.nan)
        return cls(member, "~", np.nan, rivals, nothing, np.isfinite(nothing), deals)


def bound_interval(bound: Any, side: str) -> tuple[Any, Any, Any]:
    """The three figures of a table's row with a bound: the bound, then the two ends of its
    interval, of which the open one is NaN. ``side`` is ``<`` or ``>``, or ``~`` for a bound that is
    NaN.
    """
    return bound, bound if side == ">" else np.nan, bound if side == "<" else np.nan


def bounds_of(results: Results, members: Ints, fit: Fit) -> list[Bound]:
    """A bound, from the games in ``results``, for each of the ``members`` (bots that met, directly
    or through others) that ``fit`` does not rate.
    """
    outside = np.setdiff1d(members, fit.members)
    if not len(outside):
        return []
    has_error = np.isfinite(fit.half_widths())
    return [_bound(results, int(member), fit, has_error, len(members)) for member in outside]


def _bound(results: Results, member: int, fit: Fit, has_error: Flags, bots: int) -> Bound:
    """The bound of the bot ``member`` of a component of ``bots`` bots. ``has_error`` (n,) says
    which bots of ``fit`` have an error bar.
    """
    met = _meetings(results, member, fit.members, fit.elo, fit.seats)
    if met is None:
        return Bound.unknown(member, fit.members, 0)
    # The rated group's ratings are estimates, too. The bound's distance from the median estimate is
    # the root of the sum of the two squared distances (the MOVER rule of Zou & Donner 2008).
    weights = met.weights(LEVEL)
    median = met.solution(0.5)
    own_width = fit.contrast_width(weights - fit.level, has_error)
    contrasts = weights - np.eye(len(weights))
    widths = np.array([fit.contrast_width(row, has_error) for row in contrasts])
    if not np.isfinite(own_width):
        return Bound.unknown(member, fit.members, int(met.deals.sum()))

    def bound_at(level: float, width: Any) -> Any:
        """The bound with probability ``level`` of error, ``width`` away from the median."""
        return met.sign * (median - np.hypot(median - met.solution(level), width))

    claims = bound_at(LEVEL / bots, widths)
    return Bound(
        member=member,
        side=met.side,
        elo=float(bound_at(LEVEL, own_width)),
        rivals=fit.members,
        differences=bound_at(LEVEL, widths) - fit.elo,
        is_clear=met.sign * (claims - fit.elo) > 0,
        deals=int(met.deals.sum()),
    )


def bounds_without_group(results: Results, members: Ints) -> list[Bound]:
    """A bound, from the games in ``results``, for each of the ``members`` of a component (bots that
    met, directly or through others) in which no bot has a rating. Of two such bots, one lost
    nothing to the other: the bound on their difference gives each one a bound, and the mean of the
    two is 0. With more than two bots all bounds have the side ``~``, because nothing is known.
    """
    bounds = []
    if len(members) == DUEL:
        for member, rival in zip(members, members[::-1], strict=True):
            rivals = np.array([rival])
            met = _meetings(results, int(member), rivals, np.zeros(1), {})
            if met is not None:
                bounds.append(_bound_to_one(int(member), rivals, met))
    if bounds:
        return bounds
    return [Bound.unknown(int(member), np.empty(0, dtype=np.int64), 0) for member in members]


def _bound_to_one(member: int, rivals: Ints, met: "_Meetings") -> Bound:
    """The bound of the bot ``member``, which ``met`` the one bot in ``rivals``; neither has a
    rating, and the mean of their bounds is 0.
    """
    difference = met.sign * met.solution(LEVEL)
    return Bound(
        member=member,
        side=met.side,
        elo=difference / 2,
        rivals=rivals,
        differences=np.array([difference]),
        is_clear=np.array([met.solution(LEVEL / DUEL) > 0]),
        deals=int(met.deals.sum()),
    )


class _Meetings(NamedTuple):
    """How a bot that won all its games against the rated group, or lost all of them, did so. On
    each deal only the game with the least likely result counts; these games are grouped by outcome
    (O,).

    ``side``        ``<`` if the rated group won all games, ``>`` if the bot did
    ``deals`` (O,)  the number of deals whose least likely game had this outcome
    ``lead`` (O,)   the log odds of the winner, if the bot's own rating is 0
    ``mix`` (O, n)  the expected shares of the rated group's bots in the group's part of the win
    """

    side: str
    deals: Ints
    lead: Floats
    mix: Floats

    @property
    def sign(self) -> int:
        """1 if the bot won its games, -1 if the rated group did."""
        return 1 if self.side == ">" else -1

    def solution(self, level: float) -> float:
        """The rating of the bot in Elo, times `sign`, at which the product over the deals of the
        winner's probabilities is ``level``.
        """

        def excess(x: float) -> float:
            return float(self.deals @ log_expit(x + self.lead)) - log_level

        log_level = float(np.log(level))
        of_deal = log_level / self.deals.sum()
        alike = of_deal - np.log(-np.expm1(of_deal))
        ends = alike - self.lead.max() - 1, alike - self.lead.min() + 1
        return float(ELO * _root(excess, *ends))

    def weights(self, level: float) -> Floats:
        """(n,) by how much the bot's rating at `solution` of this level rises, in Elo, if the
        rating of each bot of the rated group rises by one Elo.
        """
        slope = self.deals * expit(-self.solution(level) / ELO - self.lead)
        return np.asarray(slope @ self.mix / slope.sum(), dtype=np.float64)


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """The place between ``low`` and ``high`` where the function ``rising``, which rises, is 0, to
    the last digit of a float.

    It halves the interval, because scipy's solvers take longer to load than a whole table takes to
    rate.
    """
    middle = (low + high) / 2
    while low < middle < high:
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
        middle = (low + high) / 2
    return middle


def _meetings(
    results: Results, member: int, group: Ints, elo: Floats, seats: dict[int, tuple[Floats, Floats]]
) -> _Meetings | None:
    """The games in which the bot ``member`` met the ``group`` (n,), whose ratings are ``elo`` (n,),
    and one of them won; ``seats`` has, by number of players, the effects of seats and their errors.
    None if there are no such games.

    As in `results.restrict`, seats of other bots are left out.
    """
    place = np.full(len(results.bots) + 1, -1, dtype=np.int64)
    place[group] = np.arange(len(group))
    mine = results.seats == member
    group_index = place[results.seats]
    took = (results.share * (mine | (group_index >= 0))).sum(axis=1) > 0
    met = mine.any(axis=1) & (group_index >= 0).any(axis=1) & took
    if not met.any():
        return None
    mine = mine[met]
    group_index = group_index[met]
    effects = np.zeros(mine.shape)
    for size, (effect, _) in seats.items():
        effects[results.players[met] == size, :size] = effect
    utility = np.where(group_index >= 0, elo[group_index] + effects, -np.inf) / ELO
    own = logsumexp(np.where(mine, effects / ELO, -np.inf), axis=1)
    has_won = bool((results.share[met] * mine).any(axis=1).all())
    lead = (own - logsumexp(utility, axis=1)) * (1 if has_won else -1)
    mix = np.zeros((len(group_index), len(group)))
    np.add.at(mix, (np.arange(len(group_index))[:, None], group_index), softmax(utility, axis=1))
    games = met[results.outcome]
    cluster = results.cluster[games]
    outcome = (np.cumsum(met) - 1)[results.outcome[games]]
    order = np.lexsort((outcome, lead[outcome], cluster))
    hardest = order[np.unique(cluster[order], return_index=True)[1]]
    kept, deals = np.unique(outcome[hardest], return_counts=True)
    return _Meetings(">" if has_won else "<", deals, lead[kept], mix[kept])
