"""What the page of a game that is being played is told: the board, what happened, and the hand of
the person who plays. Never another hand, nor the order of the pile.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from arena.errors import printable
from arena.exports.pictures.film import Film
from arena.exports.text import event_text, seat_names
from arena.records.record import Fault
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.diagrams import draw
from arena.rules.notation import PASS, TILES, move_text
from arena.rules.rulebook import explained
from arena.rules.terms import PAGODAS, Event

_YOU = "\x00"
"""Stands for the person until a sentence is put together; no bot's name can have it."""
_PHRASES = (
    (f"the province of {_YOU}", "your province"),
    *((f"{_YOU} {verb}s", f"you {verb}") for verb in ("found", "own", "connect", "conquer")),
    (f"{_YOU} takes", "you take"),
    (_YOU, "you"),
)


class Told(NamedTuple):
    """How much of a story a page has heard: elements and steps."""

    elements: int = 0
    steps: int = 0


class Story:
    """A game as the person at a ``seat`` sees it. ``add`` and ``at`` are called by whoever plays;
    `told` by anybody.
    """

    def __init__(self, board: Board, labels: Sequence[str], seat: int) -> None:
        self._board, self._seat = board, seat
        self.names = seat_names(labels)
        self._called = [_YOU if at == seat else name for at, name in enumerate(self.names)]
        self._film = Film(board)
        self._elements: list[Any] = []
        self._steps = list[dict[str, Any]]()
        self._start: list[int] = []
        self._now: dict[str, Any] = {"cells": list("".join(board.rows)), "left": [], "hands": []}

    def begin(self, state: State) -> None:
        """The position before the first move."""
        self._start = self._film.add(state).came
        self._look(state)

    def add(self, state: State, seat: int, move: int, events: Sequence[Event]) -> None:
        """A move, and the state after it."""
        came, went = self._film.add(state, move)
        self._look(state)
        self._steps.append(
            {
                "seat": seat,
                "turn": state.turns,
                "move": move_text(self._board, move),
                "came": came,
                "went": went,
                "left": list(state.left),
                "events": [self._words(event) for event in events],
            }
        )

    def faults(self, faults: Sequence[Fault]) -> list[dict[str, Any]]:
        """What bots did wrong, in words."""
        return [
            {
                "seat": fault.seat,
                "turn": fault.turn,
                "words": f"{self.names[fault.seat]} forfeits ({fault.kind}):"
                f" {explained(printable(fault.detail))}",
            }
            for fault in faults
        ]

    def told(self, so_far: Told) -> tuple[dict[str, Any], Told]:
        """What a page does not know yet, and what it will then know."""
        steps, elements = list(self._steps), self._elements
        return {
            "from": so_far,
            "elements": elements[so_far.elements :],
            "start": self._start,
            "steps": steps[so_far.steps :],
            **self._now,
        }, Told(len(elements), len(steps))

    def _look(self, state: State) -> None:
        self._elements = self._film.elements
        self._now = {
            "cells": [cell for row in draw(state) for cell in row],
            "left": list(state.left),
            "hand": [TILES[tile] for tile in state.hands[self._seat]],
            "hands": [len(hand) for hand in state.hands],
            "pile": state.pile,
            "mover": state.mover,
            "turn": state.turns,
        }

    def _words(self, event: Event) -> tuple[str, str]:
        words = event_text(event, self._board, self._called)
        for phrase, yours in _PHRASES:
            words = words.replace(phrase, yours)
        return event.name, words

    @property
    def head(self) -> dict[str, Any]:
        """What stays the same."""
        return {
            "seat": self._seat,
            "names": self.names,
            "stock": PAGODAS[len(self.names)],
            "board": self._board.name,
            "rows": list(self._board.rows),
        }


def legal_texts(state: State) -> list[str]:
    """The mover's placements."""
    return [move_text(state.board, move) for move in state.legal_moves() if move != PASS]
