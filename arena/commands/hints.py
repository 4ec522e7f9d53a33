"""Hints for a person: the moves after which random play leaves their seat best off."""

from collections.abc import Sequence
from typing import NamedTuple

from arena.rules import State

PLAYOUTS = 4000
MOST_PER_MOVE = 200
SHOWN = 3


class Hint(NamedTuple):
    """A move, and the share of so many random games after it that the seat wins."""

    move: int
    share: float
    games: int


def best_moves(state: State, moves: Sequence[int], seed: int) -> list[Hint]:
    """The best of the mover's placements, with what the seat cannot see shuffled each time."""
    times = max(1, min(MOST_PER_MOVE, PLAYOUTS // len(moves)))
    tried, wins, _, _ = state.rollouts(state.mover, times, seed, "uniform", list(moves))
    best = sorted(zip(wins, tried, strict=True), key=lambda pair: -pair[0])[:SHOWN]
    return [Hint(move, won / times, times) for won, move in best]
