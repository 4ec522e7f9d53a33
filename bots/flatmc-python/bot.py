"""Flat Monte Carlo: plays its moves to the end of the game, over and over, on deals that fit what it sees, and keeps what does best.

The moves with the best outlooks take part. Time is shared out in stages, after each of which the worse half drops out (sequential
halving, Karnin, Koren & Somekh 2013). All moves of a round meet the same deal and the same luck. In the games every seat plays the
greediest of eight moves drawn at random.
"""

import math
import time

from arena.sdk import Position, run

MOVES = 12
AMONG = 8
WIN = 5.0
"""Pagodas that a win is worth."""


def budget_ms(time_ms: int) -> float:
    """Most of the time, less what the way to the arena and back may take."""
    return max(0.4 * time_ms, 0.8 * time_ms - 5)


def choose(position: Position) -> int:
    began, budget = time.monotonic(), budget_ms(position.time_ms) / 1000
    ranked = sorted(zip(position.outlooks(), position.legal_moves(), strict=True), reverse=True)
    moves = [move for _, move in ranked[:MOVES]]
    worth = dict.fromkeys(moves, 0.0)
    stages = math.ceil(math.log2(len(moves)))
    for stage in range(stages):
        while time.monotonic() < began + budget * (stage + 1) / stages:
            seed, found = position.rng.getrandbits(64), {}
            for move in moves:
                if time.monotonic() > began + budget:
                    return max(moves, key=worth.__getitem__)
                [played] = position.rollouts(1, [move], policy="greedy", among=AMONG, seed=seed)
                found[move] = WIN * played.wins - played.left
            for move, value in found.items():
                worth[move] += value
        moves = sorted(moves, key=worth.__getitem__, reverse=True)[: (len(moves) + 1) // 2]
    return moves[0]


run(choose)
