"""The dialogue with the arena: it follows the games, asks the bot's function for each move, and
sends the answers.
"""

import gc
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from arena.players.messages import (
    SILENCE,
    Hello,
    Move,
    Played,
    Quit,
    Ready,
    Start,
    Turn,
    decode_from_arena,
    encode,
)
from arena.rules import State
from arena.rules.boards import parse_board
from arena.rules.notation import DECK_SIZE, UNKNOWN, parse_move, parse_tile
from arena.sdk.position import Position
from arena.sdk.stopwatch import Stopwatch
from arena.sdk.timemanager import TimeManager

Choose = Callable[[Position], int | str]
"""What you write: a function that takes a `Position` and returns the move to play, as an int or as
text such as ``Rc4Yd4``.
"""


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
        msgspec.DecodeError: A line is not a message of the protocol. Types of message that a later
            protocol may add are passed over.
    """
    game: _Game | None = None
    manager = TimeManager()
    answered_ns = time.process_time_ns()
    for line in lines:
        match decode_from_arena(line):
            case Hello(id=number):
                send(encode(Ready(number)))
                answered_ns = time.process_time_ns()
            case Start() as start:
                manager.begin(start)
                game = _Game(start)
            case Played() as played if game:
                game.follow(played)
            case Turn() as turn if game:
                watch = manager.watch(turn.time_ms, game.left, answered_ns)
                send(encode(game.answer(choose, turn, watch)))
                answered_ns = time.process_time_ns()
                manager.answered(watch)
            case Quit():
                return


class _Game:
    """One game as this seat follows it."""

    def __init__(self, start: Start) -> None:
        self._state = State(
            parse_board("board", "\n".join(start.board)), start.players, (UNKNOWN,) * DECK_SIZE
        )
        self._seat = start.seat
        # For play, not for secrets.
        self._rng = random.Random(start.seed)  # noqa: S311
        self._has_bank = start.game_ms is not None
        self._options = MappingProxyType(_Options(start.options))

    def follow(self, played: Played) -> None:
        move = parse_move(self._state.board, played.move)
        if played.forfeited and not self._state.retired[played.seat]:
            self._state.retire(played.seat)
        self._state.play(move)

    @property
    def left(self) -> Sequence[int]:
        """The pagodas left, by seat."""
        return self._state.left

    def answer(self, choose: Choose, turn: Turn, watch: Stopwatch) -> Move:
        self._state.set_hand(self._seat, [parse_tile(tile) for tile in turn.hand])
        state = self._state.copy()
        said: dict[str, object] = {}
        position = Position(
            state,
            self._seat,
            self._rng,
            turn.time_ms,
            has_bank=self._has_bank,
            watch=watch,
            said=said,
            options=self._options,
        )
        move = choose(position)
        text = move if isinstance(move, str) else position.text(move)
        return Move(turn.id, text, _note(said)) if said else Move(turn.id, text)


class _Options(dict[str, Any]):
    """Options by name; a wrong name gets a sentence."""

    def __missing__(self, name: str) -> Any:
        there = ", ".join(self) or "none"
        raise KeyError(f"expected an option of bot.toml ({there}), got {name!r}")


# The numbers of NumPy and PyTorch become numbers of ours.
_encode_note = msgspec.json.Encoder(enc_hook=float).encode


def _note(said: dict[str, object]) -> msgspec.Raw:
    """The note, or none if it cannot be written: that is no reason to lose the game."""
    try:
        return msgspec.Raw(_encode_note(said))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        sys.stderr.write(f"the note was not sent: {error}\n")
        return SILENCE
