"""The board on the terminal: coloured characters, four for each square; the text about a move; and
the seat of a person, who types moves and asks for places, hints and rules.
"""

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from itertools import groupby
from operator import or_
from shutil import get_terminal_size
from typing import NamedTuple, TextIO

import click

from arena.cli.rules import rules_text, show_rules
from arena.cli.terminal import colours_wanted, columns_of, is_unicode, screen_folded, tell
from arena.commands.hints import Hint, hints_for, note_of_help
from arena.errors import MoveError, NotationError, UserError, counted, printable
from arena.exports.grid import cut_names, padded, width_of
from arena.exports.scene import Pair, Scene, pair_of
from arena.exports.text import HIDDEN_TILE, board_text, event_text, hands_text, seat_names
from arena.players.messages import Start
from arena.players.player import YOU, Answer, Player
from arena.records.record import GameRecord
from arena.rules import State
from arena.rules.boards import COLOURS, GRASS, LAKE, VILLAGE, Board, squares_of
from arena.rules.explain import where_to_read
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
from arena.rules.positions import draw
from arena.rules.terms import HAND, NOBODY, Event

WIDTH = 4
"""The number of characters of a square in a line."""
LONGEST_NAME = 26
"""The most columns of a name in the list of seats."""
# Colours are those of the 256 that a terminal has, without the first 16, which a theme may change.
# They are chosen by eye: the nearest to those of pictures made villages and yellow tiles the same.
DARK, LIGHT = 234, 231
SEATS = (DARK, LIGHT, 134, 36)
"""The colours of the seats. They are similar to those in pictures, but lighter, because the
terminal draws no outline around them.
"""
ON_SEATS = (LIGHT, DARK, LIGHT, DARK)
"""The colour of text on each seat's colour."""
HELP = """\
  {move:<8} place a tile: one colour and its square, then the other
  {tile:<8} show where a tile of your hand can go
  {square:<8} show which of your moves cover a square
  hint     mark the squares of three good moves; again: the best one, and why
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


class Ground(NamedTuple):
    """The colours of a kind of square, as numbers from 0 to 255: ``plain`` for the square, ``lit``
    if it is marked, ``ink`` for text on it, and ``seam`` for the line between two tiles.
    """

    plain: int
    lit: int
    ink: int
    seam: int = DARK


BROWN, PALE = 58, 224
GROUNDS: Mapping[str, Ground] = {
    "R": Ground(124, 203, PALE, 52),
    "Y": Ground(220, 228, BROWN, 136),
    "B": Ground(25, 74, LIGHT, 17),
    VILLAGE: Ground(180, 223, 58),
    LAKE: Ground(110, 153, LIGHT),
    GRASS: Ground(107, 193, BROWN),
}
"""The colours of each kind of square, by what is on it."""
OTHER_GRASS = 108
"""The second colour of grass. The two colours alternate, so that squares can be counted."""


class Sign(NamedTuple):
    """A character of a drawing: its colour ``ink`` and the colour ``ground`` behind it, both
    numbers of the terminal's 256 colours, and whether it is bold.
    """

    text: str
    ink: int
    ground: int
    is_bold: bool = False


def has_colours(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether to write colours to ``stream``: as the variables in ``environment`` ask, see
    `colours_wanted`, or, if they do not, whether the stream is a terminal.
    """
    wanted = colours_wanted(environment)
    return stream.isatty() if wanted is None else wanted


class Mosaic:
    """Draws the positions of a game as text for the terminal. ``tiles`` are the tiles on the board
    at the start; call `lay` for each move, so that the two squares of its tile are drawn without a
    line between them.
    """

    def __init__(self, board: Board, tiles: Iterable[Pair] = ()) -> None:
        self._board = board
        self._scene = Scene(board)
        self._mates = dict[int, int]()
        self._has_colours = has_colours(sys.stdout)
        self._pagoda, self._seam = "▲▏" if is_unicode(sys.stdout) else "^|"
        self._join(tiles)

    def lay(self, move: int) -> None:
        """Adds the tile of a move to the tiles on the board."""
        self._join(pair_of(self._board, move))

    def _join(self, tiles: Iterable[Pair]) -> None:
        """Adds these tiles, each a pair of squares."""
        for one, other in tiles:
            self._mates |= {one: other, other: one}

    def board(self, state: State, marked: int = 0) -> str:
        """The board with coordinates. The squares in the bit mask ``marked`` are highlighted."""
        if not self._has_colours:
            return board_text(state, marked=marked)
        cells = draw(state)
        storeys = self._storeys(state)
        lines = ["   " + "".join(f" {chr(97 + x):<{WIDTH - 1}}" for x in range(self._board.width))]
        for y, row in enumerate(cells):
            signs = [
                sign
                for x, cell in enumerate(row)
                for sign in self._signs(cell, row[x - 1] if x else "", x, y, storeys, marked)
            ]
            lines.append(f"{y + 1:>2} {self._line(signs)}")
        return "\n".join(lines)

    def _signs(
        self, cell: str, before: str, x: int, y: int, storeys: Mapping[int, int], marked: int
    ) -> list[Sign]:
        """The four characters of the square at column ``x`` and row ``y``: ``" R0 "``, or with a
        pagoda ``" ▲0 "``, or with the two pagodas of a major province ``" ▲▲ "``. ``cell`` is what
        is on the square, and ``before`` what is on the square to its left. Marked squares have a
        rim, and there is a line between two tiles.
        """
        square = y * self._board.stride + x
        ground = GROUNDS[cell[0]]
        plain = OTHER_GRASS if cell == GRASS and (x + y) % 2 else ground.plain
        # Shifting the mask gives the neighbours of a square. The spare column beside the board
        # keeps the rows apart.
        is_lit = marked >> square & 1
        left_lit = (marked << 1) >> square & 1
        right_lit = (marked >> 1) >> square & 1
        base = Sign(" ", ground.ink, ground.lit if is_lit else plain)
        middle = [base._replace(text=sign) for sign in f"{cell:<2}".replace(GRASS, " ")]
        if count := storeys.get(square, 0):
            signs = self._pagoda + (self._pagoda if count > 1 else cell[1])
            middle = [on_seat(int(cell[1]), sign) for sign in signs]
        left = right = base
        if {cell[0], before[:1]} <= set(COLOURS) and self._mates.get(square) != square - 1:
            left = base._replace(text=self._seam, ink=ground.seam)
        if is_lit and not left_lit:
            left = base._replace(text="[", is_bold=True)
        if is_lit and not right_lit:
            right = base._replace(text="]", is_bold=True)
        return [left, *middle, right]

    def _storeys(self, state: State) -> dict[int, int]:
        """The squares on which pagodas are drawn, each with the number of pagodas."""
        villages = zip(self._board.villages, state.villages, strict=True)
        taken = {next(squares_of(area)): 1 for area, owner in villages if owner != NOBODY}
        return {square: province.pagodas for square, province in self._scene.homes(state)} | taken

    def _line(self, signs: Sequence[Sign]) -> str:
        """A line of characters; neighbours of equal colours share an escape sequence."""
        return "".join(
            click.style("".join(sign.text for sign in alike), ink, ground, bold=bold or None)
            for (ink, ground, bold), alike in groupby(signs, lambda sign: sign[1:])
        )

    def seats(self, state: State, names: Sequence[str], seen_by: int | None = None) -> str:
        """One line per seat: its name, its hand, and its pagodas left. With ``seen_by``, only the
        hand of that seat is shown; None shows all hands.
        """
        if not self._has_colours:
            return hands_text(state, names, seen_by, columns_of(sys.stdout))
        shown = cut_names(names, LONGEST_NAME)
        widest = max(map(width_of, shown))
        return "\n".join(
            self._seat(state, seat, padded(name, widest), is_seen=seen_by in (None, seat))
            for seat, name in enumerate(shown)
        )

    def _seat(self, state: State, seat: int, name: str, *, is_seen: bool) -> str:
        """The line of a seat. Its pagodas left are drawn if the terminal is wide enough."""
        grass = GROUNDS[GRASS]
        left = state.left[seat]
        is_next = seat == state.mover and state.end is None
        hand = [self._tile(tile) if is_seen else HIDDEN_TILE for tile in state.hands[seat]]
        begin = f"{'*' if is_next else ' '} {self._line([on_seat(seat, f' {seat} ')])} {name}  "
        gap = "   " * (HAND - len(hand))
        row = (self._pagoda * left).ljust(left + state.placed(seat))
        taken = width_of(f"* 000 {name}  {row} 00 to place") + 3 * HAND
        if taken <= get_terminal_size().columns:
            gap += click.style(row, SEATS[seat], grass.plain) + " "
        return f"{begin}{' '.join(hand)} {gap}{left:>2} to place"

    def _tile(self, tile: int) -> str:
        """The two letters of a tile, in their colours."""
        return self._line(
            [Sign(letter, GROUNDS[letter].ink, GROUNDS[letter].plain) for letter in TILES[tile]]
        )


def on_seat(seat: int, text: str) -> Sign:
    """Text in the colours of a seat."""
    return Sign(text, ON_SEATS[seat], SEATS[seat], is_bold=True)


def move_lines(
    mosaic: Mosaic,
    state: State,
    names: Sequence[str],
    seat: int,
    move: int,
    events: Sequence[Event],
    remarks: Sequence[str] = (),
    seen_by: int | None = None,
) -> str:
    """The text after a move: the move and its events, the lines ``remarks``, the board, and the
    seats with their hands; with ``seen_by``, only the hand of that seat. ``state`` is the state
    after the move. The tile of the move is added to ``mosaic``.
    """
    mosaic.lay(move)
    return "\n".join(
        [
            move_summary(state, names, seat, move, events),
            *(screen_folded(f"  {printable(line)}") for line in remarks),
            mosaic.board(state, squares_under(state.board, move)),
            mosaic.seats(state, names, seen_by),
            "",
        ]
    )


def move_summary(
    state: State, names: Sequence[str], seat: int, move: int, events: Sequence[Event]
) -> str:
    """A line about a move of ``seat``, and one for each event. ``state`` is the state after the
    move.
    """
    head = f"turn {state.turns}: {names[seat]} " + (
        "passes" if move == PASS else f"plays {move_text(state.board, move)}"
    )
    caused = (f"  {event_text(event, state.board, names)}" for event in events)
    return screen_folded("\n".join([head, *caused]))


def end_line(record: GameRecord) -> str:
    """A line about how a game ended, with the bots in the order of their ranks."""
    names = seat_names(record.bots)
    ranks = record.ranks
    order = sorted(range(len(names)), key=lambda seat: ranks[seat])
    places = (f"{ranks[seat]}. {names[seat]} ({record.left[seat]} left)" for seat in order)
    return f"end ({record.end}): {', '.join(places)}"


def squares_under(board: Board, move: int) -> int:
    """The bit mask of the squares that a move covers; 0 for a pass."""
    if move == PASS:
        return 0
    _, square, _, other = split_move(board, move)
    return 1 << square | 1 << other


class Human(Player):
    """The player of a person at the terminal. ``ask(prompt)`` reads a line; it raises EOFError at
    the end of input.
    """

    def __init__(self, names: Sequence[str], ask: Callable[[str], str], mosaic: Mosaic) -> None:
        self.name = YOU
        self._mosaic = mosaic
        self._names = names
        self._ask = ask
        self._seed = 0
        self._is_new = True
        # The hints of this turn, none before the first one is asked for, and how many were shown.
        self._hints = list[Hint]()
        self._hints_shown = 0

    def begin(self, start: Start) -> None:
        """Prints the seat and the goal of the game. How to move is explained at the first turn,
        with a move that is legal there.
        """
        self._seed = start.seed
        self._is_new = True
        seat = f"seat {start.seat} of {start.players}, with {start.pagodas} pagodas to place"
        tell(f"you sit at {seat}\n{GOAL}\n")

    def choose(self, state: State, budget_ns: int) -> Answer:  # noqa: ARG002
        """Prints the board and asks until the person types a legal move. The time limit
        ``budget_ns`` is ignored. Raises click.Abort if the person quits.
        """
        seat = state.mover
        began_ns = time.monotonic_ns()
        self._hints = []
        self._hints_shown = 0
        mosaic = self._mosaic
        click.echo(f"{mosaic.board(state)}\n{mosaic.seats(state, self._names, seen_by=seat)}")
        moves = {move_text(state.board, move): move for move in state.legal_moves()} or {
            PASSED: PASS
        }
        if self._is_new:
            tell(FIRST.format(example(moves)))
            self._is_new = False
        while (move := self._read(state, seat, moves)) is None:
            pass
        note = note_of_help(self._hints_shown)
        return Answer(move, time.monotonic_ns() - began_ns, note=note)

    def _read(self, state: State, seat: int, moves: dict[str, int]) -> str | None:
        """Reads a line. If the line is a legal move, returns the move as text; otherwise prints a
        reply and returns None. ``moves`` has the legal moves by their text. Raises click.Abort if
        the person quits.
        """
        hand = " ".join(TILES[tile] for tile in state.hands[seat])
        try:
            text = self._ask(f"your move, with {hand} (? for help): ").strip()
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

    def _reply(self, text: str, state: State, moves: dict[str, int]) -> str:
        """The reply to a line that is not a legal move; empty for ``rules``, because the rules are
        shown here.
        """
        if text in ("?", "help", ""):
            return help_text(state, moves)
        if text == "hint" and PASS in moves.values():
            return "you can only pass"
        if text == "hint":
            return self._hint(state)
        if ABOUT_RULES.fullmatch(text):
            try:
                show_rules(rules_text(text.removeprefix("rules").strip()))
            except UserError as error:
                return f"{error}; {error.hint}"
            return ""
        with suppress(NotationError):
            return self._where(state, moves, text)
        try:
            move = parse_move(state.board, text)
        except MoveError as error:
            return f"{str(error).replace(EXAMPLE, example(moves))}; ? for help"
        reason = state.why_illegal(move)
        command = where_to_read(reason)
        return f"{reason}; type {command.split()[-1]} to read the rule" if command else reason

    def _hint(self, state: State) -> str:
        """The next hint of this turn. The first one is a board on which the squares of the best
        moves are marked, so that there still is something to think about; the second one is the
        best move, with its reason.
        """
        self._hints = self._hints or hints_for(state, self._names, self._seed + state.turns)
        self._hints_shown = min(self._hints_shown + 1, 2)
        if self._hints_shown == 1:
            squares = (squares_under(state.board, hint.move) for hint in self._hints)
            marked = self._mosaic.board(state, reduce(or_, squares))
            count = counted(len(self._hints), "good move")
            return f"{marked}\n  marked: the squares of {count}; type hint again for the best one"
        best = self._hints[0]
        return f"  {move_text(state.board, best.move)}  {best.reason}; wins about {best.win:.0%}"

    def _where(self, state: State, moves: dict[str, int], text: str) -> str:
        """The legal moves with the tile, or over the square, that ``text`` names: a board on which
        the squares they cover are marked, and a list. Raises NotationError if the text names
        neither.
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
        marked = reduce(or_, (squares_under(board, move) for move in found))
        names = [move_text(board, move) for move in found]
        starts = range(0, len(names), PER_LINE)
        lines = ["  " + " ".join(names[start : start + PER_LINE]) for start in starts]
        return "\n".join([self._mosaic.board(state, marked), *lines])


def help_text(state: State, moves: dict[str, int]) -> str:
    """What a person can type, with a move, a tile and a square that fit this position."""
    name = example(moves)
    if name == PASSED:
        return HELP.format(move=PASSED, tile=TILES[0], square="a1")
    tile = TILES[tile_of(moves[name])]
    square = split_move(state.board, moves[name])[1]
    return HELP.format(move=name, tile=tile, square=state.board.name_of(square))


def example(moves: dict[str, int]) -> str:
    """The text of a legal move, from the middle of ``moves``."""
    return list(moves)[len(moves) // 2]
