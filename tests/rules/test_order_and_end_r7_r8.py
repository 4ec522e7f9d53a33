"""R7 the order inside a turn, R8 the end."""

import random

import pytest

from arena.errors import IllegalMoveError
from arena.rules.boards import built_in, parse_board
from arena.rules.notation import PASS, parse_move
from arena.rules.terms import LAST_PAGODA, NO_SPACE, NO_TILES
from tests.rules.positions import check, full_deck, position, random_move, state_text


def test_r7_1_pagodas_go_home_before_anybody_places(State):
    before = """
    R0 R0 . R1 R1 R1
    ~  Y  . ~  ~  ~
    """
    state = position(State, before, hands=("RY", "RY"), left=[1, 5])
    state.play(parse_move(state.board, "Rc1Yc2"))
    assert (state.left, state.end) == ([1, 4], NO_SPACE)


def test_r7_1_the_mover_places_first(State):
    drawing = """
    R1 R1 R1 R1 .  ~
    Y0 Y0 Y0 Y0 .  ~
    """
    for mover, winner in ((0, 0), (1, 1)):
        state = position(State, drawing, hands=("RY", "RY"), left=[1, 1], mover=mover)
        state.play(parse_move(state.board, "Re1Ye2"))
        assert (state.end, state.left[winner], state.left[1 - winner]) == (LAST_PAGODA, 0, 1)
        assert sum(province.pagodas for _, province in state.provinces()) == 3


def test_r7_1_then_clockwise_from_the_mover(State):
    drawing = """
    R2 R2 R2 R2 .  ~
    Y0 Y0 Y0 Y0 .  ~
    """
    state = position(State, drawing, hands=("RY", "RY", "RY"), left=[1, 1, 1], mover=1)
    state.play(parse_move(state.board, "Re1Ye2"))
    assert (state.end, state.left) == (LAST_PAGODA, [1, 1, 0])


def test_r7_1_villages_are_judged_on_the_provinces_as_they_then_stand(State):
    before = """
    ~  ~  V1 ~  ~
    R1 R1 .  R0 R0
    ~  ~  .  R0 ~
    ~  ~  ~  ~  ~
    """
    after = """
    ~  ~  V0 ~  ~
    R0 R0 R0 R0 R0
    ~  ~  Y  R0 ~
    ~  ~  ~  ~  ~
    """
    check(
        State,
        before,
        "Rc2Yc3",
        after,
        hands=("RY", "RY"),
        left=[21, 24],
        events=["absorb a2 0", "major a2 0", "conquer c1 0"],
    )


def test_r7_1_displaced_village_pagodas_go_home_before_villages_are_taken(State):
    before = """
    V0 ~  V
    .  .  R0
    Y  ~  R0
    ~  ~  R0
    """
    state = position(State, before, hands=("RY", "RY"), left=[1, 5], mover=1)
    state.play(parse_move(state.board, "Ya2Rb2"))
    assert state.villages == [1, 0]
    assert (state.left, state.end) == ([1, 3], NO_SPACE)


def test_r7_2_the_last_pagoda_wins_at_once_and_nothing_after_it_is_carried_out(State):
    before = """
    V . . V
    ~ R Y ~
    """
    state = position(State, before, hands=("YR", "YR"), left=[1, 5])
    events = []
    state.play(parse_move(state.board, "Rb1Yc1"), events)
    assert (state.end, state.left) == (LAST_PAGODA, [0, 5])
    assert state.villages == [-1, -1]
    assert state.ranks() == [1, 2]
    assert sum(province.pagodas for _, province in state.provinces()) == 1
    assert (state.legal_moves(), state.legal_count()) == ([], 0)
    with pytest.raises(IndexError):
        state.nth(0)


def test_r7_2_the_last_pagoda_may_stand_on_a_village(State):
    state = position(State, "V . . Y ~ V", left=[2, 3])
    state.play(parse_move(state.board, "Yb1Yc1"))
    assert (state.end, state.left, state.villages) == (LAST_PAGODA, [0, 3], [0, -1])


def test_r7_2_who_owes_more_than_they_hold_places_what_they_have(State):
    state = position(State, "~ R . R\n~ ~ . ~\n~ ~ R ~", left=[1, 9])
    state.play(parse_move(state.board, "Rc1Rc2"))
    assert (state.end, state.left) == (LAST_PAGODA, [0, 9])
    assert [province.pagodas for _, province in state.provinces()] == [1]


def test_r7_2_another_players_tile_can_place_the_last_pagoda(State):
    state = position(State, "R1 R1 R1 R1 . .", left=[9, 1])
    state.play(parse_move(state.board, "Re1Rf1"))
    assert (state.end, state.left, state.ranks()) == (LAST_PAGODA, [9, 0], [2, 1])


def test_r8_1_no_space_when_nobody_can_place_a_tile_in_hand(State):
    state = position(State, "R . .", left=[24, 24])
    state.play(parse_move(state.board, "Rb1Rc1"))
    assert state.end == NO_SPACE


def test_r8_1_no_tiles_when_all_hands_are_empty(State):
    state = position(State, "R . . . .", hands=("RR", "RR"))
    state.play(parse_move(state.board, "Rb1Rc1"))
    assert state.end is None
    state.play(parse_move(state.board, "Rd1Re1"))
    assert state.end == NO_TILES


def test_r8_1_the_game_goes_on_while_anybody_can_place(State, refused):
    drawing = """
    R0 R0 . R1 R1
    ~  ~  . ~  ~
    """
    state = position(State, drawing, hands=("RR", "YY"))
    assert state.end is None
    state.play(PASS)
    assert (state.end, state.mover) == (None, 1)
    with refused(IllegalMoveError):
        state.play(PASS)


def test_r8_1_a_board_without_room_ends_before_the_first_move(State, refused):
    state = State(parse_board("full", "RYB"), 2, full_deck())
    assert (state.end, state.ranks()) == (NO_SPACE, [1, 1])
    with refused(IllegalMoveError):
        state.play(0)


@pytest.mark.parametrize("policy", ["uniform", "greedy"])
def test_r8_1_hands_that_were_set_so_that_nobody_can_place_end_the_game_with_the_pass(
    State, policy
):
    drawing = """
    R0 R0 . R1 R1
    ~  ~  . ~  ~
    """
    state = position(State, drawing, hands=("RR", "YY"), pile="YYYY")
    state.set_hand(1, [0])
    assert state.end is None
    twin = state.copy()
    state.play(PASS)
    assert (state.end, state.mover) == (NO_SPACE, 0)
    assert twin.playout(1, policy) == 0
    assert state_text(twin) == state_text(state)


def test_r8_1_a_retired_seat_keeps_no_game_waiting(State):
    drawing = """
    R0 R0 . R1 R1
    ~  ~  . ~  ~
    """
    state = position(State, drawing, hands=("RR", "YY"))
    state.retire(1)
    assert state.end == NO_SPACE


def test_a_retired_seat_passes_with_its_hand(State):
    state = State(built_in("bird"), 3, full_deck())
    state.retire(1)
    state.play(state.nth(0))
    assert state.must_pass()
    state.play(PASS)
    assert (state.mover, len(state.hands[1])) == (2, 3)


def test_r8_2_fewest_pagodas_left_first_and_equal_is_equal(State):
    state = position(State, "R . .", hands=("RR", "RR", "RR", "RR"), left=[4, 2, 4, 2])
    assert state.ranks() == [3, 1, 3, 1]


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", ["bird", "lion"])
def test_pagodas_in_stock_and_on_the_board_always_add_up(State, name, players):
    rng = random.Random(f"{name} {players}")
    for _ in range(20):
        deck = full_deck()
        rng.shuffle(deck)
        state = State(built_in(name), players, deck)
        total = state.left[0]
        while state.end is None:
            state.play(random_move(state, rng))
            assert [state.left[seat] + state.placed(seat) for seat in range(players)] == [
                total
            ] * players
            if state.end is None:
                assert all(
                    province.pagodas == (2 if province.size >= 5 else 1)
                    for _, province in state.provinces()
                )
                assert all(
                    province.size > 1 and 0 <= province.owner < players
                    for _, province in state.provinces()
                )


def test_random_games_are_as_long_as_the_rules_say(State):
    """The check figures: about 60 tiles with 2 players, about 130-200 legal placements a turn,
    never over 600.
    """
    rng = random.Random(7)
    placements, legal = 0, []
    for _ in range(100):
        deck = full_deck()
        rng.shuffle(deck)
        state = State(built_in("bird"), 2, deck)
        while state.end is None:
            legal.append(state.legal_count())
            state.play(random_move(state, rng))
        placements += state.turns
    assert 55 < placements / 100 < 67
    assert 130 < sum(legal) / len(legal) < 200
    assert max(legal) <= 600
