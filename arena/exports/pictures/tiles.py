"""Which spaces lie on one tile."""

from arena.rules import State
from arena.rules.boards import COLOURS, Board, squares_of
from arena.rules.notation import PASS, split_move

Pair = tuple[int, int]
"""The two squares of a tile in reading order."""


def pair_of(board: Board, move: int) -> list[Pair]:
    """The squares that a move covers; none for a pass."""
    if move == PASS:
        return []
    _, square, _, other = split_move(board, move)
    return [(square, other)]


def likely_tiles(state: State) -> list[Pair]:
    """Tiles as they may have been laid, for a position whose moves are not known; the spaces left
    over are starts.

    Only spaces of one colour are put together, those with the fewest such neighbours first, so that
    few are left over.
    """
    pairs = []
    for colour in range(len(COLOURS)):
        rest = state.spaces(colour)
        while rest:
            square = min(
                squares_of(rest),
                key=lambda at: ((state.board.around(1 << at) & rest).bit_count() or 9, at),
            )
            mates = state.board.around(1 << square) & rest
            if mates:
                mate = next(squares_of(mates))
                pairs.append((min(square, mate), max(square, mate)))
                rest ^= 1 << mate
            rest ^= 1 << square
    return sorted(pairs)
