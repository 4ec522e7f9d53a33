"""Whether company decides who is better: at tables of three and four, the difference of two bots
in the games with a third bot, and in those without it.

The model has no place for that: it takes the odds of two bots for the same whoever else sits there.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import stdtrit

from arena.ratings.components import Floats
from arena.ratings.fit import Fit
from arena.ratings.freedom import COVERAGE
from arena.ratings.goodness import FEWEST_EXPECTED, holm
from arena.ratings.leavingout import FEWEST_FREEDOM, chances, left_out
from arena.ratings.likelihood import ELO
from arena.ratings.results import Results
from arena.ratings.sandwich import deal_sums
from arena.ratings.seatings import Moved, Rows, Seatings
from arena.records.record import DUEL

LEVEL = 0.05
AT_ONCE = 8
"""Tests worked out together in one pass through the games."""
COLUMNS = (
    "players", "bot", "opponent", "third",
    "elo_with", "error_with", "elo_without", "error_without", "p", "p_all",
)  # fmt: skip


class Company(NamedTuple):
    """Of ``tests`` tests, one for each pair of the ``bots`` best of ``all_bots`` rated bots and
    each third bot that have enough games, those beyond error.

    ``least`` is the ``p_all`` of the clearest, beyond error or not, 1 without tests. ``table`` has
    one row each, the clearest first:

    ``players``  int64, seats at the table
    ``bot``, ``opponent``, ``third``  str; the bot does better with the third one at the table
    ``elo_with``, ``elo_without``  float64, the bot's rating minus the opponent's, by the games with
                                   the third bot alone, and by those without it; NaN if these give
                                   no such rating
    ``error_with``, ``error_without``  float64, half-widths of their 95 % intervals
    ``p``        float64, how likely chance alone makes them differ this much, clustered by deal
    ``p_all``    float64, the same for the clearest of all tests (Holm)
    """

    tests: int
    bots: int
    all_bots: int
    least: float
    table: pd.DataFrame

    @property
    def clear(self) -> int:
        """How many tests are beyond error."""
        return len(self.table)

    @property
    def largest(self) -> pd.DataFrame:
        """The rows beyond error, those first in which the other bot is the better one without the
        third, then the largest change first.
        """
        change = (self.table["elo_with"] - self.table["elo_without"]).fillna(0.0)
        turns = (self.table["elo_with"] > 0) & (self.table["elo_without"] < 0)
        return self.table.iloc[np.lexsort((-change, ~turns))]


class _Test(NamedTuple):
    """A test at the tables of one size: the numbers of the pair among the members, and of the third
    bot.
    """

    one: int
    other: int
    third: int


class _Tested(NamedTuple):
    """What tests found by deal: (K,) how far the third one's company moves the difference, and how
    likely chance alone does that.
    """

    seatings: Seatings
    tests: list[_Test]
    change: Floats
    p: Floats


def company(results: Results, fits: Sequence[Fit], most: int) -> Company:
    """Tests the difference of each pair with each third bot.

    Only the ``most`` tests of a table size are worked out by deal that seem clearest if every game
    counts for itself. The others count as tests that found nothing.
    """
    # Counted seatings show which few of thousands of tests could be beyond error, and only for
    # these we go through a million games. Holm counts them all, so the level holds.
    sized = [
        Seatings(results, table, fits[0]) for table in results.tables if table.size > DUEL and fits
    ]
    count, found = 0, []
    for seatings in sized:
        tests, seeming = _at_a_glance(seatings)
        count += len(tests)
        tried = np.sort(np.argsort(-seeming, kind="stable")[:most]).tolist()
        found.append(_tried(seatings, [tests[at] for at in tried]))
    every = [(each, at) for each in found for at in range(len(each.tests))]
    p = np.array([each.p[at] for each, at in every])
    p_all = holm(np.append(p, np.ones(count - len(p))))[: len(p)]
    listed = np.argsort(p, kind="stable")[: (p_all < LEVEL).sum()].tolist()
    rows = [
        (*_described(each.seatings, each.tests[at], each.change[at]), p[place], p_all[place])
        for place, (each, at) in ((place, every[place]) for place in listed)
    ]
    bots, rated = (len(sized[0].members), len(fits[0].members)) if sized else (0, 0)
    table = pd.DataFrame(rows, columns=COLUMNS)
    return Company(count, bots, rated, float(p_all.min(initial=1.0)), table)


def _at_a_glance(seatings: Seatings) -> tuple[list[_Test], Floats]:
    """The tests with enough games, and how clear they seem, in errors if every game had its own
    deal.
    """
    tests, seeming, whole = list[_Test](), list[Floats](), seatings.whole
    for third in range(len(seatings.bots)):
        part = seatings.part(seatings.sits(third), seatings.expected)
        fewest = np.minimum(part.wins, whole.without(part).wins)
        enough = np.flatnonzero((fewest >= FEWEST_EXPECTED) & (seatings.members != third))
        if len(enough) > 1:
            sides = [side.moved() for side in (part, whole.without(part))]
            (change, square), (change_without, rest) = (
                side.differences(seatings.layout.bots) for side in sides
            )
            with np.errstate(invalid="ignore", divide="ignore"):
                clear = np.abs(change - change_without) / np.sqrt(square + rest)
            one, other = (enough[place] for place in np.triu_indices(len(enough), 1))
            known = np.isfinite(clear[one, other])
            pairs = zip(one[known].tolist(), other[known].tolist(), strict=True)
            tests += [_Test(*pair, third) for pair in pairs]
            seeming.append(clear[one, other][known])
    return tests, np.concatenate([np.empty(0), *seeming])


def _tried(seatings: Seatings, tests: list[_Test]) -> _Tested:
    change, error, freedom = [np.empty(0)], [np.empty(0)], [np.empty(0)]
    for first in range(0, len(tests), AT_ONCE):
        moves, columns = [], []
        for test in tests[first : first + AT_ONCE]:
            sits = seatings.sits(test.third)
            part = seatings.part(sits, seatings.expected)
            sides = [part.moved(), seatings.whole.without(part).moved()]
            moves.append(np.subtract(*(_lead(side.shift, test) for side in sides)))
            columns.append(_columns(seatings, test, sits, sides, seatings.expected))
        found = left_out(*_by_deal(seatings, np.stack(columns, axis=-1)))
        for every, new in zip((change, error, freedom), (np.array(moves), *found), strict=True):
            every.append(new)
    moved, off, free = (np.concatenate(every) for every in (change, error, freedom))
    return _Tested(seatings, tests, moved, chances(moved, off, free))


def _lead(values: Floats, test: _Test) -> Floats:
    """The value of the one bot minus that of the other."""
    return np.asarray(values[test.one] - values[test.other], dtype=np.float64)


def _columns(
    seatings: Seatings, test: _Test, sits: Rows, sides: Sequence[Moved], expected: Floats
) -> Floats:
    """(O, 2, 2) what a game adds to the difference of two bots by the games with a third one and by
    those without it, beyond what these on average add; and its part of the squared errors if games
    share no luck.
    """
    row = seatings.seating
    columns = np.zeros((len(row), 2, 2))
    for number, (side, rows) in enumerate(zip(sides, (sits, ~sits), strict=True)):
        weight = seatings.by_seat(_lead(side.inverse, test))
        weight -= (expected * weight).sum(axis=1, keepdims=True)
        # Weights have mean 0 at each table, so the mean of the shifts makes no difference.
        usual = expected * (1 + seatings.by_seat(side.shift))
        here = rows[row]
        added = ((seatings.games.share[here] - usual[row[here]]) * weight[row[here]]).sum(axis=1)
        columns[here, number, 0] = added
        columns[here, number, 1] = (expected * weight**2).sum(axis=1)[row[here]]
    return columns


def _by_deal(seatings: Seatings, columns: Floats) -> tuple[Iterator[Floats], Floats]:
    """Sums by deal, and over all games, of K columns (O, 2, 2, K), as `left_out` takes them."""
    sized = Results(seatings.bots, seatings.clusters, [seatings.games])
    flat = csr_array(columns.reshape(len(columns), -1))
    deals = (part.toarray().reshape(-1, *columns.shape[1:]) for part in deal_sums(sized, [flat]))
    return deals, np.tensordot(seatings.games.games, columns[:, :, 1], 1)


def _described(seatings: Seatings, test: _Test, change: float) -> tuple[int | str | float, ...]:
    """A row of `Company.table` without the last two columns."""
    if change < 0:
        test = _Test(test.other, test.one, test.third)
    members = seatings.members[[test.one, test.other]].tolist()
    names = [seatings.bots[bot] for bot in (*members, test.third)]
    sits = seatings.sits(test.third)
    figures = [_difference(seatings, test, rows) for rows in (sits, ~sits)]
    return seatings.games.size, *names, *figures[0], *figures[1]


def _difference(seatings: Seatings, test: _Test, rows: Rows) -> tuple[float, float]:
    """The difference of two bots by some of the games, and the half-width of its 95 % interval."""
    parameters = seatings.rated(rows)
    expected = seatings.shares(parameters)
    side = seatings.part(rows, expected).moved()
    square = side.differences(seatings.layout.bots)[1]
    if np.isnan(square[test.one, test.other]):
        return np.nan, np.nan
    nothing = side._replace(inverse=0 * side.inverse)
    columns = _columns(seatings, test, rows, [side, nothing], expected)
    [error], [freedom] = left_out(*_by_deal(seatings, columns[..., None]))
    lead = float(_lead(parameters, test)) * ELO
    if freedom < FEWEST_FREEDOM:
        return lead, np.nan
    return lead, float(error * stdtrit(freedom, (1 + COVERAGE) / 2)) * ELO
