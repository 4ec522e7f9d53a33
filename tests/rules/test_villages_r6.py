"""R6: villages are connected and conquered."""

from tests.rules.positions import check


def test_r6_1_every_province_that_shares_an_edge_with_the_village_counts_once(State):
    before = """
    R0 R0 R0 ~ ~
    V  V  .  . ~
    Y1 B1 ~  Y ~
    Y1 B1 ~  ~ ~
    """
    after = """
    R0 R0 R0 ~  ~
    V1 V1 Y1 Y1 ~
    Y1 B1 ~  Y1 ~
    Y1 B1 ~  ~  ~
    """
    check(
        State,
        before,
        "Yc2Yd2",
        after,
        mover=1,
        left=[23, 20],
        events=["found c2 1", "connect a2 1"],
    )


def test_r6_1_a_major_counts_two_and_a_corner_nothing(State):
    before = """
    R0 R0 V  Y1
    R0 R0 ~  Y1
    .  .  ~  ~
    """
    after = """
    R0 R0 V0 Y1
    R0 R0 ~  Y1
    R0 R0 ~  ~
    """
    check(
        State,
        before,
        "Ra3Rb3",
        after,
        left=[21, 23],
        events=["expand a1 0", "major a1 0", "connect c1 0"],
    )


def test_r6_1_the_pagoda_on_the_village_does_not_count(State):
    before = """
    R0 R0 V0 Y1 Y1
    ~  ~  B1 ~  ~
    ~  ~  .  ~  ~
    ~  ~  .  ~  ~
    """
    after = """
    R0 R0 V1 Y1 Y1
    ~  ~  B1 ~  ~
    ~  ~  B1 ~  ~
    ~  ~  B1 ~  ~
    """
    check(
        State,
        before.replace("B1", "B"),
        "Bc3Bc4",
        after,
        mover=1,
        left=[23, 21],
        events=["found c2 1", "conquer c1 1"],
    )


def test_r6_2_an_unoccupied_village_goes_to_the_highest_whoever_moved(State):
    check(
        State,
        "R1 R1 .  . V\n~ ~ ~ ~ ~",
        "Rc1Rd1",
        "R1 R1 R1 R1 V1\n~ ~ ~ ~ ~",
        left=[24, 22],
        events=["expand a1 1", "connect e1 1"],
    )


def test_r6_2_a_shared_highest_leaves_the_village_empty(State):
    check(
        State,
        "R1 R1 V . . Y",
        "Bd1Be1",
        "R1 R1 V B0 B0 Y",
        hands=("BB", "BB"),
        left=[23, 23],
        events=["found d1 0"],
    )


def test_r6_3_an_occupied_village_goes_to_who_exceeds_its_owner(State):
    before = """
    R0 R0 V0 Y1 Y1 Y1 Y1
    ~  ~  ~  .  .  ~  ~
    """
    after = """
    R0 R0 V1 Y1 Y1 Y1 Y1
    ~  ~  ~  Y1 Y1 ~  ~
    """
    check(
        State,
        before,
        "Yd2Ye2",
        after,
        left=[23, 21],
        events=["expand d1 1", "major d1 1", "conquer c1 1"],
    )


def test_r6_3_an_equal_count_changes_nothing(State):
    check(
        State,
        "R0 R0 V0 . . Y",
        "Bd1Be1",
        "R0 R0 V0 B1 B1 Y",
        hands=("BB", "BB"),
        mover=1,
        left=[22, 23],
        events=["found d1 1"],
    )


def test_r6_3_a_shared_highest_of_two_others_changes_nothing(State):
    before = """
    ~  R1 R1 R1 R1 R1 ~ ~
    B0 V0 .  .  ~  ~  ~ ~
    B0 Y2 Y2 Y2 Y2 .  . ~
    """
    after = """
    ~  R1 R1 R1 R1 R1 ~  ~
    B0 V0 .  .  ~  ~  ~  ~
    B0 Y2 Y2 Y2 Y2 Y2 Y2 ~
    """
    check(
        State,
        before,
        "Yf3Yg3",
        after,
        hands=("YY", "YY", "YY"),
        left=[17, 17, 17],
        events=["expand b3 2", "major b3 2"],
    )


def test_r6_3_an_owner_with_no_province_beside_counts_nothing(State):
    check(
        State,
        "V0 . . Y",
        "Yb1Yc1",
        "V1 Y1 Y1 Y1",
        mover=1,
        left=[24, 22],
        events=["found b1 1", "conquer a1 1"],
    )


def test_r6_4_the_displaced_pagoda_goes_home(State):
    state = check(State, "V0 . . Y", "Yb1Yc1", "V1 Y1 Y1 Y1", mover=1, left=[24, 22])
    assert [state.placed(seat) for seat in (0, 1)] == [0, 2]
