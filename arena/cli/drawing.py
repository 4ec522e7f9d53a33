"""A game shown move by move: the board, and what happened in words."""

from collections.abc import Sequence

from arena.cli.mosaic import Mosaic
from arena.cli.terminal import screen_folded
from arena.errors import printable
from arena.exports.text import event_text
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import PASS, move_text, split_move
from arena.rules.terms import Event


def move_lines(
    mosaic: Mosaic,
    state: State,
    names: Sequence[str],
    seat: int,
    move: int,
    events: Sequence[Event],
    told: Sequence[str] = (),
    seen_by: int | None = None,
) -> str:
    """The state after a move: the move, what it caused and what else is ``told`` of it, the board,
    and all pagodas and hands, or only those that ``seen_by`` sees.
    """
    mosaic.lay(move)
    return "\n".join(
        [
            move_summary(state, names, seat, move, events),
            *(screen_folded(f"  {printable(line)}") for line in told),
            mosaic.board(state, squares_under(state.board, move)),
            mosaic.seats(state, names, seen_by),
            "",
        ]
    )


def move_summary(
    state: State, names: Sequence[str], seat: int, move: int, events: Sequence[Event]
) -> str:
    """A move and what it caused, given the state after it."""
    head = f"turn {state.turns}: {names[seat]} " + (
        "passes" if move == PASS else f"plays {move_text(state.board, move)}"
    )
    caused = (f"  {event_text(event, state.board, names)}" for event in events)
    return screen_folded("\n".join([head, *caused]))


def end_line(end: str, names: Sequence[str], left: Sequence[int], ranks: Sequence[int]) -> str:
    """How the game ended, and the final places."""
    return f"end ({end}): {places_text(names, left, ranks)}"


def places_text(names: Sequence[str], left: Sequence[int], ranks: Sequence[int]) -> str:
    """The bots in the order of their ranks."""
    order = sorted(range(len(names)), key=lambda seat: ranks[seat])
    return ", ".join(f"{ranks[seat]}. {names[seat]} ({left[seat]} left)" for seat in order)


def squares_under(board: Board, move: int) -> int:
    """The mask of the squares that a move covers."""
    if move == PASS:
        return 0
    _, square, _, other = split_move(board, move)
    return 1 << square | 1 << other
