"""Grades a person's moves while their game goes on, so that little is left to wait for at its end.

One process with a low priority judges the moves of all games on a server. A game hands out its
moves only while the person is to move or the game is over, so that no bot thinks at the same time.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from typing import NamedTuple

from arena.commands.caution import Caution, caution_before
from arena.commands.hints import JUDGE
from arena.match.chances import JudgedStep, judged_step
from arena.match.grading import grade
from arena.records.grades import Grade, Judge
from arena.records.record import GameRecord
from arena.rules import State
from arena.rules.boards import Board
from arena.web.work_process import WorkProcess

CAUTION_S = 0.5
"""A person waits for at most this many seconds to hear whether a move costs much."""
NICENESS = 10
"""The niceness of the process that grades moves. Its priority is lower than that of the process
that makes pages, because nobody waits for it while a game goes on.
"""


class Grader:
    """The processes that judge moves: one for the moves of games that people play, one for
    cautions, because a person waits for them, and one for games of runs, whose hundreds of grades
    would hold up the others.
    """

    def __init__(self) -> None:
        self._process = WorkProcess(NICENESS)
        self._cautions = WorkProcess(NICENESS)
        self._runs = WorkProcess(NICENESS)

    def prepare(self) -> None:
        """Starts the processes that a game with a person needs, if they do not run yet: that takes
        a moment, and the first caution must not be late.
        """
        for process in (self._process, self._cautions):
            if not process.is_started:
                process.submit(_do_nothing)

    def submit(self, state: State, move: int, seat: int, game: str) -> Future[JudgedStep]:
        """Queues the judgement of ``move``, which any seat played in ``state``, as it looks for the
        person at ``seat``; see `judged_step`. ``game`` is the id of the game. The future is
        cancelled if the server has stopped.
        """
        return self._process.submit(judged_step, state, move, seat, game, JUDGE)

    def caution(
        self, state: State, move: int, names: Sequence[str], seed: int
    ) -> Future[Caution | None]:
        """Queues the caution before ``move``, see `caution_before`, which gets all the arguments.
        The future is cancelled if the server has stopped.
        """
        return self._cautions.submit(caution_before, state, move, names, seed)

    def grade(self, record: GameRecord, board: Board, turn: int, judge: Judge) -> Future[Grade]:
        """Queues the grade by ``judge`` of the move after ``turn`` placements of ``record``, played
        on ``board``. The future is cancelled if the server has stopped.
        """
        return self._runs.submit(grade, record, board, turn, judge)

    def close(self) -> None:
        """Ends the processes for good, whatever they do, and waits for their end; what is still
        queued is cancelled.
        """
        for ending in (self._process.end(), self._cautions.end(), self._runs.end()):
            if ending:
                ending.join()


def _do_nothing() -> None:
    """Does nothing; the call starts the process and loads this module there."""


class _Pending(NamedTuple):
    """A move that is not handed out yet, and the state in which it was played."""

    state: State
    move: int


class GameGrades:
    """The judgements on all moves of the game with the id ``game``, as they look for the person at
    ``seat``. ``known`` are the judgements on its first moves if it goes on from another game.
    """

    def __init__(
        self, grader: Grader, game: str, seat: int, known: Sequence[Future[JudgedStep]] = ()
    ) -> None:
        self._grader = grader
        self._game = game
        self._seat = seat
        self._futures = list(known)
        # The first judgements may also be those of the game from which this one goes on.
        self._shared = len(known)
        self._played = list[_Pending]()

    def caution(self, state: State, move: int, names: Sequence[str]) -> Caution | None:
        """The caution before ``move`` of the person, who is to move in ``state``; None if it costs
        little, or if that is not known within `CAUTION_S` seconds.
        """
        asked = self._grader.caution(state, move, names, state.turns)
        try:
            return asked.result(CAUTION_S)
        except (TimeoutError, CancelledError, BrokenExecutor):
            asked.cancel()
            return None

    def add(self, step: int, state: State, move: int) -> None:
        """Remembers ``move``, the move number ``step`` of the game (from 0), which was played in
        ``state``. Does nothing if the move is known already, or if the one before it is missing.
        """
        if step == len(self._futures) + len(self._played):
            self._played.append(_Pending(state, move))

    def hand_out(self) -> None:
        """Queues the judgement of all remembered moves in the grader's process, and does not wait
        for it; `judged` does. Call it while no bot thinks, because the process begins at once.
        """
        for state, move in self._played:
            self._futures.append(self._grader.submit(state, move, self._seat, self._game))
        self._played.clear()

    def cut(self, steps: int) -> None:
        """Forgets the moves from number ``steps`` on, because they were taken back."""
        for future in self._futures[max(steps, self._shared) :]:
            future.cancel()
        self._shared = min(self._shared, steps)
        del self._futures[steps:]
        del self._played[max(0, steps - len(self._futures)) :]

    def first(self, steps: int) -> list[Future[JudgedStep]]:
        """The judgements on the first ``steps`` moves, for a game that goes on from there."""
        return self._futures[:steps]

    def judged(self) -> Iterator[JudgedStep]:
        """The judgements on all moves in their order; waits for those that are not ready. Raises
        CancelledError or BrokenExecutor if the server stops or the process that judges dies, and
        whatever the judging of a move raises.
        """
        self.hand_out()
        for future in self._futures:
            yield future.result()
