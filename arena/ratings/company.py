"""A test of whether the difference of two bots depends on which third bot sits at their table.

The model of the ratings has no place for that: it takes the odds of two bots for the same at every
table. Here every bot counts as two, one that sits with the third bot and one that does not, each
with seats of its own. The test asks for a contrast: the difference of two bots at tables with the
third bot, less their difference at the other tables, with the errors that ratings have.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from arena.ratings.fit import Fit
from arena.ratings.likelihood import (
    ELO,
    Model,
    contrasted,
    deal_sums,
    designs_by_deal,
    holm,
    jackknifed,
    leverage_of,
    satterthwaite,
)
from arena.ratings.model import rate
from arena.ratings.results import FEWEST_SEATS, Flags, Floats, Ints, Results, count_games, restrict
from arena.records.record import DUEL

LEVEL = 0.05
"""The chance of finding a third bot that matters where none does."""
TESTS_BY_DEAL = 8
"""How many of the tests that look clearest game by game are worked out deal by deal."""
FEWEST_EXPECTED = 5
"""A pair is tested only if its weaker bot is expected to win at least this many games with the
third bot, and as many without it; with fewer, winning nothing is nothing unusual.
"""
MOST_BOTS = 24
"""Pairs are formed among at most this many bots, those rated best."""
FLAT = 1e-9
"""Information below this fraction of the largest counts as none."""
FEWEST_FREEDOM = 2.0
"""With fewer than three effective deals there is no error."""


class Company(NamedTuple):
    """Two bots whose difference depends on a third one: ``bot`` does better against ``opponent``
    where ``third`` sits too, at tables of ``players``.

    ``elo_with``, ``elo_without``  the bot's rating minus the opponent's, by the games of this size
                                   with the third bot alone, and by those without it; NaN if these
                                   give no such rating
    ``error_with``, ``error_without``  half-widths of their 95 % intervals
    ``p``  how likely chance alone makes them differ this much, with an allowance (Holm) for all
           tests: one for each pair and third bot that have enough games
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
        """Whether the third bot decides which of the two is the better one."""
        return self.elo_with > 0 > self.elo_without


def company(results: Results, fits: Sequence[Fit]) -> Company | None:
    """The pair of bots whose difference depends most on a third bot; None if no difference does so
    beyond its error.

    Of several pairs, one whose better bot is another one with the third bot comes first, and then
    the one with the largest change. ``fits`` are those of `arena.ratings.model.rate`.
    """
    if not fits:
        return None
    # A look that takes every game for a deal of its own shows which few of thousands of tests could
    # be beyond error, and only these are worked out by deal. The level allows for all of them.
    count = 0
    tested: list[_Test] = []
    for players in sorted({*results.players[results.players > DUEL].tolist()}):
        tests = [
            test for split in _splits(results, fits[0], players) for test in split.quick_tests()
        ]
        count += len(tests)
        tests.sort(key=lambda test: -test.clearness)
        tested += _with_chances(tests[:TESTS_BY_DEAL])
    chances = np.array([test.p for test in tested])
    untested = np.ones(count - len(tested))
    corrected = holm(np.append(chances, untested))
    clear = [
        _company_of(results, fits[0], test, p)
        for test, p in zip(tested, corrected.tolist(), strict=False)
        if p < LEVEL
    ]
    if not clear:
        return None
    return max(clear, key=_importance)


def _importance(case: Company) -> tuple[bool, float]:
    """A key for sorting: a third bot that decides who is better, then the size of the change."""
    return case.decides, float(np.nan_to_num(case.elo_with - case.elo_without))


class _Test(NamedTuple):
    """One pair of bots, numbered as in its split, whose difference grows where the third bot sits:
    ``bot`` does better there against ``opponent``.

    ``clearness``  the change of the difference in standard errors, if every game had its own deal
    ``p``          how likely chance alone makes such a change, worked out by deal; NaN before that
    """

    split: "_Split"
    bot: int
    opponent: int
    clearness: float
    p: float = np.nan


def _with_chances(tests: Sequence[_Test]) -> list[_Test]:
    """The tests with their chances by deal, those of one split together."""
    found = []
    for third in dict.fromkeys(test.split.third for test in tests):
        own = [test for test in tests if test.split.third == third]
        bots = np.array([test.bot for test in own])
        opponents = np.array([test.opponent for test in own])
        chances = own[0].split.chances(bots, opponents)
        found += [test._replace(p=p) for test, p in zip(own, chances.tolist(), strict=True)]
    return found


class _Split(NamedTuple):
    """The games of tables of ``players`` that one of the best rated bots won, split by a third bot.
    Every one of the m best bots counts as two: as bot 0 to m-1 in games without the ``third`` bot,
    and as bot m to 2m-1 in games with it.

    ``parameters`` (size)  by the ratings of all games, the same with and without the third bot
    ``shift`` (size)       the step from there to the maximum of the likelihood
    ``bread`` (size, size) the inverse of the information
    ``loose`` (size, size) projects onto the directions on which the games give no information
    ``changes`` (m, size)  takes from parameters a bot's rating with the third bot less that without
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
        """A test of each pair with enough games, by errors that take every game for a deal of its
        own.
        """
        model = self.model
        moved = self.changes @ self.shift
        expected = np.tile(model.times[:, None] * model.shares(self.parameters), 2)
        wins = np.bincount(model.columns.ravel(), expected.ravel())[: 2 * len(moved)]
        fewest_wins = wins.reshape(2, -1).min(axis=0)
        enough = np.flatnonzero(fewest_wins >= FEWEST_EXPECTED)
        ones, others = (enough[place] for place in np.triu_indices(len(enough), 1))
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
        """(L,) for each of the pairs, how likely chance alone changes its difference as much as
        seen, with errors by deal; 1 where there are too few deals.
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
        # Where every deal gave the same, it is a coin that always falls on one side.
        alike = np.where(change < FLAT, 1.0, 0.5**freedom)
        # Holm asks for the far tail, where luck that decides whole deals makes t too sure: with 60
        # tests and 12 such deals 9 of 100 runs were called beyond error, with this width 5.
        wide = np.maximum(error * (1 + 1 / np.maximum(freedom, 1)), FLAT)
        p = np.where(error < FLAT, alike, 2 * stdtr(freedom, -change / wide))
        return np.where(freedom < FEWEST_FREEDOM, 1.0, p)


def _best(fit: Fit) -> Ints:
    """The places in the fit of the bots rated best, at most `MOST_BOTS`, in ascending order."""
    return np.sort(np.argsort(-fit.elo, kind="stable")[:MOST_BOTS])


def _splits(results: Results, fit: Fit, players: int) -> Iterator[_Split]:
    """The games of tables of ``players``, split by each bot that sits at some of them and not at
    all.

    Only which of the best rated bots won counts, so a bot that won nothing, or that cannot be
    rated, needs no rating to sit at a table with them.
    """
    best = _best(fit)
    members = fit.members[best]
    strengths = fit.elo[best] / ELO
    count = len(members)
    inside = np.isin(results.seats, members)
    won = inside & (results.share > 0)
    is_kept = (inside.sum(axis=1) >= FEWEST_SEATS) & won.any(axis=1) & (results.players == players)
    if not is_kept.any():
        return
    games = results.only(is_kept)
    ranks = np.where(won[is_kept], 1, 2)
    # One row for each seating and its winners, whatever the ranks below the first.
    cluster = games.cluster.astype(np.int64)
    games = count_games(games.bots, games.clusters, games.seats, ranks, cluster, games.outcome)
    inner = restrict(games, members)
    no_seats = np.zeros(players)
    seats = np.nan_to_num(fit.seats.get(players, (no_seats,))[0][1:]) / ELO
    # The seats with the third bot and without it: those of "players + 1" have one parameter that is
    # not used.
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
    """What a test found, with the bots' names and the ratings on both sides; ``p`` is corrected for
    all tests.
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
    """The difference in Elo of two bots by the ``kept`` games, and the half-width of its 95 %
    interval; NaN if these games do not rate both bots together.
    """
    for fit in rate(results.only(kept)).fits:
        if np.isin((one, other), fit.members).all():
            row, column = np.searchsorted(fit.members, (one, other))
            half_width = fit.difference_half_widths()[row, column]
            return float(fit.elo[row] - fit.elo[column]), float(half_width)
    return np.nan, np.nan
