"""States, moves and events as messages show them: a seat's own hand and what R2.2 makes public, and
nothing else.
"""

from collections.abc import Sequence

from arena.players.messages import EventView, Played, PositionView, ProvinceView, Turn, VillageView
from arena.rules import State
from arena.rules.boards import COLOURS, Board, squares_of
from arena.rules.notation import TILES, move_text
from arena.rules.terms import NOBODY, Event


def turn_view(state: State, number: int, time_ms: int, *, full: bool) -> Turn:
    """The request to the seat whose turn it is."""
    hand = list(map(TILES.__getitem__, state.hands[state.mover]))
    if not full:
        return Turn(number, hand, time_ms)
    legal = [move_text(state.board, move) for move in state.legal_moves()]
    return Turn(number, hand, time_ms, position_view(state), legal)


def position_view(state: State) -> PositionView:
    """Everything public in a state."""
    board = state.board
    rows = [list(row) for row in board.rows]
    for colour, letter in enumerate(COLOURS):
        for square in squares_of(state.spaces(colour)):
            row, column = divmod(square, board.stride)
            rows[row][column] = letter
    return PositionView(
        rows=["".join(row) for row in rows],
        provinces=[
            ProvinceView(
                COLOURS[colour], province.owner, province.pagodas, _names(board, province.mask)
            )
            for colour, province in state.provinces()
        ],
        villages=[
            VillageView(None if owner == NOBODY else owner, _names(board, village))
            for village, owner in zip(board.villages, state.villages, strict=True)
        ],
        left=state.left,
        hands=[len(hand) for hand in state.hands],
        pile=state.pile,
    )


def played_view(
    state: State, seat: int, move: int, events: Sequence[Event], *, forfeited: bool = False
) -> Played:
    """The public line about the move that led to this state."""
    board, players = state.board, state.players
    name_of = board.name_of
    shown = [
        EventView(name, owner, name_of(square), size, _by_seat(home, players) if home else None)
        for name, owner, square, size, home in events
    ]
    return Played(seat, move_text(board, move), shown, state.left, state.pile, forfeited)


def _by_seat(home: tuple[tuple[int, int], ...], players: int) -> list[int]:
    counts = dict(home)
    return [counts.get(seat, 0) for seat in range(players)]


def _names(board: Board, mask: int) -> list[str]:
    return [board.name_of(square) for square in squares_of(mask)]
