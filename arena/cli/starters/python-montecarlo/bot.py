"""NAME: a bot for Qin that plays its best moves on, over and over, until its time is up. Change `worth` or `candidates`.

It cannot see the other hands or the draw pile. So each time the arena's SDK deals the hidden tiles anew, plays a move, and lets all seats
play on for some turns. The move that leads to the best positions on average is the one to play.
"""

from arena.sdk import Position, Rollout, run

MOVES = 12
"""How many moves to try. Fewer moves are tried more often each."""
TURNS = 12
"""How many turns to play on after a move. Looking further takes longer, and luck blurs what is seen."""
AMONG = 8
"""In each of these turns a seat draws this many legal moves at random, and plays the one that places most pagodas."""


# ---- CHANGE THIS: what a game that was played on is worth; `wins` and `left` of a Rollout say more once games reach their end (TURNS = 0)
def worth(played: Rollout) -> float:
    """The outlook reached, in pagodas: this seat's prospects less those of the others."""
    return played.outlook


# ---- CHANGE THIS: which moves to try; here, those after which this seat stands best at once
def candidates(position: Position) -> list[int]:
    """The moves to try, the most promising first."""
    moves = position.legal_moves()
    outlook = dict(zip(moves, position.outlooks(), strict=True))
    return sorted(moves, key=outlook.__getitem__, reverse=True)[:MOVES]


def choose(position: Position) -> int:
    """The move to play. Some ideas: stop trying moves that fall behind, or answer at once when there is one candidate."""
    moves = candidates(position)
    total = dict.fromkeys(moves, 0.0)
    while position.has_time():
        for played in position.rollouts(1, moves, policy="greedy", among=AMONG, turns=TURNS):
            total[played.move] += worth(played)
    return max(moves, key=total.__getitem__)


run(choose)
