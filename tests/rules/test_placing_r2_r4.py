"""R2 setting up, R3 a turn, R4 where a tile may go."""

import pytest

from arena.errors import IllegalMoveError
from arena.rules.boards import built_in, parse_board
from arena.rules.notation import PASS, TILES, UNKNOWN, parse_move
from tests.rules.positions import check, legal, position


def test_r2_1_seat_0_gets_the_first_three_tiles_seat_1_the_next_three(State):
    state = State(built_in("bird"), 3, [0, 1, 2, 3, 4, 5, 2, 1, 0, *[3] * 63])
    assert state.hands == [(0, 1, 2), (3, 4, 5), (0, 1, 2)]
    assert state.pile == 63


def test_r2_2_seat_0_moves_first_then_clockwise(State):
    state = State(built_in("bird"), 3, [3] * 72)
    movers = []
    for _ in range(4):
        movers.append(state.mover)
        state.play(state.nth(0))
    assert movers == [0, 1, 2, 0]


def test_r3_1_the_placed_tile_leaves_the_hand_and_the_next_of_the_pile_comes(State):
    state = State(built_in("bird"), 2, [0, 1, 3, *[2] * 3, 5, *[4] * 65])
    state.play(parse_move(state.board, "Rg10Rg11"))
    assert state.hands[0] == (1, 3, 5)
    assert state.pile == 65


def test_r3_1_nothing_is_drawn_from_an_empty_pile(State):
    state = position(State, "R . . . . .", hands=("RRYYBB", "RR"))
    state.play(parse_move(state.board, "Rb1Rc1"))
    assert state.hands[0] == (1, 2)


def test_r3_1_a_tile_that_is_not_in_the_hand_is_refused(State, refused):
    state = position(State, "R . . . .", hands=("RRYY", "RR"))
    with refused(IllegalMoveError):
        state.play(parse_move(state.board, "Rb1Bc1"))


STUCK = """
R0 R0 .  .  R1 R1 . .
~  ~  ~  ~  ~  ~  ~ .
"""


def test_r3_2_who_cannot_place_passes_keeps_the_hand_and_draws_nothing(State):
    state = position(
        State,
        STUCK.replace(". .\n", "~ ~\n").replace("~ .", "~ ~"),
        hands=("RR", "YB"),
        pile="RRRRRR",
    )
    assert state.legal_moves() == []
    assert state.must_pass()
    state.play(PASS)
    assert (state.hands[0], state.pile, state.mover, state.turns) == ((0,), 3, 1, 0)


def test_r3_2_who_can_place_may_not_pass(State, refused):
    state = position(State, "R . . .", hands=("RR", "RR"))
    with refused(IllegalMoveError):
        state.play(PASS)


def test_r4_1_a_tile_covers_two_free_grassland_squares_that_share_an_edge(State):
    before = """
    R . V
    . ~ .
    . . .
    """
    assert legal(position(State, before, hands=("BB", "BB"))) == {"Ba2Ba3"}


@pytest.mark.parametrize(
    ("move", "square"),
    [
        ("Bb1Bc1", "c1"),
        ("Ba1Bb1", "a1"),
        ("Ba2Bb2", "b2"),
        ("Bc2Bd2", "row 2, column 4"),
        ("Ba3Ba4", "row 4, column 1"),
    ],
)
def test_r4_1_villages_lakes_spaces_and_the_edge_are_refused_by_name(State, move, square, refused):
    state = position(State, "R . V\n. ~ .\n. . .", hands=("BB", "BB"))
    number = parse_move(parse_board("wide", "....\n....\n....\n...R"), move)
    column, row = ord(move[1]) - 97, int(move[2]) - 1
    number = number >> 10 << 10 | row * state.board.stride + column
    with refused(IllegalMoveError):
        state.play(number)


def test_r4_1_any_rotation_is_allowed(State):
    state = position(State, ". . .\n. R .\n. . .", hands=("YB", "YB"))
    assert {"Yb1Bc1", "Bb1Yc1", "Ya1Bb1", "Ba1Yb1", "Ya1Ba2", "Ba1Ya2"} <= legal(state)


def test_r4_2_a_corner_or_a_village_is_not_enough(State):
    before = """
    R V . .
    V . . .
    . . . .
    """
    assert legal(position(State, before, hands=("RR", "RR"))) == set()
    state = position(State, before.replace("V .", ". ."), hands=("RR", "RR"))
    assert "Rc1Rd1" not in legal(state)


def test_r4_2_the_space_touched_may_have_any_colour_and_be_a_start(State):
    check(State, "R . . .", "Yb1Yc1", "R Y0 Y0 .", hands=("YY", "RB"), left=[23, 24])


def test_r4_2_one_half_is_enough(State, refused):
    state = position(State, "R . . . .", hands=("YB", "YB"))
    assert legal(state) == {"Yb1Bc1", "Bb1Yc1"}
    with refused(IllegalMoveError):
        state.play(parse_move(state.board, "Yc1Bd1"))


MAJORS = """
R0 R0 R0 R0 R0 . R{} R{} R{} R{} R{}
~  ~  ~  ~  ~  . ~  ~  ~  ~  ~
~  ~  ~  ~  ~  . ~  ~  ~  ~  ~
"""


@pytest.mark.parametrize("owner", [0, 1])
def test_r4_3_two_majors_may_not_be_joined_whoever_owns_them(State, owner, refused):
    state = position(State, MAJORS.format(*[owner] * 5), hands=("RYYB", "RB"))
    assert {move for move in legal(state) if "Rf1" in move} == set()
    assert {"Yf1Rf2", "Yf1Bf2", "Bf1Yf2"} <= legal(state)
    with refused(IllegalMoveError):
        state.play(parse_move(state.board, "Rf1Yf2"))


def test_r4_4_an_equal_join_of_two_players_is_forbidden(State, refused):
    state = position(State, "R0 R0 . R1 R1\n~ ~ . ~ ~", hands=("RY", "RY"))
    assert legal(state) == {"Yc1Rc2"}
    with refused(IllegalMoveError):
        state.play(parse_move(state.board, "Rc1Yc2"))


def test_r4_4_equal_provinces_of_one_player_may_be_joined(State):
    check(
        State,
        "R0 R0 . R0 R0\n~ ~ . ~ ~",
        "Rc1Yc2",
        "R0 R0 R0 R0 R0\n~ ~ Y ~ ~",
        hands=("RY", "RY"),
        left=[22, 24],
    )


def test_r4_4_totals_are_per_player_not_per_province(State):
    before = """
    ~  ~  R0 ~  ~
    ~  ~  R0 ~  ~
    R1 R1 .  R0 R0
    ~  ~  .  ~  ~
    """
    after = """
    ~  ~  R0 ~  ~
    ~  ~  R0 ~  ~
    R0 R0 R0 R0 R0
    ~  ~  Y  ~  ~
    """
    check(State, before, "Rc3Yc4", after, hands=("RY", "RY"), left=[22, 24])


def test_r4_4_single_spaces_and_the_tile_itself_do_not_count(State):
    before = """
    ~  ~  .  R ~  ~
    ~  ~  .  ~ ~  ~
    R1 R1 .  R0 R0 R0
    """
    assert "Rc2Rc3" in legal(position(State, before, hands=("RR", "RR")))
    tie = before.replace("R0 R0 R0", "R0 R0 ~")
    assert "Rc2Rc3" not in legal(position(State, tie, hands=("RR", "RR")))


def test_r4_4_a_tie_below_the_highest_does_not_matter(State):
    before = """
    ~  ~  R1 ~  ~  ~
    ~  ~  R1 ~  ~  ~
    R2 R2 .  R0 R0 R0
    ~  ~  .  ~  ~  ~
    """
    after = """
    ~  ~  R0 ~  ~  ~
    ~  ~  R0 ~  ~  ~
    R0 R0 R0 R0 R0 R0
    ~  ~  Y  ~  ~  ~
    """
    check(State, before, "Rc3Yc4", after, hands=("RY", "RY", "RY"), left=[17, 19, 19])


def test_r4_5_one_forbidden_join_forbids_the_placement(State):
    before = """
    Y0 Y0 . Y1 Y1
    ~  ~  . ~  ~
    B  ~  B ~  ~
    """
    assert legal(position(State, before, hands=("YB", "YB"))) == {"Bc1Yc2"}


def test_a_double_tile_is_judged_whole_when_each_half_alone_would_be_legal(State):
    before = """
    R0 R0 . . R1 R1
    ~  ~  ~ ~ ~  ~
    """
    assert legal(position(State, before, hands=("RRRY", "RR"))) == {"Rc1Yd1", "Yc1Rd1"}


def test_a_double_tile_is_judged_whole_when_a_half_alone_would_be_illegal(State):
    before = """
    ~  ~  ~ R0 ~
    ~  ~  ~ R0 ~
    R0 R0 . .  ~
    ~  ~  R1 ~ ~
    ~  ~  R1 ~ ~
    """
    assert legal(position(State, before, hands=("RRRY", "RR"))) == {"Rc3Rd3", "Yc3Rd3"}


def test_the_order_of_moves_is_by_colours_then_direction_then_square(State):
    state = position(State, ". . .\n. Y .", hands=("RRRB", "RB"))
    moves = state.legal_moves()
    assert moves == sorted(moves)
    assert [state.nth(index) for index in range(state.legal_count())] == moves
    with pytest.raises(IndexError):
        state.nth(len(moves))


def test_placements_of_any_tiles_can_be_asked_for(State):
    state = position(State, "R . . .", hands=("RR", "YB"))
    every = state.placements(range(len(TILES)))
    assert set(state.legal_moves()) < set(every)
    assert len(every) == 9


def test_an_unknown_tile_stands_for_any(State):
    state = State(built_in("bird"), 2, [UNKNOWN] * 72)
    state.play(parse_move(state.board, "Rg10Yg11"))
    assert state.hands[0] == (UNKNOWN,) * 3
    assert (state.mover, state.turns, state.pile) == (1, 1, 65)
