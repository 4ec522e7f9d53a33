"""The test of a comparison, made of its journal."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from arena.errors import ConfigError
from arena.ratings.sequential import BlockTest, Question, SequentialTest, Verdict
from arena.records.find import read_records
from arena.records.runfile import RunInfo
from arena.tournament.batches import DealByDeal
from arena.tournament.comparison import Block, ComparedGames
from arena.tournament.config import RunConfig, make_config
from arena.tournament.schedule import Schedule


class Contested(NamedTuple):
    """A comparison as far as it was played; ``games`` are those of the test's blocks."""

    new: str
    old: str
    test: BlockTest
    games: int


def test_of(config: RunConfig, groups: int, look: int) -> BlockTest:
    """The test that a comparison asks for."""
    asked = config.compare
    assert asked is not None, "a comparison"
    question = Question(asked.elo0, asked.elo1, asked.alpha, asked.beta)
    if asked.by == "wins":
        return SequentialTest(question, groups=groups, look=look)
    # Numpy: a comparison by wins is played without.
    from arena.ratings.margins import MarginTest  # noqa: PLC0415

    return MarginTest(question, players=config.players, groups=groups, look=look)


def contested_of(folder: Path, info: RunInfo) -> Contested | None:
    """The comparison that a run is; None if it is a tournament, or this version cannot read its
    plan. Raises RunError.
    """
    try:
        config = make_config(info.config)
    except ConfigError:
        return None
    if config.compare is None:
        return None
    schedule = Schedule(config)

    def judge(blocks: Sequence[Block]) -> bool:
        for block in blocks:
            test.add(*block)
        return test.verdict != Verdict.UNDECIDED

    games = ComparedGames(schedule, DealByDeal(iter(())), judge)
    test = test_of(config, schedule.turns if config.pool else 0, games.round_size)
    for record in read_records(folder):
        games.count(record)
        if games.settled is not None:
            break
    return Contested(config.compare.new, config.compare.old, test, test.blocks * games.block_size)
