"""Boards: rows of text that are checked by R1.5 and turned into masks of squares.

A *square* is an int, ``row * board.stride + column``; a *mask* is an int with bit ``square`` set
for each square in it. ``stride`` is the width plus one: the spare column keeps a mask moved one
square left or right from wrapping into the next row.
"""

import os
import stat
from collections.abc import Iterator
from functools import cache, reduce
from operator import or_
from pathlib import Path

from arena.errors import BoardError

GRASS, VILLAGE, LAKE = ".V~"
COLOURS = "RYB"
MAX_SIDE = 26
MAX_BYTES = 64 << 10
NAMED_SQUARES = 1088
"""How many square numbers have names. The ten bits of a move can also stand for squares off the
board, which need names in error messages.
"""
BUILT_IN = ("bird", "lion")


def squares_of(mask: int) -> Iterator[int]:
    """The squares of a mask in reading order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def nth_square(mask: int, index: int) -> int:
    """The square of the set bit with this index, counted from the lowest."""
    square = 0
    half = mask.bit_length() >> 1
    # For few bits, removing them one by one is faster than halving the mask.
    while index > 6:  # noqa: PLR2004
        low = mask & (1 << half) - 1
        count = low.bit_count()
        if index < count:
            mask = low
        else:
            index -= count
            mask >>= half
            square += half
        half >>= 1
    for _ in range(index):
        mask &= mask - 1
    return square + (mask & -mask).bit_length() - 1


class Board:
    """An immutable map (R1.1).

    ``rows``      the text, one string per row
    ``grass``     the mask of free grassland at the start
    ``starts``    for each colour R, Y, B the mask of its starting spaces
    ``villages``  one mask per village (R1.4), in the reading order of their first squares
    ``beside``    one mask per village: the squares that share an edge with it; ``beside_any`` is
                  all of them together
    ``founding``  masks of two or more adjacent starting spaces of one colour; see `State` for what
                  they mean

    Raises BoardError, with row and column, for what R1.5 forbids.
    """

    def __init__(self, name: str, rows: tuple[str, ...]) -> None:
        check_rows(name, rows)
        self.name = name
        self.rows = rows
        self.height = len(rows)
        self.width = len(rows[0])
        self.stride = self.width + 1
        self.grass = self._mask(GRASS)
        self.starts = (self._mask("R"), self._mask("Y"), self._mask("B"))
        self.villages = tuple(self._areas(self._mask(VILLAGE)))
        self.beside = tuple(self.around(village) & ~village for village in self.villages)
        self.beside_any = reduce(or_, self.beside, 0)
        self._names = tuple(
            f"{chr(97 + column)}{row + 1}"
            for row in range(NAMED_SQUARES // self.stride)
            for column in range(self.stride)
        )
        self.founding = tuple(
            area for start in self.starts for area in self._areas(start) if area.bit_count() > 1
        )

    def _mask(self, terrain: str) -> int:
        """The squares with this terrain or colour, by its letter."""
        return sum(
            1 << row * self.stride + column
            for row, line in enumerate(self.rows)
            for column, letter in enumerate(line)
            if letter == terrain
        )

    def _areas(self, mask: int) -> Iterator[int]:
        """The connected areas of a mask, in reading order."""
        while mask:
            area = 0
            grown = mask & -mask
            while grown != area:
                area = grown
                grown |= self.around(area) & mask
            mask &= ~area
            yield area

    def around(self, mask: int) -> int:
        """The mask of all squares that share an edge with a square of the mask. Some of them may be
        in the mask, or off the board.
        """
        return mask << 1 | mask >> 1 | mask << self.stride | mask >> self.stride

    def founding_at(self, mask: int) -> int:
        """All groups of adjacent starting spaces that overlap the mask, as one mask."""
        return sum(area for area in self.founding if area & mask)

    def name_of(self, square: int) -> str:
        """The name of a square: column letter and row number, ``a1`` is top left."""
        return self._names[square]

    def __repr__(self) -> str:
        return f"Board({self.name!r}, {self.width} x {self.height})"

    def __reduce__(self) -> tuple[type["Board"], tuple[str, tuple[str, ...]]]:
        return Board, (self.name, self.rows)


def check_rows(name: str, rows: tuple[str, ...]) -> None:
    """Raises BoardError, with row and column, for the first thing in the rows that R1.5 forbids."""
    allowed = GRASS + VILLAGE + LAKE + COLOURS
    if not rows or not rows[0]:
        raise BoardError(f"board {name}: expected at least one row of squares, got none")

    def wrong(row: int, column: int, expected: str) -> BoardError:
        """The error at a row and column."""
        return BoardError(f"board {name}, row {row}, column {column}: expected {expected}")

    if len(rows) > MAX_SIDE:
        raise wrong(MAX_SIDE + 1, 1, f"at most {MAX_SIDE} rows, got {len(rows)}")
    width = len(rows[0])
    for number, row in enumerate(rows, 1):
        if len(row) > MAX_SIDE:
            raise wrong(number, MAX_SIDE + 1, f"at most {MAX_SIDE} columns, got {len(row)}")
        for column, letter in enumerate(row, 1):
            if letter not in allowed:
                raise wrong(number, column, f"one of {' '.join(allowed)}, got {letter!r}")
        if len(row) != width:
            expected = f"{width} squares as in row 1, got {len(row)}"
            raise wrong(number, min(len(row), width) + 1, expected)
    if not any(letter in COLOURS for row in rows for letter in row):
        raise BoardError(
            f"board {name}, row 1 to {len(rows)}, column 1 to {len(rows[0])}: expected at least one"
            " start (R, Y or B), got none",
            "the first tile must touch a start (R4.2)",
        )


def parse_board(name: str, text: str) -> Board:
    """The board in a text with one line per row; blank lines at the end are ignored. Raises
    BoardError.
    """
    return Board(name, tuple(line.rstrip("\r") for line in text.rstrip("\r\n \t").split("\n")))


def read_board(path: Path) -> Board:
    """The board in a file; its name is that of the file without the ending. Raises BoardError."""
    try:
        text = _read_regular(path).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise BoardError(f"board file {path}: expected a text file, got {error}") from error
    if not path.stem.isprintable():  # the name is used in seeds and file names
        raise BoardError(f"board file {path}: expected a name of printable characters in UTF-8")
    return parse_board(path.stem, text)


def _read_regular(path: Path) -> bytes:
    """The content of a regular file. Never blocks, whatever lies at the path. Raises OSError,
    ValueError.
    """
    # The path may come from a stranger's arena.toml: a pipe may never be written to, and a device
    # may never end.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("a pipe or a device")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES >> 10} KiB")
    return data


@cache
def built_in(name: str) -> Board:
    """The board of this name in the package. Raises BoardError for any other name."""
    if name not in BUILT_IN:
        raise BoardError(
            f"expected a board out of {', '.join(BUILT_IN)}, got {name!r}",
            "any other is given as the path of a board file, such as ./moon.txt",
        )
    # Not importlib.resources, which would take a sixth of the start-up time of every bot.
    path = Path(__file__).with_name("boards") / f"{name}.txt"
    return parse_board(name, path.read_text(encoding="utf-8"))


def find_board(text: str) -> Board:
    """A built-in board by its name, or else the board in the file at this path. Raises
    BoardError.
    """
    is_file = text not in BUILT_IN and ("/" in text or Path(text).is_file())
    return read_board(Path(text)) if is_file else built_in(text)
