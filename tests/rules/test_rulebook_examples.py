"""The eleven examples printed in the rulebooks. Purple or white is seat 1, green seat 0."""

import pytest

from arena.errors import IllegalMoveError
from arena.rules.notation import parse_move
from tests.rules.positions import check, legal, position


def test_1_one_tile_founds_two_provinces(State):
    before = """
    . Y . .
    . . . R
    """
    after = """
    . Y0 . .
    . Y0 R0 R0
    """
    check(
        State,
        before,
        "Yb2Rc2",
        after,
        hands=("RY", "RY"),
        left=[22, 24],
        events=["found b1 0", "found c2 0"],
    )


def test_2_a_double_tile_on_a_single_founds_one_province_of_three(State):
    check(
        State,
        ". . Y .\n. . . .",
        "Ya1Yb1",
        "Y0 Y0 Y0 .\n. . . .",
        left=[23, 24],
        events=["found a1 0"],
    )


EXPAND = """
Y0 Y0 Y0 .  .
.  .  .  .  .
.  .  .  R1 R1
"""


def test_3_one_tile_expands_an_own_and_a_foreign_province(State):
    after = """
    Y0 Y0 Y0 Y0 .
    .  .  .  R1 .
    .  .  .  R1 R1
    """
    check(
        State,
        EXPAND,
        "Yd1Rd2",
        after,
        hands=("RY", "RY"),
        left=[23, 23],
        events=["expand a1 0", "expand d2 1"],
    )


def test_4_the_same_tile_the_other_way_round_makes_two_single_spaces(State):
    after = """
    Y0 Y0 Y0 R  .
    .  .  .  Y  .
    .  .  .  R1 R1
    """
    check(State, EXPAND, "Rd1Yd2", after, hands=("RY", "RY"), left=[23, 23], events=[])


def test_5_the_fifth_space_makes_a_major_with_a_second_pagoda(State):
    before = """
    Y0 Y0 Y0 .
    Y0 .  .  .
    """
    after = """
    Y0 Y0 Y0 .
    Y0 Y0 R  .
    """
    state = check(
        State,
        before,
        "Yb2Rc2",
        after,
        hands=("RY", "RY"),
        left=[22, 24],
        events=["expand a1 0", "major a1 0"],
    )
    assert state.provinces()[0][1].pagodas == 2


def test_6_a_province_founded_beside_a_free_village_connects_it(State):
    check(
        State,
        "B . . V",
        "Bb1Bc1",
        "B0 B0 B0 V0",
        hands=("BB", "BB"),
        left=[22, 24],
        events=["found a1 0", "connect d1 0"],
    )


def test_7_a_second_province_beside_the_village_conquers_it(State):
    before = """
    Y1 Y1 V1 B0
    ~  ~  .  B0
    ~  ~  .  ~
    """
    after = """
    Y1 Y1 V0 B0
    ~  ~  R0 B0
    ~  ~  R0 ~
    """
    check(State, before, "Rc2Rc3", after, left=[21, 23], events=["found c2 0", "conquer c1 0"])


def test_8_a_major_beside_the_village_conquers_it(State):
    before = """
    R1 R1 V1 Y0 Y0
    ~  ~  ~  Y0 Y0
    ~  ~  ~  .  .
    """
    after = """
    R1 R1 V0 Y0 Y0
    ~  ~  ~  Y0 Y0
    ~  ~  ~  Y0 B
    """
    check(
        State,
        before,
        "Yd3Be3",
        after,
        hands=("YB", "YB"),
        left=[21, 23],
        events=["expand d1 0", "major d1 0", "conquer c1 0"],
    )


def test_9_the_larger_province_takes_the_smaller_with_its_village(State):
    before = """
    V1 ~  ~ ~  ~
    R1 R1 . R0 R0
    ~  ~  . R0 ~
    """
    after = """
    V0 ~  ~  ~  ~
    R0 R0 R0 R0 R0
    ~  ~  B  R0 ~
    """
    check(
        State,
        before,
        "Rc2Bc3",
        after,
        hands=("RB", "RB"),
        left=[21, 24],
        events=["absorb a2 0", "major a2 0", "conquer a1 0"],
    )


def test_10_a_major_of_five_and_a_small_two_take_a_foreign_two(State):
    before = """
    R1 R1 . R0 R0 R0
    ~  ~  . ~  R0 R0
    ~  R0 R0 ~ ~  ~
    """
    after = """
    R0 R0 R0 R0 R0 R0
    ~  ~  R0 ~  R0 R0
    ~  R0 R0 ~  ~  ~
    """
    state = position(State, before)
    assert state.left == [21, 23]
    state = check(State, before, "Rc1Rc2", after, left=[22, 24], events=["absorb a1 0"])
    assert [province.pagodas for _, province in state.provinces()] == [2]


def test_11_provinces_of_two_spaces_each_may_not_be_joined(State):
    state = position(State, "R0 R0 . R1 R1\n~ ~ . ~ ~", hands=("RB", "RB"))
    assert legal(state) == {"Bc1Rc2"}
    with pytest.raises(IllegalMoveError, match=r"R4\.4"):
        state.play(parse_move(state.board, "Rc1Bc2"))
