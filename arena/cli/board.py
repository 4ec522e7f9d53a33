"""The board on the terminal, in coloured characters, four for each square; and the text about a
move.
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from shutil import get_terminal_size
from typing import NamedTuple, TextIO

import click

from arena.cli.terminal import colours_wanted, columns_of, is_unicode, screen_folded
from arena.errors import printable
from arena.exports.grid import cut_names, padded, width_of
from arena.exports.scene import Pair, Scene, pair_of
from arena.exports.text import HIDDEN_TILE, board_text, event_text, hands_text, seat_names
from arena.records.record import GameRecord
from arena.rules import State
from arena.rules.boards import COLOURS, GRASS, LAKE, VILLAGE, Board, squares_of
from arena.rules.notation import PASS, TILES, move_text, split_move
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


class Marking(NamedTuple):
    """Bit masks of the squares that are marked with a ``rim``, and of those that are only
    lighter (``lit``).
    """

    rim: int = 0
    lit: int = 0


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

    def aimed(self, state: State, move: int, lit: int) -> str:
        """The board with the tile of ``move``, which need not be legal, marked; a legal move is
        drawn as if it were played. The squares in the bit mask ``lit`` are lighter.
        """
        board = self._board
        marks = Marking(squares_under(board, move), lit)
        mates = self._mates
        self._mates = dict(mates)
        self.lay(move)
        try:
            if state.is_legal(move):
                after = state.copy()
                after.play(move)
                return self._drawn(after, draw(after), marks)
            cells = [list(row) for row in draw(state)]
            first, square, second, other = split_move(board, move)
            for colour, place in ((first, square), (second, other)):
                row, column = divmod(place, board.stride)
                cells[row][column] = COLOURS[colour]
            return self._drawn(state, cells, marks)
        finally:
            self._mates = mates

    def board(self, state: State, marked: int = 0) -> str:
        """The board with coordinates. The squares in the bit mask ``marked`` are highlighted."""
        return self._drawn(state, draw(state), Marking(marked))

    def _drawn(self, state: State, cells: Sequence[Sequence[str]], marks: Marking) -> str:
        """The board in the position ``state`` with these ``cells`` on its squares."""
        if not self._has_colours:
            return board_text(state, marked=marks.rim, cells=cells)
        storeys = self._storeys(state)
        letters = [f" {chr(97 + x):<{WIDTH - 1}}" for x in range(self._board.width)]
        lines = ["   " + "".join(letters)]
        for y, row in enumerate(cells):
            signs: list[Sign] = []
            before = ""
            for x, cell in enumerate(row):
                signs += self._signs(cell, before, x, y, storeys, marks)
                before = cell
            lines.append(f"{y + 1:>2} {self._line(signs)}")
        return "\n".join(lines)

    def _signs(
        self, cell: str, before: str, x: int, y: int, storeys: Mapping[int, int], marks: Marking
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
        rim = marks.rim
        has_rim = rim >> square & 1
        left_has_rim = (rim << 1) >> square & 1
        right_has_rim = (rim >> 1) >> square & 1
        is_lit = (rim | marks.lit) >> square & 1
        base = Sign(" ", ground.ink, ground.lit if is_lit else plain)
        middle = [base._replace(text=sign) for sign in f"{cell:<2}".replace(GRASS, " ")]
        count = storeys.get(square, 0)
        if count and len(cell) > 1:
            signs = self._pagoda + (self._pagoda if count > 1 else cell[1])
            middle = [on_seat(int(cell[1]), sign) for sign in signs]
        left = right = base
        if {cell[0], before[:1]} <= set(COLOURS) and self._mates.get(square) != square - 1:
            left = base._replace(text=self._seam, ink=ground.seam)
        if has_rim and not left_has_rim:
            left = base._replace(text="[", is_bold=True)
        if has_rim and not right_has_rim:
            right = base._replace(text="]", is_bold=True)
        return [left, *middle, right]

    def _storeys(self, state: State) -> dict[int, int]:
        """The squares on which pagodas are drawn, each with the number of pagodas."""
        storeys = {square: province.pagodas for square, province in self._scene.homes(state)}
        for area, owner in zip(self._board.villages, state.villages, strict=True):
            if owner != NOBODY:
                storeys[next(squares_of(area))] = 1
        return storeys

    def _line(self, signs: Sequence[Sign]) -> str:
        """A line of characters; neighbours of equal colours share an escape sequence."""
        parts = []
        for (ink, ground, bold), alike in groupby(signs, lambda sign: sign[1:]):
            text = "".join(sign.text for sign in alike)
            parts.append(click.style(text, ink, ground, bold=bold or None))
        return "".join(parts)

    def seats(self, state: State, names: Sequence[str], seen_by: int | None = None) -> str:
        """One line per seat: its name, its hand, and its pagodas left. With ``seen_by``, only the
        hand of that seat is shown; None shows all hands.
        """
        if not self._has_colours:
            return hands_text(state, names, seen_by, columns_of(sys.stdout))
        shown = cut_names(names, LONGEST_NAME)
        widest = max(map(width_of, shown))
        lines = []
        for seat, name in enumerate(shown):
            is_seen = seen_by in (None, seat)
            lines.append(self._seat(state, seat, padded(name, widest), is_seen=is_seen))
        return "\n".join(lines)

    def _seat(self, state: State, seat: int, name: str, *, is_seen: bool) -> str:
        """The line of a seat. Its pagodas left are drawn if the terminal is wide enough."""
        grass = GROUNDS[GRASS]
        left = state.left[seat]
        is_next = seat == state.mover and state.end is None
        hand = [HIDDEN_TILE] * len(state.hands[seat])
        if is_seen:
            hand = list(map(self._tile, state.hands[seat]))
        begin = f"{'*' if is_next else ' '} {self._line([on_seat(seat, f' {seat} ')])} {name}  "
        gap = "   " * (HAND - len(hand))
        row = (self._pagoda * left).ljust(left + state.placed(seat))
        taken = width_of(f"* 000 {name}  {row} 00 to place") + 3 * HAND
        if taken <= get_terminal_size().columns:
            gap += click.style(row, SEATS[seat], grass.plain) + " "
        return f"{begin}{' '.join(hand)} {gap}{left:>2} to place"

    def _tile(self, tile: int) -> str:
        """The two letters of a tile, in their colours."""
        signs = []
        for letter in TILES[tile]:
            ground = GROUNDS[letter]
            signs.append(Sign(letter, ground.ink, ground.plain))
        return self._line(signs)


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
    lines = [move_summary(state, names, seat, move, events)]
    for remark in remarks:
        lines.append(screen_folded(f"  {printable(remark)}"))
    lines.append(mosaic.board(state, squares_under(state.board, move)))
    lines.append(mosaic.seats(state, names, seen_by))
    lines.append("")
    return "\n".join(lines)


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
