"""Follows the games of a comparison of two bots and says its verdict, for pages."""

from collections.abc import Sequence

from arena.exports.report.scan import RECORDS_AT_ONCE, Scan
from arena.exports.verdicts import test_of, verdict_text
from arena.ratings.sequential import Verdict
from arena.tournament.next_games import Block, ComparedGames
from arena.tournament.run import Run
from arena.tournament.schedule import Schedule


class FollowedComparison:
    """The test of a comparison with the plan ``schedule``. It counts the games of a journal while
    they are played, each of them once, in the order of the journal, until the test is decided.
    """

    def __init__(self, schedule: Schedule) -> None:
        config = schedule.config
        compare = config.compare
        assert compare is not None, "a comparison"
        self._compare = compare
        self._source = ComparedGames(schedule, self._is_decided_by)
        self._test = test_of(config, schedule.turns if config.pool else 0, self._source.round_size)
        self._games = 0

    @property
    def is_decided(self) -> bool:
        """Whether the games that were counted have decided the test."""
        return self._source.settled is not None

    def count(self, scan: Scan) -> None:
        """Count the games of ``scan``, which must begin with the games of earlier calls, that have
        not been counted yet. Raises RunError for a damaged record.
        """
        while self._games < len(scan.offset) and not self.is_decided:
            portion = range(self._games, min(self._games + RECORDS_AT_ONCE, len(scan.offset)))
            records = scan.records(portion)
            for game in portion:
                if not self.is_decided:
                    self._source.count(records[game])
            self._games = portion.stop

    @property
    def sentence(self) -> str:
        """The verdict, such as ``my-bot is +31 [+8, +54] Elo against my-bot@1: better``."""
        games = self._test.blocks * self._source.block_size
        is_same = 0 < self._test.blocks == self._source.same_blocks
        text = verdict_text(
            self._test, self._compare.new, self._compare.old, games, is_wide=False, is_same=is_same
        )
        answer = text.splitlines()[0]
        return f"{answer[0].upper()}{answer[1:]}" if answer.startswith("undecided") else answer

    def _is_decided_by(self, blocks: Sequence[Block]) -> bool:
        """Feed a round of blocks to the test, and say whether the test is decided now."""
        for block in blocks:
            self._test.add(*block)
        return self._test.verdict != Verdict.UNDECIDED


def comparison_of(run: Run) -> FollowedComparison | None:
    """The test of the comparison ``run``, without any game counted; None for another run, and for
    one whose settings this version cannot read.
    """
    schedule = run.known_schedule
    if not run.info.is_comparison or schedule is None:
        return None
    return FollowedComparison(schedule)
