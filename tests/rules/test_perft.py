"""Perft: sequences of turns are counted as its docstring says, on both cores and on the slow
referee.
"""

import pytest

from arena.rules.boards import built_in, parse_board
from arena.rules.notation import PASS, UNKNOWN
from tests.rules.perft import divide, perft
from tests.rules.positions import full_deck, position, state_text


def plainly(state, depth):
    """Perft without a short cut at the last turn."""
    if depth == 0:
        return 1
    if state.end is not None:
        return 0
    total = 0
    for index in range(max(state.legal_count(), 1)):
        twin = state.copy()
        twin.play(state.nth(index) if state.legal_count() else PASS)
        total += plainly(twin, depth - 1)
    return total


@pytest.mark.parametrize("text", ["R..\n...\n..B", "R.V.\n.~..\n..Y.", "RYB", "R.......R"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_last_turn_is_counted_as_if_it_were_played(State, text, players):
    state = State(parse_board("small", text), players, full_deck())
    assert [perft(state, depth) for depth in range(5)] == [
        plainly(state, depth) for depth in range(5)
    ]


def test_depth_0_is_one_and_depth_1_the_legal_moves(State):
    state = State(built_in("bird"), 2, full_deck())
    assert (perft(state, 0), perft(state, 1)) == (1, state.legal_count())


def test_the_counts_by_first_move_sum_to_the_whole_and_come_in_order(State):
    state = State(built_in("lion"), 3, full_deck())
    counted = list(divide(state, 2))
    assert [move for move, _ in counted] == state.legal_moves()
    assert sum(count for _, count in counted) == perft(state, 2)


def test_the_state_stays_as_it_is(State):
    state = State(built_in("bird"), 2, full_deck())
    before = state_text(state)
    perft(state, 2)
    list(divide(state, 2))
    assert state_text(state) == before


def test_a_forced_pass_is_a_turn(State):
    state = position(State, "R0 R0 . R1 R1\n~ ~ . ~ ~", hands=("RR", "YYYB"))
    assert list(divide(state, 2)) == [(PASS, 3)]
    assert [perft(state, depth) for depth in range(4)] == [1, 1, 3, 0]


def test_a_game_that_has_ended_counts_at_its_own_depth_only(State):
    state = position(State, "R . .", hands=("RR", "RR"))
    assert [perft(state, depth) for depth in range(4)] == [1, 1, 0, 0]


def test_two_equal_tiles_make_the_same_moves_once(State):
    one, two = (position(State, "R . . .", hands=(hand, "YY")) for hand in ("RB", "RBRB"))
    assert perft(one, 1) == perft(two, 1) == 2


@pytest.mark.parametrize("count", [perft, divide])
def test_what_cannot_be_counted_is_refused(State, count, refused):
    with refused(ValueError):
        count(State(built_in("bird"), 2, [UNKNOWN] * 72), 1)
    with refused(ValueError):
        count(State(built_in("bird"), 2, full_deck()), -1)
    left = State(built_in("bird"), 3, full_deck())
    left.retire(1)
    with refused(ValueError):
        count(left, 1)


def test_a_division_needs_a_first_move(State, refused):
    with refused(ValueError):
        divide(State(built_in("bird"), 2, full_deck()), 0)
