"""Boards that stay the same when they are turned or mirrored, and the moves that are then one."""

from collections.abc import Iterator
from functools import cache
from itertools import permutations, product
from typing import NamedTuple

from arena.rules.boards import COLOURS, Board
from arena.rules.notation import PASS, make_move, split_move


class Symmetry(NamedTuple):
    """A way to lay a board on itself: the square on which each comes to lie, and the colour. Each
    colour has the same tiles, so the game is the same.
    """

    squares: dict[int, int]
    colours: tuple[int, ...]


@cache
def symmetries(board: Board) -> tuple[Symmetry, ...]:
    """All symmetries of a board; the first one moves nothing."""
    cells = {
        row * board.stride + column: letter
        for row, line in enumerate(board.rows)
        for column, letter in enumerate(line)
    }
    return tuple(
        Symmetry(squares, colours)
        for squares in _turns(board)
        for colours in permutations(range(len(COLOURS)))
        if all(_painted(cells[at], colours) == cells[to] for at, to in squares.items())
    )


def least_alike(board: Board, move: int) -> int:
    """The least of the moves that a symmetry of the board makes of this one."""
    if move == PASS or len(symmetries(board)) == 1:
        return move
    return min(_moved(board, move, symmetry) for symmetry in symmetries(board))


def _turns(board: Board) -> Iterator[dict[int, int]]:
    """Where turning and mirroring puts the squares: a rectangle has four ways, a square eight."""
    height, width = board.height, board.width
    places = list(product(range(height), range(width)))
    for swap, down, right in product((False, True), repeat=3):
        if not swap or height == width:
            turned = [(column, row) if swap else (row, column) for row, column in places]
            yield {
                row * board.stride + column: (height - 1 - to if down else to) * board.stride
                + (width - 1 - side if right else side)
                for (row, column), (to, side) in zip(places, turned, strict=True)
            }


def _painted(letter: str, colours: tuple[int, ...]) -> str:
    return COLOURS[colours[COLOURS.index(letter)]] if letter in COLOURS else letter


def _moved(board: Board, move: int, symmetry: Symmetry) -> int:
    first, square, second, other = split_move(board, move)
    (one, colour), (two, other_colour) = sorted(
        (symmetry.squares[at], symmetry.colours[of])
        for at, of in ((square, first), (other, second))
    )
    return make_move(colour, other_colour, one, vertical=two - one != 1)
