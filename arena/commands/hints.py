"""Hints for a person who plays. The judge that also grades moves and draws the curve of a game
chooses the moves; a hint says what its move does and how often the judge wins with it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from arena.exports.effects import colours_of, effects_of
from arena.match.grading import DEFAULT_DEALS, DEFAULT_JUDGE, best_moves
from arena.records.grades import Judge
from arena.records.notes import Note
from arena.rules import CORE, State

MAX_HINTS = 3
"""The most moves that are suggested in a position."""
PURE_DEALS = 16
"""The number of deals for a hint if the rules run in Python, which is fifty times slower."""
JUDGE = Judge(DEFAULT_JUDGE, DEFAULT_DEALS if CORE == "native" else PURE_DEALS, 0)
"""The judge that gives hints."""


class Hint(NamedTuple):
    """A suggested ``move``, the share of the win that the judge expects after it (``win``, from 0
    to 1), and the ``reason``: the colours of the tile and what the move does, in a few words.
    """

    move: int
    win: float
    reason: str


def hints_for(state: State, names: Sequence[str], seed: int) -> list[Hint]:
    """At most `MAX_HINTS` suggestions for the mover of ``state``, the best first; none if the mover
    has to pass. ``names`` are the names of the seats; the mover is called "you". What the mover
    cannot see is dealt at random, from ``seed``.
    """
    if not state.legal_count():
        return []
    ranked = best_moves(state, JUDGE, seed)[:MAX_HINTS]
    return [Hint(move, win, _reason(state, move, names)) for move, win in ranked]


def _reason(state: State, move: int, names: Sequence[str]) -> str:
    """What ``move`` does, such as ``red and blue: a red province and a village``."""
    return f"{colours_of(state.board, move)}: {effects_of(state, move, names, state.mover).brief}"


def note_of_help(hints: int, undone: int = 0) -> Note | None:
    """The note on a person's move, for the record of the game: how many ``hints`` were shown for it
    and how many moves were taken back before it (``undone``). None if both are 0.
    """
    counts: dict[str, int | float | str] = {"hints": hints, "undone": undone}
    used = {name: count for name, count in counts.items() if count}
    return Note(used) if used else None
