"""Flat Monte Carlo: tries its moves over and over on deals that fit what it sees, and keeps what
does best.

In every trial all seats play on for some turns, each the greediest of a few moves drawn at random;
the outlook reached is what the move was worth. The moves with the best outlooks take part; all meet
the same deal and the same luck. Time is shared out in stages, after each of which the worse half
drops out (sequential halving; Karnin, Koren & Somekh 2013).
"""

import math

from arena.sdk import Position, run


def choose(position: Position) -> int:
    own = position.options
    ranked = sorted(zip(position.outlooks(), position.legal_moves(), strict=True), reverse=True)
    moves = [move for _, move in ranked[: own["moves"]]]
    worth = dict.fromkeys(moves, 0.0)
    stages = math.ceil(math.log2(len(moves)))
    for stage in range(stages):
        while position.has_time((stage + 1) / stages):
            seed, found = position.rng.getrandbits(64), {}
            for move in moves:
                if not position.has_time():
                    return max(moves, key=worth.__getitem__)
                [played] = position.rollouts(
                    1, [move], policy="greedy", among=own["among"], turns=own["turns"], seed=seed
                )
                found[move] = played.outlook
            for move, value in found.items():
                worth[move] += value
        moves = sorted(moves, key=worth.__getitem__, reverse=True)[: (len(moves) + 1) // 2]
    return moves[0]


run(choose)
