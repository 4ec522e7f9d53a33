"""Recorded games that bots are asked about again: which bot is asked, which decisions of a run are
to be graded, and the grades as they come.
"""

import heapq
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from arena import __version__
from arena.commands.bots import Tell, bot_finder, find_bot, registry_of
from arena.commands.playing import SandboxChoice
from arena.errors import RunError
from arena.match.grading import seconds_of_a_grade
from arena.match.replay import start_state
from arena.players.folder import Bot
from arena.players.labels import label_among
from arena.players.player import built_in, is_built_in
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import staged_for_a_while
from arena.records.grades import (
    MOST_SEED,
    Grade,
    Judge,
    ReviewedGame,
    SeenGame,
    check_fits,
    line_of,
    read_reviews,
    review_file,
    seen_by,
)
from arena.records.record import GameRecord
from arena.records.regular import LineFile
from arena.rules.terms import REVISION
from arena.tournament.review import Adviser, Scripts, Ungraded, grade_decisions
from arena.tournament.run import Run
from arena.tournament.settings import checked
from arena.tournament.workers import available_cores

if TYPE_CHECKING:
    import pandas as pd

    from arena.ratings.analysis import Graded

DEFAULT_JUDGE, DEFAULT_DEALS = "careful-4", 400
# Fewer deals than the reader takes would tell nothing.
LEAST_DEALS, MOST_DEALS = 10, 1_000_000
HINT = "'arena review --help' says what can be asked"
ASKED: Mapping[str, Any] = {
    "deals": Annotated[int, Meta(ge=LEAST_DEALS, le=MOST_DEALS)],
    "seed": Annotated[int, Meta(ge=0, le=MOST_SEED)],
    "bots": list[str],
    "games": Annotated[int, Meta(ge=1)] | None,
    "game": str | None,
    "jobs": Annotated[int, Meta(ge=1)] | None,
}
"""What may be asked of a review."""


class ReviewResult(NamedTuple):
    """What decisions cost in the eyes of a judge of a certain strength, see ``arena review``.

    ``bots``       one row a bot: decisions, cost of a decision in shares of the win, error ...
    ``decisions``  one row a decision: game, turn, seat, bot, played, better, cost, error ...
    ``held_back``  games that wait until their deals are over
    """

    bots: "pd.DataFrame"
    decisions: "pd.DataFrame"
    held_back: int


def make_judge(name: str = DEFAULT_JUDGE, deals: int = DEFAULT_DEALS, seed: int = 0) -> Judge:
    """A judge by the name of a built-in bot. Raises ConfigError."""
    built_in(name)
    checked(ASKED, {"deals": deals, "seed": seed}, HINT)
    return Judge(name, deals, seed)


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
        run: Run,
        judge: Judge,
        *,
        game: str | None = None,
        bots: Sequence[str] = (),
        games: int | None = None,
        adviser: Adviser | None = None,
    ) -> None:
        self.run = run
        self.info = run.info
        self._adviser = adviser
        if adviser is not None:
            by = f"{adviser.bot.label} {adviser.bot.sha256[:12]}"
            judge = msgspec.structs.replace(judge, by=by)
        self.judge = judge
        asked = checked(ASKED, {"bots": bots, "games": games, "game": game}, HINT)
        names = [bot.name for bot in self.info.bots]
        self._bots = frozenset(label_among(names, bot) for bot in asked["bots"])
        self.held_back, self._records = self._chosen(game, games)
        self._seen = seen_by(read_reviews(run.folder), judge, REVISION)
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
        if not self.decisions:
            return 0.0
        record = self.todo[0].record
        start = start_state(record, self.run.boards[record.board])
        seconds = seconds_of_a_grade(start, self.judge)
        return self.decisions * seconds / (jobs or available_cores())

    def grade(self, jobs: int | None = None) -> Generator[Grade]:
        """Grades what is missing; a game is kept in the run's review.jsonl as soon as all of it is
        graded. Raises RunError, ConfigError, Void.
        """
        jobs = checked(ASKED, {"jobs": jobs}, HINT)["jobs"]
        todo = self.todo
        if not todo:
            return
        workers = min(jobs or available_cores(), self.decisions) or 1
        with ExitStack() as stack:
            file = stack.enter_context(review_file(self.run.folder))
            grades = stack.enter_context(
                closing(grade_decisions(todo, self.info.boards, self.judge, workers, self._adviser))
            )
            for wanted in todo:
                found = list[Grade]()
                for _ in wanted.turns:
                    found.append(next(grades))
                    yield found[-1]
                self._keep(file, wanted, found)

    def result(self) -> ReviewResult:
        """The grades that there are now, by bot and by decision."""
        from arena.ratings.analysis import bots_table, decisions_table  # noqa: PLC0415

        decisions = decisions_table(self._graded())
        bots = bots_table(decisions, own_decks=self.info.has_own_decks)
        return ReviewResult(bots, decisions, self.held_back)

    def _keep(self, file: LineFile, wanted: Ungraded, found: list[Grade]) -> None:
        record, seats = wanted
        found.sort(key=attrgetter("turn"))
        own = ReviewedGame(1, record.id, self.judge, REVISION, __version__, sorted(seats), found)
        file.append(line_of(own))
        seen = self._seen.setdefault(record.id, SeenGame(set(), {}))
        seen.seats.update(seats)
        seen.grades.update((grade.turn, grade) for grade in found)

    def _graded(self) -> Iterator["Graded"]:
        for record in self._records:
            if record.id in self._seen:
                seats = self._seats(record)
                grades = self._seen[record.id].grades
                yield record, {at: one for at, one in grades.items() if one.seat in seats}

    def _wanted(self, record: GameRecord) -> Ungraded:
        seen = self._seen.get(record.id)
        return Ungraded(record, self._seats(record) - (seen.seats if seen else set()))

    def _seats(self, record: GameRecord) -> set[int]:
        return {seat for seat, bot in enumerate(record.bots) if not self._bots or bot in self._bots}

    def _chosen(self, game: str | None, most: int | None) -> tuple[int, list[GameRecord]]:
        """How many games are held back, and the records to look at, in an order without a system,
        so that any first part of them stands for the whole.
        """
        is_open = self.run.secrecy().is_open_game
        if game is not None:
            record = self.run.record(game)
            if is_open(record):
                raise RunError(
                    f"expected a game whose deal is over, got {record.id}",
                    "a review shows what seats held, and other games of this deal are still to be"
                    " played: finish the run first",
                )
            return 0, [record]
        held_back = 0
        found = list[GameRecord]()
        for record in self.run.records():
            if self._bots and self._bots.isdisjoint(record.bots):
                continue
            if is_open(record):
                held_back += 1
            else:
                found.append(record)
        chosen = sorted(found, key=_draw) if most is None else heapq.nsmallest(most, found, _draw)
        return held_back, chosen


def _draw(record: GameRecord) -> bytes:
    return sha256(record.id.encode()).digest()


def note_bank(scripts: Scripts, tell: Tell) -> None:
    """Says what differs from the original game in a run with a bank."""
    if scripts.has_bank:
        tell(
            "note: the run has a bank, and its records do not say how much was left at a turn:"
            " time_ms assumes that all answers of a game took equally long"
        )


@contextmanager
def bot_to_ask(
    home: Path, scripts: Scripts, text: str | None, played: str, choice: SandboxChoice
) -> Iterator[tuple[Bot, Sandbox]]:
    """The bot that the user names, in a temporary folder, or else the run's own copy; with its
    sandbox. Raises UserError.
    """
    if text is None:
        bot = scripts.played_bot(played)
        yield bot, choice.sandbox_for([bot])
        return
    bot = find_bot(registry_of(home), text, choice.tell)
    sandbox = choice.sandbox_for([bot])
    with staged_for_a_while(bot, sandbox=sandbox) as [staged]:
        yield staged, sandbox


@contextmanager
def adviser(home: Path, run: Run, name: str, choice: SandboxChoice) -> Iterator[Adviser | None]:
    """The bot of that name or path as a judge of a run's moves; None for a built-in one, which
    needs no process. Raises UserError.
    """
    notes = list[str]()
    if is_built_in(bot_finder(home, notes.append)(name)):
        # Those about another one come when it is made ready.
        for note in notes:
            choice.tell(note)
        yield None
        return
    scripts = Scripts(run)
    note_bank(scripts, choice.tell)
    with bot_to_ask(home, scripts, name, "", choice) as (bot, sandbox):
        yield Adviser(bot, sandbox, scripts)
