"""The drawing of a position: outlines, tiles, pagodas and what is marked."""

import re

import pytest

from arena.exports.ground import outline
from arena.exports.parts import every_part, used_parts
from arena.exports.report.animation import animated_picture
from arena.exports.scene import ON_TOP, Film, pair_of
from arena.match.replay import replay, start_state
from arena.rules import State
from arena.rules.boards import Board, built_in, parse_board
from arena.rules.notation import PASS, parse_move
from tests.exports.runs import game_of
from tests.protocol.drawing import (
    before_after_picture,
    board_picture,
    forbidden_picture,
    likely_tiles,
)
from tests.rules.positions import position


def mask(board, *squares):
    return sum(1 << row * board.stride + column for row, column in squares)


def board_of(width, height):
    return Board("any", ("R" + "." * (width - 1), *("." * width,) * (height - 1)))


def test_the_outline_of_one_square_runs_clockwise_a_little_inside():
    board = board_of(3, 3)
    assert (
        outline(board, mask(board, (0, 0)), 2, 6)
        == "M32 2q6 0 6 6V32q0 6 -6 6H8q-6 0 -6 -6V8q0 -6 6 -6z"
    )


@pytest.mark.parametrize(
    ("squares", "loops", "corners"),
    [
        ([(0, 0), (0, 1)], 1, 4),
        ([(0, 0), (1, 0), (1, 1)], 1, 6),
        ([(0, 0), (1, 1)], 2, 8),  # they meet at a corner and stay apart
        ([(0, 1), (1, 0)], 2, 8),
        # a hole
        (
            [(row, column) for row in range(3) for column in range(3) if (row, column) != (1, 1)],
            2,
            8,
        ),
        # whose ends meet at a corner
        ([(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (1, 0)], 1, 10),
    ],
)
def test_every_border_is_closed_and_has_its_corners(squares, loops, corners):
    board = board_of(4, 4)
    path = outline(board, mask(board, *squares), 2, 5)
    assert (path.count("M"), path.count("z"), path.count("q")) == (loops, loops, corners)


def test_an_area_at_the_right_edge_does_not_run_on_in_the_next_row():
    board = board_of(3, 3)
    assert outline(board, mask(board, (0, 2), (1, 0)), 2, 5).count("M") == 2


def test_tiles_are_guessed_so_that_few_spaces_are_left_over():
    state = position(State, "Y0 Y0 Y0 .\n. R1 R1 .")
    assert likely_tiles(state) == [(0, 1), (6, 7)]
    assert likely_tiles(position(State, "Y . Y .\n. B . .")) == []


def test_provinces_villages_and_pagodas_are_in_the_colours_of_their_owners():
    state = position(State, "R0 R0 R0 R0 R0\nV1 .  Y1 Y1 V", hands=("RR", "RR"))
    text = board_picture(state, "both & two")
    assert "<title>both &amp; two</title>" in text
    drawn = text.partition("</defs>")[2]  # a part of two pagodas has single ones in itself
    pagodas = ("20", "10", "11", "21")
    assert [drawn.count(f'href="#q{pagoda}"') for pagoda in pagodas] == [1, 0, 2, 0]
    assert [text.count(f'<g class="q{seat}">') for seat in (0, 1)] == [1, 2]
    assert 'id="qB"' not in text  # what is not used is not in the file
    assert "#qlast" not in text


def test_only_the_position_after_the_move_has_the_ring():
    before = position(State, ". Y . .\n. . . R", hands=("RY", "RY"))
    move = parse_move(before.board, "Yb2Rc2")
    after = before.copy()
    after.play(move)
    text = before_after_picture(before, after, "found", move)
    assert text.count('href="#qlasth"') == 1
    assert text.index('href="#qlasth"') > text.index("translate(")
    alone = board_picture(
        after, "found", [*likely_tiles(before), *pair_of(before.board, move)], move
    )
    assert alone.count('href="#qlasth"') == 1


def test_a_tile_that_may_not_lie_there_is_crossed_out():
    state = position(State, "R . V\n. . .")
    text = forbidden_picture(state, "on a village", parse_move(state.board, "Rb1Rc1"))
    assert '<rect class="q-refused q-broken" x="41" y="1" width="78" height="38"' in text


def test_equal_positions_make_equal_pictures_on_a_board_of_any_size():
    assert pair_of(board_of(3, 3), PASS) == []
    for rows in ("R", "R.~\n...", ("." * 26 + "\n") * 25 + "." * 25 + "B"):
        state = State(parse_board("any", rows), 2, ())
        assert board_picture(state, "start") == board_picture(state.copy(), "start")


def test_every_part_is_there_once_and_refers_only_to_parts():
    parts = every_part()
    for name, text in parts.items():
        assert len(re.findall(rf'id="{name}"', text)) == 1
        assert set(re.findall(r"#(q\w+)", text)) <= parts.keys()
    assert used_parts('<use href="#qRBh"/>').count('id="qR"') == 1
    assert 'id="qY"' not in used_parts('<use href="#qRBh"/>')


@pytest.mark.parametrize(("bots", "name"), [(("a", "b"), "bird"), (("a", "b", "c", "d"), "lion")])
def test_a_film_is_the_pictures_of_its_positions(bots, name):
    board = built_in(name)
    record = game_of(bots, board=name)
    film, shown = Film(board), set()
    film.add(start_state(record, board))
    shown.update(film.frames[0])
    for step in replay(record, board):
        change = film.add(step.state, step.move)
        assert shown.isdisjoint(change.came)
        assert shown.issuperset(change.went)
        shown = shown - set(change.went) | set(change.came)
        assert shown == set(film.frames[-1])
        pagodas = [film.elements[at].part for at in shown if film.elements[at].layer == ON_TOP]
        assert [
            sum(int(part[1]) for part in pagodas if part[2] == str(seat))
            for seat in range(len(bots))
        ] == [step.state.placed(seat) for seat in range(len(bots))]
    assert len(set(film.elements)) == len(film.elements)


def test_a_pagoda_stays_where_it_stands():
    board = built_in("bird")
    record = game_of(("a", "b"))
    film = Film(board)
    film.add(start_state(record, board))
    for step in replay(record, board):
        came, went = (
            [
                (one.part[2], one.x, one.y)
                for one in map(film.elements.__getitem__, numbers)
                if one.layer == ON_TOP
            ]
            for numbers in film.add(step.state, step.move)
        )
        moved = {owner for owner, *_ in went} & {owner for owner, *_ in came}
        if set(went) - set(came) and moved:
            assert any(event.home for event in step.events), "moved without a reason"


def test_a_hostile_name_stays_text_in_an_animation():
    text = animated_picture(game_of(["<script>x</script>", "b&amp;"]), built_in("bird"))
    assert "<script" not in text
    assert ">&lt;script&gt;x&lt;/script&gt;<" in text
    assert ">b&amp;amp;<" in text
