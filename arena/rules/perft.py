"""Counts the ways a deal can go: one number, which two implementations of the rules share only if
they agree on everything.

A *turn* is one placement, or a pass by a mover who can place no tile (R3.2). Two placements differ
if they leave a different colour on some square, so two equal tiles in a hand give the same
placements only once. A game that has ended counts at the depth where it ended, and not below. So
the counts on a small board fall to 0 once every game is over.
"""

from typing import TYPE_CHECKING

from arena.rules.notation import PASS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.rules.pure import State


def perft(state: "State", depth: int) -> int:
    """The number of different sequences of exactly ``depth`` turns from here; the state is not
    changed.

    Depth 0 gives 1. The last turn is counted without being played. Raises ValueError for a depth
    below 0, and for a state with unknown tiles or a seat that has left the game.
    """
    _check(state, depth)
    return _count(state, depth)


def divide(state: "State", depth: int) -> "Iterator[tuple[int, int]]":
    """Each first move, in ascending order, with the number of sequences of ``depth`` turns that
    begin with it; the sum is `perft`.

    Counts lazily, as you iterate. A forced pass is the move PASS. Raises ValueError as `perft`
    does, and for depth 0.
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
        raise ValueError(
            f"expected every seat to be in the game, got retired seat {state.retired.index(True)}"
        )
