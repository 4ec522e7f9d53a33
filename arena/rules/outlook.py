"""How well a seat stands: pagodas placed, and what is likely to come of provinces and villages as they lie.

The weights are those that tell best how games go on: the least squares of ``python -m tests.rules.fit_outlook``, rounded.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from arena.rules.terms import MAJOR, NOBODY, Province

if TYPE_CHECKING:
    from arena.rules.position import Position

PLACED = 118
"""What a pagoda placed is worth, in hundredths of a pagoda, like all that follows."""
GROWTH = (0, 0, -8, 14, 50)
"""What a province of so many spaces is worth beside its pagoda: the larger, the sooner it becomes major."""
HELD = (-100, -37, -20)
"""What a village loses of its pagoda's worth when its owner leads by no, one, or more of the pagodas around it."""
WON = 300
"""What the win is worth beside the pagodas; winners share it."""


def outlook(position: "Position", seat: int) -> int:
    """The worth of what the seat has on the board times the other seats, less the worth of what each of them has."""
    worth = [PLACED * -left for left in position.left]
    provinces = [province for areas in position._areas for province in areas]  # noqa: SLF001 - as the core sees it, for speed
    for province in provinces:
        if province.size < MAJOR:
            worth[province.owner] += GROWTH[province.size]
    for village, owner in enumerate(position.villages):
        if owner != NOBODY:
            worth[owner] += HELD[min(_lead(provinces, position.board.beside[village], owner, position.players), len(HELD) - 1)]
    if position.end is not None:
        worth = [own + WON * twelfths_of(position.left, winner) // 12 for winner, own in enumerate(worth)]
    return position.players * worth[seat] - sum(worth)


def twelfths_of(left: Sequence[int], seat: int) -> int:
    """Twelfths of the win that the seat gets: ranking is by pagodas left."""
    return 12 // left.count(left[seat]) if left[seat] == min(left) else 0


def _lead(provinces: Iterable[Province], beside: int, owner: int, players: int) -> int:
    """By how many pagodas around a village its owner leads the next; 0 as well when another leads."""
    counts = [0] * players
    for province in provinces:
        if province.mask & beside:
            counts[province.owner] += province.pagodas
    own, counts[owner] = counts[owner], 0
    return max(0, own - max(counts))
