"""What results say about the strength of bots: maximum-likelihood ratings of the share-logit model
for bots that can be compared, one-sided bounds for the others, and intervals of ranks that hold
together with 95 % confidence.

A *component* is bots that met, directly or through others. Its *rated group* is the largest set of
bots that can be compared: in the graph "i took a share of a win from j", each can be reached from
each other one (Ford 1957; Hunter 2004). `fit` rates the bots of a rated group. A bot outside has a
one-sided bound instead. A bot that got nothing from the rated group is weaker than some rating with
95 % confidence: with that rating or a higher one it would have got something with a probability of
at least 95 %.

The deal is the unit of chance. Games on one deal may depend on each other in any way, so "the bot
got nothing on a deal" is at most as probable as "it got nothing in one particular game there". The
bound takes the game of each deal with the least likely result: there the rated group's expected
share of the win is p, and the bound is the rating at which the product of p over the deals is 5 %.
For a bot that gave nothing to the rated group, p is the bot's own expected share.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from arena.ratings.fit import Fit, fit_rated_group, fit_with_prior, held_fit, reach_of, took_from
from arena.ratings.intervals import RISK, holm
from arena.ratings.likelihood import ELO
from arena.ratings.results import Flags, Floats, Ints, Results, restrict
from arena.ratings.scipy_parts import expit, log_expit, logsumexp, softmax
from arena.records.record import DUEL

LEVEL = 0.05
FEW_DEALS = 10
"""With fewer deals than this, error bars are rough, and a bot that won nothing so far may still win
something.
"""


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
        return [bound for part in self.components for bound in part.bounds]


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
    components = [
        _component(results, members, graph[np.ix_(members, members)], prior, seats=seats)
        for members in groups
        if len(members) > 1
    ]
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
    return [
        Defeat(
            bot=int(members[one]),
            other=int(members[other]),
            won=int(won[one, other]),
            lost=int(lost[one, other]),
            shared=int(shared[one, other]),
        )
        for one, other in pairs
    ]


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
    widths = np.array(
        [fit.contrast_width(row, has_error) for row in weights - np.eye(len(weights))]
    )
    if not np.isfinite(own_width):
        return Bound.unknown(member, fit.members, int(met.deals.sum()))
    elo, differences, claims = (
        met.sign * (median - np.hypot(median - met.solution(level), width))
        for level, width in ((LEVEL, own_width), (LEVEL, widths), (LEVEL / bots, widths))
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


def bounds_without_group(results: Results, members: Ints) -> list[Bound]:
    """A bound, from the games in ``results``, for each of the ``members`` of a component (bots that
    met, directly or through others) in which no bot has a rating. Of two such bots, one lost
    nothing to the other: the bound on their difference gives each one a bound, and the mean of the
    two is 0. With more than two bots all bounds have the side ``~``, because nothing is known.
    """
    rivals = members[::-1]
    met = [
        _meetings(results, int(member), rivals[[index]], np.zeros(1), {})
        for index, member in enumerate(members if len(members) == DUEL else ())
    ]
    return [
        Bound(
            member=int(member),
            side=each.side,
            elo=each.sign * each.solution(LEVEL) / 2,
            rivals=rivals[[index]],
            differences=np.array([each.sign * each.solution(LEVEL)]),
            is_clear=np.array([each.solution(LEVEL / DUEL) > 0]),
            deals=int(each.deals.sum()),
        )
        for index, (member, each) in enumerate(zip(members, met, strict=False))
        if each is not None
    ] or [Bound.unknown(int(member), np.empty(0, dtype=np.int64), 0) for member in members]


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
