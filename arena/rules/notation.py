"""Squares, tiles, hands, moves and decks as text and as ints (the contract is
protocol/NOTATION.md). Lines for whole positions are in `arena.rules.positions`.

A *colour* is 0, 1 or 2 for R, Y, B. A *tile* is an index into ``TILES``; a *hand* is a sorted tuple
of tiles. A *move* is one int, ``kind << 10 | square``: ``square`` is the tile's first square in
reading order, and ``kind`` is ``(first colour * 3 + second colour) * 2 + vertical``. Moves are
ordered by these ints. ``PASS`` is not a placement and sorts before all of them.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from operator import index
from typing import TYPE_CHECKING

from arena.errors import IllegalMoveError, InvalidMoveError, NotationError
from arena.rules.boards import COLOURS, Board
from arena.rules.terms import Event

if TYPE_CHECKING:
    from arena.rules.pure import State

TILES = ("RR", "YY", "BB", "RY", "YB", "RB")
COPIES = 12
DECK_SIZE = COPIES * len(TILES)
UNKNOWN = len(TILES)
"""The number that stands for a tile that the program cannot see, in a hand or in the draw pile."""
HIDDEN = "??"
"""The text for the tile `UNKNOWN`."""
CACHED_MOVES = 1 << 14
"""The number of moves whose texts `move_text` caches, and of texts whose moves `parse_move` caches;
more than the moves of two boards of 13 x 13 squares.
"""
CACHED_DECKS = 64
"""The number of decks that `parse_deck` caches: a run plays each deck several times within a few
games.
"""
PASS = -1
"""The number that stands for passing, where a move is expected: the mover can place no tile."""
PASSED = "pass"
"""The text for `PASS`."""
QUOTED = 40
KIND_SHIFT = 10
SQUARE_MASK = (1 << KIND_SHIFT) - 1
_TILE_OF_NAME = {name: tile for tile, name in enumerate(TILES)}
_TILE_OF_TEXT = _TILE_OF_NAME | {name[::-1]: tile for name, tile in _TILE_OF_NAME.items()}


def _tiles_with(first: str) -> tuple[int, ...]:
    """For each colour in turn, the tile with that colour and the colour of the letter ``first``."""
    return tuple(_TILE_OF_TEXT[first + second] for second in COLOURS)


TILE_OF_COLOURS = tuple(map(_tiles_with, COLOURS))
"""``TILE_OF_COLOURS[one][other]`` is the tile with these two colours; the order of the colours does
not matter.
"""
TILE_OF_KIND = tuple(TILE_OF_COLOURS[kind // 6][kind // 2 % 3] for kind in range(18))


def _kinds_with(tile: int) -> tuple[int, ...]:
    """The kinds of move that place ``tile``."""
    return tuple(kind for kind in range(18) if TILE_OF_KIND[kind] == tile)


KINDS_OF_TILE = tuple(map(_kinds_with, range(len(TILES))))
_MOVE = re.compile(r"([RYB])([a-z])([1-9][0-9]?)([RYB])([a-z])([1-9][0-9]?)", re.ASCII)
_SQUARE = re.compile(r"([a-z])([1-9][0-9]?)", re.ASCII)


def make_move(first: int, second: int, square: int, *, vertical: bool) -> int:
    """The move that puts colour ``first`` on ``square`` and colour ``second`` on the square right
    of ``square``, or below ``square`` if ``vertical``.
    """
    return ((first * 3 + second) * 2 + vertical) << KIND_SHIFT | square


def split_move(board: Board, move: int) -> tuple[int, int, int, int]:
    """Splits ``move``, a placement on ``board``, into first colour, first square, second colour,
    second square.
    """
    kind = move >> KIND_SHIFT
    square = move & SQUARE_MASK
    return kind // 6, square, kind // 2 % 3, square + (board.stride if kind & 1 else 1)


def tile_of(move: int) -> int:
    """The tile that the placement ``move`` uses."""
    return TILE_OF_KIND[move >> KIND_SHIFT]


@lru_cache(maxsize=CACHED_MOVES)
def move_text(board: Board, move: int) -> str:
    """Writes ``move``, made on ``board``, in canonical notation, such as ``Rc4Yd4``, or
    ``pass``.
    """
    if move == PASS:
        return PASSED
    first, square, second, other = split_move(board, move)
    return f"{COLOURS[first]}{board.name_of(square)}{COLOURS[second]}{board.name_of(other)}"


def parse_square(board: Board, text: str) -> int:
    """Converts the name of a square, such as ``c4``, to its number. Raises NotationError if the
    text is no name of a square on the board.
    """
    match = _SQUARE.fullmatch(text)
    if not match:
        raise NotationError(f"expected a square such as c4, got {text!r}")
    column = ord(match[1]) - 97
    row = int(match[2]) - 1
    if column >= board.width or row >= board.height:
        last = board.name_of((board.height - 1) * board.stride + board.width - 1)
        raise NotationError(f"expected a square from a1 to {last}, got {text!r}")
    return row * board.stride + column


@lru_cache(maxsize=CACHED_MOVES)
def parse_move(board: Board, text: str) -> int:
    """Converts the text of a move, such as ``Rc4Yd4`` or ``pass``, to its number; the two halves
    may be in either order. The move need not be legal. Raises InvalidMoveError for a text that is
    no move on this board.
    """
    if text == PASSED:
        return PASS
    match = _MOVE.fullmatch(text)
    if not match:
        raise InvalidMoveError(f"expected a move such as Rc4Yd4, got {quoted(text)}")
    try:
        square = parse_square(board, match[2] + match[3])
        other_square = parse_square(board, match[5] + match[6])
    except NotationError as error:
        raise InvalidMoveError(f"{error} in the move {text!r}") from None
    first = COLOURS.index(match[1])
    second = COLOURS.index(match[4])
    if square > other_square:
        square, other_square, first, second = other_square, square, second, first
    if other_square - square not in (1, board.stride):
        raise InvalidMoveError(f"expected two squares that share an edge, got {text!r}")
    return make_move(first, second, square, vertical=other_square - square != 1)


def legal_move(state: "State", text: str) -> int:
    """Converts the text of a placement that the mover of ``state`` may make to its number. Raises
    InvalidMoveError if the text is no move, and IllegalMoveError if the mover may not place it,
    also for ``pass``. Both are kinds of MoveError.
    """
    move = parse_move(state.board, text)
    if not state.is_legal(move):
        raise IllegalMoveError(state.why_illegal(move))
    return move


def play_text(state: "State", text: str, events: list[Event] | None = None) -> int:
    """Plays the move or pass ``text`` for the mover and returns its number; ``state`` changes. The
    events that the move causes are appended to ``events``, if it is given. Raises MoveError for a
    text that is no legal move; ``state`` is then as before.
    """
    move = parse_move(state.board, text)
    state.play(move, events)
    return move


def parse_tile(text: str) -> int:
    """Converts ``text``, the two letters of a tile in either order, to the number of the tile.
    Raises NotationError.
    """
    try:
        return _TILE_OF_TEXT[text]
    except KeyError:
        raise NotationError(
            f"expected a tile out of {' '.join(TILES)}, got {quoted(text)}"
        ) from None


@lru_cache(maxsize=CACHED_DECKS)
def parse_deck(text: str) -> tuple[int, ...]:
    """Converts the text of a deck to its tiles in draw order. Raises NotationError unless ``text``
    consists of the 72 tiles of R1.2.
    """
    deck = tuple([parse_tile(text[index : index + 2]) for index in range(0, len(text), 2)])
    for tile, name in enumerate(TILES):
        count = deck.count(tile)
        if count != COPIES:
            raise NotationError(f"expected {COPIES} tiles {name} in the deck, got {count}")
    return deck


def deck_text(deck: tuple[int, ...]) -> str:
    """The names of the tiles in ``deck``, joined without spaces; `UNKNOWN` is written as ``??``.
    ``deck`` may be a deck, a hand or a draw pile.
    """
    return "".join(TILES[tile] if tile != UNKNOWN else HIDDEN for tile in deck)


def deck_sorted(key: Callable[[int], bytes | int]) -> str:
    """The text of a deck whose 72 tiles are sorted by ``key``. The key gets the numbers 0 to 71; 0
    to 11 stand for the twelve tiles RR, 12 to 23 for YY, and so on in the order of `TILES`.
    """
    return "".join(TILES[number // COPIES] for number in sorted(range(DECK_SIZE), key=key))


def seat_of_move(number: int, players: int) -> int:
    """The seat that makes the move with this ``number`` of a game. Moves count from 0, passes
    included: also a seat that has left the game gets its turn, and passes (R3.2).
    """
    return number % players


def moves_of_seat(moves: Sequence[str], seat: int, players: int) -> list[str]:
    """The moves that ``seat`` made, passes included, out of all ``moves`` of a game; see
    `seat_of_move`.
    """
    return list(moves[seat::players])


def quoted(text: str) -> str:
    """``text`` in quotes for an error message. Of a text with more than `QUOTED` characters only
    the beginning is quoted, followed by its length.
    """
    if len(text) <= QUOTED:
        return repr(text)
    return f"{text[:QUOTED]!r}... ({len(text)} characters)"


Hand = tuple[int, ...]


@cache
def with_tile(hand: Hand, tile: int) -> Hand:
    """The sorted hand after one tile is added."""
    return tuple(sorted((*hand, tile)))


@cache
def without_tile(hand: Hand, tile: int) -> Hand:
    """The hand after one tile is removed. If the hand does not have ``tile``, an `UNKNOWN` tile is
    removed instead; raises ValueError if the hand has neither.
    """
    index = hand.index(tile if tile in hand else UNKNOWN)
    return hand[:index] + hand[index + 1 :]


@cache
def kinds_of(tiles: Hand) -> tuple[int, ...]:
    """The kinds of move (see the module's docstring) that place one of ``tiles``, in ascending
    order. Unknown tiles are ignored.
    """
    kinds = set[int]()
    for tile in tiles:
        if tile != UNKNOWN:
            kinds.update(KINDS_OF_TILE[tile])
    return tuple(sorted(kinds))


def checked_tiles(tiles: Iterable[int]) -> Hand:
    """Converts ``tiles`` to a tuple of plain ints in the same order. Raises ValueError for a number
    that is neither a tile nor `UNKNOWN`.
    """
    checked = tuple(map(index, tiles))
    if checked and not (min(checked) >= 0 and max(checked) <= UNKNOWN):
        wrong = next(tile for tile in checked if not 0 <= tile <= UNKNOWN)
        raise ValueError(f"expected tiles from 0 to {UNKNOWN}, got {wrong}")
    return checked
