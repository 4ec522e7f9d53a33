"""The numbers and words of the rules, shared by both cores and all modules above them: provinces
and events, who has won, and the deals on which the rounds of a match are played (R8.3).

A match is given by the boards of its rounds, such as bird, lion. It has its own deals: one on a
board that occurs once, several successive ones on a board that occurs several times. So a run has
the same games under the same numbers, however they are combined into matches.
"""

from collections.abc import Sequence
from typing import NamedTuple

PAGODAS = {2: 24, 3: 19, 4: 15}
"""The pagodas that each player holds at the start, by number of players (R1.3)."""
HAND = 3
MAJOR = 5
NOBODY = -1
REVISION = 1
"""Increased when the same deck and moves would give another game; runs of different revisions do
not mix.
"""

LAST_PAGODA = "last pagoda"
NO_TILES = "no tiles"
NO_SPACE = "no space"
ENDS = (LAST_PAGODA, NO_TILES, NO_SPACE)
"""The reasons for which a game can be over (R8.1)."""


class OwnedProvince(NamedTuple):
    """A province (R5.1). ``halo`` is the mask of squares that share an edge with it; ``pagodas`` is
    the number of pagodas on it.
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
    ``size``    the spaces of the province; 0 for a village
    ``home``    pagodas that returned to their owners, as (seat, count) pairs
    """

    name: str
    seat: int
    square: int
    size: int
    home: tuple[tuple[int, int], ...] = ()


def final_ranks(left: Sequence[int], forfeited: Sequence[int]) -> list[int]:
    """The rank of each seat by pagodas left (R8.2). Seats that forfeited rank last: the seat that
    forfeited first is at the very end.
    """
    ranks = [
        1 + sum(own > left[other] for other in range(len(left)) if other not in forfeited)
        for own in left
    ]
    for place, seat in enumerate(forfeited):
        ranks[seat] = len(left) - place
    return ranks


def turns_of(match: Sequence[str]) -> dict[str, list[int]]:
    """For each board of a match, the indices of its rounds."""
    turns: dict[str, list[int]] = {board: [] for board in match}
    for number, board in enumerate(match):
        turns[board].append(number)
    return turns


def place_of(turns: Sequence[int], deal: int) -> tuple[int, int]:
    """The deal of the match and the round's index, for a deal number on a board. ``turns`` are the
    indices of the match's rounds on that board.
    """
    place, turn = divmod(deal, len(turns))
    return place, turns[turn]


def title_of(match: Sequence[str]) -> str:
    """The boards of a match's rounds as shown to people: ``bird + lion``."""
    return " + ".join(match)
