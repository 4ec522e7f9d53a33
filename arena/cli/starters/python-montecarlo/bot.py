"""NAME: a bot for Qin that plays its moves to the end, over and over, on deals that fit what it sees. Change `choose`."""

import time

from arena.sdk import Position, run

SHARE = 0.1
"""How much of the time for a move is spent on it."""


class Tried:
    """What the games after one move came to."""

    def __init__(self) -> None:
        self.games = 0
        self.worth = 0.0

    def mean(self) -> float:
        """A win is worth 1 and each pagoda left costs 1; a move that was never tried is worth least."""
        return self.worth / self.games if self.games else float("-inf")


def choose(position: Position) -> int:
    """The move that came to most. The less time is left, the fewer moves are tried: always those that look best."""
    began, budget = time.monotonic(), SHARE * position.time_ms / 1000
    moves = position.legal_moves()
    position.rng.shuffle(moves)
    tried = {move: Tried() for move in moves}
    best = moves
    while len(moves) > 1:
        seed = position.rng.getrandbits(64)  # one seed for all moves of a round: they meet the same deal
        for move in best:
            to_go = 1 - (time.monotonic() - began) / budget
            if to_go <= 0:
                return max(best, key=lambda move: tried[move].mean())
            [played] = position.rollouts(1, [move], seed=seed)
            tried[move].games += 1
            tried[move].worth += played.wins - played.left
        best = sorted(moves, key=lambda move: tried[move].mean(), reverse=True)[: max(2, int(len(moves) * to_go**2))]
    return moves[0]


run(choose)
