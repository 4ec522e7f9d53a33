"""The squares of a province on which its pagodas are drawn: any would do, but a pagoda stays where
it was drawn first.
"""

from arena.rules import State
from arena.rules.boards import Board, squares_of
from arena.rules.terms import Province

GONE = -1


class Spots:
    """The pagodas on provinces from move to move; ``at`` gives the seat by square."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.at: dict[int, int] = {}

    def follow(self, state: State) -> dict[int, int]:
        """Updates the pagodas to match the state; returns the changed squares, with the seat or
        GONE.
        """
        before, self.at = self.at, {}
        for _, province in state.provinces():
            self._put(province, before)
        gone = dict.fromkeys(before.keys() - self.at.keys(), GONE)
        return gone | {
            square: seat for square, seat in self.at.items() if before.get(square) != seat
        }

    def _put(self, province: Province, before: dict[int, int]) -> None:
        squares = list(squares_of(province.mask))
        squares.sort(
            key=lambda square: (
                before.get(square) != province.owner,
                -self._neighbours(province, square),
                square,
            )
        )
        self.at |= dict.fromkeys(squares[: province.pagodas], province.owner)

    def _neighbours(self, province: Province, square: int) -> int:
        """How far inside its province the square lies."""
        return (self.board.around(1 << square) & province.mask).bit_count()
