"""What a position promises each seat: the chances to win, learnt from games against itself.

A seat's score is the sum of the weights of all that it has, such as "a province of three spaces
with two free squares around it, of the seat that moves next". Each weight is an entry of a table:
one for early in the game, one for late in it. The chances are a softmax of the scores.
"""

import json
import math
from functools import cache
from pathlib import Path

from arena.rules import State
from arena.rules.terms import MAJOR, NOBODY, PAGODAS, OwnedProvince

# Where each table begins. LATER entries are for seats that do not move next.
LEFT, LATER_LEFT = 0, 25  # by pagodas left
PROVINCE, LATER_PROVINCE = 50, 70  # by size (2, 3, 4, major) and free squares around (0 to 4)
NEAR, LATER_NEAR = 90, 94  # by size: one space more and it lies beside a village that nobody has
# One space could join it to another: by both sizes, and by whose they are.
OWN, LATER_OWN, AGAINST_LATER, AGAINST_NEXT, BOTH_LATER = 98, 114, 130, 146, 162
VILLAGE, LATER_VILLAGE = 178, 198  # by the lead in pagodas (below 0 to 3) and free squares beside
OPEN_VILLAGES = 218  # by turns until the seat moves, and how many nobody has that somebody may win
SINGLES = 250  # by the same, and how many single spaces may still grow
FEATURES = 282

Lit = list[list[int]]
Edge = tuple[int, int, int]  # the free squares around a province, its owner, and its size less 2


def lit(state: State) -> Lit:
    """Which entries count for each seat."""
    mover, free, provinces = state.mover, state.free, state.provinces()
    found = [
        [(LEFT if seat == mover else LATER_LEFT) + left] for seat, left in enumerate(state.left)
    ]
    single = state.spaces(0) | state.spaces(1) | state.spaces(2)
    open_beside = 0
    for owner, beside in zip(state.villages, state.board.beside, strict=True):
        if owner == NOBODY:
            open_beside |= beside
    edges: tuple[list[Edge], ...] = ([], [], [])
    for colour, (mask, halo, owner, size, _) in provinces:
        single &= ~mask
        edge, kind = halo & free, min(size, MAJOR) - 2
        found[owner].append(
            (PROVINCE if owner == mover else LATER_PROVINCE) + 5 * kind + min(edge.bit_count(), 4)
        )
        if edge & open_beside:
            found[owner].append((NEAR if owner == mover else LATER_NEAR) + kind)
        for other in edges[colour]:
            if edge & other[0]:
                light_join(found, mover, (edge, owner, kind), other)
        edges[colour].append((edge, owner, kind))
    promising = light_villages(state, found, provinces)
    singles = min((single & state.board.around(free)).bit_count(), 7)
    for seat in range(state.players):
        turns = 8 * ((seat - mover) % state.players)
        found[seat] += (OPEN_VILLAGES + turns + promising, SINGLES + turns + singles)
    return found


def light_join(found: Lit, mover: int, one: Edge, other: Edge) -> None:
    """Two provinces that one space could join."""
    (_, owner, kind), (_, other_owner, other_kind) = one, other
    if owner == other_owner:
        found[owner].append((OWN if owner == mover else LATER_OWN) + 4 * kind + other_kind)
        return
    mine = yours = BOTH_LATER
    if owner == mover:
        mine, yours = AGAINST_LATER, AGAINST_NEXT
    elif other_owner == mover:
        mine, yours = AGAINST_NEXT, AGAINST_LATER
    found[owner].append(mine + 4 * kind + other_kind)
    found[other_owner].append(yours + 4 * other_kind + kind)


def light_villages(state: State, found: Lit, provinces: list[tuple[int, OwnedProvince]]) -> int:
    """Every village that a seat has; tells how many that nobody has may still be won, up to 7."""
    board, free, promising = state.board, state.free, 0
    near = [
        (province.mask, province.owner, province.pagodas)
        for _, province in provinces
        if province.mask & board.beside_any
    ]
    for owner, beside in zip(state.villages, board.beside, strict=True):
        space = (beside & free).bit_count()
        if owner == NOBODY:
            promising += space > 0
            continue
        around = [0] * state.players
        for mask, neighbour, pagodas in near:
            if mask & beside:
                around[neighbour] += pagodas
        own, around[owner] = around[owner], 0
        lead = max(-1, min(own - max(around), 3))
        found[owner].append(
            (VILLAGE if owner == state.mover else LATER_VILLAGE) + 4 * (lead + 1) + min(space, 3)
        )
    return min(promising, 7)


def phase(state: State) -> float:
    """How far the game has come: from 0 at the start to 1 when a seat has placed all."""
    return 1 - min(state.left) / PAGODAS[state.players]


class Value:
    """The chances of each seat, by weights early in the game and late in it."""

    def __init__(self, early: list[float], late: list[float]) -> None:
        self.early, self.late = early.__getitem__, late.__getitem__

    def __call__(self, state: State) -> list[float]:
        """What each seat has to expect: its share of the win."""
        if state.end is not None:
            least = min(state.left)
            return [(left == least) / state.left.count(least) for left in state.left]
        far = phase(state)
        shares = [
            math.exp((1 - far) * sum(map(self.early, own)) + far * sum(map(self.late, own)))
            for own in lit(state)
        ]
        total = sum(shares)
        return [share / total for share in shares]


def weights_file(players: int, folder: Path = Path(__file__).parent) -> Path:
    """Where the weights for a number of players lie."""
    return folder / f"weights-{players}.json"


@cache
def value_for(players: int) -> Value:
    """What was learnt for a number of players."""
    return Value(*json.loads(weights_file(players).read_text()))
