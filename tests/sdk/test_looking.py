"""A position as people read it: squares, provinces, villages and moves in names, the same on both
cores.
"""

import copy
import inspect
import pickle
import random

import pytest

import arena.sdk
from arena.errors import IllegalMoveError, InvalidMoveError, NotationError
from arena.players.messages import ProvinceView, VillageView
from arena.players.views import position_view
from arena.rules import State as ChosenState
from arena.rules import pure
from arena.rules.boards import built_in
from arena.rules.notation import DECK_SIZE, UNKNOWN
from arena.rules.positions import draw, read_cells
from arena.sdk import PASS, Position
from arena.sdk.areas import Province, Square, Village
from tests.rules.positions import read_hand

DRAWN = """
.   .   .   V0  V0
R0  R0  .   .   .
B   .   ~   Y1  Y1
.   V   .   Y1  Y1
.   .   .   .   Y1
"""


@pytest.fixture(
    params=sorted({pure.State, ChosenState}, key=str), ids=lambda state: state.__module__
)
def position(request):
    board, spaces, provinces, villages = read_cells("drawn", DRAWN)
    hands = [read_hand("RR RB YB"), (UNKNOWN,) * 3]
    state = request.param.set_up(
        board, spaces, provinces, villages, [22, 21], hands, (UNKNOWN,) * 50
    )
    return Position(state, 0, random.Random(1), 1000)


def test_a_copy_plays_on_by_itself_and_belongs_to_the_same_answer(position):
    there = copy.deepcopy(position)
    assert (str(there), there.options) == (str(position), position.options)
    assert there.state is not position.state
    assert [there.rng.random() for _ in range(3)] == [position.rng.random() for _ in range(3)]
    there.play(there.legal_moves()[0])
    there.note(text="a good move")
    assert position.nodes == there.nodes == 1
    assert position._note == {"text": "a good move"}
    holder = {"now": position, "again": position}
    twice = copy.deepcopy(holder)
    assert twice["now"] is twice["again"] is not position


def test_a_position_can_be_pickled_and_its_options_stay_read_only(position):
    there = pickle.loads(pickle.dumps(position))
    assert (str(there), there.legal_moves()) == (str(position), position.legal_moves())
    assert there.options == position.options
    with pytest.raises(TypeError):
        there.options["depth"] = 3


@pytest.mark.parametrize(
    ("name", "drawn", "colour", "owner", "is_free"),
    [
        ("a1", ".", None, None, True),
        ("d1", "V0", None, 0, False),
        ("b4", "V", None, None, False),
        ("c3", "~", None, None, False),
        ("a3", "B", "B", None, False),
        ("b2", "R0", "R", 0, False),
        ("e5", "Y1", "Y", 1, False),
    ],
)
def test_a_square_says_what_lies_there(position, name, drawn, colour, owner, is_free):
    square = position.at(name)
    assert (square.name, str(square), square.colour, square.owner, square.is_free) == (
        name,
        drawn,
        colour,
        owner,
        is_free,
    )


def test_a_square_leads_to_its_province_or_village(position):
    assert position.at("e5").province is not None
    assert position.at("e5").province in position.provinces
    assert position.at("d1").village in position.villages
    assert (position.at("a3").province, position.at("a3").village, position.at("a1").province) == (
        None,
        None,
        None,
    )


@pytest.mark.parametrize("name", ["f1", "a6", "C4", "4c", "", "a0"])
def test_a_square_that_the_board_lacks_is_an_error(position, name, refused):
    with refused(NotationError):
        position.at(name)
    with refused(NotationError):
        position.neighbours(name)


def test_provinces_have_colour_owner_pagodas_and_squares(position):
    red, yellow = position.provinces
    assert (red.colour, red.owner, red.pagodas, red.is_major, red.squares) == (
        "R",
        0,
        1,
        False,
        ("a2", "b2"),
    )
    assert red.neighbours == ("a1", "b1", "c2", "a3", "b3")
    assert (yellow.colour, yellow.owner, yellow.pagodas, yellow.is_major) == ("Y", 1, 2, True)
    assert yellow.squares == ("d3", "e3", "d4", "e4", "e5")


def test_villages_have_owner_squares_and_neighbours(position):
    mine, free = position.villages
    assert (mine.owner, mine.squares, mine.neighbours) == (0, ("d1", "e1"), ("c1", "d2", "e2"))
    assert (free.owner, free.squares, free.neighbours) == (None, ("b4",), ("b3", "a4", "c4", "b5"))


def test_free_squares_and_neighbours_have_names(position):
    assert position.free == (
        "a1",
        "b1",
        "c1",
        "c2",
        "d2",
        "e2",
        "b3",
        "a4",
        "c4",
        "a5",
        "b5",
        "c5",
        "d5",
    )
    assert position.neighbours("a1") == ("b1", "a2")
    assert position.neighbours("c3") == ("c2", "b3", "d3", "c4")
    assert position.neighbours("e5") == ("e4", "d5")


def test_a_move_is_read_and_written_and_taken_apart(position, refused):
    move = position.move("Rb1Bc1")
    assert position.text(move) == "Rb1Bc1"
    assert position.move("Bc1Rb1") == move
    assert position.halves(move) == (("R", "b1"), ("B", "c1"))
    assert (position.move("pass"), position.halves(PASS)) == (PASS, ())
    assert all(position.move(position.text(move)) == move for move in position.legal_moves())
    with refused(InvalidMoveError):
        position.move("b1c1")


def test_a_move_can_be_played_as_text(position):
    after = position.play("Ra1Rb1")
    assert after.at("a1").owner == 0
    assert position.at("a1").is_free
    assert len(after.provinces[0].squares) == 4
    with pytest.raises(IllegalMoveError, match="R4"):
        position.play("Ra5Bb5")


def test_why_a_move_is_illegal_names_the_rule(position):
    assert "R4" in position.why_illegal("Ra5Bb5")
    assert "R4" in position.why_illegal(position.move("Ra5Bb5"))
    assert position.why_illegal("Ra1Rb1") == ""


def test_a_position_prints_as_a_board_with_what_is_public_and_your_hand(position, snapshot):
    assert str(position).splitlines() == snapshot
    assert repr(position) == snapshot
    assert repr(position.play("Ra1Rb1")) == snapshot


def test_a_seat_has_one_name_in_the_sdk_and_the_full_view_and_owner_still_works():
    province = Province("R", 1, 1, ("a1", "b1"), ())
    village, free = Village(0, ("d1",), ()), Village(None, ("e1",), ())
    assert (province.seat, village.seat, free.seat) == (1, 0, None)
    assert (province.owner, village.owner, free.owner) == (1, 0, None)
    square = Square("a1", "R", province, None)
    assert (square.seat, square.owner) == (1, 1)
    assert "seat" in ProvinceView.__struct_fields__
    assert "seat" in VillageView.__struct_fields__


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", ["bird", "lion"])
def test_through_whole_games_a_position_shows_what_the_full_view_shows(name, players):
    luck = random.Random(f"{name} {players}")
    tiles = [tile for tile in range(6) for _ in range(12)]
    state = ChosenState(built_in(name), players, luck.sample(tiles, DECK_SIZE))
    while state.end is None:
        position, view = Position(state, state.mover, luck, 1000), position_view(state)
        shown = [
            (province.colour, province.seat, province.pagodas, list(province.squares))
            for province in position.provinces
        ]
        assert shown == [
            (province.colour, province.seat, province.pagodas, province.squares)
            for province in view.provinces
        ]
        villages = [(village.seat, list(village.squares)) for village in position.villages]
        assert villages == [(village.seat, village.squares) for village in view.villages]
        free = [
            square
            for row, line in enumerate(view.rows, 1)
            for square, sign in named(row, line)
            if sign == "."
        ]
        assert list(position.free) == free
        square = luck.choice(
            [square for row, line in enumerate(view.rows, 1) for square, _ in named(row, line)]
        )
        cell = draw(state)[int(square[1:]) - 1][ord(square[0]) - ord("a")]
        assert str(position.at(square)) == cell
        state.play(
            state.nth(luck.randrange(state.legal_count())) if not state.must_pass() else PASS
        )


def named(row, line):
    return [(f"{chr(ord('a') + column)}{row}", sign) for column, sign in enumerate(line)]


def test_everything_public_is_documented():
    for name in arena.sdk.__all__:
        public = getattr(arena.sdk, name)
        if inspect.isclass(public):
            for member, value in vars(public).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert inspect.getdoc(value), f"{name}.{member}"
        if inspect.isclass(public) or inspect.isfunction(public):
            assert inspect.getdoc(public), name


IN_THE_SENTENCE = {"text", "halves", "why_illegal"}
"""Functions whose one argument their first sentence explains."""


def test_every_argument_is_documented():
    public = vars(Position) | {name: getattr(arena.sdk, name) for name in arena.sdk.__all__}
    for name, function in public.items():
        if (
            inspect.isfunction(function)
            and not name.startswith("_")
            and name not in IN_THE_SENTENCE
        ):
            for argument in inspect.signature(function).parameters.keys() - {"self"}:
                assert f"    {argument}: " in inspect.getdoc(function), f"{name}: {argument}"
