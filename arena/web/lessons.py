"""The moments that decided a finished game, as questions to the person who played it.

A question is the position before the move. The person places a tile; every move that is nearly as
good as the best one is right. After a wrong one the page shows how the others could reply, and then
the person may see the best move.
"""

from collections.abc import Sequence
from typing import Any

from arena.errors import ArenaError, MoveError
from arena.exports.moments import Moment
from arena.exports.refusals import Plain, plain_refusal
from arena.match.grading import measured
from arena.match.replay import positions, retire_faulty
from arena.players.player import built_in
from arena.players.views import legal_texts
from arena.records.grades import Judge
from arena.records.record import GameRecord
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import move_text, parse_move
from arena.web.story import Story

RIGHT = 0.035
"""A move is right if it wins at most this share less often than the best one."""
QUESTION, TRIED = "question", "tried"
"""The states of a view: the person is to place a tile; the tile and the replies are placed."""


class RefusedError(ArenaError):
    """The game cannot do what a page asked for; the message says why, and ``rule`` is the number of
    the rule that forbids a move, or empty.
    """

    def __init__(self, message: str, rule: str = "") -> None:
        super().__init__(message)
        self.rule = rule


def person_s_move(state: State, text: str) -> int:
    """Converts ``text``, the placement that a person chose, to its number. Raises RefusedError, in
    plain words, if it may not be played in ``state``.
    """
    try:
        move = parse_move(state.board, text)
    except MoveError as error:
        raise RefusedError(str(error)) from None
    refusal = plain_refusal(state, move)
    if refusal is not None:
        raise RefusedError(refusal.words, refusal.rule)
    return move


def why_refused(state: State, text: str) -> Plain:
    """Why the mover of ``state`` may not play the move ``text``; empty if the mover may."""
    try:
        person_s_move(state, text)
    except RefusedError as error:
        return Plain(str(error), error.rule)
    return Plain("", "")


class Lessons:
    """Questions about the ``moments`` of the game of ``record``, played on ``board``, to the person
    at ``seat``. ``judge`` is the judge whose grades the moments have.
    """

    def __init__(
        self, record: GameRecord, board: Board, seat: int, moments: Sequence[Moment], judge: Judge
    ) -> None:
        self.moments = moments
        self._record = record
        self._board = board
        self._seat = seat
        self._judge = judge

    def question(self, number: int) -> dict[str, Any]:
        """An object with the ``view`` of the game before the move of the moment with this number,
        from 0. Raises RefusedError if there is no such moment.
        """
        state, story = self._before(self._moment(number))
        legal = legal_texts(state)
        return {"view": _view(story, QUESTION, legal=legal, effects=story.effects(state))}

    def why(self, number: int, text: str) -> Plain:
        """Why the person may not play the move ``text`` in the moment with this number, from 0;
        empty if they may. Raises RefusedError.
        """
        state, _ = self._before(self._moment(number))
        return why_refused(state, text)

    def attempt(self, number: int, text: str) -> dict[str, Any]:
        """What the person's move ``text`` is worth in the moment with this number, from 0:
        ``right``, whether it is nearly as good as the best move; ``win``, the share of the win
        after it, from 0 to 1; ``best``, the share after the best move; ``same``, whether the person
        played it in the game, too; and the ``view`` of the game after it and, if it is wrong, after
        the replies to it. Raises RefusedError if there is no such moment, or if the move is not
        legal.
        """
        moment = self._moment(number)
        state, story = self._before(moment)
        move = person_s_move(state, text)
        cost, win = self._worth(state, move, moment)
        is_right = cost <= RIGHT
        is_same = move_text(self._board, move) == moment.played
        _play(story, state, move)
        if not is_right:
            self._reply(story, state, moment, as_played=is_same)
        return {
            "right": is_right,
            "win": win,
            "best": moment.before,
            "same": is_same,
            "view": _view(story, TRIED),
        }

    def answer(self, number: int) -> dict[str, Any]:
        """The best move of the moment with this number, from 0: its ``reason``, the share of the
        win after it (``best``, from 0 to 1), and the ``view`` of the game after it. Raises
        RefusedError if there is no such moment.
        """
        moment = self._moment(number)
        state, story = self._before(moment)
        _play(story, state, parse_move(self._board, moment.better))
        return {"reason": moment.reason, "best": moment.before, "view": _view(story, TRIED)}

    def _moment(self, number: int) -> Moment:
        """The moment with this number, from 0. Raises RefusedError."""
        if not 0 <= number < len(self.moments):
            raise RefusedError("the game has no such moment")
        return self.moments[number]

    def _before(self, moment: Moment) -> tuple[State, Story]:
        """The state and the story of the game before the move of this moment."""
        story = Story(self._board, self._record.bots, self._seat)
        steps = positions(self._record, self._board)
        state, text = next(steps)
        story.begin(state)
        for _ in range(moment.step):
            seat, move = state.mover, parse_move(self._board, text)
            state, text = next(steps)
            story.add(state, seat, move)
        return state.copy(), story

    def _worth(self, state: State, move: int, moment: Moment) -> tuple[float, float]:
        """Two shares of the win: by how much ``move`` is worse than the best move, and what remains
        after it. The second is the share before the move, as the moment has it, minus the first.
        """
        text = move_text(self._board, move)
        if text == moment.better:
            return 0.0, moment.before
        if text == moment.played:
            return moment.before - moment.after, moment.after
        better = parse_move(self._board, moment.better)
        cost, _, _ = measured(state, move, better, self._judge, moment.turn)
        return cost, min(1.0, max(0.0, moment.before - cost))

    def _reply(self, story: Story, state: State, moment: Moment, *, as_played: bool) -> None:
        """Lets the others move until it is the person's turn: ``as_played``, as they did in the
        game, or as the judge would in their place.
        """
        played = iter(self._record.moves[moment.step + 1 :])
        policy = built_in(self._judge.judge)
        while state.end is None and state.mover != self._seat:
            retire_faulty(state, self._record.faults)
            if not as_played:
                _play(story, state, policy.choose(state, moment.turn))
                continue
            text = next(played, None)
            if text is None:  # the others had left the game
                return
            _play(story, state, parse_move(self._board, text))


def _play(story: Story, state: State, move: int) -> None:
    """Plays ``move`` in ``state`` and adds it to the ``story``."""
    seat = state.mover
    state.play(move)
    story.add(state, seat, move)


def _view(story: Story, state: str, **further: Any) -> dict[str, Any]:
    """The view of the ``story`` for a page. ``state`` is `QUESTION` or `TRIED`, and ``further`` has
    entries that replace others.
    """
    return {
        **story.view,
        "state": state,
        "count": len(story.view["steps"]),
        "undo": False,
        "faults": [],
        "legal": [],
        "effects": {"lines": [], "moves": {}},
        "says": "",
        **further,
    }
