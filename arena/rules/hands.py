"""Hands of tiles as sorted tuples, and the moves they allow; cached, because there are few
different ones.
"""

from collections.abc import Iterable
from functools import cache
from operator import index

from arena.rules.notation import KINDS_OF_TILE, UNKNOWN

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
