"""Boards laid on themselves: which ways there are, and that the game does not notice."""

import random

import pytest

from arena.rules.boards import COLOURS, Board, built_in
from arena.rules.notation import move_text, parse_move, parse_tile
from arena.rules.symmetry import _moved, least_alike, symmetries

MIRRORED = Board("mirrored", ("R...R", ".V.V.", "..Y..", ".....", "..B.."))
EVERY = Board("every", ("...", ".R.", "..."))


@pytest.mark.parametrize("name", ["bird", "lion"])
def test_the_printed_boards_are_not_symmetric(name):
    board = built_in(name)
    assert len(symmetries(board)) == 1
    move = parse_move(board, "Rh9Ri9")
    assert least_alike(board, move) == move


def test_a_mirrored_board_has_two_ways_and_one_name_for_mirrored_moves():
    assert len(symmetries(MIRRORED)) == 2
    assert {
        move_text(MIRRORED, least_alike(MIRRORED, parse_move(MIRRORED, text)))
        for text in ("Ra2Ba3", "Re2Be3")
    } == {"Ra2Ba3"}
    assert least_alike(MIRRORED, -1) == -1


def test_colours_may_change_places():
    """Turned by a half, red and blue swap, and yellow stays."""
    board = Board("swapped", ("R....", ".....", "..Y..", ".....", "....B"))
    swapped = {
        move_text(board, _moved(board, parse_move(board, "Ra2Yb2"), one))
        for one in symmetries(board)
    }
    assert "Yd4Be4" in swapped
    assert len(symmetries(board)) == 4


@pytest.mark.parametrize("board", [MIRRORED, EVERY, Board("half", ("R..V.", "..Y..", ".V..R"))])
def test_a_symmetry_leaves_the_board_as_it_is(board):
    for squares, colours in symmetries(board):
        assert sorted(squares) == sorted(squares.values())
        for square, other in squares.items():
            row, column = divmod(square, board.stride)
            to_row, to_column = divmod(other, board.stride)
            letter, there = board.rows[row][column], board.rows[to_row][to_column]
            assert there == (
                COLOURS[colours[COLOURS.index(letter)]] if letter in COLOURS else letter
            )


def test_games_laid_over_a_symmetry_go_the_same_way(State):
    """The same moves, mirrored and with the colours changed, place as many pagodas."""
    board = Board("swapped", ("R....", ".V...", "..Y..", "...V.", "....B"))
    turn = symmetries(board)[-1]
    rng = random.Random(4)
    deck = [parse_tile(name) for name in ("RR", "YY", "BB", "RY", "YB", "RB") for _ in range(12)]
    rng.shuffle(deck)
    one, other = State(board, 2, deck), State(board, 2, [recoloured(tile, turn) for tile in deck])
    while one.end is None and one.legal_count():
        move = one.nth(rng.randrange(one.legal_count()))
        one.play(move)
        other.play(_moved(board, move, turn))
        assert (one.left, one.end, one.legal_count()) == (
            other.left,
            other.end,
            other.legal_count(),
        )
    assert one.turns > 3


def recoloured(tile, turn):
    names = ("RR", "YY", "BB", "RY", "YB", "RB")
    return parse_tile(
        "".join(COLOURS[turn.colours[COLOURS.index(letter)]] for letter in names[tile])
    )
