"""A comparison while it is played: the games, the test that they feed, and each look at it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from arena.exports.contested import test_of
from arena.ratings.sequential import BlockTest, Verdict
from arena.records.find import read_records
from arena.tournament.batches import Batches
from arena.tournament.comparison import Block, ComparedGames
from arena.tournament.runner import Runner
from arena.tournament.session import Session

if TYPE_CHECKING:
    from arena.ratings.estimates import Look


class Contest:
    """The test of a session that compares two bots, fed with its games.

    ``watch`` hears of the test after each round of blocks. With ``keeps_looks``, ``looks`` has what
    the test said after each round.
    """

    def __init__(
        self,
        session: Session,
        missing: Batches,
        watch: Callable[[BlockTest], None] = lambda _: None,
        *,
        keeps_looks: bool = False,
    ) -> None:
        self._session = session
        self._watch = watch
        self._keeps_looks = keeps_looks
        self._source = ComparedGames(session.schedule, missing, self._judge)
        groups = session.schedule.turns if session.config.pool else 0
        self.test = test_of(session.config, groups, self._source.round_size)
        self.looks: list[Look] = []

    @property
    def games(self) -> int:
        """How many games the verdict is based on."""
        return self.test.blocks * self._source.block_size

    def play(self, runner: Runner) -> None:
        """Plays until it is decided, interrupted, or there are no more blocks; writes down how many
        deals it took.
        """
        for record in read_records(self._session.folder):
            self._source.count(record)
            if self._source.settled is not None:
                break
        runner.play(self._source)
        if self._source.settled is not None:
            self._session.change(settled=self._source.settled)

    def _judge(self, blocks: Sequence[Block]) -> bool:
        """Feeds a round of blocks to the test; whether it is decided now."""
        for block in blocks:
            self.test.add(*block)
        if self._keeps_looks:
            # Scipy: a comparison is played without, unless somebody wants to know each look.
            from arena.ratings.estimates import look_at  # noqa: PLC0415

            self.looks.append(look_at(self.test, self.looks[-1] if self.looks else None))
        self._watch(self.test)
        return self.test.verdict != Verdict.UNDECIDED
