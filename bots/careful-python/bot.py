"""Gains most pagodas net of the best reply that it leaves.

The next player's hand is hidden, so any tile that has not been seen may come. To save time only the moves that gain nearly most are
looked at, and of the replies only those beside the tile just placed: the others are there whatever is played.
"""

from arena.rules.notation import SQUARE_MASK, split_move
from arena.sdk import Position, run

LOOKED_AT = 4


def net_gain(before: Position, after: Position, seat: int) -> int:
    """Pagodas that the seat placed, less those the others did."""
    gained = [old - new for old, new in zip(before.left, after.left, strict=True)]
    return 2 * gained[seat] - sum(gained)


def best_reply(after: Position, move: int) -> int:
    """The best net gain of the next player beside the tile just placed."""
    if after.is_over:
        return 0
    _, square, _, other = split_move(after.board, move)
    near = after.board.around(1 << square | 1 << other)
    near |= after.board.around(near)
    tiles = [tile for tile, count in after.unseen().items() if count]
    replies = [reply for reply in after.moves_of(tiles) if near >> (reply & SQUARE_MASK) & 1]
    return max((net_gain(after, after.play(reply), after.mover) for reply in replies), default=0)


def choose(position: Position) -> int:
    moves = position.legal_moves()
    position.rng.shuffle(moves)
    tried = sorted(((net_gain(position, position.play(move), position.seat), move) for move in moves), key=lambda entry: -entry[0])
    return max(tried[:LOOKED_AT], key=lambda entry: entry[0] - best_reply(position.play(entry[1]), entry[1]))[1]


run(choose)
