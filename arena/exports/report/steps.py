"""A game as the page stores it: the start, and what each move changed. The rules are applied here;
the page only draws.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from arena.errors import printable
from arena.exports.text import event_text, seat_names
from arena.match.replay import Step, replay, start_state
from arena.records.record import GameRecord
from arena.rules import State
from arena.rules.boards import Board, squares_of
from arena.rules.diagrams import draw
from arena.rules.notation import deck_text, move_text
from arena.rules.terms import PAGODAS, OwnedProvince

GONE = -1


def board_object(board: Board) -> dict[str, Any]:
    """A board: its rows, and the squares (numbered in reading order from 0) and middle (in squares)
    of each village.
    """
    villages = []
    for village in board.villages:
        places = [divmod(square, board.stride) for square in squares_of(village)]
        x, y = (
            sum(part) / len(places) + 0.5
            for part in zip(*((column, row) for row, column in places), strict=True)
        )
        villages.append(
            {
                "cells": [row * board.width + column for row, column in places],
                "x": round(x, 2),
                "y": round(y, 2),
            }
        )
    return {"rows": list(board.rows), "villages": villages}


def game_object(record: GameRecord, board: Board, reasons: Sequence[str] = ()) -> dict[str, Any]:
    """A game.

    ``steps`` are the moves, including passes: ``seat``, ``move``, ``turn`` (placements so far),
    ``pile``. If they changed, there are also ``cells`` as `diagrams.draw` writes them, ``pagodas``
    on provinces by square with the seat or -1, ``left``, the mover's ``hand``, and ``events`` as
    (name, words, square, whether pagodas went home). Squares are numbered in reading order from 0.
    ``ms`` is the time of the move, and ``note`` what the bot said of it, as (words, value). Raises
    RunError.
    """
    names, start = seat_names(record.bots), start_state(record, board)
    return {
        "id": record.id,
        "board": record.board,
        "bots": record.bots,
        "names": names,
        "deal": record.deal,
        "reasons": list(reasons),
        "stock": PAGODAS[len(record.bots)],
        "hands": [deck_text(hand) for hand in start.hands],
        "pile": start.pile,
        "steps": list(_steps(record, board, names, start)),
        "end": record.end,
        "ranks": record.ranks,
        "left": record.left,
        "faults": [
            {"seat": fault.seat, "turn": fault.turn, "kind": fault.kind, "detail": fault.detail}
            for fault in record.faults
        ],
    }


def _steps(
    record: GameRecord, board: Board, names: Sequence[str], start: State
) -> Iterator[dict[str, Any]]:
    cells, left, spots = _cells(start), list(start.left), Spots(board)
    spots.follow(start)
    for step in replay(record, board):
        state = step.state
        now = _cells(state)
        entry = _entry(step, board, names)
        entry["cells"] = {
            place: cell
            for place, (cell, before) in enumerate(zip(now, cells, strict=True))
            if cell != before
        }
        entry["pagodas"] = {
            _place(board, square): seat for square, seat in spots.follow(state).items()
        }
        if state.left != left:
            entry["left"] = left = list(state.left)
        cells = now
        yield {key: value for key, value in entry.items() if value not in ({}, [], None)}


def _entry(step: Step, board: Board, names: Sequence[str]) -> dict[str, Any]:
    state = step.state
    return {
        "seat": step.seat,
        "move": move_text(board, step.move),
        "turn": state.turns,
        "pile": state.pile,
        "hand": deck_text(state.hands[step.seat]),
        "events": [
            (
                event.name,
                event_text(event, board, names),
                _place(board, event.square),
                bool(event.home),
            )
            for event in step.events
        ],
        "ms": step.ms,
        "note": (printable(str(step.note)), step.note.value) if step.note else None,
    }


def _cells(state: State) -> list[str]:
    return [cell for row in draw(state) for cell in row]


def _place(board: Board, square: int) -> int:
    row, column = divmod(square, board.stride)
    return row * board.width + column


class Spots:
    """The squares on which pagodas are drawn from move to move; ``at`` gives the seat by square.

    Any square of a province would do, but a pagoda stays where it was drawn first.
    """

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

    def _put(self, province: OwnedProvince, before: dict[int, int]) -> None:
        squares = list(squares_of(province.mask))
        squares.sort(
            key=lambda square: (
                before.get(square) != province.owner,
                -self._neighbours(province, square),
                square,
            )
        )
        self.at |= dict.fromkeys(squares[: province.pagodas], province.owner)

    def _neighbours(self, province: OwnedProvince, square: int) -> int:
        """How far inside its province the square lies."""
        return (self.board.around(1 << square) & province.mask).bit_count()
