"""A game as what comes onto the board and what leaves it, move by move."""

from typing import NamedTuple

from arena.exports.pictures.scene import Element, Pair, Scene, pair_of
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import PASS


class Change(NamedTuple):
    """Which elements came and which went, by their numbers, the lowest first."""

    came: list[int]
    went: list[int]


class Film:
    """The positions of a game. ``elements`` are all that were ever seen, each once, and ``frames``
    the numbers of those of each position.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._scene = Scene(board)
        self._tiles = list[Pair]()
        self._numbers = dict[Element, int]()
        self.frames = list[list[int]]()

    @property
    def elements(self) -> list[Element]:
        """By number."""
        return list(self._numbers)

    def add(self, state: State, move: int = PASS) -> Change:
        """The next position and the move that led to it; returns what that changed."""
        self._tiles += pair_of(self._board, move)
        before = set(self.frames[-1]) if self.frames else set[int]()
        frame = [
            self._numbers.setdefault(element, len(self._numbers))
            for element in self._scene.show(state, self._tiles, move)
        ]
        self.frames.append(frame)
        came = [number for number in frame if number not in before]
        return Change(came, sorted(before.difference(frame)))
