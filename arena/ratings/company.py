"""A test of whether the difference in strength between two bots depends on which third bot plays in
their games.

The rating model has no such effect: in it, the odds between two bots are equal at every table. For
this test each bot has two strengths, one at tables with the third bot and one at tables without it,
and seats have two sets of effects. The test compares the difference of two bots at tables with the
third bot to their difference at other tables, with errors clustered by deal.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from arena.ratings.fit import Fit
from arena.ratings.intervals import holm
from arena.ratings.jackknife import (
    contrasted,
    deal_sums,
    designs_by_deal,
    jackknifed,
    leverage_of,
    satterthwaite,
)
from arena.ratings.likelihood import ELO, Model
from arena.ratings.model import rate
from arena.ratings.results import MIN_SEATS, Flags, Floats, Ints, Results, count_games, restrict
from arena.ratings.scipy_parts import stdtr
from arena.records.record import DUEL

LEVEL = 0.05
"""The probability that the test reports a third bot although none matters."""
TESTS_BY_DEAL = 8
"""For each number of players, how many of the tests that look clearest game by game are then
computed with errors by deal.
"""
MIN_EXPECTED = 5
"""A pair is tested only if its weaker bot is expected to win at least this many games with the
third bot, and as many without it. A bot with fewer expected wins may well win none by chance.
"""
MAX_BOTS = 24
"""The most bots among which pairs are formed, the best rated ones."""
FLAT = 1e-9
"""Information below this fraction of the largest eigenvalue counts as none."""
MIN_FREEDOM = 2.0
"""The smallest degrees of freedom for an error; fewer than three effective deals have less."""


class Company(NamedTuple):
    """Two bots whose difference depends on a third bot: ``bot`` does better against ``opponent`` if
    ``third`` plays in the game, too. The games are those of ``players`` players.

    ``elo_with``       the rating of ``bot`` minus that of ``opponent``, from the games with the
                       third bot alone; NaN if these games give no rating
    ``elo_without``    the same difference from the games without the third bot
    ``error_with``     half the width of the 95 % interval of ``elo_with``
    ``error_without``  half the width of the 95 % interval of ``elo_without``
    ``p``              the probability that chance alone makes the two differences differ this much,
                       corrected (Holm) for the tests of all pairs and third bots with enough games
    """

    players: int
    bot: str
    opponent: str
    third: str
    elo_with: float
    error_with: float
    elo_without: float
    error_without: float
    p: float

    @property
    def decides(self) -> bool:
        """Whether the third bot decides which of the two bots is better: ``bot`` leads with it, and
        ``opponent`` leads without it.
        """
        return self.elo_with > 0 > self.elo_without


def company(results: Results, fits: Sequence[Fit]) -> Company | None:
    """The pair of bots of ``results`` whose difference depends most on a third bot; None if chance
    may explain all such differences (Holm's method, at 5 %), or without ``fits``. ``fits`` come
    from `arena.ratings.model.rate`. Only games of three or more players are tested, and pairs of
    the best `MAX_BOTS` bots of the first fit.

    Pairs in which the third bot changes who is better come first, then those with the largest
    change.
    """
    if not fits:
        return None
    # Tests with errors by game are quick, and show which few of thousands of tests could be
    # significant; only these are computed with errors by deal. The correction allows for all tests.
    count = 0
    tested: list[_Test] = []
    for players in sorted({*results.players[results.players > DUEL].tolist()}):
        tests: list[_Test] = []
        for split in _splits(results, fits[0], players):
            tests += split.quick_tests()
        count += len(tests)
        tests.sort(key=lambda test: -test.clearness)
        tested += _with_chances(tests[:TESTS_BY_DEAL])
    chances = np.array([test.p for test in tested])
    untested = np.ones(count - len(tested))
    corrected = holm(np.append(chances, untested))
    clear = []
    for test, p in zip(tested, corrected[: len(tested)].tolist(), strict=True):
        if p < LEVEL:
            case = _company_of(results, fits[0], test, p)
            clear.append(case)
    if not clear:
        return None
    return max(clear, key=_importance)


def _importance(case: Company) -> tuple[bool, float]:
    """The key by which a case is compared with others: whether the third bot decides who is better,
    then the size of the change in Elo.
    """
    return case.decides, float(np.nan_to_num(case.elo_with - case.elo_without))


class _Test(NamedTuple):
    """One test of a split: ``bot`` does better against ``opponent`` at tables with the third bot
    than at tables without it. Both are numbered as in the split, from 0 to m-1.

    ``clearness``  the change of the difference in standard errors, as if each game had its own deal
    ``p``          the probability that chance alone makes such a change, with errors by deal; NaN
                   until it is computed
    """

    split: "_Split"
    bot: int
    opponent: int
    clearness: float
    p: float = np.nan


def _with_chances(tests: Sequence[_Test]) -> list[_Test]:
    """The ``tests``, ordered by third bot, with ``p`` computed by deal. Tests with the same third
    bot belong to one split and are computed together.
    """
    with_chances = []
    by_third = defaultdict[int, list[_Test]](list)
    for test in tests:
        by_third[test.split.third].append(test)
    for of_split in by_third.values():
        bots = np.array([test.bot for test in of_split])
        opponents = np.array([test.opponent for test in of_split])
        chances = of_split[0].split.chances(bots, opponents)
        for test, p in zip(of_split, chances.tolist(), strict=True):
            with_p = test._replace(p=p)
            with_chances.append(with_p)
    return with_chances


class _Split(NamedTuple):
    """The games of ``players`` players that one of the m best rated bots won, split by whether the
    ``third`` bot plays in them. Each of the m bots has two numbers: 0 to m-1 in games without the
    third bot, and m to 2m-1 in games with it.

    ``model``              the rating model of these games with 2m bots
    ``parameters`` (size)   the strengths from all games, equal with and without the third bot
    ``shift`` (size)        the step from these parameters to the maximum of the likelihood
    ``bread`` (size, size)  the inverse of the information matrix
    ``loose`` (size, size)  projects onto the directions in which the games hold no information
    ``changes`` (m, size)   times the parameters, it gives each bot's strength with the third bot
                            minus its strength without it
    """

    players: int
    third: int
    model: Model
    parameters: Floats
    shift: Floats
    bread: Floats
    loose: Floats
    changes: Floats

    @classmethod
    def of(cls, players: int, third: int, model: Model, parameters: Floats) -> "_Split":
        """Makes the split of games of ``players`` players by the bot ``third``; the step to the
        maximum is computed at ``parameters``.
        """
        gradient, information = model.derivatives(parameters)
        values, vectors = np.linalg.eigh(information)
        has_information = values > FLAT * max(values.max(), 1.0)
        informed = vectors[:, has_information]
        unit = np.eye(len(values))
        bread = informed / values[has_information] @ informed.T
        bots = len(model.results.bots)
        return cls(
            players=players,
            third=third,
            model=model,
            parameters=parameters,
            shift=bread @ gradient,
            bread=bread,
            loose=unit - informed @ informed.T,
            changes=unit[bots // 2 : bots] - unit[: bots // 2],
        )

    def quick_tests(self) -> Iterator[_Test]:
        """A test of each pair of bots with enough games, with errors as if each game had its own
        deal.
        """
        model = self.model
        moved = self.changes @ self.shift
        expected = np.tile(model.times[:, None] * model.shares(self.parameters), 2)
        wins = np.bincount(model.columns.ravel(), expected.ravel())[: 2 * len(moved)]
        fewest_wins = wins.reshape(2, -1).min(axis=0)
        enough = np.flatnonzero(fewest_wins >= MIN_EXPECTED)
        pairs = enough[np.array(np.triu_indices(len(enough), 1))]
        ones = pairs[0]
        others = pairs[1]
        square = contrasted(self.changes @ self.bread @ self.changes.T, ones, others)
        loose = contrasted(self.changes @ self.loose @ self.changes.T, ones, others)
        is_known = (loose <= FLAT) & (square > 0)
        for one, other, variance in zip(
            ones[is_known].tolist(),
            others[is_known].tolist(),
            square[is_known].tolist(),
            strict=True,
        ):
            change = float(moved[one] - moved[other])
            clearness = abs(change) / float(np.sqrt(variance))
            better, worse = (one, other) if change > 0 else (other, one)
            yield _Test(split=self, bot=better, opponent=worse, clearness=clearness)

    def chances(self, one: Ints, other: Ints) -> Floats:
        """(L,) for each pair of bots ``one[i]`` and ``other[i]``, numbered from 0 to m-1: the
        probability that chance alone makes the difference of their strengths with the third bot
        depart from their difference without it by as much as seen, in either direction. Errors are
        by deal, and nothing is corrected for the number of tests; 1 if there are too few deals.
        """
        model = self.model
        moved = self.changes @ self.shift
        expected = model.shares(self.parameters)
        step = model.by_seat(self.shift)
        step -= (expected * step).sum(axis=1, keepdims=True)
        scores = model.scores(expected * (1 + step))
        designs = designs_by_deal(model)
        leverage = leverage_of(model, self.parameters, self.bread, designs)
        meat = jackknifed(leverage, designs, deal_sums(model.results, scores))
        along = self.changes @ self.bread
        error = np.sqrt(np.maximum(contrasted(along @ meat @ along.T, one, other), 0))
        freedom = satterthwaite(leverage, self.changes, one, other)
        change = np.abs(moved[one] - moved[other])
        # If all deals gave the same change, each deal counts as one toss of a coin that fell that
        # way.
        alike = np.where(change < FLAT, 1.0, 0.5**freedom)
        # Holm's method uses the far tail, where t is too sure if luck decides whole deals: with 60
        # tests and 12 such deals 9 of 100 runs were called significant, with this width 5.
        wide = np.maximum(error * (1 + 1 / np.maximum(freedom, 1)), FLAT)
        p = np.where(error < FLAT, alike, 2 * stdtr(freedom, -change / wide))
        return np.where(freedom < MIN_FREEDOM, 1.0, p)


def _best(fit: Fit) -> Ints:
    """The indices in ``fit`` of the best rated bots, at most `MAX_BOTS`, in ascending order."""
    return np.sort(np.argsort(-fit.elo, kind="stable")[:MAX_BOTS])


def _splits(results: Results, fit: Fit, players: int) -> Iterator[_Split]:
    """Splits the games of ``players`` players in turn by each bot that plays in some but not all of
    them. ``fit`` has the ratings of the best bots.

    Only which of the best rated bots won is used. So a bot that won nothing, or that cannot be
    rated, needs no rating to serve as the third bot.
    """
    best = _best(fit)
    members = fit.members[best]
    strengths = fit.elo[best] / ELO
    count = len(members)
    inside = np.isin(results.seats, members)
    won = inside & (results.share > 0)
    is_kept = (inside.sum(axis=1) >= MIN_SEATS) & won.any(axis=1) & (results.players == players)
    if not is_kept.any():
        return
    games = results.only(is_kept)
    ranks = np.where(won[is_kept], 1, 2)
    # One row for each seating and its winners: ranks below the first do not count here.
    cluster = games.cluster.astype(np.int64)
    games = count_games(games.bots, games.clusters, games.seats, ranks, cluster, games.outcome)
    inner = restrict(games, members)
    no_seats = np.zeros(players)
    seats = np.nan_to_num(fit.seats.get(players, (no_seats,))[0][1:]) / ELO
    # Seats have separate effects in games without the third bot and with it. The latter are stored
    # as games of "players + 1" players, whose last seat parameter is not used.
    parameters = np.concatenate([strengths, strengths, seats, seats, [0.0]])
    for third in range(len(results.bots)):
        sits = (games.seats == third).any(axis=1)
        if sits.all() or not sits.any():
            continue
        seated = np.where(inner.seats < count, inner.seats + count * sits[:, None], 2 * count)
        twice = inner._replace(bots=inner.bots * 2, seats=seated, players=players + sits)
        model = Model.of(twice, {players, players + 1})
        yield _Split.of(players, third, model, parameters)


def _company_of(results: Results, fit: Fit, test: _Test, p: float) -> Company:
    """Makes the result of ``test``, with the bots' names and both differences in Elo; ``p`` is
    already corrected for all tests.
    """
    third = test.split.third
    members = fit.members[_best(fit)]
    bot = int(members[test.bot])
    opponent = int(members[test.opponent])
    sits = (results.seats == third).any(axis=1)
    has_size = results.players == test.split.players
    elo_with, error_with = _difference(results, sits & has_size, bot, opponent)
    elo_without, error_without = _difference(results, ~sits & has_size, bot, opponent)
    return Company(
        players=test.split.players,
        bot=results.bots[bot],
        opponent=results.bots[opponent],
        third=results.bots[third],
        elo_with=elo_with,
        error_with=error_with,
        elo_without=elo_without,
        error_without=error_without,
        p=p,
    )


def _difference(results: Results, kept: Flags, one: int, other: int) -> tuple[float, float]:
    """The rating of the bot ``one`` minus that of ``other``, in Elo, from the ``kept`` (O,)
    outcomes alone, and the half-width of its 95 % interval; both NaN if these games do not rate the
    two bots together.
    """
    for fit in rate(results.only(kept)).fits:
        if np.isin((one, other), fit.members).all():
            row, column = np.searchsorted(fit.members, (one, other))
            half_width = fit.difference_half_widths()[row, column]
            return float(fit.elo[row] - fit.elo[column]), float(half_width)
    return np.nan, np.nan
