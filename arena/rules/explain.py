"""Why a move is illegal, in a sentence with the rule's number; the same for both cores."""

from typing import TYPE_CHECKING

from arena.rules.boards import COLOURS, squares_of
from arena.rules.joins import is_forbidden_join
from arena.rules.notation import (
    KIND_SHIFT,
    PASS,
    TILE_OF_KIND,
    TILES,
    UNKNOWN,
    move_text,
    split_move,
)
from arena.rules.terms import MAJOR

if TYPE_CHECKING:
    from arena.rules.pure import State


def illegal_text(state: "State", move: int) -> str:
    """``Rc4Yd4 is illegal: `` and the reason; empty when the mover may play the move."""
    if move != PASS and not 0 <= move >> KIND_SHIFT < len(TILE_OF_KIND):
        return f"{move} is illegal: it is not the number of a move"
    reason = _reason(state, move)
    return f"{move_text(state.board, move)} is illegal: {reason}" if reason else ""


def _reason(state: "State", move: int) -> str:
    if state.end is not None:
        return f"the game is over: {state.end} (R8.1)"
    if move == PASS:
        can_know = UNKNOWN not in state.hands[state.mover]
        return (
            ""
            if state.must_pass() or not can_know
            else "a player who can place a tile must place one (R3.1, R3.2)"
        )
    hand, tile = state.hands[state.mover], TILE_OF_KIND[move >> KIND_SHIFT]
    if tile not in hand and UNKNOWN not in hand:
        return (
            f"the tile {TILES[tile]} is not in the hand"
            f" {' '.join(TILES[held] for held in hand) or '(empty)'} (R3.1)"
        )
    first, square, second, other = split_move(state.board, move)
    halves = 1 << square | 1 << other
    if halves & ~state.free:
        return f"{_first_name(state, halves & ~state.free)} is not free grassland (R4.1)"
    if not state.board.around(halves) & (state.spaces(0) | state.spaces(1) | state.spaces(2)):
        return "neither half shares an edge with a province space (R4.2)"
    if first == second:
        return _join_reason(state, first, halves)
    return _join_reason(state, first, 1 << square) or _join_reason(state, second, 1 << other)


def _join_reason(state: "State", colour: int, halves: int) -> str:
    joined = [
        province for own, province in state.provinces() if own == colour and province.halo & halves
    ]
    if not is_forbidden_join(joined):
        return ""
    names = " and ".join(_first_name(state, province.mask) for province in joined)
    if sum(province.size >= MAJOR for province in joined) > 1:
        return (
            f"it would join major provinces of colour {COLOURS[colour]}, those from {names} (R4.3)"
        )
    return (
        f"it would join the provinces of colour {COLOURS[colour]} from {names}, to which two"
        " players bring equally many spaces (R4.4)"
    )


def _first_name(state: "State", mask: int) -> str:
    """The first square of the mask; a square beside the board is named by its row and column
    instead.
    """
    square = next(squares_of(mask))
    row, column = divmod(square, state.board.stride)
    if column >= state.board.width or row >= state.board.height:
        return f"row {row + 1}, column {column + 1}"
    return state.board.name_of(square)
