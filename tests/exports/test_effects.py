"""What a move does, in words: each kind of effect on a small board, and pagodas as the rules count
them.
"""

from arena.exports.effects import effects_of
from arena.rules import State
from arena.rules.notation import PASS, parse_move
from tests.rules.positions import middle_of_a_game, position

NAMES = ["me", "rival"]


def words_of(drawing, move, viewer=0, names=NAMES, **setting):
    """The words of the effects of a move on a drawing, and the reasons."""
    state = position(State, drawing, **setting)
    effects = effects_of(state, parse_move(state.board, move), names, viewer).effects
    return [(effect.words, effect.why) for effect in effects]


def test_a_tile_beside_a_single_space_founds_a_province(snapshot):
    founded = words_of("R . .\n. . .", "Rb1Rc1")
    assert founded == snapshot
    assert words_of("R . .\n. . .", "Rb1Rc1", viewer=1)[0][0] == snapshot


def test_a_tile_that_touches_no_space_of_its_colours_does_nothing_yet(snapshot):
    assert words_of("R . .\n. . .", "Yb1Bc1", hands=("YBRRYY", "RRYYBB")) == snapshot


def test_a_province_grows_for_its_owner_whoever_places_the_tile(snapshot):
    assert words_of("R0 R0 . .", "Rc1Rd1") == snapshot
    assert words_of("R1 R1 . .", "Rc1Rd1") == snapshot


def test_the_larger_province_swallows_the_smaller_one_and_a_pagoda_returns(snapshot):
    drawing = "R0 R0 R0 . R1 R1\n. . . . . ."
    assert words_of(drawing, "Rd1Rd2") == snapshot
    assert words_of(drawing, "Rd1Rd2", viewer=1)[0] == snapshot
    state = position(State, drawing)
    placed = effects_of(state, parse_move(state.board, "Rd1Rd2"), NAMES, 0)
    assert [effect.brief for effect in placed.effects] == snapshot


def test_a_village_is_taken_and_taken_away(snapshot):
    assert words_of("R . .\nV . .", "Rb1Rc1")[1:] == snapshot
    assert words_of("Y1 Y1 V1 . .\n. . B0 B0 R", "Rd1Re1")[1:] == snapshot


def test_the_last_pagoda_ends_the_game(snapshot):
    state = position(State, "R . .\n. . .", left=[1, 5])
    won = effects_of(state, parse_move(state.board, "Rb1Rc1"), NAMES, 0)
    assert won.left == [0, 5]
    assert won.effects[-1].words == snapshot
    assert won.brief == snapshot


def test_the_pagodas_left_are_those_after_the_move_and_the_state_stays_as_it_was():
    for players in (2, 3):
        state = middle_of_a_game(State, players)
        before = state.copy()
        names = [f"bot-{seat}" for seat in range(players)]
        for move in state.legal_moves():
            does = effects_of(state, move, names, 0)
            after = state.copy()
            after.play(move)
            assert does.left == list(after.left)
            assert does.effects
        assert state == before


def test_a_pass_does_nothing():
    state = middle_of_a_game(State)
    does = effects_of(state, PASS, NAMES, 0)
    assert (does.effects, does.left, does.brief) == ([], list(state.left), "")
