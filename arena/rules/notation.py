"""Squares, tiles, hands, moves, decks as text and as ints (protocol/NOTATION.md is the contract).

A *colour* is 0, 1 or 2 for R, Y, B. A *tile* is an index into ``TILES``; a *hand* is a sorted tuple
of them. A *move* is one int, ``kind << 10 | square``: ``square`` is the tile's first square in
reading order, and ``kind`` is ``(first colour * 3 + second colour) * 2 + vertical``. The order of
moves is the order of these ints. ``PASS`` is not a placement and sorts before all of them.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from operator import index
from typing import TYPE_CHECKING

from arena.errors import IllegalMoveError, InvalidMoveError, NotationError
from arena.rules.boards import COLOURS, Board

if TYPE_CHECKING:
    from arena.rules.pure import State
    from arena.rules.terms import Event

TILES = ("RR", "YY", "BB", "RY", "YB", "RB")
COPIES = 12
DECK_SIZE = COPIES * len(TILES)
UNKNOWN = len(TILES)
"""A hidden tile: in another seat's hand, or in the draw pile."""

CACHED_MOVES = 1 << 14
"""More than two boards of the usual size have."""
CACHED_DECKS = 64
"""Each deck is played several times within a few games."""

PASS = -1
"""The move of a seat that can place no tile."""
PASSED = "pass"
"""The text of `PASS`."""
QUOTED = 40
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
    """The move of colour ``first`` on ``square`` and ``second`` right of it, or below it."""
    return ((first * 3 + second) * 2 + vertical) << KIND_SHIFT | square


def split_move(board: Board, move: int) -> tuple[int, int, int, int]:
    """First colour, its square, second colour, its square."""
    kind, square = move >> KIND_SHIFT, move & SQUARE_MASK
    return kind // 6, square, kind // 2 % 3, square + (board.stride if kind & 1 else 1)


def tile_of(move: int) -> int:
    """The tile that a placement lays."""
    return TILE_OF_KIND[move >> KIND_SHIFT]


@lru_cache(maxsize=CACHED_MOVES)
def move_text(board: Board, move: int) -> str:
    """The move in canonical notation, such as ``Rc4Yd4``, or ``pass``."""
    if move == PASS:
        return PASSED
    first, square, second, other = split_move(board, move)
    return f"{COLOURS[first]}{board.name_of(square)}{COLOURS[second]}{board.name_of(other)}"


def parse_square(board: Board, text: str) -> int:
    """The square of the board that the text names. Raises NotationError."""
    match = _SQUARE.fullmatch(text)
    if not match:
        raise NotationError(f"expected a square such as c4, got {text!r}")
    column, row = ord(match[1]) - 97, int(match[2]) - 1
    if column >= board.width or row >= board.height:
        last = board.name_of((board.height - 1) * board.stride + board.width - 1)
        raise NotationError(f"expected a square from a1 to {last}, got {text!r}")
    return row * board.stride + column


@lru_cache(maxsize=CACHED_MOVES)
def parse_move(board: Board, text: str) -> int:
    """The move that the text names, with its halves in either order. Raises InvalidMoveError."""
    if text == PASSED:
        return PASS
    match = _MOVE.fullmatch(text)
    if not match:
        raise InvalidMoveError(f"expected a move such as Rc4Yd4, got {quoted(text)}")
    try:
        one = parse_square(board, match[2] + match[3])
        other = parse_square(board, match[5] + match[6])
    except NotationError as error:
        raise InvalidMoveError(f"{error} in the move {text!r}") from None
    first, second = COLOURS.index(match[1]), COLOURS.index(match[4])
    if one > other:
        one, other, first, second = other, one, second, first
    if other - one not in (1, board.stride):
        raise InvalidMoveError(f"expected two squares that share an edge, got {text!r}")
    return make_move(first, second, one, vertical=other - one != 1)


def legal_move(state: "State", text: str) -> int:
    """The move that the text stands for, if the mover may play it. Raises MoveError."""
    move = parse_move(state.board, text)
    if not state.is_legal(move):
        raise IllegalMoveError(state.why_illegal(move))
    return move


def play_text(state: "State", text: str, events: "list[Event] | None" = None) -> int:
    """Plays the move or pass that the text stands for, and returns it; adds what it led to to
    ``events``. Raises MoveError.
    """
    move = parse_move(state.board, text)
    state.play(move, events)
    return move


def parse_tile(text: str) -> int:
    """The tile that the text names, with its letters in either order. Raises NotationError."""
    try:
        return _TILE_OF_TEXT[text]
    except KeyError:
        raise NotationError(
            f"expected a tile out of {' '.join(TILES)}, got {quoted(text)}"
        ) from None


@lru_cache(maxsize=CACHED_DECKS)
def parse_deck(text: str) -> tuple[int, ...]:
    """The tiles of a deck in draw order, the 72 of R1.2. Raises NotationError."""
    deck = tuple([parse_tile(text[at : at + 2]) for at in range(0, len(text), 2)])
    for tile, name in enumerate(TILES):
        if (count := deck.count(tile)) != COPIES:
            raise NotationError(f"expected {COPIES} tiles {name} in the deck, got {count}")
    return deck


def deck_text(deck: tuple[int, ...]) -> str:
    """A deck, or a hand, as text: the tiles' names joined."""
    return "".join(TILES[tile] if tile != UNKNOWN else "??" for tile in deck)


def deck_sorted(key: Callable[[int], bytes | int]) -> str:
    """All tiles in the order of a key, as text; the key is given the numbers of the tiles, which
    are RR, twelve times, then YY, and so on.
    """
    return "".join(TILES[number // COPIES] for number in sorted(range(DECK_SIZE), key=key))


def quoted(text: str) -> str:
    """An unreadable text as a message quotes it."""
    if len(text) <= QUOTED:
        return repr(text)
    return f"{text[:QUOTED]!r}... ({len(text)} characters)"


Hand = tuple[int, ...]


@cache
def with_tile(hand: Hand, tile: int) -> Hand:
    """The hand plus one tile, sorted."""
    return tuple(sorted((*hand, tile)))


@cache
def without_tile(hand: Hand, tile: int) -> Hand:
    """The hand minus one tile; minus an unknown tile if it does not show this one."""
    at = hand.index(tile if tile in hand else UNKNOWN)
    return hand[:at] + hand[at + 1 :]


@cache
def kinds_of(tiles: Hand) -> tuple[int, ...]:
    """The kinds of move that these tiles allow, in ascending order."""
    return tuple(
        sorted({kind for tile in tiles if tile != UNKNOWN for kind in KINDS_OF_TILE[tile]})
    )


def checked_tiles(tiles: Iterable[int]) -> Hand:
    """The tiles as a tuple of plain ints. Raises ValueError for anything that is not a tile."""
    checked = tuple(map(index, tiles))
    if checked and not (min(checked) >= 0 and max(checked) <= UNKNOWN):
        wrong = next(tile for tile in checked if not 0 <= tile <= UNKNOWN)
        raise ValueError(f"expected tiles from 0 to {UNKNOWN}, got {wrong}")
    return checked
