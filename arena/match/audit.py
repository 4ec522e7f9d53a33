"""Compares a record with what the rules make of its deck and moves; fast, because it looks only at
the result.
"""

from arena.errors import ArenaError
from arena.match.replay import result_of, retire_faulty, start_state
from arena.records.record import GameRecord
from arena.records.strict import Wrong
from arena.rules.boards import Board
from arena.rules.notation import move_text, parse_move


def audit(record: GameRecord, board: Board) -> Wrong | None:
    """The first field of a record that does not follow from its deck, moves and faults."""
    state = start_state(record, board)
    may_retire = bool(record.faults)
    for number, text in enumerate(record.moves):
        if may_retire:
            retire_faulty(state, record)
        try:
            move = parse_move(board, text)
            state.play(move)
        except ArenaError as error:
            return Wrong(f"moves[{number}]", "a move that the rules allow", f"{text}: {error}")
        if move_text(board, move) != text:
            return Wrong(f"moves[{number}]", move_text(board, move), text)
    for field, expected in result_of(record, state).items():
        if getattr(record, field) != expected:
            return Wrong(field, str(expected), str(getattr(record, field)))
    return None
