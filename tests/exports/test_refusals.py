"""Why a tile may not lie somewhere, in words for people who do not know the rules."""

import re

import pytest

from arena.exports.refusals import plain_refusal
from arena.rules import State
from arena.rules.notation import PASS, parse_move
from tests.rules.positions import middle_of_a_game, position

GREEDY = "R0 R0 . R1 R1 .\n. . . . . ."
MAJORS = "R0 R0 R0 R0 R0 . R1 R1 R1 R1 R1\n. . . . . . . . . . ."


@pytest.mark.parametrize(
    ("drawing", "move", "words", "rule"),
    [
        ("R . . .\n. . . .", "Rc1Rd1", "A tile must lie beside a coloured square", "R4.2"),
        ("R . . .\n. . . .", "Ra1Rb1", "One half would lie on another tile.", "R4.1"),
        ("R . V .\n. . . .", "Rb1Rc1", "One half would lie on a village.", "R4.1"),
        ("R . ~ .\n. . . .", "Rb1Rc1", "One half would lie on something else than grass.", "R4.1"),
        (
            GREEDY,
            "Rc1Rc2",
            "This would join red provinces to which two players bring equal",
            "R4.4",
        ),
        (MAJORS, "Rf1Rf2", "This would join two safe red provinces.", "R4.3"),
    ],
)
def test_a_refusal_is_in_words_that_a_child_reads(drawing, move, words, rule):
    state = position(State, drawing)
    refusal = plain_refusal(state, parse_move(state.board, move))
    assert refusal.words.startswith(words)
    assert refusal.rule == rule
    assert not re.search(r"R\d|\b[a-z]\d|colour [RYB]\b|\bspace", refusal.words)


def test_a_legal_move_is_not_refused_and_an_illegal_one_always_is():
    state = middle_of_a_game(State)
    assert all(plain_refusal(state, move) is None for move in state.legal_moves())
    assert plain_refusal(state, PASS).words == "You can place a tile, so you have to."
