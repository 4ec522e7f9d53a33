"""Replays a record by the rules: move by move for those who look on, or only to compare its result
with what the rules make of its deck and moves.
"""

from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any, NamedTuple

from arena.errors import ArenaError, RunError
from arena.match.referee import FORFEIT
from arena.records.note import Note, kept_notes
from arena.records.record import GameRecord
from arena.records.strict import Wrong
from arena.rules.game import PASS, Board, Event, State, final_ranks, move_text, new_game, play_text


class Step(NamedTuple):
    """A move of a record: the state after it, the seat, the move, its events, its time, and what
    the bot said of it. The state is the same object each time.
    """

    state: State
    seat: int
    move: int
    events: list[Event]
    ms: float | None
    note: Note | None


def replay(record: GameRecord, board: Board) -> Iterator[Step]:
    """Replays the moves of a record one by one, then checks its result.

    Raises RunError if the record does not follow from its deck and moves.
    """
    state, notes = start_state(record, board), kept_notes(record.notes)
    # A stranger's journal may have too few times.
    times = chain(record.ms or (), repeat(None))
    for number, (text, ms) in enumerate(zip(record.moves, times, strict=False), 1):
        retire_faulty(state, record)
        seat, turn, events = state.mover, state.turns, list[Event]()
        try:
            move = play_text(state, text, events)
        except ArenaError as error:
            raise RunError(
                f"{record.id}, move {number}: expected a move that the rules allow, got {error}"
            ) from error
        note = None if move == PASS else notes.get(turn)
        yield Step(state, seat, move, events, ms, note)
    _check_result(record, state)


def audit(record: GameRecord, board: Board) -> Wrong | None:
    """The first field of a record that does not follow from its deck, moves and faults."""
    state = start_state(record, board)
    may_retire = bool(record.faults)
    for number, text in enumerate(record.moves):
        if may_retire:
            retire_faulty(state, record)
        try:
            move = play_text(state, text)
        except ArenaError as error:
            return Wrong(f"moves[{number}]", "a move that the rules allow", f"{text}: {error}")
        if move_text(board, move) != text:
            return Wrong(f"moves[{number}]", move_text(board, move), text)
    for field, expected in result_of(record, state).items():
        if getattr(record, field) != expected:
            return Wrong(field, str(expected), str(getattr(record, field)))
    return None


def start_state(record: GameRecord, board: Board) -> State:
    """The state before a record's first move. Raises NotationError."""
    return new_game(board, len(record.bots), record.deck)


def retire_faulty(state: State, record: GameRecord) -> None:
    """Retires the seat to move if it has forfeited by this turn."""
    if not state.retired[state.mover] and any(
        fault.seat == state.mover and fault.turn <= state.turns for fault in record.faults
    ):
        state.retire(state.mover)


def result_of(record: GameRecord, state: State) -> dict[str, Any]:
    """The result fields of a record as the rules give them after its last move."""
    forfeited = [fault.seat for fault in record.faults]
    is_forfeit = len(forfeited) >= len(record.bots) - 1
    for seat in () if is_forfeit else forfeited:
        state.retire(seat)
    return {
        "left": state.left,
        "ranks": final_ranks(state.left, forfeited),
        "end": state.end or (FORFEIT if is_forfeit else "not over"),
        "turns": state.turns,
    }


def _check_result(record: GameRecord, state: State) -> None:
    for what, replayed in result_of(record, state).items():
        recorded = getattr(record, what)
        if recorded != replayed:
            raise RunError(
                f"{record.id}: expected {what} {replayed} by the rules, got {recorded} in the"
                " record"
            )
