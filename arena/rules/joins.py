"""Joining provinces of one colour: which joins are forbidden, where that rules out tiles, and who
owns the result (R4, R5).
"""

from collections.abc import Sequence

from arena.rules.boards import Board
from arena.rules.terms import MAJOR, OwnedProvince

Barred = tuple[int, int, int]
"""Where forbidden joins rule out a colour: squares for a single space, and first squares for a
double tile right or down.
"""

NOWHERE: Barred = (0, 0, 0)


def is_forbidden_join(joined: Sequence[OwnedProvince]) -> bool:
    """Whether no tile may join these provinces of one colour (R4.3, R4.4, R5.6)."""
    # One province is expanded, not joined.
    if len(joined) < 2:  # noqa: PLR2004
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


def absorber(joined: Sequence[OwnedProvince]) -> int:
    """The owner when two or more provinces join: the major's owner, else the player who brings the
    most spaces (R5.5, R5.6).
    """
    for province in joined:
        if province.size >= MAJOR:
            return province.owner
    totals = _totals(joined)
    return totals.index(max(totals))


def _totals(joined: Sequence[OwnedProvince]) -> list[int]:
    totals = [0] * (1 + max(province.owner for province in joined))
    for province in joined:
        totals[province.owner] += province.size
    return totals


def free_pairs(board: Board, free: int, spaces: int) -> tuple[int, int]:
    """First squares of pairs of free squares (R4.1) that touch a province space (R4.2): horizontal
    pairs, then vertical ones.
    """
    near = board.around(spaces) & free
    return free & free >> 1 & (near | near >> 1), free & free >> board.stride & (
        near | near >> board.stride
    )


def barred_with(
    province: OwnedProvince, areas: Sequence[OwnedProvince], barred: Barred, free: int, stride: int
) -> Barred:
    """Where a colour is ruled out after it gets ``province``, the last of its ``areas``: as before,
    except around it.

    A double tile touches the provinces of both its squares at once, so it is judged as a whole:
    "each half is legal alone" is neither necessary nor sufficient. Squares that are taken later
    stay in the masks, which only makes the masks wider than needed.
    """
    halo, others = province.halo, 0
    for other in areas[:-1]:
        others |= other.halo
    right, below = halo | halo >> 1, halo | halo >> stride
    return (
        barred[0] & ~halo | _forbidden(areas, halo & others & free, 0),
        barred[1] & ~right
        | _forbidden(areas, right & (others | others >> 1) & free & free >> 1, 1),
        barred[2] & ~below
        | _forbidden(areas, below & (others | others >> stride) & free & free >> stride, stride),
    )


def _forbidden(areas: Sequence[OwnedProvince], candidates: int, step: int) -> int:
    """The candidate first squares where spaces there and ``step`` further on would make a forbidden
    join.
    """
    forbidden = 0
    while candidates:
        low = candidates & -candidates
        candidates ^= low
        halves = low | low << step
        if is_forbidden_join([province for province in areas if province.halo & halves]):
            forbidden |= low
    return forbidden
