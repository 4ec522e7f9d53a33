"""Perft: counts of all ways to go on from a state, to compare another core of the rules by."""

from arena.rules.notation import PASS, UNKNOWN


def perft(state, depth):
    """The number of different sequences of exactly ``depth`` turns from here: a number that two
    implementations of the rules share only if they agree on everything.

    A *turn* is one placement, or a pass by a mover who can place no tile (R3.2). Two placements
    differ if they leave a different colour on some square, so two equal tiles in a hand give the
    same placements only once. A game that has ended counts at the depth where it ended, and not
    below, so the counts on a small board fall to 0 once every game is over. Depth 0 gives 1.

    Raises ValueError for a depth below 0, unknown tiles, and a seat that has left the game.
    """
    _check(state, depth)
    return _count(state, depth)


def divide(state, depth):
    """Each first move, or a forced PASS, in ascending order, with the number of sequences of
    ``depth`` turns that begin with it, counted as you iterate. Raises ValueError as `perft` does,
    and for depth 0.
    """
    if depth == 0:
        raise ValueError("expected a depth from 1, got 0")
    _check(state, depth)
    return ((move, _count(_after(state, move), depth - 1)) for move in _turns(state))


def _count(state, depth):
    if depth == 0:
        return 1
    if state.end is not None:
        return 0
    if depth == 1:
        return state.legal_count() or 1
    return sum([_count(_after(state, move), depth - 1) for move in _turns(state)])


def _turns(state):
    """What the mover may do: place, else pass; nothing once the game has ended."""
    return state.legal_moves() or [PASS] * (state.end is None)


def _after(state, move):
    twin = state.copy()
    twin.play(move)
    return twin


def _check(state, depth):
    if depth < 0:
        raise ValueError(f"expected a depth from 0, got {depth}")
    if UNKNOWN in state.pile_tiles() or any(UNKNOWN in hand for hand in state.hands):
        raise ValueError("some tiles of this state are unknown")
    if any(state.retired):
        seat = state.retired.index(True)
        raise ValueError(f"expected every seat to be in the game, got retired seat {seat}")
