"""NAME: a bot for Qin that tries out its best moves. Change `worth` or `candidates`.

You cannot see the other hands or the draw pile. So each try deals the hidden tiles at random, plays
a move, and lets all seats play on for some turns. The move that leads to the best positions on
average is the one to play. Give this bot 50 ms a move or more.
"""

from arena.sdk import Position, Rollout, run


# ---- CHANGE THIS: how good the end of a try is. With the option turns=0 games are played to the
# end: then look at `wins` and `left` too.
def worth(played: Rollout) -> float:
    """Return how well you stand where the try stopped, in pagodas: your prospects less others'."""
    return played.outlook


# ---- CHANGE THIS: which moves to try. Here: those after which you stand best at once.
def candidates(position: Position) -> list[int]:
    """Return the moves to try, the most promising first."""
    moves = position.legal_moves()
    outlooks = dict(zip(moves, position.outlooks(), strict=True))
    best_first = sorted(moves, key=lambda move: outlooks[move], reverse=True)
    return best_first[: position.options["moves"]]


def choose(position: Position) -> int:
    """Return the move to play. Ideas: stop trying moves that fall behind; answer at once when there
    is only one candidate.
    """
    options = position.options
    moves = candidates(position)
    total = dict.fromkeys(moves, 0.0)
    tries = 0
    while position.has_time():
        tries += 1
        results = position.rollouts(
            1, moves, policy="greedy", among=options["among"], turns=options["turns"]
        )
        for played in results:
            total[played.move] += worth(played)
    best = max(moves, key=lambda move: total[move])
    position.note(worth=total[best] / max(1, tries), tries=tries)  # `arena replay` shows notes
    return best


run(choose)
