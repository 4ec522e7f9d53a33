"""Boards: rows of text that are checked by R1.5 and turned into masks of squares.

A *square* is an int, ``row * board.stride + column``, both counted from 0; a *mask* is an int with
bit ``square`` set for each of its squares. ``stride`` is the width plus one: the unused last column
keeps a mask that is shifted by one square from wrapping into the next row.
"""

import os
import stat
from collections.abc import Iterator
from functools import cache, reduce
from itertools import chain
from operator import or_
from typing import TYPE_CHECKING

from arena.errors import BoardError

if TYPE_CHECKING:
    from pathlib import Path

GRASS, VILLAGE, LAKE = ".V~"
COLOURS = "RYB"
COLOUR_NAMES = ("red", "yellow", "blue")
MAX_SIDE = 26
MAX_BYTES = 64 << 10
NAMED_SQUARES = 1088
"""The number of squares that have a name. A move stores its square in ten bits, and its second
square may lie one row further, so error messages may name squares that are not on the board.
"""
BUILT_IN = ("bird", "lion")
"""The names of the boards in the folder ``boards``. A name and its file are all that a new one
needs.
"""


def squares_of(mask: int) -> Iterator[int]:
    """The squares of ``mask`` in reading order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def nth_square(mask: int, index: int) -> int:
    """The square of the set bit of ``mask`` with this index; index 0 is the lowest set bit."""
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
    """An immutable board (R1.1) called ``name``, made from its rows of text.

    ``rows``               the text, one string per row
    ``height``, ``width``  the number of rows and of columns
    ``stride``             the width plus one, see the module's docstring
    ``grass``              the mask of grassland without starting spaces
    ``starts``             for each colour R, Y, B the mask of its starting spaces
    ``villages``           one mask per village (R1.4), in the reading order of their first squares
    ``beside``             one mask per village: the squares that share an edge with that village
    ``beside_any``         the union of all masks in ``beside``
    ``founding``           masks of groups of two or more adjacent starting spaces of one colour; a
                           group belongs to nobody until a tile touches it

    The constructor raises BoardError, with row and column, for rows that R1.5 forbids.
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
        named_rows = NAMED_SQUARES // self.stride
        self._names = tuple(map(self._made_name, range(named_rows * self.stride)))
        start_areas = chain.from_iterable(map(self._areas, self.starts))
        self.founding = tuple(area for area in start_areas if area.bit_count() > 1)

    def _made_name(self, square: int) -> str:
        """The name of ``square``, made from its column and its row."""
        row, column = divmod(square, self.stride)
        return f"{chr(97 + column)}{row + 1}"

    def _mask(self, terrain: str) -> int:
        """The mask of the squares whose letter in the rows is ``terrain``."""
        mask = 0
        for row, line in enumerate(self.rows):
            for column, letter in enumerate(line):
                if letter == terrain:
                    mask |= 1 << row * self.stride + column
        return mask

    def _areas(self, mask: int) -> Iterator[int]:
        """Splits ``mask`` into connected areas, one mask for each area, in the reading order of
        their first squares.
        """
        while mask:
            area = 0
            grown = mask & -mask
            while grown != area:
                area = grown
                grown |= self.around(area) & mask
            mask &= ~area
            yield area

    def around(self, mask: int) -> int:
        """The mask of all squares that share an edge with a square of ``mask``. The result may
        include squares of ``mask`` and squares that are not on the board.
        """
        return mask << 1 | mask >> 1 | mask << self.stride | mask >> self.stride

    def founding_at(self, mask: int) -> int:
        """The union of the groups of adjacent starting spaces (``founding``) that overlap ``mask``;
        0 if no group does.
        """
        return sum(area for area in self.founding if area & mask)

    def name_of(self, square: int) -> str:
        """The name of a square: the column's letter and the row's number; ``a1`` is at the top
        left.
        """
        return self._names[square]

    def __repr__(self) -> str:
        return f"Board({self.name!r}, {self.width} x {self.height})"

    def __reduce__(self) -> tuple[type["Board"], tuple[str, tuple[str, ...]]]:
        return Board, (self.name, self.rows)


def check_rows(name: str, rows: tuple[str, ...]) -> None:
    """Raises BoardError for the first square or row of the board ``name`` that R1.5 forbids, with
    its row and column counted from 1; also for a board without squares or without a starting space.
    """
    allowed = GRASS + VILLAGE + LAKE + COLOURS
    if not rows or not rows[0]:
        raise BoardError(f"board {name}: expected at least one row of squares, got none")

    def wrong(row: int, column: int, expected: str) -> BoardError:
        """The error that says what was expected at this row and column, both counted from 1."""
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
    if set("".join(rows)).isdisjoint(COLOURS):
        raise BoardError(
            f"board {name}, row 1 to {len(rows)}, column 1 to {len(rows[0])}: expected at least one"
            " start (R, Y or B), got none",
            "the first tile must touch a start (R4.2)",
        )


def parse_board(name: str, text: str) -> Board:
    """Makes a board called ``name`` from a text with one line per row; blank lines at the end of
    the text are ignored. Raises BoardError.
    """
    lines = text.rstrip("\r\n \t").split("\n")
    return Board(name, tuple(line.rstrip("\r") for line in lines))


def read_board(path: "Path") -> Board:
    """Reads the board in the file at ``path``; the board's name is the file's name without its
    ending. Raises BoardError if the file cannot be read, if it is larger than `MAX_BYTES` or no
    text, and for rows that R1.5 forbids.
    """
    try:
        text = _read_regular(path).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise BoardError(f"board file {path}: expected a text file, got {error}") from error
    if not path.stem.isprintable():  # because the name is used in seeds and file names
        raise BoardError(f"board file {path}: expected a name of printable characters in UTF-8")
    return parse_board(path.stem, text)


def _read_regular(path: "Path") -> bytes:
    """The content of the regular file at ``path``, at most `MAX_BYTES`. Does not block if a pipe or
    a device lies at ``path``. Raises OSError, or ValueError for a larger file and for anything that
    is not a regular file.
    """
    # The path may come from a stranger's arena.toml. Nothing may ever be written to a pipe there,
    # and a device may never end.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("a pipe or a device")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES >> 10} KiB")
    return data


@cache
def built_in(name: str) -> Board:
    """The board ``name`` of the package, one of `BUILT_IN`. Raises BoardError for another name."""
    if name not in BUILT_IN:
        raise BoardError(
            f"expected a board out of {', '.join(BUILT_IN)}, got {name!r}",
            "any other is given as the path of a board file, such as ./moon.txt",
        )
    # Neither importlib.resources nor pathlib: both would make the start of every bot longer.
    path = os.path.join(os.path.dirname(__file__), "boards", f"{name}.txt")  # noqa: PTH118, PTH120
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return parse_board(name, file.read())


def find_board(text: str) -> Board:
    """The board that a user names by ``text``: the built-in board with that name, or the board in
    the file at that path. Raises BoardError if there is neither, and as `read_board` does.
    """
    # Bots find no boards, and every start of a bot would wait 4 ms for pathlib.
    from pathlib import Path  # noqa: PLC0415

    is_file = text not in BUILT_IN and ("/" in text or Path(text).is_file())
    return read_board(Path(text)) if is_file else built_in(text)
