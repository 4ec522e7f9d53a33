"""The numbers and words of the rules, shared by both cores and everything above them."""

from typing import NamedTuple

PAGODAS = {2: 24, 3: 19, 4: 15}
"""R1.3: the pagodas each player holds at the start, by number of players."""
HAND = 3
MAJOR = 5
NOBODY = -1
REVISION = 1
"""Increased whenever the same deck and moves would lead to a different result; runs of different
revisions do not mix.
"""

LAST_PAGODA, NO_TILES, NO_SPACE = "last pagoda", "no tiles", "no space"


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
