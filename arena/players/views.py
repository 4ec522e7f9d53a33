"""Messages made from a game's state: requests, public lines, and the full view of a position."""

from collections.abc import Sequence

from msgspec import Raw

from arena.players.messages import (
    EventView,
    FullTurn,
    Played,
    PositionView,
    ProvinceView,
    Turn,
    VillageView,
    encode,
)
from arena.rules import CORE, State, pure
from arena.rules.boards import COLOURS, Board, squares_of
from arena.rules.notation import TILES, move_text
from arena.rules.terms import NOBODY, Event

if CORE == "native":
    from arena.rules import native


def turn_view(state: State, number: int, time_ms: int, *, full: bool) -> Turn | FullTurn:
    """The request for a move to the seat whose turn it is. ``number`` is the id of the request,
    ``time_ms`` the time for the move in ms. With ``full`` it describes the whole position and lists
    all legal moves.
    """
    hand = list(map(TILES.__getitem__, state.hands[state.mover]))
    if not full:
        return Turn(number, hand, time_ms)
    return FullTurn(number, hand, time_ms, Raw(position_json(state)), Raw(legal_json(state)))


def position_json(state: State) -> bytes:
    """The `PositionView` of a state as JSON. The native core writes it itself, five times as fast,
    because every bot with the full view waits for it at each of its turns.
    """
    if _is_native(state):
        return native.position_json(state)
    return encode(position_view(state))


def legal_texts(state: State) -> list[str]:
    """The mover's legal placements in canonical notation, in ascending order."""
    return [move_text(state.board, move) for move in state.legal_moves()]


def legal_json(state: State) -> bytes:
    """The list of the mover's legal moves, in canonical notation and ascending order, as JSON."""
    if _is_native(state):
        return native.legal_json(state)
    return encode(legal_texts(state))


def _is_native(state: State) -> bool:
    """Whether the state belongs to the native core."""
    return CORE == "native" and not isinstance(state, pure.State)


def position_view(state: State) -> PositionView:
    """Everything that is public in a state."""
    board = state.board
    rows = [list(row) for row in board.rows]
    for colour, letter in enumerate(COLOURS):
        for square in squares_of(state.spaces(colour)):
            row, column = divmod(square, board.stride)
            rows[row][column] = letter
    provinces = []
    for colour, area in state.provinces():
        squares = _names(board, area.mask)
        provinces.append(ProvinceView(COLOURS[colour], area.owner, area.pagodas, squares))
    villages = []
    for village, owner in zip(board.villages, state.villages, strict=True):
        squares = _names(board, village)
        villages.append(VillageView(None if owner == NOBODY else owner, squares))
    return PositionView(
        rows=["".join(row) for row in rows],
        provinces=provinces,
        villages=villages,
        left=state.left,
        hands=[len(hand) for hand in state.hands],
        pile=state.pile,
    )


def played_view(
    state: State, seat: int, move: int, events: Sequence[Event], *, forfeited: bool = False
) -> Played:
    """The message to all bots about the ``move`` of ``seat`` that led to ``state``, with what it
    changed (``events``). ``forfeited`` says that the seat has left the game, and the move is a
    pass.
    """
    board = state.board
    players = state.players
    views = []
    for name, owner, square, size, home in events:
        counts = dict(home)
        back = [counts.get(other, 0) for other in range(players)] if home else None
        views.append(EventView(name, owner, board.name_of(square), size, back))
    return Played(seat, move_text(board, move), views, state.left, state.pile, forfeited)


def _names(board: Board, mask: int) -> list[str]:
    """The names of the squares in the mask."""
    return [board.name_of(square) for square in squares_of(mask)]
