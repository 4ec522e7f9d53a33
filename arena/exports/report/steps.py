"""A game as the page stores it: the start, and what each move changed. The rules are applied here;
the page only draws.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from arena.errors import printable
from arena.exports.pictures.film import Film
from arena.exports.text import event_text, seat_names
from arena.match.replay import Step, replay, start_state
from arena.records.record import GameRecord
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.diagrams import draw
from arena.rules.notation import deck_text, move_text
from arena.rules.terms import PAGODAS


def game_object(record: GameRecord, board: Board, reasons: Sequence[str] = ()) -> dict[str, Any]:
    """A game.

    ``elements`` are the fields of everything that is ever drawn on its board, and ``scene`` the
    numbers of those at the start. ``steps`` are the moves, including passes: ``seat``, ``move``,
    ``turn`` (placements so far), ``pile``, the mover's ``hand``, and which elements ``came`` and
    ``went``. If they changed, there are also ``cells`` as `diagrams.draw` writes them, by square in
    reading order from 0, ``left``, and ``events`` as (name, words, whether pagodas went home).
    ``ms`` is the time of the move, and ``note`` what the bot said of it, as (words, value). Raises
    RunError.
    """
    names, start, film = seat_names(record.bots), start_state(record, board), Film(board)
    scene, steps = film.add(start).came, list(_steps(record, board, names, start, film))
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
        "elements": film.elements,
        "scene": scene,
        "steps": steps,
        "end": record.end,
        "ranks": record.ranks,
        "left": record.left,
        "faults": [
            {"seat": fault.seat, "turn": fault.turn, "kind": fault.kind, "detail": fault.detail}
            for fault in record.faults
        ],
    }


def _steps(
    record: GameRecord, board: Board, names: Sequence[str], start: State, film: Film
) -> Iterator[dict[str, Any]]:
    cells, left = _cells(start), list(start.left)
    for step in replay(record, board):
        state = step.state
        now = _cells(state)
        entry = _entry(step, board, names)
        entry["came"], entry["went"] = film.add(state, step.move)
        entry["cells"] = {
            place: cell
            for place, (cell, before) in enumerate(zip(now, cells, strict=True))
            if cell != before
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
            (event.name, event_text(event, board, names), bool(event.home)) for event in step.events
        ],
        "ms": step.ms,
        "note": (printable(str(step.note)), step.note.value) if step.note else None,
    }


def _cells(state: State) -> list[str]:
    return [cell for row in draw(state) for cell in row]
