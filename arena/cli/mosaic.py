"""A board in the terminal's colours, and who plays on it. Without colours both are plain text."""

import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from shutil import get_terminal_size

from arena.cli.colours import Depth, depth_of, painted
from arena.cli.squares import ASCII, GRASS, GROUNDS, SEATS, WIDTH, Glyphs, Plot, Sign, on_seat
from arena.cli.terminal import columns_of, is_unicode
from arena.exports.pictures.scene import Pair, Scene, pair_of
from arena.exports.text import HIDDEN_TILE, board_text, hands_text
from arena.exports.width import padded, told_apart, width_of
from arena.rules import State
from arena.rules.boards import Board, squares_of
from arena.rules.diagrams import draw
from arena.rules.notation import TILES
from arena.rules.terms import HAND, NOBODY

BELOW = 11
"""The lines that a screen needs beside those of a large board."""
MARGIN = 3
LONGEST_NAME = 26


class Mosaic:
    """Draws the positions of a game on the terminal that stdout is. ``lay`` tells it of each move,
    so that the two squares of a tile are joined; ``tiles`` are those that lie already.
    """

    def __init__(self, board: Board, tiles: Iterable[Pair] = ()) -> None:
        self._board, self._scene = board, Scene(board)
        self._mates = dict[int, int]()
        self._depth = depth_of(sys.stdout)
        self._glyphs = Glyphs() if is_unicode(sys.stdout) else ASCII
        self._join(tiles)

    def _is_large(self) -> bool:
        """Whether the terminal has room for the large board: now, as windows change."""
        size = get_terminal_size()
        return (
            self._glyphs != ASCII
            and size.lines >= 2 * self._board.height + BELOW
            and size.columns >= WIDTH * self._board.width + MARGIN
        )

    def lay(self, move: int) -> None:
        """Remembers the tile of a move."""
        self._join(pair_of(self._board, move))

    def _join(self, tiles: Iterable[Pair]) -> None:
        for one, other in tiles:
            self._mates |= {one: other, other: one}

    def board(self, state: State, marked: int = 0) -> str:
        """The board with coordinates, with the squares in the mask ``marked`` set off."""
        if self._depth == Depth.NONE:
            return board_text(state, marked=marked)
        board = self._board
        position = Plot(board, draw(state), self._homes(state), self._mates, marked)
        is_large = self._is_large()
        lines = [" " * MARGIN + "".join(f" {chr(97 + x):<{WIDTH - 1}}" for x in range(board.width))]
        for y in range(board.height):
            row = [
                position.large(x, y) if is_large else position.small(x, y, self._glyphs)
                for x in range(board.width)
            ]
            lines += [
                (f"{y + 1:>2} " if part == 0 else " " * MARGIN)
                + self._line([sign for square in row for sign in square[part]])
                for part in range(len(row[0]))
            ]
        return "\n".join(lines)

    def _homes(self, state: State) -> dict[int, int]:
        """Where pagodas stand, and how many storeys they have."""
        villages = zip(self._board.villages, state.villages, strict=True)
        taken = {next(squares_of(area)): 1 for area, owner in villages if owner != NOBODY}
        return {square: province.pagodas for square, province in self._scene.homes(state)} | taken

    def _line(self, signs: Sequence[Sign]) -> str:
        """Neighbours of the same colours share their escape sequence."""
        return "".join(
            painted("".join(sign.text for sign in alike), self._depth, ink, ground, is_bold=bold)
            for (ink, ground, bold), alike in groupby(signs, lambda sign: sign[1:])
        )

    def seats(self, state: State, names: Sequence[str], seen_by: int | None = None) -> str:
        """One line per seat: name, hand, and the pagodas that are left. With ``seen_by``, only this
        seat's hand is shown.
        """
        if self._depth == Depth.NONE:
            return hands_text(state, names, seen_by, columns_of(sys.stdout))
        shown = told_apart(names, LONGEST_NAME)
        widest = max(map(width_of, shown))
        return "\n".join(
            self._seat(state, seat, padded(name, widest), is_seen=seen_by in (None, seat))
            for seat, name in enumerate(shown)
        )

    def _seat(self, state: State, seat: int, name: str, *, is_seen: bool) -> str:
        """A seat's line: its pagodas stand on grass if there is room for them."""
        grass, left = GROUNDS[GRASS], state.left[seat]
        is_next = seat == state.mover and state.end is None
        hand = [self._tile(tile) if is_seen else HIDDEN_TILE for tile in state.hands[seat]]
        begin = f"{'*' if is_next else ' '} {self._line([on_seat(seat, f' {seat} ')])} {name}  "
        gap = "   " * (HAND - len(hand))
        row = (self._glyphs.pagoda * left).ljust(left + state.placed(seat))
        taken = width_of(f"* 000 {name}  {row} 00 to place") + 3 * HAND
        if taken <= get_terminal_size().columns:
            gap += painted(row, self._depth, SEATS[seat], grass.plain) + " "
        return f"{begin}{' '.join(hand)} {gap}{left:>2} to place"

    def _tile(self, tile: int) -> str:
        return self._line(
            [Sign(letter, GROUNDS[letter].ink, GROUNDS[letter].plain) for letter in TILES[tile]]
        )
