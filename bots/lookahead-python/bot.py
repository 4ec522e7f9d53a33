"""Looks a round ahead: its move, the likely replies of the others, and its own best answer with the
tile that it draws.

What it cannot see is dealt at random a few times over; on each deal the others reply as the careful
bot would. The mean over the deals is the expectation over their hands and its own draws. Only the
moves with the best outlooks are tried, all on the same deals.
"""

from itertools import count

from arena.sdk import PASS, Position, run


def best_first(position: Position) -> list[int]:
    """The legal moves, best outlook first."""
    moves = position.legal_moves()
    order = sorted(range(len(moves)), key=position.outlooks().__getitem__, reverse=True)
    return [moves[index] for index in order]


def worth(position: Position) -> float:
    """What the seat can make of a position after the others have replied."""
    while not position.is_over and position.mover != position.seat:
        position = position.play((best_first(position) or [PASS])[0])
    return (
        position.outlook()
        if position.is_over
        else max(position.outlooks(), default=position.outlook())
    )


def choose(position: Position) -> int:
    own = position.options
    moves = best_first(position)[: own["moves"]]
    total = dict.fromkeys(moves, 0.0)
    for _ in count() if own["nodes"] else range(own["deals"]):
        deal, found = position.sample(), {}
        for move in moves:
            if not position.has_time():
                return max(moves, key=total.__getitem__)
            found[move] = worth(deal.play(move))
        for move, value in found.items():
            total[move] += value
    return max(moves, key=total.__getitem__)


run(choose)
