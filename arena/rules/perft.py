"""Counting the ways a deal can go: one number that two implementations of the rules share only when they agree on everything.

A *turn* is one placement, or the pass of a mover who can place no tile (R3.2). Placements are different when another colour lies on some
square; two equal tiles in a hand make the same placements once. A game that has ended goes no further: it counts at the depth at which
it ended and not below, so the counts of a small board fall to 0 when every game is over.
"""

from typing import TYPE_CHECKING

from arena.rules.notation import PASS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.rules.pure import State


def perft(state: "State", depth: int) -> int:
    """How many different sequences of exactly ``depth`` turns there are from here; the state stays as it is.

    Depth 0 is 1. The last turn is counted without being played. Raises ValueError for a depth below 0, and for a state with unknown
    tiles or a seat that has left the game.
    """
    _check(state, depth)
    return _count(state, depth)


def divide(state: "State", depth: int) -> "Iterator[tuple[int, int]]":
    """Each first move, in ascending order, with how many sequences of ``depth`` turns begin with it; the counts sum to `perft`.

    Counts as it is iterated over. A forced pass is the move PASS. Raises ValueError as `perft` does, and for depth 0.
    """
    if depth == 0:
        raise ValueError("expected a depth from 1, got 0")
    _check(state, depth)
    return ((move, _count(_after(state, move), depth - 1)) for move in _turns(state))


def _count(state: "State", depth: int) -> int:
    if depth == 0:
        return 1
    if state.end is not None:
        return 0
    if depth == 1:
        return state.legal_count() or 1
    return sum([_count(_after(state, move), depth - 1) for move in _turns(state)])


def _turns(state: "State") -> list[int]:
    """What the mover may do: place, else pass; nothing once the game has ended."""
    return state.legal_moves() or [PASS] * (state.end is None)


def _after(state: "State", move: int) -> "State":
    twin = state.copy()
    twin.play(move)
    return twin


def _check(state: "State", depth: int) -> None:
    if depth < 0:
        raise ValueError(f"expected a depth from 0, got {depth}")
    if UNKNOWN in state.pile_tiles() or any(UNKNOWN in hand for hand in state.hands):
        raise ValueError("expected all tiles to be known, got a state with unknown ones")
    if any(state.retired):
        raise ValueError(f"expected every seat to be in the game, got retired seat {state.retired.index(True)}")
