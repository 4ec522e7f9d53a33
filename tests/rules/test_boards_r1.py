"""R1: material."""

import os

import pytest

from arena.errors import BoardError
from arena.rules.boards import BUILT_IN, Board, built_in, parse_board, read_board, squares_of
from arena.rules.notation import COPIES, DECK_SIZE, TILES
from arena.rules.terms import PAGODAS


def names(board, mask):
    return [board.name_of(square) for square in squares_of(mask)]


@pytest.mark.parametrize("name", BUILT_IN)
def test_r1_1_printed_boards_are_13_by_13_with_one_start_of_each_colour(name):
    board = built_in(name)
    assert (board.width, board.height) == (13, 13)
    assert [start.bit_count() for start in board.starts] == [1, 1, 1]


def test_r1_1_only_the_lion_side_has_lakes():
    assert not any("~" in row for row in built_in("bird").rows)
    assert any("~" in row for row in built_in("lion").rows)


def test_r1_1_grass_village_lake_and_starts_are_told_apart():
    board = parse_board("tiny", ".V~\nRYB\n")
    assert names(board, board.grass) == ["a1"]
    assert [names(board, village) for village in board.villages] == [["b1"]]
    assert [names(board, start) for start in board.starts] == [["a2"], ["b2"], ["c2"]]


def test_r1_2_there_are_twelve_of_each_of_six_tiles():
    assert TILES == ("RR", "YY", "BB", "RY", "YB", "RB")
    assert (COPIES, DECK_SIZE) == (12, 72)


def test_r1_3_pagodas_by_number_of_players():
    assert PAGODAS == {2: 24, 3: 19, 4: 15}


def test_r1_4_village_squares_that_share_an_edge_are_one_village():
    board = parse_board("villages", "VV.V\n...V\nRV..\nV...")
    assert [names(board, village) for village in board.villages] == [
        ["a1", "b1"],
        ["d1", "d2"],
        ["b3"],
        ["a4"],
    ]


def test_r1_4_squares_beside_a_village_are_those_that_share_an_edge():
    board = parse_board("beside", "....\n.VV.\n...R")
    on_board = (1 << board.height * board.stride) - 1
    assert set(names(board, board.beside[0] & on_board)) == {"b1", "c1", "a2", "d2", "b3", "c3"}


@pytest.mark.parametrize("name", BUILT_IN)
def test_r1_5_the_shipped_maps_have_villages_of_one_or_two_squares(name):
    assert {village.bit_count() for village in built_in(name).villages} <= {1, 2}


def test_r1_5_lion_has_more_villages_than_bird():
    assert len(built_in("lion").villages) > len(built_in("bird").villages)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("R..\n..\n", "row 2, column 3: expected 3 squares as in row 1, got 2"),
        ("R..\n....\n", "row 2, column 4: expected 3 squares as in row 1, got 4"),
        ("R..\n..x\n", "row 2, column 3: expected one of . V ~ R Y B, got 'x'"),
        ("R..\n. .\n", "row 2, column 2: expected one of . V ~ R Y B, got ' '"),
        ("R" + "." * 26, "row 1, column 27: expected at most 26 columns, got 27"),
        ("R\n" + ".\n" * 26, "row 27, column 1: expected at most 26 rows, got 27"),
        ("...\n.V.\n", "row 1 to 2, column 1 to 3: expected at least one start"),
        ("", "expected at least one row of squares, got none"),
    ],
)
def test_r1_5_a_bad_board_is_rejected_with_row_and_column(text, message):
    with pytest.raises(BoardError) as caught:
        parse_board("bad", text)
    assert str(caught.value).startswith("board bad")
    assert message in str(caught.value)


def test_a_board_of_26_by_26_is_accepted():
    board = Board("large", ("R" + "." * 25,) * 26)
    assert board.name_of(25 * board.stride + 25) == "z26"


def test_a_board_file_may_have_windows_line_ends_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes(b"\xef\xbb\xbfR..\r\n.V.\r\n\r\n")
    board = read_board(path)
    assert (board.name, board.rows) == ("mine", ("R..", ".V."))


def test_a_missing_or_binary_board_file_is_named(tmp_path, refused):
    with refused(BoardError):
        read_board(tmp_path / "none.txt")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    with refused(BoardError):
        read_board(tmp_path / "binary.txt")


@pytest.mark.parametrize("name", ["\udcff", "a\nb", "a\x1b[1m"])
def test_a_board_whose_name_cannot_be_shown_is_refused(tmp_path, name, refused):
    path = tmp_path / f"{name}.txt"
    path.write_text("R..\n...\n")
    with refused(BoardError):
        read_board(path)


def test_a_board_file_is_regular_and_small_and_nothing_else_is_waited_for(tmp_path, refused):
    pipe, large, link = tmp_path / "pipe.txt", tmp_path / "large.txt", tmp_path / "link.txt"
    os.mkfifo(pipe)
    large.write_bytes(b"R..\n...\n" + b"\n" * (64 << 10))
    link.symlink_to("/dev/zero")
    for path in (pipe, link, large):
        with refused(BoardError):
            read_board(path)
    with refused(BoardError):
        read_board(tmp_path)
    with refused(BoardError):
        read_board(tmp_path / "a\0b")
    large.write_bytes(b"R..\n...\n" + b"\n" * 1000)
    assert read_board(large).rows == ("R..", "...")


def test_an_unknown_board_name_lists_the_known_ones(refused):
    with refused(BoardError):
        built_in("tiger")


def test_starts_of_one_colour_that_touch_belong_to_nobody_until_a_tile_joins_them(State):
    state = State(parse_board("pair", "RR...\n....."), 2, [0, 3, 3] * 24)
    assert state.provinces() == []
    state.play(next(move for move in state.legal_moves() if move >> 10 == 0 and move & 1023 == 2))
    [(colour, province)] = state.provinces()
    assert (colour, province.owner, province.size, province.pagodas) == (0, 0, 4, 1)
