"""One game between functions, with no messages or text: it makes the record that the referee would,
thousands of times a second.

There is nothing to judge: an illegal move would be a bug in the arena, and nobody can be late.
"""

import time
from collections.abc import Callable, Sequence

from arena.match.clock import Clock, Timing
from arena.match.referee import GamePlan, record_of
from arena.records.record import GameRecord
from arena.rules.game import PASS, Board, State, move_text, new_game

Choose = Callable[[State, int], int]
"""The mover's move in a state, for its seat's seed; PASS if it has none. It must not change the
state.
"""


def play_alone(
    plan: GamePlan, board: Board, choosers: Sequence[Choose], host: str = ""
) -> GameRecord:
    """Plays a game between functions, by seat. Apart from the measured times, nothing in the record
    depends on the machine.
    """
    state = new_game(board, len(choosers), plan.deck)
    clock = Clock([Timing(clock="wall")] * len(choosers))
    moves: list[str] = []
    while state.end is None:
        seat = state.mover
        asked_ns = time.monotonic_ns()
        move = choosers[seat](state, plan.seeds[seat])
        if move != PASS:
            clock.spend(seat, time.monotonic_ns() - asked_ns)
        moves.append(move_text(board, move))
        state.play(move)
    return record_of(plan, state, moves, clock, host=host)
