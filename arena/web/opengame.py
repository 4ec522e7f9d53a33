"""A game between bots and a person who plays on a page. Each game has a thread of its own.

The thread waits for the person at each of their turns; the bots play in their sandbox as at the
terminal. Only that thread changes the view of the game that pages get, in `Story`. A view is always
complete, some 20 kB late in a game, so that it does not matter which views a page has missed.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from arena.commands.game import PlayedGame, SingleGame, best_moves
from arena.errors import ArenaError, MoveError, Void, printable
from arena.exports.report.viewer_data import cells_of
from arena.exports.scene import Film
from arena.exports.text import event_text, seat_names
from arena.match.referee import Outcome, Referee
from arena.players.player import YOU, Answer, Player
from arena.records.notes import Note
from arena.records.record import Fault
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.explain import explained
from arena.rules.notation import PASS, TILES, legal_move, move_text
from arena.rules.terms import PAGODAS, Event
from arena.tournament.run import Run

_YOU = "\x00"
"""The name of the person in a sentence, until `_PHRASES` puts "you" in its place. No bot can have
this name.
"""
_PHRASES = (
    (f"the province of {_YOU}", "your province"),
    *((f"{_YOU} {verb}s", f"you {verb}") for verb in ("found", "own", "connect", "conquer")),
    (f"{_YOU} takes", "you take"),
    (_YOU, "you"),
)
PATIENCE_S = 1800.0
"""A game is given up if the person does not move for this many seconds, because its bots use
memory.
"""
LOOK_S = 1.0
"""For how many seconds at most the thread waits for the person before it runs the
regular checks.
"""
STARTING, YOURS, THEIRS, OVER, BROKEN = "starting", "yours", "theirs", "over", "broken"
"""The states of a game: its bots start; the person is to move; a bot is to move; the game has
ended; it has failed or was given up.
"""

log = logging.getLogger(__name__)


class Story:
    """A game as the person at ``seat`` sees it.

    ``view`` is what pages get. The thread that plays calls `begin` and `add`, and each call makes a
    new view.
    """

    def __init__(self, board: Board, labels: Sequence[str], seat: int) -> None:
        self.names = seat_names(labels)
        self._board = board
        self._seat = seat
        self._called = [_YOU if at == seat else name for at, name in enumerate(self.names)]
        self._film = Film(board)
        self.view: dict[str, Any] = {
            "seat": seat,
            "names": self.names,
            "stock": PAGODAS[len(self.names)],
            "board": board.name,
            "rows": board.rows,
            "elements": [],
            "start": [],
            "steps": [],
            "cells": list("".join(board.rows)),
            "hands": [],
        }

    def begin(self, state: State) -> None:
        """Begin the view with the position before the first move."""
        self._look(state, start=self._film.add(state).came)

    def add(self, state: State, seat: int, move: int, events: Sequence[Event]) -> None:
        """Add a move of ``seat``, its events, and the state after it to the view."""
        came, went = self._film.add(state, move)
        step = {
            "seat": seat,
            "turn": state.turns,
            "move": move_text(self._board, move),
            "came": came,
            "went": went,
            "left": list(state.left),
            "events": [(event.name, self._words(event)) for event in events],
        }
        self._look(state, steps=[*self.view["steps"], step])

    def faults(self, faults: Sequence[Fault]) -> list[dict[str, Any]]:
        """Rows for the page about these faults of bots, with a sentence for each."""
        rows = []
        for fault in faults:
            words = f"{self.names[fault.seat]} forfeits ({fault.kind})"
            words = f"{words}: {explained(printable(fault.detail))}"
            rows.append({"seat": fault.seat, "turn": fault.turn, "words": words})
        return rows

    def _look(self, state: State, **further: Any) -> None:
        """Makes a new view from the last one, this state, and the entries in ``further``."""
        self.view = {
            **self.view,
            **further,
            "elements": self._film.elements,
            "cells": cells_of(state),
            "hand": [TILES[tile] for tile in state.hands[self._seat]],
            "hands": [len(hand) for hand in state.hands],
            "mover": state.mover,
        }

    def _words(self, event: Event) -> str:
        """A sentence about an event, with "you" for the person."""
        words = event_text(event, self._board, self._called)
        for phrase, yours in _PHRASES:
            words = words.replace(phrase, yours)
        return words


class RefusedError(ArenaError):
    """The game cannot do what a page asked for; the message says why."""


class OpenGame(Player):
    """A game between bots and a person, and the player at the person's seat.

    ``kept``     the name of the run that the finished game was kept as; empty until then
    ``version``  counts the changes of the view
    """

    name = YOU

    def __init__(
        self, single: SingleGame, game: PlayedGame, results: Path, *, patience_s: float = PATIENCE_S
    ) -> None:
        assert single.human is not None, "a person plays"
        self.kept = ""
        self.version = 0
        self._single = single
        self._game = game
        self._seat = single.human
        self._results = results
        self._patience_s = patience_s
        self._story = Story(game.board, [bot.label for bot in game.bots], self._seat)
        self._turn = threading.Condition()
        self._asked: State | None = None
        self._move = self._farewell = ""
        self._is_ended = False
        self._heard_s = time.monotonic()
        self._status: dict[str, Any] = {}
        # For each page that waits for a new view: an event, and the loop in which it is set.
        self._listeners = dict[asyncio.Event, asyncio.AbstractEventLoop]()
        self._ending: dict[str, Any] = {}
        self._referee: Referee | None = None
        self._thread = threading.Thread(target=self._play, name="game", daemon=True)
        self._publish(STARTING)

    def start(self) -> None:
        """Start the thread that plays the game."""
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, failed or been given up."""
        return self._status["state"] in (OVER, BROKEN)

    @property
    def is_watched(self) -> bool:
        """Whether a page is open that waits for a new view."""
        return bool(self._listeners)

    @property
    def opponents(self) -> list[str]:
        """The names of the bots at the other seats."""
        return [name for seat, name in enumerate(self._story.names) if seat != self._seat]

    # Called for a page.

    def view(self) -> dict[str, Any]:
        """The view of the game as it is now, for a page."""
        with self._turn:
            return {**self._story.view, **self._status, "version": self.version}

    async def news(self, version: int, seconds: float) -> None:
        """Waits until the version of the view is another one than ``version``, for at most
        ``seconds``.
        """
        event = asyncio.Event()
        with self._turn:
            self._listeners[event] = asyncio.get_running_loop()
        try:
            if self.version == version:
                await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            return
        finally:
            with self._turn:
                del self._listeners[event]

    def place(self, text: str, steps: int) -> None:
        """Plays the person's move ``text``, which the page sent when it knew ``steps`` steps of the
        game. Raises RefusedError; for a move that is not legal, its message names the rule.
        """
        with self._turn:
            state = self._due(steps)
            try:
                move = legal_move(state, text)
            except MoveError as error:
                raise RefusedError(str(error)) from None
            self._move = move_text(state.board, move)
            self._asked = None
            self._turn.notify_all()

    def hints(self, steps: int) -> list[tuple[str, float]]:
        """The best moves for the person, and the share of random games that each of them wins.
        ``steps`` is the number of steps that the page knows.

        Raises RefusedError.
        """
        with self._turn:
            state = self._due(steps).copy()
        best = best_moves(state, list(state.legal_moves()), state.turns)
        return [(move_text(state.board, move), share) for move, share, _ in best]

    def leave(self, farewell: str = "you left the game") -> None:
        """Give the game up; ``farewell`` is the reason that pages show."""
        with self._turn:
            self._farewell = self._farewell or farewell
            self._turn.notify_all()

    def review(self) -> None:
        """Start to grade the person's moves in the finished game; does nothing if that has begun.
        Raises RefusedError.
        """
        with self._turn:
            if not self.kept:
                raise RefusedError("the arena can grade only a finished game that it has kept")
            if "grading" in self._ending:
                return
            self._say_of_grades("Your moves are being graded.")
        self._thread = threading.Thread(target=self._grade, name="review", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Give the game or its grading up. This does not wait until the thread has ended; `wait`
        does.
        """
        self._is_ended = True
        self.leave("the server has stopped")

    def wait(self, seconds: float) -> None:
        """Waits for at most ``seconds`` until the game's thread has ended, and the bots with it."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _due(self, steps: int) -> State:
        """The state in which the person is to move. Raises RefusedError if the person is not to
        move, or if ``steps``, which the page knows, is not the number of steps of the game.
        """
        self._heard_s = time.monotonic()
        if self.is_over:
            raise RefusedError("the game is over")
        if self._asked is None:
            raise RefusedError("it is not your turn")
        if steps != self._status["count"]:
            raise RefusedError("the game has continued: look at the board and choose again")
        return self._asked

    # Called in the game's thread.

    def _play(self) -> None:
        """Plays the game and keeps it. Runs in the game's thread."""
        try:
            with self._single.seated(None, lambda _: self) as players:
                self._referee = self._single.referee(self._game.round, players, self._watch)
                with self._turn:
                    self._story.begin(self._referee.state)
                self._publish(THEIRS)
                outcome = self._single.play(self._referee)
            self._end(outcome)
        except Void as void:
            self._publish(BROKEN, says=self._farewell or f"the game is void: {void}")
        except ArenaError as error:
            self._publish(BROKEN, says=f"{error}{f'; {error.hint}' if error.hint else ''}")
        except Exception:
            log.exception("a game at the page")
            self._publish(BROKEN, says="the arena made a mistake: this game cannot go on")

    def _end(self, outcome: Outcome) -> None:
        """Keeps the game with this outcome as a run, and publishes its end."""
        record = outcome.record
        says = ""
        try:
            self.kept = self._game.keep(self._results, outcome, self._single.sandbox).name
        except (ArenaError, OSError) as error:
            says = f"the game could not be kept: {printable(str(error))}"
        self._ending = {
            "end": record.end,
            "ranks": record.ranks,
            "final": record.left,
            "says": says,
            "kept": self.kept,
            "game": record.id,
            "seed": self._game.config.seed,
        }
        self._publish(OVER, **self._ending)

    def _grade(self) -> None:
        """Grades the person's moves. Runs in a thread of its own."""
        # Imported here, because pandas is slow to load.
        from arena.commands.review import Review, make_judge  # noqa: PLC0415

        try:
            review = Review(Run(self._results / self.kept), make_judge(), bots=[YOU])
            total = review.decisions
            with closing(review.grade(jobs=1)) as grades:
                for done, _ in enumerate(grades, 1):
                    if self._is_ended:
                        return
                    self._say_of_grades(f"{done} of {total} of your moves graded.")
            self._say_of_grades("All your moves are graded.", graded=True)
        except ArenaError as error:
            self._say_of_grades(f"The moves could not be graded: {error}")

    def _say_of_grades(self, words: str, **further: bool) -> None:
        """Publishes ``words`` about the progress of the grading, and the entries in ``further``."""
        self._ending |= {"grading": words, **further}
        self._publish(OVER, **self._ending)

    def _watch(
        self, state: State, seat: int, move: int, events: list[Event], note: Note | None
    ) -> None:
        """Adds a move to the view and publishes it; called by the referee after each move."""
        # Pages do not get the note, because it may reveal what a bot has in its hand.
        del note
        with self._turn:
            self._story.add(state, seat, move, events)
        self._publish(THEIRS)

    def choose(self, state: State, budget_ns: int) -> Answer:  # noqa: ARG002
        """Waits for the person's move. The time limit ``budget_ns`` is ignored, but Void is raised
        if the person leaves, or does not move for a long time.
        """
        began_ns = time.monotonic_ns()
        with self._turn:
            self._asked = state
            self._move = ""
            self._heard_s = time.monotonic()
        legal = [move_text(state.board, move) for move in state.legal_moves() if move != PASS]
        self._publish(YOURS, legal=legal)
        while True:
            with self._turn:
                if not (self._move or self._farewell):
                    self._turn.wait(LOOK_S)
                if time.monotonic() - self._heard_s > self._patience_s:
                    minutes = round(self._patience_s / 60)
                    self._farewell = f"nobody moved for {minutes} minutes, so the game was given up"
                if self._farewell:
                    self._asked = None
                    raise Void(self._farewell)
                if self._move:
                    return Answer(self._move, time.monotonic_ns() - began_ns)
            self.meanwhile()

    def _publish(self, state: str, **further: Any) -> None:
        """Makes a new version of the view, with this state of the game and the entries in
        ``further``, and wakes the waiting pages.
        """
        with self._turn:
            self._status = {
                "state": state,
                "count": len(self._story.view["steps"]),
                "faults": self._story.faults(self._referee.faults if self._referee else ()),
                "legal": [],
                "says": "",
                **further,
            }
            self.version += 1
            for event, loop in self._listeners.items():
                try:
                    loop.call_soon_threadsafe(event.set)
                except RuntimeError:  # the server has ended
                    continue
