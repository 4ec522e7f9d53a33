"""Provinces, villages and squares of the board under the names that people read; and what a seat
has not seen.
"""

import random
from functools import lru_cache
from typing import NamedTuple

from arena.rules import State
from arena.rules.boards import COLOURS, GRASS, Board, squares_of
from arena.rules.notation import COPIES, TILES, UNKNOWN
from arena.rules.terms import MAJOR

AREAS = 1 << 12
"""The number of areas for which `names_of` remembers the squares' names. Most areas stay unchanged
for some turns.
"""


class Province(NamedTuple):
    """Two or more connected spaces of one colour, owned by a seat.

    Attributes:
        colour: ``R``, ``Y`` or ``B``.
        seat: The seat that owns the province, as in the full view of the protocol. ``owner`` is
            another name for this attribute.
        pagodas: How many pagodas stand on the province: 1, or 2 on a major province.
        squares: The squares of the province, such as ``("c4", "c5")``, in reading order.
        neighbours: The squares that share an edge with the province, in reading order.
    """

    colour: str
    seat: int
    pagodas: int
    squares: tuple[str, ...]
    neighbours: tuple[str, ...]

    @property
    def owner(self) -> int:
        """The seat that owns the province: another name for `seat`."""
        return self.seat

    @property
    def is_major(self) -> bool:
        """Whether the province has five or more spaces. Nobody can take over a major province."""
        return len(self.squares) >= MAJOR


class Village(NamedTuple):
    """A village: one square, or several that share edges. A village holds at most one pagoda.

    Attributes:
        seat: The seat whose pagoda stands on the village; None if it is free. ``owner`` is another
            name for this attribute.
        squares: The squares of the village, in reading order.
        neighbours: The squares that share an edge with the village, in reading order. Provinces
            with a square among these compete for the village.
    """

    seat: int | None
    squares: tuple[str, ...]
    neighbours: tuple[str, ...]

    @property
    def owner(self) -> int | None:
        """The seat whose pagoda stands on the village; None if it is free. Another
        name for `seat`.
        """
        return self.seat


class Square(NamedTuple):
    """A square of the board with what lies on it. ``str(square)`` is what a drawn board shows for
    it: ``.``, ``~``, ``V``, ``R`` or, with the owner's seat, ``R0``.

    Attributes:
        name: The name of the square, such as ``c4``.
        sign: What is on the square: ``.`` free grassland, ``~`` a lake, ``V`` a village, ``R``,
            ``Y`` or ``B`` a space of that colour.
        province: The province to which the square belongs. None for a single space, a free square,
            a village and a lake.
        village: The village to which the square belongs; None if there is none.
    """

    name: str
    sign: str
    province: Province | None
    village: Village | None

    @property
    def is_free(self) -> bool:
        """Whether half a tile may be placed here: the square is free grassland."""
        return self.sign == GRASS

    @property
    def colour(self) -> str | None:
        """``R``, ``Y`` or ``B`` for a space of that colour, also a single one; None for any other
        square.
        """
        return self.sign if self.sign in COLOURS else None

    @property
    def seat(self) -> int | None:
        """The seat that owns the province or village on this square; None if nobody does."""
        area = self.province or self.village
        return area.seat if area else None

    @property
    def owner(self) -> int | None:
        """The seat that owns the province or village on this square; None if nobody does. Another
        name for `seat`.
        """
        return self.seat

    def __str__(self) -> str:
        return self.sign if self.seat is None else f"{self.sign}{self.seat}"


@lru_cache(maxsize=AREAS)
def names_of(board: Board, mask: int) -> tuple[str, ...]:
    """The names of the squares in a bit mask, in reading order. Bits beside the board or below its
    last row are ignored.
    """
    names = []
    for square in squares_of(mask):
        row, column = divmod(square, board.stride)
        if row < board.height and column < board.width:
            names.append(board.name_of(square))
    return tuple(names)


class Rollout(NamedTuple):
    """The results of the games that `Position.rollouts` played to see how good one move is.

    Attributes:
        move: The move, after which the games were played on.
        games: The number of games.
        wins: This seat's wins, from 0 to ``games``: 1 for a win alone, 1/k for a win shared by k
            seats.
        left: This seat's pagodas left, summed over the games. Fewer is better.
        outlook: This seat's `Position.outlook` at the end of the games, summed. More is better.
    """

    move: int
    games: int
    wins: float
    left: int
    outlook: float


def unseen(state: State, seat: int) -> list[int]:
    """For each tile, in the order of `TILES`, how many of its 12 copies are neither on the board
    nor in the hand of ``seat``.
    """
    hand = state.hands[seat]
    placed = state.tiles_placed()
    return [COPIES - placed[tile] - hand.count(tile) for tile in range(len(TILES))]


def as_seen(state: State, seat: int) -> State:
    """The state as ``seat`` knows it: the tiles in other hands and in the draw pile are `UNKNOWN`.
    Returns a copy, or ``state`` itself if no tile in it must be hidden.
    """
    pile = (UNKNOWN,) * state.pile
    hands = [(UNKNOWN,) * len(hand) for hand in state.hands]
    hands[seat] = state.hands[seat]
    if state.hands == hands and state.pile_tiles() == pile:
        return state
    seen = state.copy()
    for other, hand in enumerate(hands):
        seen.set_hand(other, hand)
    seen.set_pile(pile)
    return seen


def dealt(state: State, seat: int, luck: random.Random) -> State:
    """A copy of the state in which the unknown tiles are dealt at random, by ``luck``. ``seat`` is
    the seat whose hand is known. Tiles that ``state`` shows stay where they are.
    """
    twin = state.copy()
    pile = twin.pile_tiles()
    known = list(pile)
    for other, hand in enumerate(twin.hands):
        if other != seat:
            known += hand
    hidden: list[int] = []
    for tile, count in enumerate(unseen(state, seat)):
        hidden += [tile] * (count - known.count(tile))
    luck.shuffle(hidden)
    for other, hand in enumerate(twin.hands):
        if UNKNOWN in hand:
            twin.set_hand(other, [hidden.pop() if tile == UNKNOWN else tile for tile in hand])
    twin.set_pile([hidden.pop() if tile == UNKNOWN else tile for tile in pile])
    return twin
