"""Which bots can be compared: the graph "i took a share from j" (Ford 1957; Hunter 2004)."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Marks = NDArray[np.str_]


def took_from(count: int, seats: Ints, shares: Floats, weights: Floats) -> NDArray[np.bool_]:
    """The matrix whose entry [i, j] says that player i got a share of a win at a table where j did
    not get the whole win.

    ``seats`` (O, k) are players' numbers below ``count``; ``shares`` (O, k) is what each got in
    every one of ``weights`` (O,) games.
    """
    matrix = np.zeros((count, count), dtype=np.bool_)
    size = seats.shape[1]
    for one in range(size):
        for other in range(size):
            if one != other:
                took = (shares[:, one] > 0) & (weights > 0)
                matrix[seats[took, one], seats[took, other]] = True
    return matrix


def weak_components(matrix: NDArray[np.bool_]) -> Ints:
    """The component number of each player, ignoring direction."""
    return _numbers(_reach(matrix | matrix.T))


def strong_components(matrix: NDArray[np.bool_]) -> Ints:
    """The group number of each player; within a group, each player can be reached from every other,
    following the direction.
    """
    reach = _reach(matrix)
    return _numbers(reach & reach.T)


def pair_marks(matrix: NDArray[np.bool_]) -> Marks:
    """What the graph leaves open about each pair of players: a matrix of marks, read from the row's
    player to the column's.

    A mark is empty if each can be reached from the other, so that their difference is finite. It is
    ``>`` or ``<`` if only one can be reached, so that the difference is bounded on one side only,
    and ``~`` if neither can.
    """
    reach = _reach(matrix)
    return np.select([reach & reach.T, reach, reach.T], ["", ">", "<"], default="~")


def core_of(matrix: NDArray[np.bool_], games: Floats) -> Ints:
    """The largest set of players of whom each can be reached from every other; of several, the one
    with the most games, then the first one. Empty if no two players are linked in both directions.
    """
    group = strong_components(matrix)
    sizes, played = np.bincount(group), np.bincount(group, games)
    first = np.unique(group, return_index=True)[1]
    best = np.lexsort((first, -played, -sizes))[0]
    return np.flatnonzero(group == best) if sizes[best] > 1 else np.empty(0, dtype=np.int64)


def middle_of(matrix: NDArray[np.bool_], games: Floats) -> int | None:
    """Where no two players are linked in both directions, the one that won from or lost to most
    others; of several, the one for whom these are most evenly split, then who won from more, then
    who has most games. None if even these do not tell two of them apart: names must not.
    """
    won, lost = matrix.sum(axis=1), matrix.sum(axis=0)
    keys = np.column_stack([won + lost, -np.abs(won - lost), won, games])
    first, second = np.lexsort(keys.T[::-1])[:-3:-1].tolist()
    return None if (keys[first] == keys[second]).all() else int(first)


def _reach(matrix: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The matrix whose entry [i, j] says that j can be reached from i, by any number of steps or
    none.
    """
    reach = matrix | np.eye(len(matrix), dtype=np.bool_)
    while True:
        # numpy multiplies floats much faster than truth values
        steps = reach.astype(np.float32)
        further = steps @ steps > 0
        if (further == reach).all():
            return reach
        reach = further


def _numbers(alike: NDArray[np.bool_]) -> Ints:
    """The group number of each player, from the matrix that says who is in one group with whom."""
    count = len(alike)
    first = np.where(alike, np.arange(count), count).min(axis=1, initial=count)
    return np.unique(first, return_inverse=True)[1].astype(np.int64)
