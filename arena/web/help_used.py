"""The help that a person has in a game on a page: hints, and moves taken back. The record of the
game says how much it was, in notes on the person's moves.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Self

from arena.commands.hints import note_of_help
from arena.records.notes import Note

MAX_SHOWN = 2
"""The most hints of a turn: the squares of good moves, and the best move."""


@dataclass
class _Help:
    """How many hints a person saw for a move, and how many moves were taken back before it."""

    hints: int = 0
    undone: int = 0


class HelpUsed:
    """The help that a person has had in a game. ``undone`` is the number of moves that were taken
    back before the person's next one.

    ``shown``  how many of the turn's hints the person has seen, from 0 to `MAX_SHOWN`
    """

    def __init__(self, undone: int = 0) -> None:
        self.shown = 0
        # The help that belongs to the next move, without the hints that are shown now, and the help
        # with the moves so far, by turn.
        self._next = _Help(undone=undone)
        self._by_turn = dict[int, _Help]()

    def begin_turn(self) -> None:
        """Begins a turn of the person, for which no hint is shown yet."""
        self.shown = 0

    def show_hint(self) -> int:
        """Counts a hint for the present turn; returns how many are shown now."""
        self.shown = min(self.shown + 1, MAX_SHOWN)
        return self.shown

    def caution(self) -> None:
        """Counts a caution before a move, which is a hint, too."""
        self._next.hints += 1

    def note_at(self, turn: int) -> Note | None:
        """The note on the person's move after ``turn`` placements; None if they had no help."""
        had = _Help(self._next.hints + self.shown, self._next.undone)
        self._by_turn[turn] = had
        self._next = _Help()
        return note_of_help(had.hints, had.undone)

    def take_back(self, turn: int) -> None:
        """Counts a move that is taken back. The help with the moves from ``turn`` on, whose notes
        are dropped, counts for the next move.
        """
        self._next.undone += 1
        self._put_shown_aside()
        for other in [other for other in self._by_turn if other >= turn]:
            had = self._by_turn.pop(other)
            self._next.hints += had.hints
            self._next.undone += had.undone

    def carried_over(self) -> Self:
        """The help so far, for a game that goes on from the present position of this one."""
        self._put_shown_aside()
        return deepcopy(self)

    def _put_shown_aside(self) -> None:
        """Counts the hints that are shown for the next move, whichever turn that is."""
        self._next.hints += self.shown
        self.shown = 0
