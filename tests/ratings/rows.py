"""The rows of the printed table: which runs are simulated, and what is counted in each."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from arena.ratings.sequential import Question
from tests.ratings import margin_blocks, regressions
from tests.ratings.beyond import bounds, with_last
from tests.ratings.company import company_alarms
from tests.ratings.coverage import (
    LUCK,
    apart,
    gauntlet,
    newcomer,
    of_equal_bots,
    planned,
    with_forfeits,
    with_winless,
    world_of,
)
from tests.ratings.forecasts import LOOKS, forecasts
from tests.ratings.leagues import Steps, closed_pool, league
from tests.ratings.spending import LADDER, RUNS, UNEVEN, spending
from tests.ratings.stopping import Case, answer_and_interval


class Column(NamedTuple):
    """``held`` columns should be 95 %, ``all`` at least 95 %, ``false`` at most 5 %; ``share`` is
    any percentage, and ``rate`` one that the page says how well it is known; ``count`` is a whole
    number, and ``root`` the root of a mean square.
    """

    head: str
    kind: str

    def text(self, value):
        """A cell."""
        if np.isnan(value):
            return "-"
        if self.kind == "root":
            return f"{np.sqrt(value):.0f}"
        return f"{value:,.0f}" if self.kind == "count" else f"{100 * value:.1f}"


class Table(NamedTuple):
    """A part of the printed table.

    ``rows``: the labels of each, and what makes its trial; ``least`` and ``most``: what the tests
    expect of columns that should be 95 % and 5 %; ``tries``: how many trials of a row there are at
    most, if one takes many seconds, or if the table has a part of the page for itself.
    """

    key: str
    title: str
    labels: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: list[tuple[tuple[str, ...], Callable]]
    least: float = 0.9
    most: float = 0.08
    tries: int | None = None


TOLD = (
    Column("ratings", "held"),
    Column("differences", "held"),
    Column("seats", "held"),
    Column("all ranks", "all"),
    Column("equal bots told apart", "false"),
    Column("false sentences", "false"),
)
"""What a run's table tells, as `Held.means` has it."""
RUN = ("players", "bots", "deals", "shared luck")


def _labels(*values):
    return tuple(map(str, values))


def _planned():
    for players, bots, deals, luck in (
        *product((2, 3, 4), (6,), (5, 10, 20, 60), LUCK),
        *product((2, 3, 4), (10, 20), (5, 10, 20), ("bots",)),
    ):
        world = world_of(players, bots, luck)
        yield _labels(players, bots, deals, luck), partial(planned, world, deals)


def _special():
    for (players, bots, deals), luck in product(
        ((2, 6, 10), (2, 6, 60), (3, 6, 20), (2, 20, 20)), ("seats", "bots")
    ):
        world = gauntlet(players, bots, luck)
        yield _labels("gauntlet", players, bots, deals, luck), partial(planned, world, deals)
    for players, bots in product((2, 3, 4), (6, 20)):
        world = of_equal_bots(world_of(players, bots, "bots"))
        yield _labels("equal bots", players, bots, 10, "bots"), partial(planned, world, 10)
    for players, deals in product((2, 3, 4), (10, 20)):
        world = with_forfeits(world_of(players, 6, "bots"))
        yield _labels("forfeits", players, 6, deals, "bots"), partial(planned, world, deals)
    for players, deals in product((2, 3, 4), (10, 20)):
        world = world_of(players, 6, "bots", rounds=3)
        yield _labels("matches", players, 6, deals, "bots"), partial(planned, world, deals)
    for players, deals in product((2, 3, 4), (10, 20)):
        world = with_winless(world_of(players, 6, "bots"))
        yield _labels("a winless bot", players, 6, deals, "bots"), partial(planned, world, deals)


def _newcomers():
    for players, own, luck in product((2, 3), (2, 3, 5, 10), LUCK):
        world = world_of(players, 6, luck)
        yield _labels(players, own, luck), partial(newcomer, world, 60, own)


def _spending():
    for (name, settings), (field, elo) in product(
        RUNS.items(), (("ladder", LADDER), ("uneven", UNEVEN))
    ):
        yield (f"`{name}`", field), partial(spending, elo, settings)


def _beyond():
    for players, deals, luck, elo in product((2, 3), (3, 10), LUCK, (-600, 600)):
        world = with_last(world_of(players, 6, luck), elo)
        yield _labels(players, deals, luck, f"{elo:+}"), partial(bounds, world, deals)


def _apart():
    for (players, bots), luck in product(((2, 6), (3, 6), (4, 6)), LUCK):
        yield _labels(players, bots, luck), partial(apart, world_of(players, bots, luck), 60)


def _forecasts():
    for elo1, spread in product((30, 50), (30, 60, 100)):
        question = Question(0, elo1)
        yield (_question_text(question), f"sd {spread}"), partial(forecasts, question, spread)


def _question_text(question):
    return f"{question.elo0:g} or {question.elo1:g} Elo?"


FAR = 50
QUESTIONS = (
    *((elo, Question(0, 10)) for elo in (0, 5, 10, 50)),
    *((elo, Question(0, 50)) for elo in (0, 25, 50)),
    *((elo, Question(0, 100)) for elo in (0, 50, 100)),
    *((elo, Question(-5, 5)) for elo in (-5, 5)),
)


def _compare():
    # The test on margins weighs all blocks at each look: questions that take thousands of blocks
    # would take hours.
    short = [(elo, question) for elo, question in QUESTIONS if question.elo1 >= FAR]
    for by, elo, question in (
        *(("wins", *asked) for asked in QUESTIONS),
        *(("margin", *asked) for asked in short),
    ):
        labels = (f"`--by {by}`", f"{question.elo0:g} or {question.elo1:g} Elo", f"{elo}")
        yield labels, partial(answer_and_interval, Case(elo, question, by=by))


BLOCKS = (
    *((2, elo, Question(0, 50), {"shared": 0.2}) for elo in (0, 50)),
    *((2, elo, Question(0, 50), {"forfeits": 0.1}) for elo in (0, 50)),
    *((2, elo, Question(100, 150), {}) for elo in (100, 150)),
    *((players, elo, Question(0, 80), {}) for players in (3, 4) for elo in (0, 80)),
)


def _margins():
    for players, elo, question, kind in BLOCKS:
        games = " ".join(f"{share:.0%} {name}" for name, share in kind.items()) or "-"
        case = margin_blocks.Case(elo, question, players, **kind)
        asked = f"{question.elo0:g} or {question.elo1:g} Elo"
        yield _labels(players, games, asked, elo), partial(margin_blocks.both, case)


def _verdicts():
    question = Question(0, 50)
    for elo, wide in ((0, 1.0), (48, 1.0), (0, 1.25), (0, 1.5)):
        case = margin_blocks.Case(elo, question, wide_wins=wide)
        size = "as in the model" if wide == 1 else f"{wide:g} times as high"
        yield _labels(elo, size), partial(margin_blocks.both, case)


def _company():
    for players, deals, luck in product((3, 4), (10, 20, 60), ("seats", "bots")):
        world = world_of(players, 6, luck)
        yield _labels(players, 6, deals, luck), partial(company_alarms, world, deals)


def _regressions():
    for players, games, elo in (
        *product((2,), (400, 1000), (0, -30, -60)),
        *product((3, 4), (400,), (0, -30, -60)),
    ):
        case = regressions.Case(elo, games, players)
        yield _labels(players, f"{games:,}", elo), partial(regressions.regression, case)


def _pools():
    for players in (2, 3):
        yield _labels(players), partial(closed_pool, players, 20)


def _leagues():
    for players, steps in (
        (2, Steps(10, 15)),
        (2, Steps(8, 35)),
        (3, Steps(10, 15)),
        (4, Steps(10, 15)),
    ):
        yield (
            _labels(players, f"{steps.mean} ± {steps.sd} Elo"),
            partial(league, players, steps, 20),
        )


TABLES = (
    Table("planned", "Runs of a planned number of deals", RUN, TOLD, list(_planned())),
    Table("special", "Runs of other kinds", ("run", *RUN), TOLD, list(_special())),
    Table(
        "newcomers",
        "Newcomers among five bots with 60 deals",
        ("players", "its deals", "shared luck"),
        (
            Column("its rating", "held"),
            Column("its differences", "held"),
            Column("others' ratings", "held"),
            Column("all ranks", "all"),
            Column("without a bar", "share"),
        ),
        list(_newcomers()),
        least=0.87,
    ),
    Table(
        "beyond",
        "Bounds of a bot far from five others",
        ("players", "deals", "shared luck", "its true Elo"),
        (
            Column("has a bound", "share"),
            Column("wrong bounds", "false"),
            Column("wrong bounds against others", "false"),
        ),
        list(_beyond()),
    ),
    Table(
        "spending",
        "Runs with `--until`",
        ("run", "strengths"),
        (
            Column("games", "count"),
            *TOLD[:4],
            Column("widest bar", "count"),
            Column("neighbours in wrong order", "share"),
        ),
        list(_spending()),
    ),
    Table(
        "compare",
        "`arena compare`",
        ("test", "question", "true difference"),
        (
            Column("wrong answers", "false"),
            Column("better", "share"),
            Column("blocks", "count"),
            Column("interval", "held"),
        ),
        list(_compare()),
        least=0.87,
    ),
    Table(
        "forecasts",
        "Forecasts of `arena compare`",
        ("question", "true differences"),
        tuple(Column(f"after {look} blocks", "share") for look in LOOKS),
        list(_forecasts()),
    ),
    Table(
        "margins",
        "`arena compare` by margin and by wins on the same blocks",
        ("players", "games", "question", "true difference"),
        (
            Column("wrong by margin", "false"),
            Column("wrong by wins", "false"),
            Column("blocks by margin", "count"),
            Column("blocks by wins", "count"),
            Column("said to disagree", "false"),
        ),
        list(_margins()),
    ),
    Table(
        "verdicts",
        "`arena compare --by margin`, 0 or 50 Elo, in many more tries",
        ("true difference", "wins of the new bot"),
        (
            Column("wrong by margin", "rate"),
            Column("wrong by wins", "rate"),
            Column("blocks by margin", "count"),
            Column("blocks by wins", "count"),
            Column("said to disagree", "rate"),
        ),
        list(_verdicts()),
        tries=2000,
    ),
    Table(
        "company",
        "False alarms about company",
        RUN,
        (Column("a third bot decides", "false"),),
        list(_company()),
    ),
    Table(
        "apart",
        "Errors of two kinds, at 60 deals",
        ("players", "bots", "shared luck"),
        (Column("clustered by deal", "held"), Column("every game for itself", "share")),
        list(_apart()),
    ),
    Table(
        "leagues",
        "Leagues of 20 versions",
        ("players", "a version gains"),
        (
            Column("rating when placed", "held"),
            Column("rating after 20 versions", "held"),
            Column("games to be placed", "count"),
            Column("games in all", "count"),
            Column("the level moves by", "root"),
            Column("best version too high by", "count"),
            Column("error of gains", "root"),
            Column("error of likely gains", "root"),
            Column("gain if better", "count"),
            Column("likely gain if better", "count"),
            Column("true gain if better", "count"),
        ),
        list(_leagues()),
        tries=24,
    ),
    Table(
        "pools",
        "Closed pools of three equal bots over 20 versions",
        ("players",),
        (
            Column("rating when placed", "held"),
            Column("rating after 20 versions", "held"),
            Column("games to be placed", "count"),
            Column("the level moves by", "root"),
            Column("versions too high by", "count"),
            Column("called better", "rate"),
            Column("called worse", "rate"),
        ),
        list(_pools()),
        tries=24,
    ),
    Table(
        "regressions",
        "Regression tests of leagues",
        ("players", "games", "true difference"),
        (
            Column("called worse", "rate"),
            Column("called better", "rate"),
            Column("interval", "held"),
            Column("error bar", "count"),
        ),
        list(_regressions()),
        tries=2000,
    ),
)
