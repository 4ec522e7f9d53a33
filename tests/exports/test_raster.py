"""Positions as PNG files: that they are PNG, and show the position that they are of."""

import re

import pytest
from msgspec.structs import replace

from arena.errors import RunError
from arena.exports.parts import every_part
from arena.exports.raster import (
    HEIGHT,
    LAST,
    PLATE,
    SEATS,
    TILES,
    WIDTH,
    picture_of_game,
    picture_of_position,
)
from arena.rules.boards import built_in
from tests.exports.runs import game_of
from tests.support.png import pixels_of

BIRD = built_in("bird")
LION = built_in("lion")


def count(png, colour):
    """The number of pixels of a colour."""
    return int((pixels_of(png) == tuple(bytes.fromhex(colour[1:]))).all(axis=2).sum())


@pytest.mark.parametrize("board", [BIRD, LION])
def test_an_empty_board_has_its_villages_and_lakes_and_no_tiles(board):
    png = picture_of_position(board)
    assert pixels_of(png).shape == (HEIGHT, WIDTH, 3)
    assert count(png, PLATE) > 0
    assert [count(png, colour) for colour in (*TILES, *SEATS, LAST)] == [0] * 8


@pytest.mark.parametrize("bots", ["ab", "abc", "abcd"])
def test_a_game_shows_its_tiles_its_seats_and_the_last_tile(bots):
    record = game_of(tuple(bots))
    png = picture_of_game(record, BIRD)
    assert pixels_of(png).shape == (HEIGHT, WIDTH, 3)
    assert all(count(png, colour) > 1000 for colour in TILES)
    assert all(count(png, colour) > 1000 for colour in SEATS[: len(bots)])
    assert [count(png, colour) for colour in SEATS[len(bots) :]] == [0] * (4 - len(bots))
    assert count(png, LAST) > 100
    assert len(png) < 100_000


def test_two_pagodas_are_drawn_as_two():
    parts = every_part()
    for seat in range(4):
        drawn = parts[f"q2{seat}"]
        assert drawn.count(f'href="#q1{seat}"') == 2
        assert len(set(re.findall(r"translate\([^)]*\)", drawn))) == 2


def test_a_tile_number_shows_the_position_after_that_tile():
    record = game_of("ab")
    covered = [
        sum(count(picture_of_game(record, BIRD, turn), colour) for colour in TILES)
        for turn in (0, 3, 12)
    ]
    assert covered == sorted(covered)
    assert covered[0] < covered[1] < covered[2]
    at_the_end = picture_of_game(record, BIRD)
    assert picture_of_game(record, BIRD, record.turns) == at_the_end
    assert picture_of_game(record, BIRD, 999) == at_the_end


def test_a_record_that_breaks_the_rules_is_refused():
    with pytest.raises(RunError):
        picture_of_game(replace(game_of("ab"), moves=["Ra1Ra2"] * 3), BIRD)
