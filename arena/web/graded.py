"""Grades games of runs when a reader of a page asks for it. The grades are kept with the run, as
`arena review` keeps them.
"""

import logging
import threading
from concurrent.futures import BrokenExecutor, CancelledError, Future
from pathlib import Path
from typing import NamedTuple

from arena.commands.game import keep_grades
from arena.commands.hints import JUDGE
from arena.errors import ArenaError, RunError
from arena.match.grading import gradable_turns
from arena.records.grades import Grade, read_reviews, seen_by
from arena.records.journal import board_of
from arena.records.record import GameRecord
from arena.rules.terms import REVISION
from arena.tournament.run import Run
from arena.web.grading import Grader

MAX_GRADING = 4
"""The most games that are graded at the same time."""

log = logging.getLogger(__name__)


class GradedSoFar(NamedTuple):
    """How far the grading of a game is: of its moves that had no grade yet, how many are ``graded``
    now, ``of`` how many; whether the grades are kept (``is_done``); and what went wrong
    (``problem``), else empty.
    """

    graded: int
    of: int
    is_done: bool
    problem: str


class _Grading:
    """The grading of one game: of the moves at its seats that have no grades yet. A thread of its
    own waits for the grades and keeps them.
    """

    def __init__(self, run: Run, record: GameRecord, grader: Grader) -> None:
        self._run = run
        self._record = record
        seen = seen_by(read_reviews(run.folder), JUDGE, REVISION).get(record.id)
        self._seats = set(range(len(record.bots))) - (seen.seats if seen else set())
        turns = gradable_turns(record, self._seats)
        board = board_of(record, run.boards)
        self._futures: list[Future[Grade]] = [
            grader.grade(record, board, turn, JUDGE) for turn in turns
        ]
        self._problem = ""
        self.is_done = not self._seats
        self._thread = threading.Thread(target=self._keep, name="grading", daemon=True)
        if self._seats:
            self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the grades are kept, or the grading has failed."""
        return self.is_done or bool(self._problem)

    def so_far(self) -> GradedSoFar:
        """How far the grading is."""
        graded = sum(future.done() for future in self._futures)
        return GradedSoFar(graded, len(self._futures), self.is_done, self._problem)

    def _keep(self) -> None:
        """Waits for the grades and keeps them with the run."""
        try:
            results = [future.result() for future in self._futures]
            grades = {grade.turn: grade for grade in results}
            keep_grades(self._run.folder, self._record, JUDGE, sorted(self._seats), grades)
            self.is_done = True
        except (BrokenExecutor, CancelledError):
            self._problem = "the moves of this game could not be graded: try it again"
        except ArenaError as error:
            self._problem = error.with_hint
        except Exception:
            log.exception("the grading of a game of a run")
            self._problem = "the arena made a mistake: this game could not be graded"


class Gradings:
    """The games of runs that a server grades with its ``grader``."""

    def __init__(self, grader: Grader) -> None:
        self._grader = grader
        self._gradings = dict[tuple[Path, str], _Grading]()
        self._lock = threading.Lock()

    def grade(self, folder: Path, name: str) -> GradedSoFar:
        """How far the grading of the game ``name`` of the run in ``folder`` is. The first call
        begins the grading. Raises RunError if there is no such game, if other games on its deal are
        still to be played, or if `MAX_GRADING` other games are being graded.
        """
        key = (folder, name)
        with self._lock:
            grading = self._gradings.get(key)
            if grading is None:
                grading = self._begin(folder, name)
                self._gradings[key] = grading
            so_far = grading.so_far()
            if so_far.is_done or so_far.problem:
                # The next call looks into the run again.
                del self._gradings[key]
        return so_far

    def _begin(self, folder: Path, name: str) -> _Grading:
        """Begins to grade a game. Raises RunError as `grade` does."""
        run = Run(folder)
        record = run.record(name)
        if run.secrecy().is_open_game(record):
            raise RunError(
                f"other games on the deal of {record.id} are still to be played",
                "come back when the run is over",
            )
        over = [key for key, grading in self._gradings.items() if grading.is_over]
        for key in over:
            del self._gradings[key]
        if len(self._gradings) >= MAX_GRADING:
            raise RunError(f"{MAX_GRADING} games are being graded: wait until one of them is done")
        return _Grading(run, record, self._grader)
