"""The game as those see it who run it: a referee, a replay, a schedule.

They need only what is here: how a game starts, what a move is, whether it may be played and what
comes of it, and who has won. The rest of `arena.rules` is for bots, and for whoever draws a game.
"""

from collections.abc import Callable, Sequence

from arena.errors import IllegalMoveError
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import (
    COPIES,
    DECK_SIZE,
    PASS,
    PASSED,
    TILES,
    move_text,
    parse_deck,
    parse_move,
)
from arena.rules.terms import PAGODAS, Event

__all__ = ["PAGODAS", "PASS", "PASSED", "Board", "Event", "State", "move_text", "parse_move"]


def deck_sorted(key: Callable[[int], bytes | int]) -> str:
    """All tiles in the order of a key, as text; the key is given the numbers of the tiles, which
    are RR, twelve times, then YY, and so on.
    """
    return "".join(TILES[number // COPIES] for number in sorted(range(DECK_SIZE), key=key))


def new_game(board: Board, players: int, deck: str) -> State:
    """The state before the first move, on a deck in draw order. Raises NotationError."""
    return State(board, players, parse_deck(deck))


def legal_move(state: State, text: str) -> int:
    """The move that the text stands for, if the mover may play it. Raises MoveError."""
    move = parse_move(state.board, text)
    if not state.is_legal(move):
        raise IllegalMoveError(state.why_illegal(move))
    return move


def play_text(state: State, text: str, events: list[Event] | None = None) -> int:
    """Plays the move that the text stands for, which may be a pass, and returns it; adds what it
    led to to ``events``, if there are any. Raises MoveError.
    """
    move = parse_move(state.board, text)
    state.play(move, events)
    return move


def final_ranks(left: Sequence[int], forfeited: Sequence[int]) -> list[int]:
    """Ranks by pagodas left (R8.2). Forfeited seats, given in the order they left, rank below all
    others, the first to leave last.
    """
    ranks = [
        1 + sum(own > left[other] for other in range(len(left)) if other not in forfeited)
        for own in left
    ]
    for place, seat in enumerate(forfeited):
        ranks[seat] = len(left) - place
    return ranks
