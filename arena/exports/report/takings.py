"""What each bot got on each board and in each seat, and the time it took."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.exports.report.scan import Scan


class Takings:
    """What each bot got on each board and in each seat."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._number, self._bot = scan.bot_numbers(), scan.bots()
        self._share, self._seat, self._boards = scan.won(), scan.seats(), scan.boards()
        self._board = scan.by_seat(
            [[self._boards.index(place)] * len(bots) for place, bots, _ in scan.outcomes]
        )
        self._size = scan.by_seat([[len(bots)] * len(bots) for _, bots, _ in scan.outcomes])
        self._turns = np.repeat(scan.turns, scan.sizes()) if len(scan.turns) else scan.turns

    def _own(self, name: str) -> NDArray[np.intp]:
        return np.flatnonzero(self._bot == self._number.get(name, -1))

    def move_ms(self, name: str) -> float:
        """The mean time of a move, if all seats placed equally many tiles."""
        own = self._own(name)
        moves = float((self._turns[own] / self._size[own]).sum()) if len(own) else 0.0
        return float(self._scan.think_ms[own].sum()) / moves if moves else float("nan")

    def by_board(self, name: str) -> list[dict[str, Any]]:
        """A row for each board."""
        own = self._own(name)
        return [
            {"what": board, **self._row(own[self._board[own] == at])}
            for at, board in enumerate(self._boards)
            if (self._board[own] == at).any()
        ]

    def by_seat(self, name: str) -> list[dict[str, Any]]:
        """A row for each number of players and seat."""
        own = self._own(name)
        keys = sorted(set(zip(self._size[own].tolist(), self._seat[own].tolist(), strict=True)))
        many = len({size for size, _ in keys}) > 1
        return [
            {
                "what": f"seat {int(seat)}" + (f" of {int(size)}" if many else ""),
                **self._row(own[(self._size[own] == size) & (self._seat[own] == seat)]),
            }
            for size, seat in keys
        ]

    def _row(self, own: NDArray[np.intp]) -> dict[str, Any]:
        return {
            "games": len(own),
            "share": float(self._share[own].mean()),
            "left": float(self._scan.left[own].mean()),
        }
