"""The numbers and words of the rules that both cores and everybody above them share."""

from collections.abc import Sequence
from typing import NamedTuple

PAGODAS = {2: 24, 3: 19, 4: 15}
"""R1.3: the pagodas each player holds at the start, by number of players."""
HAND = 3
MAJOR = 5
NOBODY = -1
REVISION = 1
"""Raised whenever the same deck and moves would lead to another result; runs of different revisions do not mix."""

LAST_PAGODA, NO_TILES, NO_SPACE = "last pagoda", "no tiles", "no space"


class Province(NamedTuple):
    """An owned area (R5.1). ``halo`` is the mask of squares that share an edge with it, ``pagodas`` those standing on it."""

    mask: int
    halo: int
    owner: int
    size: int
    pagodas: int


class Event(NamedTuple):
    """One public consequence of a placement.

    ``name``    found, expand, absorb, major, connect or conquer; ``major`` follows one of the first three when it makes a province major
    ``seat``    who owns the province or village afterwards
    ``square``  the first square, in reading order, of the province or village
    ``size``    spaces of the province; 0 for a village
    ``home``    pagodas that went home, as (seat, count) pairs
    """

    name: str
    seat: int
    square: int
    size: int
    home: tuple[tuple[int, int], ...] = ()


def is_forbidden_join(joined: Sequence[Province]) -> bool:
    """Whether no tile may join these provinces of one colour (R4.3, R4.4, R5.6)."""
    if len(joined) < 2:  # noqa: PLR2004 - one province is expanded, not joined
        return False
    if len(joined) == 2:  # noqa: PLR2004 - by far the most frequent join
        one, other = joined
        if one.size >= MAJOR or other.size >= MAJOR:
            return one.size >= MAJOR and other.size >= MAJOR
        return one.size == other.size and one.owner != other.owner
    majors = sum(province.size >= MAJOR for province in joined)
    if majors:
        return majors > 1
    totals = _totals(joined)
    return totals.count(max(totals)) > 1


def absorber(joined: Sequence[Province]) -> int:
    """The owner of the province that two or more make: the major's, else who brings most spaces (R5.5, R5.6)."""
    for province in joined:
        if province.size >= MAJOR:
            return province.owner
    totals = _totals(joined)
    return totals.index(max(totals))


def _totals(joined: Sequence[Province]) -> list[int]:
    totals = [0] * (1 + max(province.owner for province in joined))
    for province in joined:
        totals[province.owner] += province.size
    return totals
