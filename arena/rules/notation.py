"""Squares, tiles, moves and decks as text and as ints (protocol/NOTATION.md is the contract).

A *colour* is 0, 1 or 2 for R, Y, B. A *tile* is an index into ``TILES``. A *move* is one int,
``kind << 10 | square``: ``square`` is the tile's first square in reading order, and ``kind`` is
``(first colour * 3 + second colour) * 2 + vertical``. The order of moves is the order of these
ints. ``PASS`` is not a placement and sorts before all of them.
"""

import re
from functools import lru_cache

from arena.errors import InvalidMoveError, NotationError
from arena.rules.boards import COLOURS, Board

TILES = ("RR", "YY", "BB", "RY", "YB", "RB")
COPIES = 12
DECK_SIZE = COPIES * len(TILES)
UNKNOWN = len(TILES)
"""A hidden tile: in another seat's hand, or in the draw pile."""

CACHED = 1 << 14
"""The number of moves whose text is cached: more than two boards of the usual size have."""
DECKS = 64
"""The number of decks that are cached: each is played several times within a few games."""

PASS = -1
"""The move of a seat that can place no tile."""
PASSED = "pass"
"""The text of `PASS`."""
SHOWN = 40
"""How much of an unreadable text a message quotes, in characters."""
KIND_SHIFT = 10
SQUARE_MASK = (1 << KIND_SHIFT) - 1

TILE_OF_COLOURS = tuple(
    tuple(
        next(tile for tile, name in enumerate(TILES) if sorted(name) == sorted(a + b))
        for b in COLOURS
    )
    for a in COLOURS
)
"""The tile that shows two colours, in either order."""

_TILE_OF_TEXT = {
    a + b: TILE_OF_COLOURS[one][other]
    for one, a in enumerate(COLOURS)
    for other, b in enumerate(COLOURS)
}
TILE_OF_KIND = tuple(TILE_OF_COLOURS[kind // 6][kind // 2 % 3] for kind in range(18))
KINDS_OF_TILE = tuple(
    tuple(kind for kind in range(18) if TILE_OF_KIND[kind] == tile) for tile in range(len(TILES))
)

_MOVE = re.compile(r"([RYB])([a-z])([1-9][0-9]?)([RYB])([a-z])([1-9][0-9]?)", re.ASCII)
_SQUARE = re.compile(r"([a-z])([1-9][0-9]?)", re.ASCII)


def make_move(first: int, second: int, square: int, *, vertical: bool) -> int:
    """The move that puts colour ``first`` on ``square`` and ``second`` on the square to the right
    of it, or below it.
    """
    return ((first * 3 + second) * 2 + vertical) << KIND_SHIFT | square


def split_move(board: Board, move: int) -> tuple[int, int, int, int]:
    """First colour, its square, second colour, its square."""
    kind, square = move >> KIND_SHIFT, move & SQUARE_MASK
    return kind // 6, square, kind // 2 % 3, square + (board.stride if kind & 1 else 1)


def tile_of(move: int) -> int:
    """The tile that a placement lays."""
    return TILE_OF_KIND[move >> KIND_SHIFT]


@lru_cache(maxsize=CACHED)
def move_text(board: Board, move: int) -> str:
    """The move in canonical notation, such as ``Rc4Yd4``, or ``pass``."""
    if move == PASS:
        return PASSED
    first, square, second, other = split_move(board, move)
    return f"{COLOURS[first]}{board.name_of(square)}{COLOURS[second]}{board.name_of(other)}"


def parse_square(board: Board, text: str) -> int:
    """The square that the text names. Raises NotationError if it is
    unreadable or not on the board.
    """
    match = _SQUARE.fullmatch(text)
    if not match:
        raise NotationError(f"expected a square such as c4, got {text!r}")
    column, row = ord(match[1]) - 97, int(match[2]) - 1
    if column >= board.width or row >= board.height:
        raise NotationError(f"expected a square from a1 to {_last_square(board)}, got {text!r}")
    return row * board.stride + column


@lru_cache(maxsize=CACHED)
def parse_move(board: Board, text: str) -> int:
    """The move that the text names, with its halves in either order. Raises InvalidMoveError."""
    if text == PASSED:
        return PASS
    match = _MOVE.fullmatch(text)
    if not match:
        raise InvalidMoveError(f"expected a move such as Rc4Yd4, got {_short(text)}")
    try:
        one, other = (
            parse_square(board, match[2] + match[3]),
            parse_square(board, match[5] + match[6]),
        )
    except NotationError as error:
        raise InvalidMoveError(f"{error} in the move {text!r}") from None
    first, second = COLOURS.index(match[1]), COLOURS.index(match[4])
    if one > other:
        one, other, first, second = other, one, second, first
    if other - one not in (1, board.stride):
        raise InvalidMoveError(f"expected two squares that share an edge, got {text!r}")
    return make_move(first, second, one, vertical=other - one != 1)


def parse_tile(text: str) -> int:
    """The tile that the text names, with its letters in either order. Raises NotationError."""
    try:
        return _TILE_OF_TEXT[text]
    except KeyError:
        raise NotationError(
            f"expected a tile out of {' '.join(TILES)}, got {_short(text)}"
        ) from None


@lru_cache(maxsize=DECKS)
def parse_deck(text: str) -> tuple[int, ...]:
    """The tiles of a deck in draw order, from ``RRYBBB...``. Raises NotationError unless it is the
    72 tiles of R1.2.
    """
    deck = tuple([parse_tile(text[at : at + 2]) for at in range(0, len(text), 2)])
    for tile, name in enumerate(TILES):
        if deck.count(tile) != COPIES:
            raise NotationError(
                f"expected {COPIES} tiles {name} in the deck, got {deck.count(tile)}"
            )
    return deck


def deck_text(deck: tuple[int, ...]) -> str:
    """A deck, or a hand, as text: the tiles' names joined."""
    return "".join(TILES[tile] if tile != UNKNOWN else "??" for tile in deck)


def _last_square(board: Board) -> str:
    return board.name_of((board.height - 1) * board.stride + board.width - 1)


def _short(text: str) -> str:
    if len(text) <= SHOWN:
        return repr(text)
    return f"{text[:SHOWN]!r}... ({len(text)} characters)"
