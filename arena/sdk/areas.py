"""What lies on the board, under the names that people read: provinces, villages, squares. Also what
a seat has not seen.
"""

import random
from functools import lru_cache
from typing import NamedTuple

from arena.rules import State
from arena.rules.boards import COLOURS, GRASS, Board, squares_of
from arena.rules.notation import COPIES, TILES, UNKNOWN
from arena.rules.terms import MAJOR

AREAS = 1 << 12
"""For how many areas `names_of` remembers the squares' names; most areas stay unchanged for some
turns.
"""


class Province(NamedTuple):
    """Two or more connected spaces of one colour, which a seat owns.

    Attributes:
        colour: ``R``, ``Y`` or ``B``.
        seat: The seat that owns it, as in the full view of the protocol. ``owner`` is another name
            for it.
        pagodas: How many pagodas stand on it: 1, or 2 on a major province.
        squares: Its squares, such as ``("c4", "c5")``, in reading order.
        neighbours: The squares that share an edge with it, in reading order.
    """

    colour: str
    seat: int
    pagodas: int
    squares: tuple[str, ...]
    neighbours: tuple[str, ...]

    @property
    def owner(self) -> int:
        """The seat that owns it: another name for `seat`."""
        return self.seat

    @property
    def is_major(self) -> bool:
        """Whether it has five or more spaces. Nobody can take over a major province."""
        return len(self.squares) >= MAJOR


class Village(NamedTuple):
    """A village: one square, or several that share edges. It holds at most one pagoda.

    Attributes:
        seat: The seat whose pagoda stands on it, or None while it is free. ``owner`` is another
            name for it.
        squares: Its squares in reading order.
        neighbours: The squares that share an edge with it, in reading order. Provinces with a
            square among these compete for it.
    """

    seat: int | None
    squares: tuple[str, ...]
    neighbours: tuple[str, ...]

    @property
    def owner(self) -> int | None:
        """The seat whose pagoda stands on it, or None: another name for `seat`."""
        return self.seat


class Square(NamedTuple):
    """One square of the board, and what lies there. ``str(square)`` is how a drawn board shows it:
    ``.``, ``~``, ``V``, ``R`` or ``R0``.

    Attributes:
        name: Such as ``c4``.
        sign: What lies there: ``.`` free grassland, ``~`` a lake, ``V`` a village, ``R``, ``Y`` or
            ``B`` a space of that colour.
        province: The province it belongs to. None for a single space, a free square, a village and
            a lake.
        village: The village it belongs to, or None.
    """

    name: str
    sign: str
    province: Province | None
    village: Village | None

    @property
    def is_free(self) -> bool:
        """Whether half a tile may lie there: the square is free grassland."""
        return self.sign == GRASS

    @property
    def colour(self) -> str | None:
        """``R``, ``Y`` or ``B`` for a province space, None for anything else."""
        return self.sign if self.sign in COLOURS else None

    @property
    def seat(self) -> int | None:
        """The seat that owns the province or village on this square, or None."""
        area = self.province or self.village
        return area.seat if area else None

    @property
    def owner(self) -> int | None:
        """The seat that owns the province or village on this square, or None: another name for
        `seat`.
        """
        return self.seat

    def __str__(self) -> str:
        return self.sign if self.seat is None else f"{self.sign}{self.seat}"


@lru_cache(maxsize=AREAS)
def names_of(board: Board, mask: int) -> tuple[str, ...]:
    """The names of the squares in a mask, in reading order. Bits beside the board or below its last
    row are ignored.
    """
    places = ((square, *divmod(square, board.stride)) for square in squares_of(mask))
    on_board = [number for number, row, at in places if at < board.width and row < board.height]
    return tuple(map(board.name_of, on_board))


class Rollout(NamedTuple):
    """The results of the games that `Position.rollouts` played on from one move.

    Attributes:
        move: The move.
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
    """For each tile, how many of its 12 copies are neither placed nor in the seat's hand."""
    hand = state.hands[seat]
    placed = state.tiles_placed()
    return [COPIES - placed[tile] - hand.count(tile) for tile in range(len(TILES))]


def as_seen(state: State, seat: int) -> State:
    """The state as the seat knows it: every tile in other hands and in the draw pile is `UNKNOWN`.
    Returns a copy, or ``state`` itself if it shows nothing that must be hidden.
    """
    pile = (UNKNOWN,) * state.pile
    hands = [
        hand if other == seat else (UNKNOWN,) * len(hand) for other, hand in enumerate(state.hands)
    ]
    if state.hands == hands and state.pile_tiles() == pile:
        return state
    seen = state.copy()
    for other, hand in enumerate(hands):
        seen.set_hand(other, hand)
    seen.set_pile(pile)
    return seen


def dealt(state: State, seat: int, luck: random.Random) -> State:
    """A copy of the state in which every unknown tile is dealt at random. Tiles that are known in
    ``state`` stay as they are.
    """
    twin = state.copy()
    pile = twin.pile_tiles()
    others = [hand for other, hand in enumerate(twin.hands) if other != seat]
    known = [tile for tiles in (pile, *others) for tile in tiles]
    hidden: list[int] = []
    for tile, count in enumerate(unseen(state, seat)):
        hidden += [tile] * (count - known.count(tile))
    luck.shuffle(hidden)
    for other, hand in enumerate(twin.hands):
        if UNKNOWN in hand:
            twin.set_hand(other, [hidden.pop() if tile == UNKNOWN else tile for tile in hand])
    twin.set_pile([hidden.pop() if tile == UNKNOWN else tile for tile in pile])
    return twin
