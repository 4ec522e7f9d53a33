"""Hands of tiles as sorted tuples, and the moves they allow; remembered, since there are few different ones."""

from functools import cache

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
