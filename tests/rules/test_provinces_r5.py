"""R5: provinces are founded, expanded, made major, absorbed."""

from tests.rules.positions import check, position


def test_r5_1_single_spaces_belong_to_nobody(State):
    state = check(
        State, "R . . .", "Yb1Bc1", "R Y B .", hands=("YB", "YB"), left=[24, 24], events=[]
    )
    assert state.provinces() == []


def test_r5_1_areas_that_meet_at_a_corner_are_two(State):
    before = """
    R0 R0 . .
    ~  ~  . .
    """
    after = """
    R0 R0 Y .
    ~  ~  R .
    """
    check(State, before, "Yc1Rc2", after, hands=("RY", "RB"), left=[23, 24], events=[])


def test_r5_2_a_new_province_belongs_to_who_placed_the_tile(State):
    check(
        State,
        "R . . .",
        "Yb1Yc1",
        "R Y1 Y1 .",
        hands=("YY", "YY"),
        mover=1,
        left=[24, 23],
        events=["found b1 1"],
    )


def test_r5_2_a_start_becomes_part_of_the_province_founded_on_it(State):
    check(
        State,
        "R . . .",
        "Rb1Yc1",
        "R0 R0 Y .",
        hands=("RY", "YY"),
        left=[23, 24],
        events=["found a1 0"],
    )


def test_r5_2_five_spaces_at_once_found_a_major_with_two_pagodas(State):
    before = """
    ~ R . R
    ~ ~ . ~
    ~ ~ R ~
    """
    after = """
    ~ R0 R0 R0
    ~ ~  R0 ~
    ~ ~  R0 ~
    """
    state = check(
        State, before, "Rc1Rc2", after, left=[22, 24], events=["found b1 0", "major b1 0"]
    )
    assert [province.pagodas for _, province in state.provinces()] == [2]


def test_r5_3_an_expanded_province_keeps_its_owner_whoever_placed_the_tile(State):
    check(State, "R1 R1 . . .", "Rc1Rd1", "R1 R1 R1 R1 .", left=[24, 23], events=["expand a1 1"])


def test_r5_3_single_spaces_taken_in_on_the_way_expand_too(State):
    check(
        State,
        "R1 R1 . R .\n~ ~ . ~ ~",
        "Rc1Yc2",
        "R1 R1 R1 R1 .\n~ ~ Y ~ ~",
        hands=("RY", "RY"),
        left=[24, 23],
        events=["expand a1 1"],
    )


def test_r5_4_the_owner_adds_the_second_pagoda_at_the_fifth_space(State):
    state = check(
        State,
        "R1 R1 R1 . . .",
        "Rd1Re1",
        "R1 R1 R1 R1 R1 .",
        left=[24, 22],
        events=["expand a1 1", "major a1 1"],
    )
    assert [province.pagodas for _, province in state.provinces()] == [2]


def test_r5_4_a_major_that_grows_still_carries_two(State):
    check(
        State,
        "R0 R0 R0 R0 R0 . .",
        "Rf1Rg1",
        "R0 R0 R0 R0 R0 R0 R0",
        left=[22, 24],
        events=["expand a1 0"],
    )


def test_r5_5_who_brings_most_spaces_owns_the_joined_province(State):
    before = "R1 R1 R1 . R0 R0\n~ ~ ~ . ~ ~"
    after = "R1 R1 R1 R1 R1 R1\n~ ~ ~ Y ~ ~"
    state = check(
        State,
        before,
        "Rd1Yd2",
        after,
        hands=("RY", "RY"),
        left=[24, 22],
        events=["absorb a1 1", "major a1 1"],
    )
    assert [province.pagodas for _, province in state.provinces()] == [2]


def test_r5_5_two_small_provinces_add_up_against_a_larger_one(State):
    before = """
    ~  ~  R0 ~  ~  ~
    ~  ~  R0 ~  ~  ~
    R0 R0 .  R1 R1 R1
    ~  ~  .  ~  ~  ~
    """
    after = """
    ~  ~  R0 ~  ~  ~
    ~  ~  R0 ~  ~  ~
    R0 R0 R0 R0 R0 R0
    ~  ~  Y  ~  ~  ~
    """
    check(State, before, "Rc3Yc4", after, hands=("RY", "RY"), left=[22, 24])


def test_r5_5_surplus_pagodas_of_the_new_owner_go_home(State):
    before = """
    ~  ~  R0 ~  ~
    ~  ~  R0 ~  ~
    R0 R0 .  R0 R0
    ~  ~  .  ~  ~
    """
    after = """
    ~  ~  R0 ~  ~
    ~  ~  R0 ~  ~
    R0 R0 R0 R0 R0
    ~  ~  Y  ~  ~
    """
    state = position(State, before, hands=("RY", "RY"))
    assert state.left == [21, 24]
    check(
        State,
        before,
        "Rc3Yc4",
        after,
        hands=("RY", "RY"),
        left=[22, 24],
        events=["absorb c1 0", "major c1 0"],
    )


def test_r5_5_the_tile_itself_can_join_two_colours_at_once(State):
    before = """
    R0 R0 . R1 R1 R1
    Y1 Y1 . Y0 Y0 Y0
    """
    after = """
    R1 R1 R1 R1 R1 R1
    Y0 Y0 Y0 Y0 Y0 Y0
    """
    check(State, before, "Rc1Yc2", after, hands=("RY", "RY"), left=[22, 22])


def test_r5_6_a_major_owns_what_it_joins_though_others_bring_more(State):
    before = """
    ~  ~  R1 R1 R1 R1
    ~  ~  .  ~  ~  ~
    R0 R0 .  R1 R1 R1
    R0 R0 R0 ~  ~  ~
    """
    after = """
    ~  ~  R0 R0 R0 R0
    ~  ~  R0 ~  ~  ~
    R0 R0 R0 R0 R0 R0
    R0 R0 R0 ~  ~  ~
    """
    check(State, before, "Rc2Rc3", after, left=[22, 24], events=["absorb c1 0"])


def test_r5_6_a_tie_does_not_keep_a_major_from_absorbing(State):
    before = """
    ~  ~  R1 R1 R1 ~  ~
    ~  ~  .  ~  ~  ~  ~
    R1 R1 .  R0 R0 R0 R0
    ~  ~  ~  ~  ~  ~  R0
    """
    after = """
    ~  ~  R0 R0 R0 ~  ~
    ~  ~  R0 ~  ~  ~  ~
    R0 R0 R0 R0 R0 R0 R0
    ~  ~  ~  ~  ~  ~  R0
    """
    check(State, before, "Rc2Rc3", after, left=[22, 24])
