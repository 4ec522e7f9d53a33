"""Numbers and words of the rules that both cores use, provinces and events, the ranks at the end of
a game, and how the deals of a match are numbered (R8.3).

A match is a list of boards, one for each round, such as bird, lion. A match that names a board once
plays one deal on that board; a match that names a board n times plays n successive deals on that
board. So the games of a run keep their deal numbers, however the rounds are combined into matches.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

PAGODAS = {2: 24, 3: 19, 4: 15}
"""By number of players, the number of pagodas that each player holds at the start (R1.3)."""
HAND = 3
MAJOR = 5
NOBODY = -1
REVISION = 1
"""The revision of the rules, a number that increases when the same deck and moves would give
another game. A run whose run.json names another revision is not continued.
"""

LAST_PAGODA = "last pagoda"
NO_TILES = "no tiles"
NO_SPACE = "no space"
ENDS = (LAST_PAGODA, NO_TILES, NO_SPACE)
"""The reasons why a game that was played to its end is over (R8.1)."""


class OwnedProvince(NamedTuple):
    """A province (R5.1): the ``mask`` of its squares, its ``halo``, its ``owner`` (a seat), its
    ``size`` in spaces, and the number of ``pagodas`` on it. The halo is the mask of all squares
    that share an edge with a square of the province; it may include squares of the province and
    squares that are not on the board.
    """

    mask: int
    halo: int
    owner: int
    size: int
    pagodas: int


class Event(NamedTuple):
    """One change on the board that a placement caused, and that all players see.

    ``name``    found, expand, absorb, major, connect or conquer; ``major`` follows one of the first
                three if that event made a province major
    ``seat``    the owner of the province or village after the event
    ``square``  the first square, in reading order, of the province or village
    ``size``    the number of spaces of the province; 0 for a village
    ``home``    the pagodas that returned to their owners, as (seat, count) pairs
    """

    name: str
    seat: int
    square: int
    size: int
    home: tuple[tuple[int, int], ...] = ()


def final_ranks(left: Sequence[int], forfeited: Sequence[int]) -> list[int]:
    """The rank of each seat at the end of a game (R8.2), 1 for the best: ``left`` is the number of
    pagodas that each seat has left, and fewer is better. The seats in ``forfeited``, in the order
    in which they forfeited, rank last; the seat that forfeited first has the last rank of all.
    """
    order = sorted(own for seat, own in enumerate(left) if seat not in forfeited)
    ranks = [1 + bisect_left(order, own) for own in left]
    for place, seat in enumerate(forfeited):
        ranks[seat] = len(left) - place
    return ranks


def turns_of(match: Sequence[str]) -> dict[str, list[int]]:
    """For each board of ``match``, a list of boards with one entry for each round, the indices of
    the rounds that are played on that board.
    """
    turns: dict[str, list[int]] = {board: [] for board in match}
    for number, board in enumerate(match):
        turns[board].append(number)
    return turns


def place_of(turns: Sequence[int], deal: int) -> tuple[int, int]:
    """Converts a deal number on a board into the deal number of the match and the index of the
    round. ``turns`` are the indices of the match's rounds on that board, as `turns_of` gives them.
    """
    place, turn = divmod(deal, len(turns))
    return place, turns[turn]


def title_of(match: Sequence[str]) -> str:
    """The boards of ``match`` joined for display, such as ``bird + lion``."""
    return " + ".join(match)
