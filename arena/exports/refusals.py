"""Says why a person may not place a tile, in words for people who do not know the rules: without
squares' names, letters of colours and numbers of rules.
"""

from typing import NamedTuple

from arena.rules import State
from arena.rules.boards import COLOUR_NAMES
from arena.rules.explain import Refusal, refusal_of
from arena.rules.notation import PASS, split_move

PLAIN = {
    "R3.1": "That tile is not in your hand.",
    "R3.2": "You can place a tile, so you have to.",
    "R4.2": (
        "A tile must lie beside a coloured square: one of its sides must touch it. A corner is not"
        " enough."
    ),
    "R8.1": "The game is over.",
}
"""The words for a move that a rule forbids, by the number of the rule."""


class Plain(NamedTuple):
    """Why a tile may not lie somewhere: ``words`` for people, one or two sentences, and the number
    of the ``rule`` that says more.
    """

    words: str
    rule: str


def plain_refusal(state: State, move: int) -> Plain | None:
    """Why the mover of ``state`` may not play ``move``; None if the move is legal."""
    refusal = refusal_of(state, move)
    if refusal is None:
        return None
    rule = refusal.rules[-1]
    if refusal.colour is not None:
        return Plain(_join_words(refusal), rule)
    return Plain(PLAIN.get(rule) or _ground_words(state, move), rule)


def _join_words(refusal: Refusal) -> str:
    """The words for a tile that would join provinces that may not be joined."""
    assert refusal.colour is not None, "the move would join provinces"
    colour = COLOUR_NAMES[refusal.colour]
    if "R4.3" in refusal.rules:
        return (
            f"This would join two safe {colour} provinces. Provinces of five or more squares may"
            " not be joined."
        )
    return (
        f"This would join {colour} provinces to which two players bring equally many squares."
        " Nobody would own the whole, so they may not be joined."
    )


def _ground_words(state: State, move: int) -> str:
    """The words for a tile of which a half would lie on a square that is not free."""
    assert move != PASS, "a tile would be placed"
    _, square, _, other = split_move(state.board, move)
    taken = (1 << square | 1 << other) & ~state.free
    what = "something else than grass"
    if taken & (state.spaces(0) | state.spaces(1) | state.spaces(2)):
        what = "another tile"
    elif any(taken & village for village in state.board.villages):
        what = "a village"
    return f"One half would lie on {what}. A tile needs two free squares of grass."
