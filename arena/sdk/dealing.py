"""The tiles that a seat has not seen, and a deal of them."""

import random

from arena.rules import State
from arena.rules.notation import COPIES, TILES, UNKNOWN


def unseen(state: State, seat: int) -> list[int]:
    """How many of each tile are neither placed nor in the seat's hand."""
    hand, placed = state.hands[seat], state.tiles_placed()
    return [COPIES - placed[tile] - hand.count(tile) for tile in range(len(TILES))]


def dealt(state: State, seat: int, luck: random.Random) -> State:
    """A copy of the state in which no tile is unknown; those that an earlier deal has made known
    stay.
    """
    twin = state.copy()
    pile = twin.pile_tiles()
    known = [
        *pile,
        *(tile for other, hand in enumerate(twin.hands) if other != seat for tile in hand),
    ]
    hidden = [
        tile
        for tile, count in enumerate(unseen(state, seat))
        for _ in range(count - known.count(tile))
    ]
    luck.shuffle(hidden)
    for other, hand in enumerate(twin.hands):
        if UNKNOWN in hand:
            twin.set_hand(other, [hidden.pop() if tile == UNKNOWN else tile for tile in hand])
    twin.set_pile([hidden.pop() if tile == UNKNOWN else tile for tile in pile])
    return twin
