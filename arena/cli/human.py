"""A person at the terminal as a player: moves typed in notation, with completion, lists of places
and hints.
"""

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import or_

import click

from arena.cli.drawing import squares_under
from arena.cli.mosaic import Mosaic
from arena.cli.rules import rules_text, show_rules
from arena.cli.terminal import tell
from arena.commands.single import best_moves
from arena.errors import MoveError, NotationError, UserError
from arena.players.messages import Start
from arena.players.person import YOU
from arena.players.player import Answer, Player, Words
from arena.rules import State
from arena.rules.notation import (
    PASS,
    PASSED,
    TILES,
    move_text,
    parse_move,
    parse_square,
    parse_tile,
    split_move,
    tile_of,
)
from arena.rules.rulebook import where_to_read

HELP = """\
  {move:<8} place a tile: one colour and its square, then the other
  {tile:<8} show where a tile of your hand can go
  {square:<8} show which of your moves cover a square
  hint     show the moves that do best in many random games from here
  rules    read the rules; R4.4 or 'rules village' for one of them
  quit     leave the game"""
GOAL = (
    "the first to place all their pagodas wins: make provinces (two or more touching\nspaces of one"
    " colour) and reach villages"
)
PER_LINE = 8
EXAMPLE = "Rc4Yd4"
"""The move in errors about notation. It need not be legal here."""
_ABOUT_RULES = re.compile(r"rules( .*)?|R\d+(\.\d+)?|r\d+\.\d+")
"""Written small, r4 is a square of a large board."""


class Human(Player):
    """A seat for a person. ``ask(prompt)`` reads a line, and
    raises EOFError at the end of input.
    """

    def __init__(self, names: Sequence[str], ask: Callable[[str], str], mosaic: Mosaic) -> None:
        self.name = YOU
        self._mosaic = mosaic
        self._names = names
        self._ask = ask
        self._seed = 0
        self._is_new = True

    def begin(self, start: Start) -> None:
        """Says what the goal is. How to move comes at the first turn, with a move that is legal
        there.
        """
        self._seed, self._is_new = start.seed, True
        tell(
            f"you sit at seat {start.seat} of {start.players}, with {start.pagodas} pagodas to"
            f" place\n{GOAL}\n"
        )

    # A person has as long as they like.
    def choose(self, state: State, budget_ns: int) -> Answer:  # noqa: ARG002
        """Asks until the person types a legal move."""
        seat, began_ns = state.mover, time.monotonic_ns()
        mosaic = self._mosaic
        click.echo(f"{mosaic.board(state)}\n{mosaic.seats(state, self._names, seen_by=seat)}")
        moves = {move_text(state.board, move): move for move in state.legal_moves()} or {
            PASSED: PASS
        }
        if self._is_new:
            tell(f"type a move such as {example(moves)}: one colour and its square, then the other")
            tell(
                "on the board V is a village, and a number the seat of the owner; type rules for"
                " more"
            )
            self._is_new = False
        with completion(list(moves)):
            while (move := self._read(state, seat, moves)) is None:
                pass
        return Answer(move, time.monotonic_ns() - began_ns)

    def _read(self, state: State, seat: int, moves: dict[str, int]) -> str | None:
        """One line: a legal move, or None after answering anything else."""
        hand = " ".join(TILES[tile] for tile in state.hands[seat])
        try:
            text = self._ask(f"your move, with {hand} (? for help): ").strip()
        except EOFError:
            raise click.Abort from None
        if text in ("quit", "q"):
            raise click.Abort
        if text in moves:
            return text
        reply = self._reply(text, state, moves)
        if reply:
            tell(reply)
        return self._other_order(text, state, moves)

    def _other_order(self, text: str, state: State, moves: dict[str, int]) -> str | None:
        with contextlib.suppress(MoveError):
            canonical = move_text(state.board, parse_move(state.board, text))
            return canonical if canonical in moves else None
        return None

    def _reply(self, text: str, state: State, moves: dict[str, int]) -> str:
        """The reply to a line that is not a legal move in canonical notation."""
        if text in ("?", "help", ""):
            return help_text(state, moves)
        if text == "hint":
            return hint(state, list(moves.values()), self._seed + state.turns)
        if _ABOUT_RULES.fullmatch(text):
            return ruling(text)
        with contextlib.suppress(NotationError):
            return _where(self._mosaic, state, moves, text)
        try:
            move = parse_move(state.board, text)
        except MoveError as error:
            return f"{str(error).replace(EXAMPLE, example(moves))}; ? for help"
        return "" if state.is_legal(move) else refusal(state.why_illegal(move))

    def inform(self, line: bytes) -> None:
        """Nothing: every move is drawn."""

    def finish(self) -> None:
        """Nothing is held."""

    def stop(self) -> None:
        """Nothing is held."""

    def dismiss(self) -> None:
        """Nothing is held."""

    def evidence(self) -> tuple[str, Words, str]:
        """There is none."""
        return "", [], ""


def hint(state: State, moves: list[int], seed: int) -> str:
    """The moves after which random play leaves this seat best off, with what the seat cannot see
    shuffled each time.
    """
    if moves == [PASS]:
        return "you can only pass"
    return "\n".join(
        f"  {move_text(state.board, move)}  wins {share:.0%} of {games} random games"
        for move, share, games in best_moves(state, moves, seed)
    )


def help_text(state: State, moves: dict[str, int]) -> str:
    """What to type, with a move, a tile and a square that make sense on this board."""
    name = example(moves)
    if name == PASSED:
        return HELP.format(move=PASSED, tile=TILES[0], square="a1")
    _, square, _, _ = split_move(state.board, moves[name])
    return HELP.format(
        move=name, tile=TILES[tile_of(moves[name])], square=state.board.name_of(square)
    )


def example(moves: dict[str, int]) -> str:
    """A legal move, from the middle of the list."""
    return list(moves)[len(moves) // 2]


def places(mosaic: Mosaic, state: State, moves: Sequence[int]) -> str:
    """The board with every square marked that a move covers, and the moves below it, a dozen to a
    line; empty for no moves.
    """
    if not moves:
        return ""
    squares = reduce(or_, (squares_under(state.board, move) for move in moves))
    names = [move_text(state.board, move) for move in moves]
    lines = ["  " + " ".join(names[at : at + PER_LINE]) for at in range(0, len(names), PER_LINE)]
    return "\n".join([mosaic.board(state, squares), *lines])


def refusal(reason: str) -> str:
    """Why a move is refused, and what to type to read the rule."""
    command = where_to_read(reason)
    return f"{reason}; type {command.split()[-1]} to read the rule" if command else reason


def ruling(text: str) -> str:
    """Shows the rules asked for, page by page if they fill more than the screen. Returns what is
    left to say: an error, or nothing.
    """
    try:
        show_rules(rules_text(text.removeprefix("rules").strip()))
    except UserError as error:
        return f"{error}; {error.hint}"
    return ""


def _where(mosaic: Mosaic, state: State, moves: dict[str, int], text: str) -> str:
    """The placements of the tile, or over the square, that the text names. Raises NotationError
    when it names neither.
    """
    held = [move for move in moves.values() if move != PASS]
    # A tile has two colours.
    if len(text) == 2 and text.isalpha():  # noqa: PLR2004
        tile = parse_tile(text.upper())
        if tile not in state.hands[state.mover]:
            return f"you do not hold {TILES[tile]}"
        return (
            places(mosaic, state, [move for move in held if tile_of(move) == tile])
            or f"{TILES[tile]} fits nowhere"
        )
    square = parse_square(state.board, text)
    return (
        places(
            mosaic, state, [move for move in held if square in split_move(state.board, move)[1::2]]
        )
        or f"none of your moves covers {text}"
    )


@contextlib.contextmanager
def completion(words: list[str]) -> Iterator[None]:
    """Lets the tab key complete these words where the terminal has readline."""
    try:
        # Not at the top: it sets up the terminal, and some systems lack it.
        import readline  # noqa: PLC0415
    except ImportError:
        yield
        return
    readline.set_completer(
        lambda text, at: next(
            iter([word for word in words if word.startswith(text)][at : at + 1]), None
        )
    )
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_completer(None)
