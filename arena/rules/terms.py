"""The numbers and words of the rules, shared by both cores and everything above them: what a
province and an event are, who has won, and which deals a match's rounds are played on (R8.3).

A match is given by the boards of its rounds, such as bird, lion. It has its own deal for each: one
deal on a board that occurs once, several in a row on a board that occurs several times. So a run
has the same games under the same numbers, no matter which matches they are combined into.
"""

from collections.abc import Sequence
from typing import NamedTuple

PAGODAS = {2: 24, 3: 19, 4: 15}
"""R1.3: the pagodas each player holds at the start, by number of players."""
HAND = 3
MAJOR = 5
NOBODY = -1
REVISION = 1
"""Increased when the same deck and moves would come out differently; such runs do not mix."""

LAST_PAGODA, NO_TILES, NO_SPACE = "last pagoda", "no tiles", "no space"
ENDS = (LAST_PAGODA, NO_TILES, NO_SPACE)
"""Why a game can be over (R8.1)."""


class OwnedProvince(NamedTuple):
    """An owned area (R5.1). ``halo`` is the mask of squares that share an edge with it; ``pagodas``
    is the number on it.
    """

    mask: int
    halo: int
    owner: int
    size: int
    pagodas: int


class Event(NamedTuple):
    """One public consequence of a placement.

    ``name``    found, expand, absorb, major, connect or conquer; ``major`` follows one of the first
                three when it makes a province major
    ``seat``    the owner of the province or village afterwards
    ``square``  the first square, in reading order, of the province or village
    ``size``    spaces of the province; 0 for a village
    ``home``    pagodas that went home, as (seat, count) pairs
    """

    name: str
    seat: int
    square: int
    size: int
    home: tuple[tuple[int, int], ...] = ()


def final_ranks(left: Sequence[int], forfeited: Sequence[int]) -> list[int]:
    """Ranks by pagodas left (R8.2). Forfeited seats rank last, who left first at the end."""
    ranks = [
        1 + sum(own > left[other] for other in range(len(left)) if other not in forfeited)
        for own in left
    ]
    for place, seat in enumerate(forfeited):
        ranks[seat] = len(left) - place
    return ranks


def turns_of(match: Sequence[str]) -> dict[str, list[int]]:
    """The numbers of the rounds on each board."""
    turns: dict[str, list[int]] = {board: [] for board in match}
    for number, board in enumerate(match):
        turns[board].append(number)
    return turns


def place_of(turns: Sequence[int], deal: int) -> tuple[int, int]:
    """A match's deal and round, for a deal on a board whose rounds are at these turns."""
    place, turn = divmod(deal, len(turns))
    return place, turns[turn]


def title_of(match: Sequence[str]) -> str:
    """The boards of the rounds as shown to people: ``bird + lion``."""
    return " + ".join(match)
