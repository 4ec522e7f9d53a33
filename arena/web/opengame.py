"""A game between bots and the person at the page, in a thread of its own.

The thread waits for the person at each of their turns; the bots play in their sandbox as at the
terminal. What the page is told is put together by that thread alone, in `story`.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from arena.commands.played import PlayedGame
from arena.commands.single import SingleGame, best_moves
from arena.errors import ArenaError, MoveError, Void, printable
from arena.match.referee import Outcome, Referee
from arena.players.person import YOU
from arena.players.player import Answer, Player
from arena.records.note import Note
from arena.rules import State
from arena.rules.game import legal_move, parse_move
from arena.rules.notation import move_text
from arena.rules.terms import Event
from arena.web.story import Story, Told, legal_texts

PATIENCE_S = 1800.0
"""A game in which nobody moves for so long is given up: its bots hold memory."""
LOOK_S = 1.0
STARTING, YOURS, THEIRS, OVER, BROKEN = "starting", "yours", "theirs", "over", "broken"

log = logging.getLogger(__name__)


class RefusedError(ArenaError):
    """What the page asked for cannot be done now, or not at all; ``rule`` says so in the rules."""


class Listener(NamedTuple):
    """A page that waits for news."""

    loop: asyncio.AbstractEventLoop
    event: asyncio.Event


class OpenGame:
    """One game of a person. ``kept`` is the run that it was kept as, empty until then."""

    def __init__(
        self, single: SingleGame, game: PlayedGame, results: Path, *, patience_s: float = PATIENCE_S
    ) -> None:
        assert single.human is not None, "a person plays"
        self.single, self.game, self.seat = single, game, single.human
        self._results, self._patience_s = results, patience_s
        self._story = Story(game.boards[0], [bot.label for bot in game.bots], self.seat)
        self._turn = threading.Condition()
        self._asked: State | None = None
        self._move = ""
        self._farewell = ""
        self._is_ended = False
        self._heard_s = time.monotonic()
        self._status: dict[str, Any] = {
            "state": STARTING,
            "count": 0,
            "faults": [],
            "legal": [],
            "says": "",
        }
        self._listeners = set[Listener]()
        self.kept = ""
        self._ending: dict[str, Any] = {}
        self.version = 0
        self._referee: Referee | None = None
        self._thread = threading.Thread(target=self._play, name="game", daemon=True)

    def begin(self) -> None:
        """Starts the game."""
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, one way or another."""
        return self._status["state"] in (OVER, BROKEN)

    @property
    def is_watched(self) -> bool:
        """Whether a page waits for news."""
        return bool(self._listeners)

    # what the page asks for

    def view(self, told: Told) -> tuple[dict[str, Any], Told]:
        """The present state for a page that has heard so much of it."""
        with self._turn:
            news, now = self._story.told(told)
            return {**self._story.head, **news, **self._status, "version": self.version}, now

    def place(self, text: str, steps: int) -> None:
        """Plays the person's move, which the page made after so many steps. Raises RefusedError."""
        with self._turn:
            state = self._due(steps)
            try:
                move = legal_move(state, text)
            except MoveError as error:
                raise RefusedError(str(error)) from None
            self._move, self._asked = move_text(state.board, move), None
            self._turn.notify_all()

    def why_not(self, text: str, steps: int) -> str:
        """Why a move is refused; empty if it is legal. Raises RefusedError."""
        with self._turn:
            state = self._due(steps)
            try:
                return state.why_illegal(parse_move(state.board, text))
            except MoveError as error:
                return str(error)

    def hints(self, steps: int) -> list[tuple[str, float]]:
        """The best moves by random games, and what share of them the person wins. Raises
        RefusedError.
        """
        with self._turn:
            state = self._due(steps).copy()
        found = best_moves(state, list(state.legal_moves()), state.turns)
        return [(move_text(state.board, hint.move), hint.share) for hint in found]

    def leave(self, farewell: str = "you left the game") -> None:
        """Gives the game up."""
        with self._turn:
            self._farewell = self._farewell or farewell
            self._turn.notify_all()

    def review(self) -> None:
        """Begins to grade the person's moves in the finished game. Raises RefusedError."""
        with self._turn:
            if not self.kept:
                raise RefusedError("only a finished game that was kept can be graded")
            if "grading" in self._ending:
                return
            self._ending["grading"] = "Your moves are being graded."
        self._publish(OVER, **self._ending)
        self._thread = threading.Thread(target=self._grade, name="review", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Gives the game up, or its review, without waiting."""
        self._is_ended = True
        self.leave("the server was ended")

    def wait(self, seconds: float) -> None:
        """Waits a while until nothing goes on and its bots are gone."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    async def news(self, version: int, seconds: float) -> None:
        """Returns when there is a later version than this one, or after a while."""
        with self._listening() as event:
            if self.version == version:
                try:
                    await asyncio.wait_for(event.wait(), seconds)
                except TimeoutError:
                    return

    @property
    def opponents(self) -> list[str]:
        """The names of the other seats."""
        return [name for seat, name in enumerate(self._story.names) if seat != self.seat]

    @contextmanager
    def _listening(self) -> Iterator[asyncio.Event]:
        listener = Listener(asyncio.get_running_loop(), asyncio.Event())
        with self._turn:
            self._listeners.add(listener)
        try:
            yield listener.event
        finally:
            with self._turn:
                self._listeners.discard(listener)

    def _due(self, steps: int) -> State:
        """The state in which the person is to move. Raises RefusedError."""
        self._heard_s = time.monotonic()
        if self.is_over:
            raise RefusedError("the game is over")
        if self._asked is None:
            raise RefusedError("it is not your turn")
        if steps != self._status["count"]:
            raise RefusedError("the game has gone on: look at the board and choose again")
        return self._asked

    # what the game's thread does

    def _play(self) -> None:
        try:
            with self.single.seated(None, lambda _: _PagePlayer(self._ask)) as players:
                self._referee = self.single.referee(self.game.rounds[0], players, self._watch)
                with self._turn:
                    self._story.begin(self._referee.state)
                self._publish(THEIRS)
                outcome = self.single.play(self._referee)
            self._end(outcome)
        except Void as void:
            self._publish(BROKEN, says=self._farewell or f"the game is void: {void}")
        except ArenaError as error:
            self._publish(BROKEN, says=f"{error}{f'; {error.hint}' if error.hint else ''}")
        except Exception:
            log.exception("a game at the page")
            self._publish(BROKEN, says="the arena made a mistake: this game cannot go on")

    def _end(self, outcome: Outcome) -> None:
        record, says = outcome.record, ""
        try:
            self.kept = self.game.keep(self._results, [outcome], self.single.sandbox).name
        except (ArenaError, OSError) as error:
            says = f"the game could not be kept: {printable(str(error))}"
        self._ending = {
            "end": record.end,
            "ranks": record.ranks,
            "final": record.left,
            "says": says,
            "kept": self.kept,
            "game": record.id,
            "seed": self.game.config.seed,
        }
        self._publish(OVER, **self._ending)

    def _grade(self) -> None:
        # Late: pandas is slow to load.
        from arena.commands.review import Review, make_judge  # noqa: PLC0415

        try:
            found = Review(self._results / self.kept, make_judge(), bots=[YOU])
            total = found.decisions
            with closing(found.grade(jobs=1)) as grades:
                for done, _ in enumerate(grades, 1):
                    if self._is_ended:
                        return
                    self._say_of_grades(f"{done} of {total} of your moves graded.")
            self._say_of_grades("All your moves are graded.", graded=True)
        except ArenaError as error:
            self._say_of_grades(f"The moves could not be graded: {error}")

    def _say_of_grades(self, words: str, **further: bool) -> None:
        self._ending |= {"grading": words, **further}
        self._publish(OVER, **self._ending)

    def _watch(
        self, state: State, seat: int, move: int, events: list[Event], note: Note | None
    ) -> None:
        # The note is not told: a bot may speak of its hand.
        del note
        with self._turn:
            self._story.add(state, seat, move, events)
        self._publish(THEIRS)

    def _ask(self, state: State, meanwhile: Callable[[], None]) -> str:
        """The person's move. Raises Void when they leave, or seem to have left."""
        with self._turn:
            self._asked, self._move, self._heard_s = state, "", time.monotonic()
        self._publish(YOURS, legal=legal_texts(state))
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
                    return self._move
            meanwhile()

    def _publish(self, state: str, **further: Any) -> None:
        referee = self._referee
        with self._turn:
            _, told = self._story.told(Told())
            self._status = {
                "state": state,
                "count": told.steps,
                "faults": self._story.faults(referee.faults if referee else ()),
                "legal": [],
                "says": "",
                **further,
            }
            self.version += 1
            for listener in self._listeners:
                try:
                    listener.loop.call_soon_threadsafe(listener.event.set)
                except RuntimeError:  # the server has ended
                    continue


class _PagePlayer(Player):
    """The person's seat."""

    def __init__(self, ask: Callable[[State, Callable[[], None]], str]) -> None:
        self.name = YOU
        self._ask = ask

    # A person has as long as they like.
    def choose(self, state: State, budget_ns: int) -> Answer:  # noqa: ARG002
        """What the page says."""
        began_ns = time.monotonic_ns()
        move = self._ask(state, self.meanwhile)
        return Answer(move, time.monotonic_ns() - began_ns)
