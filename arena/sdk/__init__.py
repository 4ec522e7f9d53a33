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

import arena.slim_msgspec  # noqa: F401 - before anything imports msgspec

# isort: split
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
from arena.players.decoding import decode_from_arena
from arena.rules import State
from arena.rules.boards import parse_board
from arena.rules.notation import DECK_SIZE, PASS, UNKNOWN, parse_move, parse_tile
from arena.rules.positions import parse_position, position_text
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

_MAX_INDEX = 1 << 10
"""Smaller ints may be an index into the list of legal moves; as a move, each of them means red on
red.
"""
_MAX_SHOWN = 40
"""The most characters of a wrong return value that an error shows."""
Choose = Callable[[Position], int | str]
"""The function that you write: it takes the `Position` in which your bot has to move, and returns
the move, as an int or as text such as ``Rc4Yd4``.
"""
# ``float`` turns the numbers of NumPy and PyTorch, which msgspec does not know, into plain ones.
_encode_note = msgspec.json.Encoder(enc_hook=float).encode


class NoMoveError(InvalidMoveError):
    """A bot's function returned something that is no move."""


def run(choose: Choose) -> None:
    """Play games until the arena sends ``quit`` or closes stdin.

    Call it in the last line of your bot. While it runs, ``print`` writes to stderr, because stdout
    belongs to the protocol. If your function returns something that is not a move, the process ends
    with a message on stderr and exit status 1.

    Args:
        choose: Your function. It is called once for each move, with the position, and returns the
            move.

    Example:
        A bot that plays the first legal move:

            run(lambda position: position.legal_moves()[0])
    """
    # Objects made before the first move live as long as the bot. Frozen, they are skipped by full
    # garbage collections, which would take 2 ms of an answer.
    gc.freeze()
    out = sys.stdout.buffer
    sys.stdout = sys.stderr
    try:
        serve(choose, sys.stdin.buffer, lambda line: (out.write(line + b"\n"), out.flush()))
    except NoMoveError as error:  # a traceback through the arena's code would not help the author
        sys.exit(f"{_place_of(choose)}{error}")
    except KeyboardInterrupt:
        sys.exit(130)


def serve(choose: Choose, lines: Iterable[bytes], send: Callable[[bytes], object]) -> None:
    """Answer the arena's messages from any source of lines: `run` with the input and output in your
    hands. Use it to feed your bot a recorded dialogue in a test.

    Args:
        choose: Your function, as in `run`.
        lines: Messages of the arena, one line of JSON each.
        send: Called with each reply: one line of JSON without its newline.

    Raises:
        NoMoveError: Your function returned something that is not a move.
        msgspec.DecodeError: A line is not a message of the protocol. Message types that a later
            protocol may add are ignored.

    Example:
        Collect the replies to a recorded dialogue:

            replies = []
            serve(choose, recorded_lines, replies.append)
    """
    game: _Game | None = None
    manager = TimeManager()
    answered_ns = time.process_time_ns()
    for line in lines:
        match decode_from_arena(line):
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
    """The state of one game, which begins with the message ``start`` and follows the messages to
    this seat.
    """

    def __init__(self, start: messages.Start) -> None:
        board = parse_board("board", "\n".join(start.board))
        self._state = State(board, start.players, (UNKNOWN,) * DECK_SIZE)
        self._seat = start.seat
        # For play, not for secrets.
        self._rng = random.Random(start.seed)  # noqa: S311
        self._has_bank = start.game_ms is not None
        self._options = MappingProxyType(_Options(start.options))

    def follow(self, played: messages.Played) -> None:
        """Plays the move of a ``played`` message, after noting a forfeit that the
        message reports.
        """
        move = parse_move(self._state.board, played.move)
        if played.forfeited and not self._state.retired[played.seat]:
            self._state.retire(played.seat)
        self._state.play(move)

    @property
    def left(self) -> Sequence[int]:
        """The number of pagodas left, by seat."""
        return self._state.left

    def answer(self, choose: Choose, turn: messages.Turn, watch: Stopwatch) -> messages.Move:
        """The message that answers the message ``turn`` with the move that ``choose`` returns.
        ``watch`` measures the answer's time.
        """
        self._state.set_hand(self._seat, [parse_tile(tile) for tile in turn.hand])
        note: dict[str, object] = {}
        position = Position(
            self._state.copy(), self._seat, self._rng, turn.time_ms,
            has_bank=self._has_bank, watch=watch, note=note, options=self._options,
        )  # fmt: skip
        move = choose(position)
        text = move if isinstance(move, str) else _text_of(move, choose, position)
        return messages.Move(turn.id, text, _note(note)) if note else messages.Move(turn.id, text)


def _text_of(move: object, choose: Choose, position: Position) -> str:
    """The text of ``move``, a number that the bot's function ``choose`` returned for ``position``.
    Raises NoMoveError, which names the function, if it is not the number of a move.

    A move that the rules forbid is sent as it is, because the arena names the rule in its answer.
    An int below `_MAX_INDEX` that is no legal move but an index of one is refused: as a move, it
    would mean red on red.
    """
    cure = "return one of position.legal_moves()"
    try:
        number = operator.index(move)  # type: ignore[arg-type]
        legal = position.legal_moves() if 0 <= number < _MAX_INDEX else []
        if not 0 <= number < len(legal) or number in legal:
            text = position.text(number)
            position.move(text)
            return text
        cure = f"return the move position.legal_moves()[{number}], not its index"
    except (TypeError, IndexError, MoveError):
        pass
    name = getattr(choose, "__name__", "choose")
    shown = repr(move)
    shown = shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
    raise NoMoveError(f"{name} returned {shown} at turn {position.turns}: {cure}")


def _place_of(choose: Choose) -> str:
    """Where the function ``choose`` is defined, such as ``bot.py line 6: ``; empty if Python does
    not know.
    """
    code = getattr(choose, "__code__", None)
    if code is None:
        return ""
    return f"{os.path.relpath(code.co_filename)} line {code.co_firstlineno}: "


class _Options(dict[str, Any]):
    """The values of a bot's options by name. A name that does not exist raises KeyError with a
    sentence that lists the names.
    """

    def __missing__(self, name: str) -> Any:
        there = ", ".join(self) or "none"
        raise KeyError(f"bot.toml has no option {name!r}, only {there}")


def _note(note: dict[str, object]) -> msgspec.Raw:
    """A note, encoded for the message. If it cannot be encoded, a message goes to stderr, and what
    is returned (`messages.SILENCE`) leaves the note out, because a note must not lose the game.
    """
    try:
        return msgspec.Raw(_encode_note(note))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        sys.stderr.write(f"the note was not sent: {error}\n")
        return messages.SILENCE


def position_of(
    line: str, seat: int | None = None, *, time_ms: int = 1000, seed: int = 0
) -> Position:
    """The position that a line of text stands for, as one seat sees it. Use it to test your
    function outside the arena.

    `Position.line` and ``arena replay --line`` write such lines; protocol/NOTATION.md describes
    them.

    Args:
        line: The line of text.
        seat: The seat whose view it is. By default this is the seat to move or, if the line hides
            its hand, the first seat whose hand the line shows.
        time_ms: The time limit for an answer, as in `Position.time_ms`.
        seed: The seed of `Position.rng`.

    Returns:
        The position, from which you can call every method that your bot uses.

    Raises:
        NotationError: The line is not a position of a running game.
        BoardError: The line's board breaks the rules for boards.
        ValueError: The line does not show the hand of that seat, or no hand at all.

    Examples:
        >>> position_of("R.3/.3V 0 24,24 RRYYBB,RRYYBB - 0,0,0,0,0,0 -").hand
        ['RR', 'YY', 'BB']
    """
    state = parse_position(line, State)
    shown = [owner for owner, hand in enumerate(state.hands) if UNKNOWN not in hand]
    if seat is None:
        seat = state.mover if state.mover in shown or not shown else shown[0]
    if seat not in shown:
        raise ValueError(f"expected a line that shows the hand of seat {seat}, got {line!r}")
    seen = parse_position(position_text(state, seat), State)
    # For play, not for secrets.
    return Position(seen, seat, random.Random(seed), time_ms)  # noqa: S311
