"""A review of a run: which decisions are to be graded, the grades as they come, and what there is
then to be seen.
"""

import heapq
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
import pandas as pd
from msgspec import Meta, Struct

from arena import __version__
from arena.errors import RunError, UserError, did_you_mean
from arena.exports.report.secrecy import judge as judge_secrecy
from arena.match.grading import seconds_of_a_grade
from arena.match.replay import start_state
from arena.players.builtin import built_in
from arena.players.folder import Bot
from arena.players.options import nearest_label
from arena.ratings.matches import score_journal
from arena.ratings.reviews import Graded, bots_table, decisions_table
from arena.records.find import find_record, read_records
from arena.records.journal import journal_of
from arena.records.record import GameRecord
from arena.records.review import (
    MOST_SEED,
    Grade,
    Judge,
    ReviewedGame,
    ReviewFile,
    SeenGame,
    check_fits,
    read_reviews,
    seen_by,
)
from arena.records.runfile import read_run
from arena.rules.boards import Board
from arena.rules.terms import REVISION
from arena.tournament.forms import filled
from arena.tournament.pool import available_cores
from arena.tournament.review import Adviser, Ungraded, grade_decisions

DEFAULT_JUDGE, DEFAULT_DEALS = "careful-4", 400
HINT = "'arena review --help' says what can be asked"


class Reviewed(NamedTuple):
    """``decisions`` and ``bots`` are data frames of `ratings.reviews`; ``held_back`` is the number
    of games that wait until their deals are over.
    """

    decisions: pd.DataFrame
    bots: pd.DataFrame
    held_back: int


def make_judge(name: str = DEFAULT_JUDGE, deals: int = DEFAULT_DEALS, seed: int = 0) -> Judge:
    """A judge by the name of a built-in bot. Raises ConfigError."""
    built_in(name)
    asked = filled(_Luck, {"deals": deals, "seed": seed}, "", HINT)
    return Judge(name, asked.deals, asked.seed)


class _Luck(Struct):
    """Fewer deals than the reader takes would tell nothing."""

    deals: Annotated[int, Meta(ge=10, le=1_000_000)]
    seed: Annotated[int, Meta(ge=0, le=MOST_SEED)]


class _Extent(Struct):
    bots: list[str]
    games: Annotated[int, Meta(ge=1)] | None
    game: str | None


class _Work(Struct):
    jobs: Annotated[int, Meta(ge=1)] | None


class Review:
    """A review of some games of a run, by one judge.

    ``game``   the id of the only game; None for all whose deals are over
    ``bots``   whose decisions are graded; none means all
    ``games``  at most so many games, drawn at random: the same ones each time, and more include
               fewer
    ``adviser``  a bot that says which move is better; otherwise the judge does
    ``todo``   what is not graded yet

    Raises RunError, ConfigError, and UserError for a bot that is not in the run.
    """

    def __init__(
        self,
        run: Path,
        judge: Judge,
        *,
        game: str | None = None,
        bots: Sequence[str] = (),
        games: int | None = None,
        adviser: Adviser | None = None,
    ) -> None:
        self.run, self.info, self._adviser = run, read_run(run), adviser
        self.judge = judge if adviser is None else _advised(judge, adviser.bot)
        asked = filled(_Extent, {"bots": bots, "games": games, "game": game}, "", HINT)
        names = [bot.name for bot in self.info.bots]
        self._bots = frozenset(nearest_label(bot, names) for bot in asked.bots)
        self._check_bots(names)
        self.held_back, self._records = self._chosen(game, games)
        self._seen = seen_by(read_reviews(run), judge, REVISION)
        for record in self._records:
            if record.id in self._seen:
                check_fits(self._seen[record.id], record)
        self.todo = [wanted for record in self._records if (wanted := self._wanted(record)).seats]

    @property
    def decisions(self) -> int:
        """How many decisions are still to be graded."""
        return sum(len(wanted.turns) for wanted in self.todo)

    def estimated_s(self, jobs: int | None = None) -> float:
        """About how long `grade` takes, from a few games that the judge plays now."""
        turns = sum(len(wanted.turns) for wanted in self.todo)
        if not turns:
            return 0.0
        record = self.todo[0].record
        board = Board(record.board, tuple(self.info.boards[record.board]))
        seconds = seconds_of_a_grade(start_state(record, board), self.judge)
        return turns * seconds / (jobs or available_cores())

    def grade(self, jobs: int | None = None) -> Generator[Grade]:
        """Grades what is missing; a game is kept in the run's review.jsonl as soon as all of it is
        graded. Raises RunError, ConfigError, Void.
        """
        jobs, todo = filled(_Work, {"jobs": jobs}, "", HINT).jobs, self.todo
        if not todo:
            return
        workers = min(jobs or available_cores(), self.decisions) or 1
        with ExitStack() as stack:
            file = stack.enter_context(ReviewFile(self.run))
            grades = stack.enter_context(
                closing(grade_decisions(todo, self.info.boards, self.judge, workers, self._adviser))
            )
            for wanted in todo:
                found = list[Grade]()
                for _ in wanted.turns:
                    found.append(next(grades))
                    yield found[-1]
                self._keep(file, wanted, found)

    def result(self) -> Reviewed:
        """What is graded so far."""
        own_decks = self.info.has_own_decks
        decisions = decisions_table(self._graded())
        table = bots_table(decisions, own_decks=own_decks)
        return Reviewed(decisions, table, self.held_back)

    def _keep(self, file: ReviewFile, wanted: Ungraded, found: list[Grade]) -> None:
        record, seats = wanted
        found.sort(key=attrgetter("turn"))
        own = ReviewedGame(1, record.id, self.judge, REVISION, __version__, sorted(seats), found)
        file.append(own)
        seen = self._seen.setdefault(record.id, SeenGame(set(), {}))
        seen.seats.update(seats)
        seen.grades.update((grade.turn, grade) for grade in found)

    def _graded(self) -> Iterator[Graded]:
        for record in self._records:
            if record.id in self._seen:
                seats, grades = self._seats(record), self._seen[record.id].grades
                yield record, {at: one for at, one in grades.items() if one.seat in seats}

    def _wanted(self, record: GameRecord) -> Ungraded:
        seen = self._seen.get(record.id)
        return Ungraded(record, self._seats(record) - (seen.seats if seen else set()))

    def _seats(self, record: GameRecord) -> set[int]:
        return {seat for seat, bot in enumerate(record.bots) if not self._bots or bot in self._bots}

    def _check_bots(self, names: Sequence[str]) -> None:
        for bot in sorted(self._bots.difference(names)):
            known = f"{did_you_mean(bot, names)}there are {', '.join(names)}"
            raise UserError(f"expected a bot of the run, got {bot!r}", known)

    def _chosen(self, game: str | None, most: int | None) -> tuple[int, list[GameRecord]]:
        """How many games are held back, and the records to look at, in an order without a system,
        so that any first part of them stands for the whole.
        """
        score = score_journal(journal_of(self.run), [], own_decks=self.info.has_own_decks)
        is_open = judge_secrecy(self.info, score.games.blocks()).is_open_game
        if game is not None:
            record = find_record(self.run, game)
            if is_open(record):
                raise RunError(
                    f"expected a game whose deal is over, got {record.id}",
                    "a review shows what seats held, and other games of this deal are still to be"
                    " played: finish the run first",
                )
            return 0, [record]
        held_back, found = 0, list[GameRecord]()
        for record in read_records(self.run):
            if self._bots and self._bots.isdisjoint(record.bots):
                continue
            if is_open(record):
                held_back += 1
            else:
                found.append(record)
        chosen = sorted(found, key=_draw) if most is None else heapq.nsmallest(most, found, _draw)
        return held_back, chosen


def _advised(judge: Judge, bot: Bot) -> Judge:
    return msgspec.structs.replace(judge, by=f"{bot.label} {bot.sha256[:12]}")


def _draw(record: GameRecord) -> bytes:
    return sha256(record.id.encode()).digest()
