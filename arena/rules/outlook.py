"""How well a seat stands: pagodas placed, and the likely future of its provinces and villages.

The weights are those that predict best how games continue: a least-squares fit by ``python -m
tests.rules.fit_outlook``, rounded.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from arena.rules.terms import MAJOR, NOBODY, OwnedProvince

if TYPE_CHECKING:
    from arena.rules.boardstate import BoardState

PLACED = 118
"""The value of a placed pagoda, in hundredths of a pagoda, like all values below."""
GROWTH = (0, 0, -8, 14, 50)
"""The extra value of a province by its number of spaces: the larger it is, the sooner it becomes
major.
"""
HELD = (-100, -37, -20)
"""How much of its pagoda's value a village loses if its owner leads by 0, 1, or more of the pagodas
around it.
"""
WON = 300
"""The extra value of the win; winners share it."""


def outlook(position: "BoardState", seat: int) -> int:
    """The value of what the seat has on the board, times the number of other seats, minus the
    values of what they have.
    """
    worth = [PLACED * -left for left in position.left]
    # As the core sees it, for speed.
    provinces = [province for areas in position._areas for province in areas]  # noqa: SLF001
    for province in provinces:
        if province.size < MAJOR:
            worth[province.owner] += GROWTH[province.size]
    for village, owner in enumerate(position.villages):
        if owner != NOBODY:
            worth[owner] += HELD[
                min(
                    _lead(provinces, position.board.beside[village], owner, position.players),
                    len(HELD) - 1,
                )
            ]
    if position.end is not None:
        worth = [
            own + WON * twelfths_of(position.left, winner) // 12 for winner, own in enumerate(worth)
        ]
    return position.players * worth[seat] - sum(worth)


def twelfths_of(left: Sequence[int], seat: int) -> int:
    """Twelfths of the win that the seat gets: ranking is by pagodas left."""
    return 12 // left.count(left[seat]) if left[seat] == min(left) else 0


def _lead(provinces: Iterable[OwnedProvince], beside: int, owner: int, players: int) -> int:
    """By how many pagodas around a village its owner leads the next player; 0 also if another
    player leads.
    """
    counts = [0] * players
    for province in provinces:
        if province.mask & beside:
            counts[province.owner] += province.pagodas
    own, counts[owner] = counts[owner], 0
    return max(0, own - max(counts))
