"""Hands of tiles as sorted tuples, and the moves they allow; remembered, since there are few different ones."""

from collections.abc import Iterable
from functools import cache
from operator import index

from arena.rules.notation import KINDS_OF_TILE, UNKNOWN

Hand = tuple[int, ...]


@cache
def with_tile(hand: Hand, tile: int) -> Hand:
    """The hand and one tile more, sorted."""
    return tuple(sorted((*hand, tile)))


@cache
def without_tile(hand: Hand, tile: int) -> Hand:
    """The hand and one tile less, an unknown one where it does not show the tile."""
    at = hand.index(tile if tile in hand else UNKNOWN)
    return hand[:at] + hand[at + 1 :]


@cache
def kinds_of(tiles: Hand) -> tuple[int, ...]:
    """The kinds of move that these tiles allow, ascending."""
    return tuple(sorted({kind for tile in tiles if tile != UNKNOWN for kind in KINDS_OF_TILE[tile]}))


def checked_tiles(tiles: Iterable[int]) -> Hand:
    """The tiles as a tuple of plain ints. Raises ValueError for what is no tile."""
    checked = tuple(map(index, tiles))
    if checked and not (min(checked) >= 0 and max(checked) <= UNKNOWN):
        wrong = next(tile for tile in checked if not 0 <= tile <= UNKNOWN)
        raise ValueError(f"expected tiles from 0 to {UNKNOWN}, got {wrong}")
    return checked
