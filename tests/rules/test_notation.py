"""Squares, tiles, moves, decks and drawings as text."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidMoveError, NotationError
from arena.rules import State
from arena.rules.boards import Board, built_in, parse_board
from arena.rules.notation import (
    PASS,
    TILES,
    make_move,
    move_text,
    moves_of_seat,
    parse_deck,
    parse_move,
    parse_square,
    parse_tile,
    seat_of_move,
    split_move,
)
from arena.rules.positions import read_cells
from tests.rules.positions import drawing, full_deck, random_move

BIRD = built_in("bird")


def test_a1_is_top_left_and_rows_count_downward():
    assert parse_square(BIRD, "a1") == 0
    assert parse_square(BIRD, "c4") == 3 * BIRD.stride + 2
    assert BIRD.name_of(12 * BIRD.stride + 12) == "m13"


@pytest.mark.parametrize(
    "text", ["", "a", "1", "a0", "A1", "a01", "aa1", "n1", "a14", "a1 ", "\u0661a"]
)
def test_a_bad_square_is_refused(text, refused):
    with refused(NotationError):
        parse_square(BIRD, text)


def test_a_move_is_written_in_reading_order_and_read_in_either():
    for text in ("Rc4Yd4", "Rc4Yc5"):
        assert move_text(BIRD, parse_move(BIRD, text)) == text
    assert parse_move(BIRD, "Yd4Rc4") == parse_move(BIRD, "Rc4Yd4")
    assert parse_move(BIRD, "Yc5Rc4") == parse_move(BIRD, "Rc4Yc5")
    assert parse_move(BIRD, "pass") == PASS
    assert move_text(BIRD, PASS) == "pass"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "c4d4",
        "Gc4Rd4",
        "rc4yd4",
        "Rc4Yd4 ",
        "Rc4Yd5",
        "Rc4Yc4",
        "Rm1Ya2",
        "Rc4Yn4",
        "PASS",
        "R" * 90,
    ],
)
def test_what_is_not_a_move_is_invalid(text, refused):
    with refused(InvalidMoveError):
        parse_move(BIRD, text)


@given(st.integers(1, 26), st.integers(1, 26), st.data())
def test_moves_go_through_text_unchanged_on_any_board(width, height, data):
    board = Board("any", ("R" * width,) * height)
    row, column = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
    vertical = data.draw(st.booleans())
    if (row + 1 if vertical else column + 1) >= (height if vertical else width):
        return
    first, second = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))
    move = make_move(first, second, row * board.stride + column, vertical=vertical)
    assert parse_move(board, move_text(board, move)) == move
    assert split_move(board, move)[::2] == (first, second)


def test_tiles_are_read_in_either_order(refused):
    assert [parse_tile(name) for name in TILES] == list(range(6))
    assert parse_tile("YR") == parse_tile("RY")
    for text in ("", "R", "RYB", "rr", "RX"):
        with refused(NotationError):
            parse_tile(text)


@pytest.mark.parametrize("text", ["", "RR" * 72, "RRYYBB", "R"])
def test_a_deck_that_is_not_the_72_tiles_is_refused(text):
    with pytest.raises(NotationError, match="expected"):
        parse_deck(text)


def test_a_drawing_goes_through_text_unchanged(State):
    rng = random.Random(3)
    deck = full_deck()
    rng.shuffle(deck)
    state = State(BIRD, 3, deck)
    while state.end is None:
        _, spaces, provinces, villages = read_cells("drawn", drawing(state))
        held = (state.left, state.hands, state.pile_tiles(), state.mover)
        again = State.set_up(BIRD, spaces, provinces, villages, *held)
        assert drawing(again) == drawing(state)
        assert again.pile_tiles() == state.pile_tiles()
        assert again.legal_moves() == state.legal_moves()
        state.play(random_move(state, rng))


@pytest.mark.parametrize("cell", ["R4", "G0", "~0", "R00"])
def test_a_bad_cell_is_named_with_row_and_column(cell, refused):
    with refused(NotationError):
        read_cells("drawn", f"R {cell}")


def test_boards_of_the_same_text_are_equal_after_a_trip_through_pickle():
    import pickle

    board = parse_board("tiny", "R.\n..")
    again = pickle.loads(pickle.dumps(board))
    assert (again.name, again.rows, again.grass) == ("tiny", ("R.", ".."), board.grass)


def test_the_seat_of_a_move_and_the_moves_of_a_seat_are_those_of_the_game():
    """Also when a seat has left the game and passes."""
    for players in (2, 3, 4):
        rng = random.Random(players)
        deck = full_deck()
        rng.shuffle(deck)
        state = State(BIRD, players, deck)
        moves, seats = [], []
        while state.end is None:
            seats.append(state.mover)
            if len(moves) == 9:
                state.retire(1)
            move = PASS if state.must_pass() else random_move(state, rng)
            moves.append(move_text(BIRD, move))
            state.play(move)
        assert seats == [seat_of_move(number, players) for number in range(len(moves))]
        for seat in range(players):
            own = [move for move, mover in zip(moves, seats, strict=True) if mover == seat]
            assert moves_of_seat(moves, seat, players) == own
