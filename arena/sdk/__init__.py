"""Write a bot for Qin in Python: look at the position, try moves,
and let `run` talk to the arena.

A whole bot:

    from arena.sdk import Position, run

    def choose(position: Position) -> int:
        return position.rng.choice(position.legal_moves())

    run(choose)

`Position` is what your bot sees when it has to move. Read it with `Position.at`,
`Position.provinces`, `Position.villages`, `Position.hand` and `Position.left`. ``print(position)``
draws the board; while `run` is at work, ``print`` writes to stderr, because stdout belongs to the
protocol.

A move is an int, so that a search is fast. `Position.text` turns it into text such as ``Rc4Yd4``,
and `Position.move` turns text into a move. Squares are always text such as ``c4``: the column's
letter, then the row's number; ``a1`` is the top left corner. Seats are numbered from 0 in turn
order.

To look ahead, use `Position.play`, `Position.outlooks` and `Position.rollouts`, and let
`Position.has_time` say when to stop. `Position.note` says what your bot thinks: you see it when you
replay the game. ``arena new NAME --template montecarlo`` writes a bot that does this.

`Position.line` is a position in one line of text. `position_of` reads it, for tests of your bot.
"""

import gc
import operator
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from arena.errors import InvalidMoveError, MoveError
from arena.players import messages
from arena.rules import State
from arena.rules.boards import parse_board
from arena.rules.notation import (
    DECK_SIZE,
    PASS,
    UNKNOWN,
    parse_move,
    parse_position,
    parse_tile,
    position_text,
)
from arena.sdk.areas import Province, Rollout, Square, Village
from arena.sdk.position import Position
from arena.sdk.timemanager import Stopwatch, TimeManager

__all__ = [
    "PASS",
    "Choose",
    "Position",
    "Province",
    "Rollout",
    "Square",
    "Village",
    "position_of",
    "run",
    "serve",
]

_MOST_INDEX = 1 << 10  # from here on, a number says more than one square
_MOST_SHOWN = 40
Choose = Callable[[Position], int | str]
"""What you write: takes a `Position`, returns the move, as an int or as text like ``Rc4Yd4``."""
# The numbers of NumPy and PyTorch become numbers of ours.
_encode_note = msgspec.json.Encoder(enc_hook=float).encode


class NoMoveError(InvalidMoveError):
    """What a bot's function returned is no move."""


def run(choose: Choose) -> None:
    """Play games until the arena sends ``quit`` or closes stdin.

    Call it as the last line of your bot. While it is at work, ``print`` writes to stderr.

    Args:
        choose: Your function. It is called once for each move, with the position; it returns the
            move.

    Example:
        A bot that plays the first legal move:

            run(lambda position: position.legal_moves()[0])
    """
    # What is there before the first move stays: a full garbage collection that looks at all of it
    # takes 2 ms of an answer.
    gc.freeze()
    out = sys.stdout.buffer
    sys.stdout = sys.stderr
    try:
        serve(choose, sys.stdin.buffer, lambda line: (out.write(line + b"\n"), out.flush()))
    except NoMoveError as error:  # our own lines of a traceback would tell nobody anything
        sys.exit(f"{_place_of(choose)}{error}")
    except KeyboardInterrupt:
        sys.exit(130)


def serve(choose: Choose, lines: Iterable[bytes], send: Callable[[bytes], object]) -> None:
    """The loop of `run` over any lines, for instance to feed your bot a recorded dialogue in a
    test.

    Args:
        choose: Your function, as in `run`.
        lines: Messages of the arena, one line of JSON each.
        send: Called with each reply: one line of JSON without its newline.

    Raises:
        NoMoveError: What your function returned is no move.
        msgspec.DecodeError: A line is not a message of the protocol. Types of message that a later
            protocol may add are passed over.
    """
    game: _Game | None = None
    manager = TimeManager()
    answered_ns = time.process_time_ns()
    for line in lines:
        match messages.decode_from_arena(line):
            case messages.Hello(id=number):
                send(messages.encode(messages.Ready(number)))
                answered_ns = time.process_time_ns()
            case messages.Start() as start:
                manager.begin(start)
                game = _Game(start)
            case messages.Played() as played if game:
                game.follow(played)
            case messages.Turn() as turn if game:
                watch = manager.watch(turn.time_ms, game.left, answered_ns)
                send(messages.encode(game.answer(choose, turn, watch)))
                answered_ns = time.process_time_ns()
                manager.answered(watch)
            case messages.Quit():
                return


class _Game:
    """One game as this seat follows it."""

    def __init__(self, start: messages.Start) -> None:
        board = parse_board("board", "\n".join(start.board))
        self._state = State(board, start.players, (UNKNOWN,) * DECK_SIZE)
        self._seat = start.seat
        # For play, not for secrets.
        self._rng = random.Random(start.seed)  # noqa: S311
        self._has_bank = start.game_ms is not None
        self._options = MappingProxyType(_Options(start.options))

    def follow(self, played: messages.Played) -> None:
        move = parse_move(self._state.board, played.move)
        if played.forfeited and not self._state.retired[played.seat]:
            self._state.retire(played.seat)
        self._state.play(move)

    @property
    def left(self) -> Sequence[int]:
        """The pagodas left, by seat."""
        return self._state.left

    def answer(self, choose: Choose, turn: messages.Turn, watch: Stopwatch) -> messages.Move:
        self._state.set_hand(self._seat, [parse_tile(tile) for tile in turn.hand])
        said: dict[str, object] = {}
        position = Position(
            self._state.copy(), self._seat, self._rng, turn.time_ms,
            has_bank=self._has_bank, watch=watch, said=said, options=self._options,
        )  # fmt: skip
        move = choose(position)
        text = move if isinstance(move, str) else _text_of(move, choose, position)
        return messages.Move(turn.id, text, _note(said)) if said else messages.Move(turn.id, text)


def _text_of(move: object, choose: Choose, position: Position) -> str:
    """The text of what the function returned. Raises NoMoveError.

    A move against the rules is sent as it is: the arena names the rule. An index is another matter,
    which would be taken for red on red.
    """
    cure = "return one of position.legal_moves()"
    try:
        number = operator.index(move)  # type: ignore[arg-type]
        legal = position.legal_moves() if 0 <= number < _MOST_INDEX else []
        if not 0 <= number < len(legal) or number in legal:
            text = position.text(number)
            position.move(text)
            return text
        cure = f"return the move position.legal_moves()[{number}], not its index"
    except (TypeError, IndexError, MoveError):
        pass
    name = getattr(choose, "__name__", "choose")
    shown = repr(move)
    shown = shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}..."
    raise NoMoveError(f"{name} returned {shown} at turn {position.turns}: {cure}")


def _place_of(choose: Choose) -> str:
    """Where the function is written: ``bot.py line 6:`` and a blank; empty if Python has none."""
    code = getattr(choose, "__code__", None)
    if code is None:
        return ""
    return f"{os.path.relpath(code.co_filename)} line {code.co_firstlineno}: "


class _Options(dict[str, Any]):
    """Options by name; a wrong name gets a sentence."""

    def __missing__(self, name: str) -> Any:
        there = ", ".join(self) or "none"
        raise KeyError(f"expected an option of bot.toml ({there}), got {name!r}")


def _note(said: dict[str, object]) -> msgspec.Raw:
    """The note, or none if it cannot be written: that is no reason to lose the game."""
    try:
        return msgspec.Raw(_encode_note(said))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        sys.stderr.write(f"the note was not sent: {error}\n")
        return messages.SILENCE


def position_of(
    line: str, seat: int | None = None, *, time_ms: int = 1000, seed: int = 0
) -> Position:
    """The position that a line of text stands for, as a seat sees it. Use it to test your function
    outside the arena.

    `Position.line` and ``arena replay --line`` write such lines; NOTATION.md says what is in them.

    Args:
        line: The line.
        seat: Whose eyes it is seen with. By default it is the seat to move, or the one whose hand
            the line shows.
        time_ms: The limit of the answer, as in `Position.time_ms`.
        seed: What `Position.rng` starts from.

    Raises:
        NotationError: The line is no position of a game that goes on.
        BoardError: Its board is not one that the rules allow.
        ValueError: The line does not show the hand of that seat.

    Examples:
        >>> position_of("R.3/.3V 0 24,24 RRYYBB,RRYYBB - 0,0,0,0,0,0 -").hand
        ['RR', 'YY', 'BB']
    """
    state = parse_position(line, State)
    shown = [own for own, hand in enumerate(state.hands) if UNKNOWN not in hand]
    if seat is None:
        seat = state.mover if state.mover in shown or not shown else shown[0]
    if seat not in shown:
        raise ValueError(f"expected a line that shows the hand of seat {seat}, got {line!r}")
    seen = parse_position(position_text(state, seat), State)
    # For play, not for secrets.
    return Position(seen, seat, random.Random(seed), time_ms)  # noqa: S311
