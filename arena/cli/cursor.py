"""A cursor for a person at the terminal: the keys of the terminal, one at a time, and the tile that
they move over the board. What the tile would do is shown before it is placed.
"""

import os
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import NamedTuple, Self

from arena.cli.board import WIDTH, Mosaic, squares_under
from arena.cli.terminal import folded
from arena.exports.effects import colours_of, effects_of
from arena.exports.refusals import plain_refusal
from arena.rules import State
from arena.rules.boards import COLOURS, Board
from arena.rules.notation import PASS, TILES, make_move, split_move, tile_of

UP, DOWN, RIGHT, LEFT = "up", "down", "right", "left"
TAB, BACK_TAB, SPACE, ENTER, ESCAPE = "tab", "back tab", "space", "enter", "escape"
STEPS = {UP: (0, -1), DOWN: (0, 1), LEFT: (-1, 0), RIGHT: (1, 0)}
"""How far each arrow key moves the tile: columns and rows."""
SEQUENCES = {"A": UP, "B": DOWN, "C": RIGHT, "D": LEFT, "Z": BACK_TAB}
"""The keys by the last letter of what a terminal sends for them after Escape."""
INTRODUCERS = ("[", "O")
"""What stands between Escape and the rest of what a terminal sends for such a key."""
CONTROLS = {"\t": TAB, " ": SPACE, "\n": ENTER, "\r": ENTER}
END_OF_INPUT = "\x04"
"""What Ctrl-D sends."""
ESCAPE_S = 0.2
"""The wait, in seconds, after which Escape was pressed alone: an arrow key sends Escape first, and
a slow connection may bring the rest 50 ms later and more.
"""
SEQUENCE_S = 1.0
"""The longest wait, in seconds, for the rest of a sequence that has begun. Hardly anybody types the
beginning of one, so a long wait disturbs nobody.
"""
SLOT = 3
"""The most lines that say what the aimed tile would do."""
MIN_COLUMNS = 60
"""The columns that the prompt, the keys and a seat with its hand need."""
LINES_BELOW = 3
"""The lines of a picture below the slot: the pagodas, the keys and the prompt."""
TURNS = 4
KEYS = "arrows move the tile, space turns it, Tab takes the next one, Enter places it"


class Keyboard:
    """The keys of the terminal that is the standard input."""

    def __init__(self) -> None:
        # When Escape was last taken for a key of its own, in seconds of the monotonic clock.
        self._escaped_at = -SEQUENCE_S

    @classmethod
    def of_terminal(cls) -> Self | None:
        """The keyboard, if the standard input and output are a terminal that can move its cursor;
        else None.
        """
        is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        return cls() if is_terminal and os.environ.get("TERM", "dumb") != "dumb" else None

    @contextmanager
    def open(self) -> Iterator[None]:
        """A context manager in which keys arrive at once, and are not echoed."""
        modes = termios.tcgetattr(0)
        # A shell does not give a program that it continues (Ctrl-Z, then fg) its modes back.
        before = signal.signal(signal.SIGCONT, lambda *_: tty.setcbreak(0, termios.TCSANOW))
        try:
            tty.setcbreak(0, termios.TCSADRAIN)
            yield
        finally:
            signal.signal(signal.SIGCONT, before)
            termios.tcsetattr(0, termios.TCSADRAIN, modes)

    def read(self) -> str:
        """Waits for a key and returns its name, or the character that it types; an empty text for
        an unknown key. Raises EOFError at the end of input.
        """
        text = self._character()
        if text == "\x1b":
            return self._after_escape()
        # No move begins with these, so they are the rest of a key whose Escape came long before.
        if text in INTRODUCERS and time.monotonic() - self._escaped_at < SEQUENCE_S:
            return self._rest_of_sequence()
        return CONTROLS.get(text, text if text.isprintable() else "")

    def line(self, prompt: str, typed: str) -> str:
        """Reads a line after the ``prompt``. It begins with ``typed``, characters that the person
        has typed already. Raises EOFError.
        """
        try:
            import readline  # noqa: PLC0415 - some systems do not have it
        except ImportError:
            return typed + input(prompt + typed)
        readline.set_startup_hook(lambda: readline.insert_text(typed))
        try:
            return input(prompt)
        finally:
            readline.set_startup_hook(None)

    def _after_escape(self) -> str:
        """The key whose first character was Escape."""
        while has_input(ESCAPE_S):
            text = self._character()
            if text in INTRODUCERS:
                return self._rest_of_sequence()
            # A key pressed with Alt sends one more Escape before its own characters.
            if text != "\x1b":
                return ""
        self._escaped_at = time.monotonic()
        return ESCAPE

    def _rest_of_sequence(self) -> str:
        """The key whose sequence goes on after one of `INTRODUCERS`; an empty text for an unknown
        key, and for a sequence that does not end.
        """
        self._escaped_at = -SEQUENCE_S
        while has_input(SEQUENCE_S):
            last = self._character()
            if not last.isdigit() and last != ";":
                return SEQUENCES.get(last, "")
        return ""

    def _character(self) -> str:
        """The next character. Raises EOFError at the end of input."""
        read = os.read(0, 1)
        if read in (b"", END_OF_INPUT.encode()):
            raise EOFError
        # The first byte of a character in UTF-8 says how many follow it.
        for first, count in ((0xF0, 3), (0xE0, 2), (0xC0, 1)):
            if read[0] >= first:
                while len(read) <= count and has_input(SEQUENCE_S):
                    read += os.read(0, 1)
                break
        return read.decode(errors="replace")


def has_input(seconds: float) -> bool:
    """Whether the terminal has something to read, or gets something within ``seconds``."""
    return bool(select.select([0], [], [], seconds)[0])


class Aim(NamedTuple):
    """A ``tile`` over a board: its left or upper square is at ``column`` and ``row``, counted from
    0. ``turn`` counts quarter turns: with 0 its first colour is at the left, with 1 above, with 2
    at the right, with 3 below.
    """

    tile: int
    turn: int
    column: int
    row: int

    @classmethod
    def of(cls, board: Board, move: int) -> Self:
        """The aim at which ``move``, a placement, is played."""
        first, square, _, other = split_move(board, move)
        row, column = divmod(square, board.stride)
        tile = tile_of(move)
        is_vertical = other - square != 1
        is_turned = COLOURS[first] != TILES[tile][0]
        return cls(tile=tile, turn=is_vertical + 2 * is_turned, column=column, row=row)

    def move(self, board: Board) -> int:
        """The move that places the tile here; it need not be legal."""
        first, second = (COLOURS.index(letter) for letter in TILES[self.tile])
        if self.turn >= 2:  # noqa: PLR2004 - see `turn`
            first, second = second, first
        square = self.row * board.stride + self.column
        return make_move(first, second, square, vertical=bool(self.turn % 2))

    def after(self, key: str, board: Board, hand: Sequence[int]) -> Self:
        """The aim after one of the keys for the tile: an arrow key moves it, SPACE turns it, TAB
        and BACK_TAB take the next or the previous tile of ``hand``. Both squares stay on the board.
        """
        if key == SPACE:
            turns = TURNS if TILES[self.tile][0] != TILES[self.tile][1] else 2
            return self._replace(turn=(self.turn + 1) % turns).inside(board)
        if key in (TAB, BACK_TAB):
            tiles = list(dict.fromkeys(hand))
            step = 1 if key == TAB else -1
            tile = tiles[(tiles.index(self.tile) + step) % len(tiles)]
            is_double = TILES[tile][0] == TILES[tile][1]
            return self._replace(tile=tile, turn=self.turn % 2 if is_double else self.turn)
        columns, rows = STEPS[key]
        return self._replace(column=self.column + columns, row=self.row + rows).inside(board)

    def inside(self, board: Board) -> Self:
        """This aim, moved as far as needed for the tile to have both squares on the board."""
        most_right = board.width - 1 - (self.turn + 1) % 2
        most_down = board.height - 1 - self.turn % 2
        return self._replace(
            column=min(max(self.column, 0), most_right), row=min(max(self.row, 0), most_down)
        )


class FirstCharacter(NamedTuple):
    """The first character of a line that a person has begun to type; empty if they pressed Enter
    without a tile.
    """

    text: str


class Cursor:
    """Lets a person aim a tile with the keys of a ``keyboard``. ``mosaic`` draws the board,
    ``names`` are those of the seats, and ``write`` puts text on the terminal (by default, on
    stdout).
    """

    def __init__(
        self,
        keyboard: Keyboard,
        mosaic: Mosaic,
        names: Sequence[str],
        write: Callable[[str], object] | None = None,
    ) -> None:
        self._keyboard = keyboard
        self._mosaic = mosaic
        self._names = names
        self._write = write or sys.stdout.write
        self._aim: Aim | None = None
        # The move that the person made last: the next tile is aimed near it.
        self._last: Aim | None = None
        # The number of lines on the terminal that the next picture replaces, the prompt included.
        self._lines = 0

    def has_room(self, state: State) -> bool:
        """Whether the terminal is large enough for the board, the seats and what a tile does."""
        size = get_terminal_size()
        # A line of letters above the board, perhaps a head above the seats, and one of the slot.
        needed = state.board.height + len(state.left) + 3 + LINES_BELOW
        columns = max(MIN_COLUMNS, 3 + WIDTH * state.board.width)
        return size.lines >= needed and size.columns >= columns

    def aimed(self, board: Board) -> int | None:
        """The move that would place the aimed tile on ``board``; None if no tile is aimed."""
        return self._aim.move(board) if self._aim else None

    def begin_turn(self, state: State, prompt: str) -> None:
        """Draws the position ``state`` at the start of the person's turn, before any tile is aimed,
        and the ``prompt`` below it.
        """
        self._aim = None
        self._lines = 0
        self._draw(state, prompt)

    def choose(self, state: State, prompt: str) -> int | FirstCharacter:
        """Shows the line ``prompt`` and waits until the person places a tile, and returns that
        legal move; or until they begin to type a line, and returns its `FirstCharacter`. Raises
        EOFError at the end of input.
        """
        board = state.board
        if self._lines == 0:
            self._write(prompt)
            self._lines = 1
        sys.stdout.flush()
        with self._keyboard.open():
            while True:
                key = self._keyboard.read()
                if key == ENTER and self._aim and state.is_legal(self._aim.move(board)):
                    self._last = self._aim
                    self._leave("\n")
                    return self._aim.move(board)
                if key == ENTER and self._aim is None:
                    self._leave("\n")
                    return FirstCharacter("")
                if key in STEPS or key in (SPACE, TAB, BACK_TAB):
                    self._aim = (
                        self._aim.after(key, board, state.hands[state.mover])
                        if self._aim
                        else self._first_aim(state)
                    )
                elif key == ESCAPE:
                    self._aim = None
                elif len(key) == 1:
                    self._leave("\r\x1b[K")
                    return FirstCharacter(key)
                else:
                    continue
                self._draw(state, prompt)

    def _leave(self, text: str) -> None:
        """Writes ``text``. The next picture is drawn below it, not over the last one."""
        self._lines = 0
        self._write(text)
        sys.stdout.flush()

    def _first_aim(self, state: State) -> Aim:
        """The legal place that is nearest to the person's last tile, or to the board's middle."""
        board = state.board
        near_row = self._last.row if self._last else board.height // 2
        near_column = self._last.column if self._last else board.width // 2
        places = [Aim.of(board, move) for move in state.legal_moves() if move != PASS]
        return min(places, key=lambda aim: abs(aim.row - near_row) + abs(aim.column - near_column))

    def _draw(self, state: State, prompt: str) -> None:
        """Draws the position with the aimed tile in place of the last picture."""
        position = self._position(state)
        lines = [*position, *self._words(state, len(position)), prompt]
        replaced = ""
        if self._lines:
            up = min(self._lines, get_terminal_size().lines) - 1
            replaced = f"\r\x1b[{up}A\x1b[J" if up else "\r\x1b[J"
        self._write(replaced + "\n".join(lines))
        sys.stdout.flush()
        self._lines = len(lines)

    def _position(self, state: State) -> list[str]:
        """The lines of the board with the aimed tile, and of the seats."""
        mosaic = self._mosaic
        board = state.board
        seats = mosaic.seats(state, self._names, seen_by=state.mover)
        if self._aim is None:
            return f"{mosaic.board(state)}\n{seats}".split("\n")
        move = self._aim.move(board)
        tile = self._aim.tile
        lit = 0
        for place in state.legal_moves():
            if place != PASS and tile_of(place) == tile:
                lit |= squares_under(board, place)
        drawn = mosaic.aimed(state, move, lit)
        return f"{drawn}\n{seats}".split("\n")

    def _words(self, state: State, above: int) -> list[str]:
        """The lines on what the aimed tile would do, or why it may not lie there, and on keys.
        ``above`` is the number of lines above them.
        """
        size = get_terminal_size()
        if self._aim is None:
            return folded(KEYS, size.columns).split("\n")
        names = list(self._names)
        names[state.mover] = "you"
        move = self._aim.move(state.board)
        before = list(state.left)
        if state.is_legal(move):
            does = effects_of(state, move, names, state.mover)
            after = does.left
            words = " ".join(effect.words for effect in does.effects)
        else:
            after = before
            refusal = plain_refusal(state, move)
            words = f"Not here. {refusal.words}" if refusal else ""
        free = max(min(size.lines - above - LINES_BELOW, SLOT), 1)
        text = f"{colours_of(state.board, move).capitalize()}. {words}"
        lines = folded(text, size.columns).split("\n")[:free]
        lines += [""] * (free - len(lines))
        counts = []
        for name, old, new in zip(names, before, after, strict=True):
            change = "" if old == new else f" -> {new}"
            counts.append(f"{name} {old}{change}")
        pagodas = f"pagodas to place: {', '.join(counts)}"
        return [*lines, cut(pagodas, size.columns), cut(KEYS, size.columns)]


def cut(text: str, width: int) -> str:
    """``text`` up to the last word with which it is at most ``width`` columns wide."""
    return folded(text, width).split("\n")[0]
