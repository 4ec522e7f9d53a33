"""Reviews of recorded games: which bot is asked again about its moves, which decisions of a run are
graded, and the grades.
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
from arena.match.grading import DEFAULT_DEALS, DEFAULT_JUDGE, seconds_of_a_grade
from arena.match.replay import start_state
from arena.players.folder import Bot
from arena.players.labels import label_among
from arena.players.player import built_in, is_built_in
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import staged_for_a_while
from arena.records.grades import (
    MAX_SEED,
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

# With fewer deals a grade would say nothing.
MIN_DEALS = 10
MAX_DEALS = 1_000_000
HINT = "'arena review --help' says what can be asked"
"""The hint for an argument with a wrong value."""
ASKED: Mapping[str, Any] = {
    "deals": Annotated[int, Meta(ge=MIN_DEALS, le=MAX_DEALS)],
    "seed": Annotated[int, Meta(ge=0, le=MAX_SEED)],
    "bots": list[str],
    "games": Annotated[int, Meta(ge=1)] | None,
    "game": str | None,
    "jobs": Annotated[int, Meta(ge=1)] | None,
}
"""For each argument of a review, the type and range of its values."""


class ReviewResult(NamedTuple):
    """What the bots' decisions cost by the grades of a judge, as in ``arena review``.

    ``bots``       one row per bot: decisions, cost of a decision in shares of the win, error ...
    ``decisions``  one row per decision: game, turn, seat, bot, played, better, cost, error ...
    ``held_back``  the number of games that cannot be reviewed yet, because other games on their
                   deals are still to be played
    """

    bots: "pd.DataFrame"
    decisions: "pd.DataFrame"
    held_back: int


def make_judge(name: str = DEFAULT_JUDGE, deals: int = DEFAULT_DEALS, seed: int = 0) -> Judge:
    """A judge: the built-in bot called ``name``, the number of ``deals`` for a grade, and the
    ``seed`` of their randomness. Raises ConfigError.
    """
    built_in(name)
    checked(ASKED, {"deals": deals, "seed": seed}, HINT)
    return Judge(name, deals, seed)


class Review:
    """The review of a run's games by one judge, a built-in bot (see `make_judge`). Games on a deal
    on which other games may still be played are held back, because a review shows all hands.

    ``game``       the id of the only game to review; None for all games that are not held back
    ``bots``       the labels of the bots whose decisions are graded; an empty sequence means all
    ``games``      at most this many games, drawn at random: the same ones in every call, and a
                   larger number includes those of a smaller one; None for all; not used with
                   ``game``
    ``adviser``    the bot that says which move is better; None for the judge
    ``todo``       the games with decisions that are not graded yet
    ``held_back``  the number of games that are held back

    Raises RunError, also if ``game`` must be held back, ConfigError, and UserError for a bot that
    is not in the run.
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
            adviser_id = f"{adviser.bot.label} {adviser.bot.sha256[:12]}"
            judge = msgspec.structs.replace(judge, by=adviser_id)
        self.judge = judge
        arguments = checked(ASKED, {"bots": bots, "games": games, "game": game}, HINT)
        names = self.info.bot_names
        self._bots = frozenset(label_among(names, bot) for bot in arguments["bots"])
        self.held_back, self._records = self._chosen(game, games)
        self._seen = seen_by(read_reviews(run.folder), judge, REVISION)
        for record in self._records:
            if record.id in self._seen:
                check_fits(self._seen[record.id], record)
        ungraded = [self._wanted(record) for record in self._records]
        self.todo = [game for game in ungraded if game.seats]

    @property
    def decisions(self) -> int:
        """The number of decisions still to be graded."""
        return sum(len(wanted.turns) for wanted in self.todo)

    def estimated_s(self, jobs: int | None = None) -> float:
        """About how many seconds `grade` would take with ``jobs`` workers, None for one per core.
        The estimate plays a few games now.
        """
        if not self.decisions:
            return 0.0
        record = self.todo[0].record
        start = start_state(record, self.run.boards[record.board])
        seconds = seconds_of_a_grade(start, self.judge)
        return self.decisions * seconds / (jobs or available_cores())

    def grade(self, jobs: int | None = None) -> Generator[Grade]:
        """Grades the missing decisions with ``jobs`` workers (None for one per core), and yields
        their grades one by one. When all decisions of a game are graded, they are appended to
        review.jsonl in the run's folder. Raises RunError, ConfigError, Void.
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
                grades_of_game = list[Grade]()
                for _ in wanted.turns:
                    grades_of_game.append(next(grades))
                    yield grades_of_game[-1]
                self._keep(file, wanted, grades_of_game)

    def result(self) -> ReviewResult:
        """The grades that exist so far, by bot and by decision."""
        from arena.ratings.analysis import bots_table, decisions_table  # noqa: PLC0415

        decisions = decisions_table(self._graded())
        bots = bots_table(decisions, own_decks=self.info.has_own_decks)
        return ReviewResult(bots, decisions, self.held_back)

    def _keep(self, file: LineFile, wanted: Ungraded, grades: list[Grade]) -> None:
        """Appends the grades of a game to ``file``, and remembers them in this object."""
        record, seats = wanted
        grades.sort(key=attrgetter("turn"))
        reviewed = ReviewedGame(
            1, record.id, self.judge, REVISION, __version__, sorted(seats), grades
        )
        file.append(line_of(reviewed))
        seen = self._seen.setdefault(record.id, SeenGame(set(), {}))
        seen.seats.update(seats)
        seen.grades.update((grade.turn, grade) for grade in grades)

    def _graded(self) -> Iterator["Graded"]:
        """The reviewed games, each with its grades by turn: those of the seats that this review is
        about.
        """
        for record in self._records:
            if record.id in self._seen:
                seats = self._seats(record)
                grades = self._seen[record.id].grades
                yield record, {turn: grade for turn, grade in grades.items() if grade.seat in seats}

    def _wanted(self, record: GameRecord) -> Ungraded:
        """The game of this record, with those of its seats whose decisions are still
        to be graded.
        """
        seen = self._seen.get(record.id)
        return Ungraded(record, self._seats(record) - (seen.seats if seen else set()))

    def _seats(self, record: GameRecord) -> set[int]:
        """The seats of a game whose decisions this review is about."""
        if not self._bots:
            return set(range(len(record.bots)))
        return {seat for seat, bot in enumerate(record.bots) if bot in self._bots}

    def _chosen(self, game: str | None, most: int | None) -> tuple[int, list[GameRecord]]:
        """The number of games that are held back, and the records of at most ``most`` games to
        review (None for all), in a random but fixed order, so that the first ones are a fair
        sample. With ``game``, only that game; raises RunError if it must be held back.
        """
        is_open = self.run.secrecy().is_open_game
        if game is not None:
            record = self.run.record(game)
            if is_open(record):
                raise RunError(
                    f"other games on the deal of {record.id} are still to be played",
                    "finish the run first: a review shows the hands of all seats",
                )
            return 0, [record]
        held_back = 0
        records = list[GameRecord]()
        for record in self.run.records():
            if self._bots and self._bots.isdisjoint(record.bots):
                continue
            if is_open(record):
                held_back += 1
            else:
                records.append(record)
        chosen = (
            sorted(records, key=_draw) if most is None else heapq.nsmallest(most, records, _draw)
        )
        return held_back, chosen


def _draw(record: GameRecord) -> bytes:
    """A hash of a game's id, by which games are sorted into a random but fixed order."""
    return sha256(record.id.encode()).digest()


def note_bank(scripts: Scripts, tell: Tell) -> None:
    """Tells the user, if the run has a time bank, how the time limits of a bot that is asked again
    differ from those of the recorded game.
    """
    if scripts.has_bank:
        tell(
            "note: the run has a bank, and its records do not say how much was left at a turn:"
            " time_ms assumes that all answers of a game took equally long"
        )


@contextmanager
def bot_to_ask(
    home: Path, scripts: Scripts, text: str | None, played: str, choice: SandboxChoice
) -> Iterator[tuple[Bot, Sandbox]]:
    """A context manager that yields a bot and its sandbox. The bot is the one that ``text`` names,
    made ready in a temporary folder; or, if ``text`` is None, the run's own copy of the bot
    labelled ``played``. Raises UserError.
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
    """A context manager that yields the bot with this name or path as an adviser on the moves of a
    run. It yields None for a built-in bot, which needs no process and is made a judge by
    `make_judge`. Raises UserError.
    """
    notes = list[str]()
    if is_built_in(bot_finder(home, notes.append)(name)):
        # Notes about another bot are shown when it is made ready.
        for note in notes:
            choice.tell(note)
        yield None
        return
    scripts = Scripts(run)
    note_bank(scripts, choice.tell)
    with bot_to_ask(home, scripts, name, "", choice) as (bot, sandbox):
        yield Adviser(bot, sandbox, scripts)
