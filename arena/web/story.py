"""A game as the page of a person shows it: the boards of all steps, what each move did, and what
the legal moves of the person would do.
"""

from collections.abc import Sequence
from typing import Any

from arena.errors import printable
from arena.exports.effects import Effect, effects_of
from arena.exports.report.viewer_data import cells_of
from arena.exports.scene import Film
from arena.exports.text import seat_names
from arena.records.record import Fault
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.explain import explained
from arena.rules.notation import TILES, move_text
from arena.rules.terms import PAGODAS


class Story:
    """A game as the person at ``seat`` sees it.

    ``view`` is what pages get. The thread that plays calls `begin` and `add`, and each call makes a
    new view.
    """

    def __init__(self, board: Board, labels: Sequence[str], seat: int) -> None:
        self.names = seat_names(labels)
        self._board = board
        self._seat = seat
        self._labels = labels
        # The last position that was added.
        self._state: State | None = None
        self._film = Film(board)
        self.view: dict[str, Any] = {
            "seat": seat,
            "names": self.names,
            "stock": PAGODAS[len(self.names)],
            "board": board.name,
            "rows": board.rows,
            "elements": [],
            "start": [],
            "steps": [],
            "cells": list("".join(board.rows)),
            "hands": [],
        }

    def started_anew(self) -> "Story":
        """A story of the same game without any moves."""
        return Story(self._board, self._labels, self._seat)

    @property
    def position(self) -> State:
        """A copy of the last position that was added."""
        assert self._state is not None, "the game has begun"
        return self._state.copy()

    def begin(self, state: State) -> None:
        """Begin the view with ``state``, the position before the first move."""
        self._look(state, start=self._film.add(state).came)

    def add(self, state: State, seat: int, move: int) -> None:
        """Add a move of ``seat``, its effects and the position after it (``state``) to the view.
        `begin` comes first.
        """
        assert self._state is not None, "the game has begun"
        did = effects_of(self._state, move, self.names, self._seat).effects
        came, went = self._film.add(state, move)
        step = {
            "seat": seat,
            "turn": state.turns,
            "move": move_text(self._board, move),
            "came": came,
            "went": went,
            "left": list(state.left),
            "events": [(effect.kind, effect.words) for effect in did],
        }
        self._look(state, steps=[*self.view["steps"], step])

    def effects(self, state: State) -> dict[str, Any]:
        """What each legal move of the person, who is to move in ``state``, does, for the page.
        ``moves`` has by move the pagodas that each seat has left afterwards, and the numbers of the
        ``lines`` that describe its effects. Each line has the kind, the seat, the words, the reason
        and the rule of an effect. Most lines belong to many moves.
        """
        numbers = dict[Effect, int]()
        moves = {}
        for move in state.legal_moves():
            does = effects_of(state, move, self.names, self._seat)
            of_move = [numbers.setdefault(effect, len(numbers)) for effect in does.effects]
            moves[move_text(self._board, move)] = [does.left, of_move]
        lines = [[line.kind, line.seat, line.words, line.why, line.rule] for line in numbers]
        return {"lines": lines, "moves": moves}

    def faults(self, faults: Sequence[Fault]) -> list[dict[str, Any]]:
        """A row for the page about each of these faults of bots: ``seat``, ``turn``, and a sentence
        (``words``).
        """
        rows = []
        for fault in faults:
            words = f"{self.names[fault.seat]} forfeits ({fault.kind})"
            words = f"{words}: {explained(printable(fault.detail))}"
            rows.append({"seat": fault.seat, "turn": fault.turn, "words": words})
        return rows

    def _look(self, state: State, **further: Any) -> None:
        """Makes a new view from the last one: the board and hands of ``state``, and the entries in
        ``further``, take the place of earlier ones.
        """
        self._state = state.copy()
        self.view = {
            **self.view,
            **further,
            "elements": self._film.elements,
            "cells": cells_of(state),
            "hand": [TILES[tile] for tile in state.hands[self._seat]],
            "hands": [len(hand) for hand in state.hands],
            "mover": state.mover,
        }
