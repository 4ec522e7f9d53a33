"""The end of a person's game on a page: the result, the grades of the person's moves, and the
moments that decided the game. The finished game and the grades are kept as a run.
"""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from pathlib import Path
from typing import Any

from arena.commands.game import PlayedGame, keep_grades
from arena.commands.hints import JUDGE
from arena.errors import ArenaError, printable
from arena.exports.moments import headline, moments_of, sources_text
from arena.match.chances import JudgedStep, sources_of
from arena.match.grading import gradable_turns
from arena.match.referee import Outcome
from arena.players.sandbox.tiers import Sandbox
from arena.records.grades import DECIMALS, Grade
from arena.records.record import GameRecord, placed_at, shares
from arena.web.grading import GameGrades
from arena.web.lessons import Lessons

log = logging.getLogger(__name__)


class GameEnd:
    """The end of ``game`` for the person at ``seat``; ``names`` are the names of the seats. The
    game is kept in a new folder of ``results``. ``publish`` is called with the entries that pages
    show of the end, each time that more of them are known.

    ``lessons``  the moments of the game as questions; None until the person's moves are graded
    """

    def __init__(
        self,
        game: PlayedGame,
        results: Path,
        seat: int,
        names: Sequence[str],
        publish: Callable[[dict[str, Any]], object],
    ) -> None:
        self.lessons: Lessons | None = None
        self._game = game
        self._results = results
        self._seat = seat
        self._names = names
        self._publish = publish
        # The name of the run that the game was kept as; empty until then.
        self._kept = ""
        self._shown: dict[str, Any] = {}

    def keep(self, outcome: Outcome, sandbox: Sandbox) -> None:
        """Keep the game with this outcome, which was played in ``sandbox``, as a run, and publish
        its end. If the game cannot be kept, pages show why, and nothing is raised.
        """
        record = outcome.record
        config = self._game.config
        says = ""
        try:
            self._kept = self._game.keep(self._results, outcome, sandbox).name
        except (ArenaError, OSError) as error:
            says = f"the game could not be kept: {printable(str(error))}"
        self._shown = {
            "end": record.end,
            "ranks": record.ranks,
            "final": record.left,
            "headline": headline(record, self._seat),
            "says": says,
            "kept": self._kept,
            "game": record.id,
            # The tiles of a game that goes on from another run's do not follow from its seed.
            "seed": "" if config.deck_of_game else config.seed,
        }
        self._publish(self._shown)

    def grade(self, record: GameRecord, grades: GameGrades) -> None:
        """Wait for the judgements on the moves of the finished game in ``grades``, keep them with
        the game, and publish the moments that decided it. If that fails, pages show that the moves
        could not be graded, and nothing is raised. Call it after `keep`.
        """
        try:
            self._grade(record, grades)
        except Exception as error:
            if not isinstance(error, BrokenExecutor | CancelledError):
                log.exception("the grading of a game at the page")
            self._say("Your moves could not be graded.")

    def _grade(self, record: GameRecord, game_grades: GameGrades) -> None:
        """Does what `grade` does. Raises whatever fails."""
        first = self._game.config.taken_over
        gradable = own_turns(record, self._seat, first)
        steps = list[JudgedStep]()
        grades = dict[int, Grade]()
        for step in game_grades.judged():
            steps.append(step)
            if step.grade and step.grade.turn in gradable:
                grades[step.grade.turn] = step.grade
                self._say(f"Judging your moves: {len(grades)} of {len(gradable)}.")
        if self._kept:
            keep_grades(self._results / self._kept, record, JUDGE, [self._seat], grades)
        moments = moments_of(record, self._game.board, self._seat, grades)
        self.lessons = Lessons(record, self._game.board, self._seat, moments, JUDGE)
        chances = [step.chances.before for step in steps]
        if steps and not record.faults:
            chances.append(shares(record.ranks)[self._seat])
        # Where a bot began the game, the person did not have an even start.
        is_whole = steps and not record.faults and not first
        self._shown |= {
            "headline": headline(record, self._seat, len(moments)),
            "chances": [round(chance, DECIMALS) for chance in chances],
            "sources": self._sources(steps, record) if is_whole else "",
            "moments": [moment.shown for moment in moments],
        }
        words = "the red dots cost most" if moments else "none cost much"
        self._say(f"Your moves are judged: {words}.", graded=True)

    def _sources(self, steps: Sequence[JudgedStep], record: GameRecord) -> str:
        """Where the result of the person came from, a sentence; ``steps`` are all judged moves."""
        sources = sources_of(steps, record.ranks, self._seat)
        return sources_text(sources, self._names, self._seat)

    def _say(self, words: str, **further: bool) -> None:
        """Publishes ``words`` about the progress of the grading, and the entries in ``further``."""
        self._shown |= {"grading": words, **further}
        self._publish(self._shown)


def own_turns(record: GameRecord, seat: int, first: int) -> set[int]:
    """The turns (the numbers of tiles placed before a move) of those moves at ``seat`` in the game
    of ``record`` that can be graded. The ``first`` moves of the game are left out, because a bot
    made them in the person's place.
    """
    begun = len(placed_at(record.moves[:first]))
    return {turn for turn in gradable_turns(record, {seat}) if turn >= begun}
