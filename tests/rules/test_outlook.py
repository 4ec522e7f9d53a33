"""How well a seat stands: what counts, and by how much."""

import random

import pytest

from arena.rules.playouts import GROWTH, HELD, PLACED, WON
from tests.rules.positions import middle_of_a_game, position


def outlook_of(State, drawing, players=2, seat=0, **rest):
    return position(State, drawing, left=[5] * players, **rest).outlook(seat)


def test_equal_seats_stand_equal(State):
    assert outlook_of(State, "R0 R0 . . Y1 Y1") == 0


@pytest.mark.parametrize(
    ("drawing", "spaces"), [("R0 R0 . .", 2), ("R0 R0 R0 . .", 3), ("R0 R0 R0 R0 . .", 4)]
)
def test_a_province_counts_by_its_size(State, drawing, spaces):
    assert outlook_of(State, drawing) == GROWTH[spaces]
    assert outlook_of(State, drawing, seat=1) == -GROWTH[spaces]


def test_a_major_province_has_no_more_to_come(State):
    assert outlook_of(State, "R0 R0 R0 R0 R0 . .") == 0


@pytest.mark.parametrize(
    ("drawing", "lead"),
    [("R0 R0 V0 Y1 Y1 . .", 0), ("R0 R0 V0 . . . .", 1), ("R0 R0 R0 R0 R0 V0 .", 2)],
)
def test_a_village_counts_by_how_far_its_owner_leads(State, drawing, lead):
    others = {0: 0, 1: GROWTH[2], 2: 0}[lead]
    assert outlook_of(State, drawing) == HELD[lead] + others


def test_pagodas_placed_count_against_the_mean_of_the_others(State):
    state = position(State, "R0 R0 . . .", left=[3, 5, 6], hands=("RR", "RR", "RR"))
    assert state.outlook(0) == 2 * (GROWTH[2] - PLACED * 3) + PLACED * (5 + 6)


def test_the_win_of_a_game_that_is_over_counts_and_is_shared(State):
    state = position(State, "R0 R0 . . .\n. . . . .", left=[1, 4], hands=("YY", "RR"), pile="")
    before = state.outlook(0)
    best = max(zip(state.outlooks(), state.legal_moves(), strict=True))
    state.play(best[1])
    assert state.end == "last pagoda"
    assert state.outlook(0) == best[0] > before + PLACED + WON // 2


def test_outlooks_are_those_after_each_move(State):
    state = middle_of_a_game(State)
    expected = []
    for move in state.legal_moves():
        after = state.copy()
        after.play(move)
        expected.append(after.outlook(state.mover))
    assert state.outlooks() == expected
    assert len(set(expected)) > 3


def test_the_careful_policy_takes_the_best_outlook(State):
    state = middle_of_a_game(State)
    best = max(state.outlooks())
    for seed in range(5):
        after, mover = state.copy(), state.mover
        after.set_hand(1 - mover, [0, 1, 2])
        after.set_pile([0] * state.pile)
        assert after.playout(seed, "careful", 0, 1) == 1
        assert after.outlook(mover) == best


def test_a_seat_that_is_not_there_is_refused(State, refused):
    with refused(IndexError):
        middle_of_a_game(State).outlook(2)


def test_a_playout_stops_after_so_many_turns(State):
    state = middle_of_a_game(State)
    rng = random.Random(1)
    state.set_hand(1 - state.mover, [rng.randrange(6) for _ in range(3)])
    state.set_pile([rng.randrange(6) for _ in range(state.pile)])
    before = state.turns
    assert state.playout(1, "uniform", 0, 3) == 3
    assert state.turns == before + 3
    assert state.end is None
