"""What results say about the strength of bots: maximum-likelihood ratings of the share-logit model
for bots that can be compared, one-sided bounds for the others, and intervals of ranks that hold
together with 95 % confidence.

A *component* is bots that met, directly or through others. Its *rated group* is the largest set of
bots that can be compared: in the graph "i took a share of a win from j", each can be reached from
each other one (Ford 1957; Hunter 2004). `fit` rates the bots of a rated group. A bot outside has a
one-sided bound instead (`arena.ratings.bounds`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.ratings.bounds import Bound, bounds_of, bounds_without_group
from arena.ratings.fit import Fit, fit_rated_group, fit_with_prior, held_fit, reach_of, took_from
from arena.ratings.intervals import RISK, holm
from arena.ratings.results import Flags, Floats, Ints, Results, restrict
from arena.records.record import DUEL

FEW_DEALS = 10
"""With fewer deals than this, error bars are rough, and a bot that won nothing so far may still win
something.
"""


class Defeat(NamedTuple):
    """The games of two bots without a rating, of which ``bot`` beat ``other``: in ``won`` of them
    ``bot`` ranked better, in ``lost`` the other did, and in ``shared`` they ranked equal.
    """

    bot: int
    other: int
    won: int
    lost: int
    shared: int


class Component(NamedTuple):
    """Bots that met, directly or through others, and what is known about their strength.

    ``members`` (n,)  the bots' numbers in the results, ascending
    ``games``         the number of games between them
    ``fit``           the ratings of the rated group; with a prior, of all members
    ``bounds``        the bounds of the bots that ``fit`` does not rate
    ``places`` (n,)   the order of the members as far as it is known without ratings, 0 for the
                      best, see `places_of`; all bots that ``fit`` rates share one place
    ``defeats``       the results of games between bots outside the rated group; none with a prior

    If three or more bots have no rated group, ``fit`` holds one of them at 0, and the others have
    bounds on their distance from it. ``fit`` is None for two bots without a rated group, and if
    `middle_of` finds no bot to hold at 0.
    """

    members: Ints
    games: int
    fit: Fit | None
    bounds: list[Bound]
    places: Ints
    defeats: Sequence[Defeat] = ()

    @property
    def is_rated(self) -> bool:
        """Whether two or more bots have ratings; otherwise bots have bounds at most."""
        return self.fit is not None and len(self.fit.members) > 1

    def bounds_on(self, side: str) -> list[Bound]:
        """The bounds with this ``side``: ``<``, ``>`` or ``~``."""
        return [bound for bound in self.bounds if bound.side == side]


class Ratings(NamedTuple):
    """What results say about the strength of bots: the components, the one with the most bots
    first. A bot that met no other bot is in none of them.
    """

    components: list[Component]

    @property
    def fits(self) -> list[Fit]:
        """The fits of the components in which two or more bots have ratings."""
        return [part.fit for part in self.components if part.fit is not None and part.is_rated]

    @property
    def bounds(self) -> list[Bound]:
        """The bounds of all bots that met others but have no rating, by component."""
        bounds = []
        for part in self.components:
            bounds += part.bounds
        return bounds


def rate(results: Results, prior: float | None = None, *, seats: bool = True) -> Ratings:
    """Rates the bots of each component of ``results``: bots that met, directly or through others.

    Without a prior (None or 0), the rated group of a component, its bots that all took shares of
    wins from each other directly or in a circle, is rated by maximum likelihood, and the other bots
    get bounds. ``prior`` is the weight of one virtual draw between each bot and an imagined bot
    with rating 0, which gives every bot of a component a rating. If ``seats`` is False, seats have
    no effect. Raises NoAnswerError if no finite ratings fit best.
    """
    graph = took_from(len(results.bots), results.seats, results)
    # a component is numbered by its first member
    number = reach_of(graph | graph.T).argmax(axis=1) if len(graph) else np.zeros(0)
    groups = [np.flatnonzero(number == each) for each in np.unique(number)]
    components = []
    for members in groups:
        if len(members) > 1:
            inner_graph = graph[np.ix_(members, members)]
            components.append(_component(results, members, inner_graph, prior, seats=seats))
    components.sort(key=lambda part: (-len(part.members), -part.games, part.members[0]))
    return Ratings(components)


def _component(
    results: Results, members: Ints, graph: Flags, prior: float | None, *, seats: bool
) -> Component:
    """Rates the ``members`` of one component; ``graph`` (n, n) is `took_from` for them, ``prior``
    is the weight of the prior (None: none), and ``seats`` says whether seats have effects.
    """
    inner = restrict(results, members)
    group = rated_group_of(graph, inner.played())
    if prior:
        outside = np.setdiff1d(np.arange(len(members)), group).tolist()
        fit_of_all = fit_with_prior(inner, graph, prior, seats=seats)
        fit_of_all = fit_of_all._replace(members=members, by_prior=tuple(outside))
        return Component(
            members, inner.games, fit_of_all, [], np.zeros(len(members), dtype=np.int64)
        )
    fit = None
    if len(group):
        fit = fit_rated_group(restrict(inner, group), seats=seats)
    elif len(members) > DUEL:
        middle = middle_of(graph, inner.played())
        if middle is not None:
            group = np.array([middle])
            fit = held_fit(inner, middle)
    fit = fit and fit._replace(members=members[group])
    bounds = bounds_of(results, members, fit) if fit else bounds_without_group(results, members)
    meetings = results.meetings()[:, members[:, None], members]
    places = places_of(graph, group, meetings[1] + meetings[2] / 2)
    defeats = defeats_of(members, members[group], places, meetings)
    return Component(members, inner.games, fit, bounds, places, defeats)


def component_intervals(part: Component) -> tuple[Ints, Ints]:
    """Two arrays (n,): the best and the worst possible rank of each member of the component
    ``part``, among the members, in the order of ``part.members``.
    """
    count = len(part.members)
    above = _surely_above(part)
    low = 1 + above.sum(axis=0)
    high = count - above.sum(axis=1)
    if part.fit is not None:
        # Intervals of the rated group hold together with 95 % confidence; single comparisons would
        # not.
        group = np.searchsorted(part.members, part.fit.members)
        outside = np.isin(part.members, [bound.member for bound in part.bounds])
        best, worst = rank_intervals(part.fit, risk_of_order(part, part.fit))
        low[group] = best + above[np.ix_(outside, group)].sum(axis=0)
        high[group] = worst + outside.sum() - above[np.ix_(group, outside)].sum(axis=1)
    return low, high


def risk_of_order(part: Component, fit: Fit) -> float:
    """The probability that is allowed for putting any pair of the rated bots in the wrong order.
    The 5 % for the whole component ``part`` are divided evenly among its members; the rated bots of
    ``fit`` get their part.
    """
    return RISK * len(fit.members) / len(part.members)


def _surely_above(part: Component) -> Flags:
    """(n, n) whether the row's bot is clearly above the column's bot by the bounds of ``part``."""
    above = np.zeros((len(part.members),) * 2, dtype=np.bool_)
    for bound in part.bounds:
        own = np.searchsorted(part.members, bound.member)
        others = np.searchsorted(part.members, bound.rivals[bound.is_clear])
        above[(own, others) if bound.side == ">" else (others, own)] = True
    return above | (above @ above)


def rank_intervals(fit: Fit, risk: float = RISK) -> tuple[Ints, Ints]:
    """Two arrays (n,): the best and the worst possible rank of each bot of ``fit``: 1 plus the
    number of bots clearly above it, and the number of bots that are not clearly below it, itself
    included. The probability that any pair is put in the wrong order is at most ``risk``.
    """
    is_above = clearly_above(fit, chances_of_equals(fit), risk)
    return 1 + is_above.sum(axis=0), len(fit.elo) - is_above.sum(axis=1)


def clearly_above(fit: Fit, chance: Floats, risk: float) -> Flags:
    """(n, n) whether the row's bot of ``fit`` is clearly above the column's bot. ``chance`` (n, n)
    has the p values of `chances_of_equals`. The probability that any pair is put in the wrong order
    is at most ``risk``: each pair has a t test, and Holm's method corrects for the number of pairs.

    The ranges of ranks and the sentences about the order both come from here, so that they cannot
    contradict each other. The joint distribution of the differences (max-t, Mogstad, Romano, Shaikh
    & Wilhelm) would need a covariance that few deals do not give.
    """
    count = len(fit.elo)
    one, other = np.triu_indices(count, 1)
    adjusted = holm(chance[one, other])
    is_clear = np.zeros((count, count), dtype=np.bool_)
    is_clear[one, other] = is_clear[other, one] = adjusted < risk
    return is_clear & (fit.elo[:, None] > fit.elo)


def chances_of_equals(fit: Fit) -> Floats:
    """(n, n) the p value of each difference of ``fit``: the probability that two equal bots differ
    at least this much. NaN if there are too few deals.
    """
    superiority = fit.superiority()
    chance = 2 * np.minimum(superiority, superiority.T)
    # An error of 0 says that every deal gave the same result, not that the difference is certain.
    return np.where(fit.difference_error() > 0, chance, np.where(np.isnan(chance), np.nan, 1.0))


def rated_group_of(matrix: Flags, games: Floats) -> Ints:
    """The indices of the largest set of players that can all be reached from each other in
    ``matrix`` (n, n); among several largest sets, the one whose players have most ``games`` (n,),
    then the first one. Empty if no two players can be reached from each other.
    """
    reach = reach_of(matrix)
    group = (reach & reach.T).argmax(axis=1)
    sizes = np.bincount(group)
    played = np.bincount(group, games)
    best = np.lexsort((-played, -sizes))[0]
    return np.flatnonzero(group == best) if sizes[best] > 1 else np.empty(0, dtype=np.int64)


def middle_of(matrix: Flags, games: Floats) -> int | None:
    """The index of the player to hold at 0 if no two players can be reached from each other in
    ``matrix`` (n, n): the one that took from, or gave to, most others; then the one for which these
    two numbers are most equal, then the one that took from more, then the one with most ``games``.
    None if the best two players are equal in all of this, because their names must not decide.
    """
    won = matrix.sum(axis=1)
    lost = matrix.sum(axis=0)
    keys = np.column_stack([won + lost, -np.abs(won - lost), won, games])
    first, second = np.lexsort(keys.T[::-1])[:-3:-1].tolist()
    return None if (keys[first] == keys[second]).all() else int(first)


def places_of(matrix: Flags, group: Ints, better: Floats) -> Ints:
    """(n,) the place of each player as far as it is known without ratings; 0 is the best. Players
    that took a share from the ``group`` by the graph ``matrix`` (n, n), directly or through others,
    are placed above the rated group, and the others below it.

    Within each side, players are ordered by who beat whom: ``better`` (n, n) has the number of
    games in which the row's player ranked better than the column's, plus half of those in which
    they ranked equal. Players in a circle of wins are ordered by the share that each won of the
    games within the circle. Players that this does not separate share a place.
    """
    side = np.full(len(matrix), 2)
    if len(group):
        side[reach_of(matrix)[:, group[0]]] = 0
        side[group] = 1
    together = (side[:, None] == side) & (side != 1)
    reach = reach_of(together & (better > 0))
    alike = reach & reach.T
    won = np.where(alike, better, 0).sum(axis=1)
    part = won / np.maximum(won + np.where(alike, better, 0).sum(axis=0), 1)
    above = (reach & ~reach.T) | (alike & (part[:, None] > part)) | (side[:, None] < side)
    place = np.zeros(len(matrix), dtype=np.int64)
    while True:
        deeper = np.where(above, place[:, None] + 1, 0).max(axis=0, initial=0)
        if (deeper == place).all():
            return place
        place = deeper


def defeats_of(members: Ints, rated: Ints, places: Ints, meetings: Ints) -> list[Defeat]:
    """The results of each bot without a rating against the bots, also without a rating, one place
    below that it beat. ``members`` are the bots of a component, ``rated`` are those in its rated
    group, ``places`` (n,) are the places of the members, and ``meetings`` (3, n, n) is
    `Results.meetings` for them.
    """
    outside = ~np.isin(members, rated)
    games, won, shared = meetings
    lost = games - won - shared
    is_next = (places[:, None] + 1 == places) & outside[:, None] & outside & (won > lost)
    pairs = sorted(np.argwhere(is_next).tolist(), key=lambda pair: (int(places[pair[0]]), pair))
    defeats = []
    for one, other in pairs:
        defeat = Defeat(
            bot=int(members[one]),
            other=int(members[other]),
            won=int(won[one, other]),
            lost=int(lost[one, other]),
            shared=int(shared[one, other]),
        )
        defeats.append(defeat)
    return defeats
