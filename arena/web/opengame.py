"""A game between bots and a person who plays on a page. Each game has a thread of its own.

The thread waits for the person at each of their turns; the bots play in their sandbox as at the
terminal. Only that thread changes the view of the game that pages get, in `Story`. A view is always
complete, some 20 kB late in a game, so that it does not matter which views a page has missed.
"""

import asyncio
import logging
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from arena.commands.game import Past, PlayedGame, SingleGame
from arena.commands.hints import Hint, hints_for
from arena.errors import ArenaError, Void
from arena.exports.refusals import Plain
from arena.match.chances import JudgedStep
from arena.match.referee import Outcome, Referee
from arena.players.folder import labels_of
from arena.players.player import YOU, Answer, Player
from arena.players.views import legal_texts
from arena.records.notes import Note
from arena.rules import State
from arena.rules.notation import PASSED, move_text, seat_of_move
from arena.rules.terms import Event
from arena.web.game_end import GameEnd
from arena.web.grading import GameGrades
from arena.web.help_used import HelpUsed
from arena.web.lessons import Lessons, RefusedError, person_s_move, why_refused
from arena.web.story import Story

PATIENCE_S = 1800.0
"""A game is given up after this many seconds without a move, because its bots use memory."""
LOOK_S = 1.0
"""For how many seconds at most the thread waits for the person before it runs the
regular checks.
"""
STARTING, YOURS, THEIRS, OVER, BROKEN = "starting", "yours", "theirs", "over", "broken"
"""The states of a game: its bots start; the person is to move; a bot is to move; the game has
ended; it has failed or was given up.
"""

log = logging.getLogger(__name__)


class _TakenBackError(Exception):
    """Raised by `OpenGame.choose`, in the game's thread: the person takes a move back, and the game
    is to be played again from there.
    """


class OpenGame(Player):
    """A game between bots and a person, and the player at the person's seat.

    ``single`` has the players and ``game`` the plan; the finished game is kept in a new folder of
    ``results``. ``grades`` has the judgements on the moves of this game. ``past`` is the part of
    another game from which this one goes on, None for a game from the first move, and ``had`` the
    help with its moves. If nobody moves for ``patience_s`` seconds, the game is given up.

    ``version``  counts the changes of the view
    ``help``     the help that the person has had
    """

    name = YOU

    def __init__(
        self,
        single: SingleGame,
        game: PlayedGame,
        results: Path,
        grades: GameGrades,
        *,
        past: Past | None = None,
        had: HelpUsed | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        assert single.human is not None, "a person plays"
        self.version = 0
        self._single = single
        self._game = game
        self._seat = single.human
        # How many moves were made before the person took over this seat from a bot.
        self._first = game.config.taken_over
        self._patience_s = patience_s
        self._story = Story(game.board, labels_of(game.bots), self._seat)
        self._turn = threading.Condition()
        self._asked: State | None = None
        self._move = self._farewell = ""
        # The hints for the present turn, once they were asked for.
        self._hints = list[Hint]()
        # Whether the person's last move is to be taken back.
        self._wants_undo = False
        self._past = past or Past()
        self.help = had or HelpUsed()
        self._heard_s = time.monotonic()
        self._status: dict[str, Any] = {}
        # For each page that waits for a new view: an event, and the loop in which it is set.
        self._listeners = dict[asyncio.Event, asyncio.AbstractEventLoop]()
        self._grades = grades
        self._end = GameEnd(
            game, results, self._seat, self._story.names, lambda end: self._publish(OVER, **end)
        )
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
        """Whether a page of the game is open: it waits for a new view."""
        return bool(self._listeners)

    @property
    def is_left(self) -> bool:
        """Whether the person has left this game, or not moved for too long, after at least one
        move: it can be continued.
        """
        has_moves = self._referee is not None and bool(self._referee.moves)
        return self._status["state"] == BROKEN and bool(self._farewell) and has_moves

    @property
    def moves_made(self) -> int:
        """The number of moves so far, passes included."""
        return int(self._status["count"])

    @property
    def opponents(self) -> list[str]:
        """The names of the bots at the other seats."""
        return [name for seat, name in enumerate(self._story.names) if seat != self._seat]

    # Called for a page.

    def view(self) -> dict[str, Any]:
        """The view of the game as it is now, for a page."""
        with self._turn:
            further = {"version": self.version, "left": self.is_left}
            return {**self._story.view, **self._status, **further}

    async def news(self, version: int, seconds: float) -> None:
        """Waits until the view has another version than ``version``, but at most ``seconds``. Call
        it in the server's event loop.
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
        """Plays the person's move ``text``. ``steps`` is the number of steps of the game that the
        page knew when it sent the move. Raises RefusedError: if it is not the person's turn, if the
        game has more steps, or if the move is not legal; then the message has the reason.
        """
        with self._turn:
            state = self._due(steps)
            move = person_s_move(state, text)
            self._move = move_text(state.board, move)
            self._asked = None
            self._turn.notify_all()

    def why(self, text: str, steps: int) -> Plain:
        """Why the person may not play the move ``text``, for a page that knows ``steps`` steps of
        the game; empty if they may. Raises RefusedError.
        """
        with self._turn:
            return why_refused(self._due(steps), text)

    def hints(self, steps: int) -> dict[str, Any]:
        """The next hint for the person in this position. The first call returns only ``moves``, the
        suggested moves, whose squares the page marks; they are in the order of their notation, so
        that their order tells nothing. Further calls return also the ``best`` one, the share of the
        win that the judge expects after it (``win``, from 0 to 1), and the ``reason``. ``moves`` is
        empty if the person can only pass. ``steps`` is the number of steps that the page knows.
        Raises RefusedError.
        """
        with self._turn:
            asked = self._due(steps)
            state = asked.copy()
            hints = self._hints
        if not hints:
            hints = hints_for(state, self._story.names, state.turns)
        with self._turn:
            if self._due(steps) is not asked:
                raise RefusedError("the game has continued: ask again")
            self._hints = hints
            is_first = self.help.show_hint() == 1
        moves = sorted(move_text(state.board, hint.move) for hint in hints)
        if is_first or not hints:
            return {"moves": moves}
        best = hints[0]
        return {
            "moves": moves,
            "best": move_text(state.board, best.move),
            "win": best.win,
            "reason": best.reason,
        }

    def caution(self, text: str, steps: int) -> dict[str, Any]:
        """The caution before the person's move ``text``: what the move costs (``cost``, a share of
        the win from 0 to 1) and what can happen then (``words``). Empty if the move costs little,
        or if that takes too long to find out. A caution counts as help in the record of the game.
        ``steps`` is the number of steps that the page knows. Raises RefusedError.
        """
        with self._turn:
            asked = self._due(steps)
            state = asked.copy()
        move = person_s_move(state, text)
        caution = self._grades.caution(state, move, self._story.names)
        if caution is None:
            return {}
        with self._turn:
            if self._asked is asked:
                self.help.caution()
        return caution._asdict()

    def undo(self) -> None:
        """Take the person's last move back, and the moves of the bots after it. While a bot is to
        move, that happens after its answer. The bots are started again and play on from there.
        Raises RefusedError if there is no such move.
        """
        with self._turn:
            self._heard_s = time.monotonic()
            if self.is_over:
                raise RefusedError("the game is over")
            if not self._own_moves():
                raise RefusedError("you have made no move that can be taken back")
            self._wants_undo = True
            self._turn.notify_all()

    def leave(self, farewell: str = "you left the game") -> None:
        """Give the game up; ``farewell`` is the reason that pages show. Only the first reason
        counts.
        """
        with self._turn:
            self._farewell = self._farewell or farewell
            self._turn.notify_all()

    def lessons(self) -> Lessons:
        """The costly moments of the finished game, as questions in which the person looks for the
        better move. Raises RefusedError if the moves have not been graded yet.
        """
        if self._end.lessons is None:
            raise RefusedError("the moves of this game are not graded yet")
        return self._end.lessons

    def past(self, step: int) -> tuple[Past, list[Future[JudgedStep]]]:
        """The finished game up to the person's move number ``step`` (passes count; the first move
        of the game has the number 0), to be played on from there, and the judgements on its moves.
        Raises RefusedError if the game is not over, or if the move ``step`` is not a placement of
        the person.
        """
        with self._turn:
            if self._status["state"] != OVER:
                raise RefusedError("the game is not over")
            if step not in self._own_moves():
                raise RefusedError("you made no move there")
            return self._referee_past(step), self._grades.first(step)

    def unfinished(self) -> tuple[Past, list[Future[JudgedStep]]]:
        """The game that the person has left, to be continued, and the judgements on its moves.
        Raises RefusedError if the person has not left it, or made no move.
        """
        with self._turn:
            if not self.is_left:
                raise RefusedError("this game cannot be continued")
            count = self.moves_made
            return self._referee_past(count), self._grades.first(count)

    def end(self) -> None:
        """Give the game up, because the server stops. This does not wait until the game's thread
        has ended; `wait` does.
        """
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
            past = self._past
            with self._single.staged() as single:
                while (outcome := self._play_from(past, single)) is None:
                    past = self._past_before_own_move()
            self._end.keep(outcome, self._single.sandbox)
            self._end.grade(outcome.record, self._grades)
        except Void as void:
            self._publish(BROKEN, says=self._farewell or f"the game is void: {void.with_hint}")
        except ArenaError as error:
            self._publish(BROKEN, says=error.with_hint)
        except Exception:
            log.exception("a game at the page")
            self._publish(BROKEN, says="the arena made a mistake: this game cannot go on")

    def _play_from(self, past: Past, single: SingleGame) -> Outcome | None:
        """Plays the game on from ``past`` to its end, with the bots of ``single``; None if the
        person takes a move back.
        """
        with single.seated(None, lambda _: self) as players:
            game = self._game.round_from(past)
            referee = single.referee(game, players, self._watch)
            referee.notes += past.notes
            referee.past_ns = past.spent_ns
            referee.evidence += past.evidence
            with self._turn:
                self._referee = referee
                self._story = self._story.started_anew()
                self._story.begin(referee.state)
                for step, (seat, move, state) in enumerate(past.steps(referee.state.copy())):
                    self._remember(step, move)
                    self._story.add(state, seat, move)
            self._publish(THEIRS)
            try:
                outcome = single.play(referee)
            except _TakenBackError:
                return None
        # The person may have asked for it while the bots played the last moves.
        return None if self._wants_undo and self._own_moves() else outcome

    def _own_moves(self) -> list[int]:
        """The indices, in the list of moves of the game, of the tiles that the person has placed.
        Moves that a bot made in their place are not among them.
        """
        moves = self._referee.moves if self._referee else []
        players = len(self._game.bots)
        own: list[int] = []
        for index in range(self._first, len(moves)):
            if seat_of_move(index, players) == self._seat and moves[index] != PASSED:
                own.append(index)
        return own

    def _past_before_own_move(self) -> Past:
        """Takes the person's last move back: forgets the judgements on the moves from there on,
        publishes that the bots start again, and returns the game up to that move.
        """
        assert self._referee is not None, "a game is played"
        with self._turn:
            self._wants_undo = False
            past = self._referee_past(self._own_moves()[-1])
            self._grades.cut(len(past.moves))
            self.help.take_back(past.turn)
            # Until the bots have started again, no further move can be taken back.
            self._referee = None
        self._publish(STARTING)
        return past

    def _referee_past(self, count: int) -> Past:
        """The first ``count`` moves of the game, passes included, with the faults, the evidence and
        the notes of that part.
        """
        assert self._referee is not None, "a game is played"
        past = Past(self._referee.moves[:count], self._referee.spent_ns[:count])
        turn = past.turn
        # Faults at this turn came before the person's move.
        faults = tuple(fault for fault in self._referee.faults if fault.turn <= turn)
        evidence = [each for each in self._referee.evidence if each.turn <= turn]
        notes = [note for note in self._referee.notes if int(note["turn"]) < turn]
        return past._replace(faults=faults, notes=notes, evidence=evidence)

    def _watch(
        self, state: State, seat: int, move: int, events: list[Event], note: Note | None
    ) -> None:
        """Adds a move to the view and publishes it; called by the referee after each move."""
        # Pages do not get the note, because it may reveal what a bot has in its hand. What the
        # move did is described from the positions before and after it.
        del note, events
        self._remember(len(self._story.view["steps"]), move)
        with self._turn:
            self._story.add(state, seat, move)
        self._publish(THEIRS)

    def _remember(self, step: int, move: int) -> None:
        """Remembers ``move``, the move number ``step`` of the game, from 0, for the grades. Does
        nothing after a forfeit: such moves cannot be graded.
        """
        if self._referee is not None and not self._referee.faults:
            self._grades.add(step, self._story.position, move)

    def choose(self, state: State, budget_ns: int) -> Answer:  # noqa: ARG002
        """Waits for the person's move and returns it. The time limit ``budget_ns`` is ignored.
        Raises Void if the person leaves, or does not move for ``patience_s`` seconds; and
        _TakenBackError if the person takes a move back, which `_play_from` handles.
        """
        began_ns = time.monotonic_ns()
        with self._turn:
            # Asked for while a bot was to move: the person is not asked here at all.
            if self._wants_undo:
                raise _TakenBackError
            self._asked = state
            self._move = ""
            self._hints = []
            self.help.begin_turn()
            self._heard_s = time.monotonic()
        self._publish(YOURS, legal=legal_texts(state), effects=self._story.effects(state))
        self._grades.hand_out()
        while True:
            with self._turn:
                if not (self._move or self._farewell or self._wants_undo):
                    self._turn.wait(LOOK_S)
                if self._wants_undo:
                    self._asked = None
                    raise _TakenBackError
                if time.monotonic() - self._heard_s > self._patience_s:
                    minutes = round(self._patience_s / 60)
                    self._farewell = f"nobody moved for {minutes} minutes, so the game was given up"
                if self._farewell:
                    self._asked = None
                    raise Void(self._farewell)
                if self._move:
                    spent_ns = time.monotonic_ns() - began_ns
                    return Answer(self._move, spent_ns, note=self.help.note_at(state.turns))
            self.meanwhile()

    def _publish(self, state: str, **further: Any) -> None:
        """Makes a new version of the view, with ``state``, a state of the game such as `YOURS`, and
        the entries in ``further``; wakes the waiting pages.
        """
        with self._turn:
            self._status = {
                "state": state,
                "count": len(self._story.view["steps"]),
                "undo": bool(self._own_moves()) and state in (YOURS, THEIRS),
                "faults": self._story.faults(self._referee.faults if self._referee else ()),
                "legal": [],
                "effects": {"lines": [], "moves": {}},
                "says": "",
                **further,
            }
            self.version += 1
            for event, loop in self._listeners.items():
                try:
                    loop.call_soon_threadsafe(event.set)
                except RuntimeError:  # the server has ended
                    continue
