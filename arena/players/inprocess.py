"""A function as a player, without its own process: for built-in bots, tests, checks and games
against the arena itself.
"""

import time
from collections.abc import Callable

from arena.players.messages import Start
from arena.players.player import Answer, Player
from arena.rules import State
from arena.rules.notation import move_text


class InProcessPlayer(Player):
    """Plays what ``choose(state, seed)`` returns. We trust it: it sees the whole state, and its
    time is measured, not limited.
    """

    is_running = False
    """There is no process that could be kept."""

    def __init__(self, name: str, choose: Callable[[State, int], int]) -> None:
        self.name = name
        self._choose = choose
        self._seed = 0

    def begin(self, start: Start) -> None:
        """Stores the seat's seed for the game."""
        self._seed = start.seed

    # A function is never late.
    def choose(self, state: State, budget_ns: int) -> Answer:  # noqa: ARG002
        """The function's move on a copy of the state."""
        began_ns = time.monotonic_ns()
        move = self._choose(state.copy(), self._seed)
        return Answer(move_text(state.board, move), time.monotonic_ns() - began_ns, began_ns)


# The shape of a choosing function.
def first_move(state: State, seed: int) -> int:  # noqa: ARG001
    """The first legal move."""
    return state.nth(0)


def random_move(state: State, seed: int) -> int:
    """A random legal move; the same seed and turn give the same move."""
    return state.nth((seed * 2654435761 + state.turns * 40503) % 4294967291 % state.legal_count())
