"""The seat of a person at the terminal, who aims a tile with the arrow keys or types moves, and
asks for places, hints and rules.
"""

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import click

from arena.cli.board import Mosaic, squares_under
from arena.cli.cursor import Cursor, FirstCharacter, Keyboard
from arena.cli.rules import rules_text, show_rules
from arena.cli.terminal import tell
from arena.commands.hints import Hint, hints_for, note_of_help
from arena.errors import MoveError, NotationError, UserError, counted
from arena.exports.refusals import plain_refusal
from arena.players.messages import Start
from arena.players.player import YOU, Answer, Player
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

HELP = """\
  {move:<8} place a tile: one colour and its square, then the other
  {tile:<8} show where a tile of your hand can go
  {square:<8} show which of your moves cover a square
  hint     mark the squares of three good moves; again: the best one, and why
  why      after a refused move: read the rule
  rules    read the rules; R4.4 or 'rules village' for one of them
  quit     leave the game"""
"""What a person can type."""
GOAL = """\
the first to place all their pagodas wins: make provinces (two or more touching
spaces of one colour) and reach villages"""
"""The goal of the game, for a person who begins."""
FIRST = """\
type a move such as {}: one colour and its square, then the other
on the board V is a village, and a number the seat of the owner; type rules for more"""
"""How to type a move, shown at a person's first turn."""
PER_LINE = 8
"""The number of moves in a line of a list."""
EXAMPLE = "Rc4Yd4"
"""The example of a move in errors about notation; a legal move is put in its place."""
ABOUT_RULES = re.compile(r"rules( .*)?|R\d+(\.\d+)?|r\d+\.\d+")
"""Matches questions about rules. In small letters, r4 is not one, because it is a square of a large
board.
"""


class Human(Player):
    """The player of a person at the terminal. ``names`` are those of the seats, and ``mosaic``
    draws the board. ``ask(prompt)`` reads a line; it raises EOFError at the end of input. With a
    ``keyboard``, the person can also aim a tile with the arrow keys.
    """

    def __init__(
        self,
        names: Sequence[str],
        ask: Callable[[str], str],
        mosaic: Mosaic,
        keyboard: Keyboard | None = None,
    ) -> None:
        self.name = YOU
        self._mosaic = mosaic
        self._names = names
        self._ask = ask
        self._keyboard = keyboard
        self._cursor = Cursor(keyboard, mosaic, names) if keyboard else None
        self._seed = 0
        self._is_new = True
        # The hints of this turn, none before the first one is asked for, and how many were shown.
        self._hints = list[Hint]()
        self._hints_shown = 0
        # The last typed move of this turn that was refused; None if there is none.
        self._refused: int | None = None

    def begin(self, start: Start) -> None:
        """Prints the seat and the goal of the game. How to move is explained at the first turn,
        with a move that is legal there.
        """
        self._seed = start.seed
        self._is_new = True
        seat = f"seat {start.seat} of {start.players}, with {start.pagodas} pagodas to place"
        tell(f"you sit at {seat}\n{GOAL}\n")

    def choose(self, state: State, budget_ns: int) -> Answer:  # noqa: ARG002
        """Prints the board and asks until the person types or places a legal move. The time limit
        ``budget_ns`` is ignored. Raises click.Abort if the person quits.
        """
        seat = state.mover
        began_ns = time.monotonic_ns()
        self._hints = []
        self._hints_shown = 0
        self._refused = None
        mosaic = self._mosaic
        moves = {move_text(state.board, move): move for move in state.legal_moves()}
        if not moves:
            moves = {PASSED: PASS}
        cursor = self._cursor_for(state)
        if cursor:
            if self._is_new:
                tell(f"{FIRST.format(example(moves))}\n")
            cursor.begin_turn(state, _prompt(state))
        else:
            click.echo(f"{mosaic.board(state)}\n{mosaic.seats(state, self._names, seen_by=seat)}")
            if self._is_new:
                tell(FIRST.format(example(moves)))
        self._is_new = False
        while (move := self._read(state, moves)) is None:
            pass
        note = note_of_help(self._hints_shown)
        return Answer(move, time.monotonic_ns() - began_ns, note=note)

    def _read(self, state: State, moves: dict[str, int]) -> str | None:
        """Reads a line, or a tile that is placed with keys. If it is a legal move, returns the move
        as text; otherwise prints a reply and returns None. ``moves`` has the legal moves by their
        text. Raises click.Abort if the person quits.
        """
        try:
            text = self._read_text(state).strip()
        except EOFError:
            raise click.Abort from None
        if text in ("quit", "q"):
            raise click.Abort
        with suppress(MoveError):
            # `parse_move` accepts the two squares of a tile in either order.
            if (move := move_text(state.board, parse_move(state.board, text))) in moves:
                return move
        if reply := self._reply(text, state, moves):
            tell(reply)
        return None

    def _read_text(self, state: State) -> str:
        """Reads a line; a tile that is placed with keys is the line with its move. Raises
        EOFError.
        """
        prompt = _prompt(state)
        cursor = self._cursor_for(state)
        if cursor is None or self._keyboard is None:
            return self._ask(prompt)
        chosen = cursor.choose(state, prompt)
        if not isinstance(chosen, FirstCharacter):
            return move_text(state.board, chosen)
        return self._keyboard.line(prompt, chosen.text) if chosen.text else ""

    def _cursor_for(self, state: State) -> Cursor | None:
        """The cursor, if there is a tile to aim and the terminal has room for it; else None."""
        cursor = self._cursor
        return cursor if cursor and state.legal_count() and cursor.has_room(state) else None

    def _reply(self, text: str, state: State, moves: dict[str, int]) -> str:
        """The reply to a line that is not a legal move. Empty for a line that asks for rules,
        because the rules are printed here.
        """
        if text in ("?", "help", ""):
            return help_text(state, moves)
        if text == "hint" and PASS in moves.values():
            return "you can only pass"
        if text == "hint":
            return self._hint(state)
        if text == "why":
            return self._why(state)
        if ABOUT_RULES.fullmatch(text):
            return _rules(text.removeprefix("rules").strip())
        with suppress(NotationError):
            return self._where(state, moves, text)
        try:
            move = parse_move(state.board, text)
        except MoveError as error:
            return f"{str(error).replace(EXAMPLE, example(moves))}; ? for help"
        refusal = plain_refusal(state, move)
        assert refusal is not None, "the move is not legal"
        self._refused = move
        return f"{refusal.words} Type 'why' to read the rule."

    def _why(self, state: State) -> str:
        """Prints the rule that forbids the aimed tile, or the move that was refused last, and
        returns an empty text; a sentence if there is neither.
        """
        aimed = self._cursor.aimed(state.board) if self._cursor else None
        for move in (aimed, self._refused):
            refusal = None if move is None else plain_refusal(state, move)
            if refusal is not None:
                return _rules(refusal.rule)
        return "no move was refused in this turn; type rules to read the rules"

    def _hint(self, state: State) -> str:
        """The next hint of this turn. The first one is a board on which the squares of the best
        moves are marked, so that there still is something to think about; the second one is the
        best move, with its reason.
        """
        self._hints = self._hints or hints_for(state, self._names, self._seed + state.turns)
        self._hints_shown = min(self._hints_shown + 1, 2)
        if self._hints_shown == 1:
            squares = 0
            for hint in self._hints:
                squares |= squares_under(state.board, hint.move)
            marked = self._mosaic.board(state, squares)
            count = counted(len(self._hints), "good move")
            return f"{marked}\n  marked: the squares of {count}; type hint again for the best one"
        best = self._hints[0]
        return f"  {move_text(state.board, best.move)}  {best.reason}; wins about {best.win:.0%}"

    def _where(self, state: State, moves: dict[str, int], text: str) -> str:
        """Where a tile fits, if ``text`` names one, or what covers a square, if it names that: a
        board on which the squares of these legal moves are marked, and a list of the moves; or a
        sentence if there are none. Raises NotationError if the text names neither.
        """
        board = state.board
        held = [move for move in moves.values() if move != PASS]
        # A tile has two colours.
        if len(text) == 2 and text.isalpha():  # noqa: PLR2004
            tile = parse_tile(text.upper())
            if tile not in state.hands[state.mover]:
                return f"you do not hold {TILES[tile]}"
            found = [move for move in held if tile_of(move) == tile]
            none = f"{TILES[tile]} fits nowhere"
        else:
            square = parse_square(board, text)
            found = [move for move in held if square in split_move(board, move)[1::2]]
            none = f"none of your moves covers {text}"
        if not found:
            return none
        marked = 0
        names = []
        for move in found:
            marked |= squares_under(board, move)
            names.append(move_text(board, move))
        lines = [self._mosaic.board(state, marked)]
        for start in range(0, len(names), PER_LINE):
            lines.append("  " + " ".join(names[start : start + PER_LINE]))
        return "\n".join(lines)


def _rules(asked: str) -> str:
    """Prints the rules that a person asks for, all of them if ``asked`` is empty, and returns an
    empty text; or returns why there are none.
    """
    try:
        show_rules(rules_text(asked))
    except UserError as error:
        return error.with_hint
    return ""


def _prompt(state: State) -> str:
    """The prompt for the person's next move, with the hand of the mover of ``state``."""
    hand = " ".join(TILES[tile] for tile in state.hands[state.mover])
    return f"your move, with {hand} (? for help): "


def help_text(state: State, moves: dict[str, int]) -> str:
    """What a person can type, with a move, a tile and a square that fit this position."""
    name = example(moves)
    if name == PASSED:
        return HELP.format(move=PASSED, tile=TILES[0], square="a1")
    tile = TILES[tile_of(moves[name])]
    square = split_move(state.board, moves[name])[1]
    return HELP.format(move=name, tile=tile, square=state.board.name_of(square))


def example(moves: dict[str, int]) -> str:
    """The text of a legal move, from the middle of ``moves``, which has the legal moves by their
    text.
    """
    return list(moves)[len(moves) // 2]
