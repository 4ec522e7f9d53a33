"""A board in colours: what stands on each square, which tiles hang together, what is marked."""

import io
import re

import click
import pytest

from arena.cli.board import GROUNDS, OTHER_GRASS, Mosaic, has_colours, squares_under
from arena.exports.grid import width_of
from arena.exports.text import board_text, hands_text
from arena.rules import State
from arena.rules.boards import built_in
from arena.rules.notation import parse_deck, parse_move
from arena.tournament.schedule import deck_of

BIRD = built_in("bird")
COLOURS = {"FORCE_COLOR": "3", "NO_COLOR": "", "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
SEAM = "▏"
REST = "RY" * 9 + "BB" * 9 + "".join(tile * 12 for tile in ("RR", "YY", "YB", "RB"))


@pytest.fixture
def terminal(monkeypatch):
    """Says what the terminal is like."""

    def is_like(**changes):
        for name, value in {**COLOURS, **changes}.items():
            monkeypatch.setenv(name, value)

    monkeypatch.delenv("TERM", raising=False)
    is_like()
    return is_like


def played(moves, board=BIRD, players=2):
    """A position by this many moves of a quick bot, drawn, with its last move."""
    state, mosaic = State(board, players, parse_deck(deck_of("m", board.name, 0))), Mosaic(board)
    move = 0
    for number in range(moves):
        move = state.choice(number, "careful")
        state.play(move)
        mosaic.lay(move)
    return state, mosaic, squares_under(board, move)


def rows(text):
    return [line[3:] for line in click.unstyle(text).splitlines()[1:]]


def test_without_colours_the_board_and_the_seats_are_plain_text(terminal):
    terminal(NO_COLOR="1")
    state, mosaic, last = played(9)
    assert mosaic.board(state, last) == board_text(state, marked=last)
    assert mosaic.seats(state, ["a", "b"], 1) == hands_text(state, ["a", "b"], 1)


def test_cells_are_joined_and_every_line_has_the_same_width(terminal):
    state, mosaic, last = played(30, built_in("lion"), 4)
    text = mosaic.board(state, last)
    shown = click.unstyle(text).splitlines()
    assert len(shown) == 1 + 13
    assert {width_of(line) for line in shown[1:]} == {3 + 4 * 13}
    assert all(line.endswith("\x1b[0m") for line in text.splitlines()[1:])


def test_pagodas_are_drawn_in_a_row_only_where_the_window_has_room_now(terminal):
    state, mosaic, _ = played(9)

    def width():
        seats = click.unstyle(mosaic.seats(state, ["a", "b"])).splitlines()
        return max(map(width_of, seats))

    before = width()
    terminal(COLUMNS="45")
    assert width() < 45 < before


def test_grass_is_green_and_a_village_is_not(terminal):
    state, mosaic, _ = played(0)
    first = mosaic.board(state).splitlines()[1]
    grounds = re.findall(r"48;5;(\d+)m([^\x1b]*)", first)
    assert "".join(text for _, text in grounds).index("V") == 4 * 5 + 1
    grass = {str(GROUNDS["."].plain), str(OTHER_GRASS)}
    assert all((ground in grass) == ("V" not in text) for ground, text in grounds)


def test_the_squares_of_a_tile_hang_together_and_a_seam_divides_two_tiles(terminal):
    state = State(BIRD, 2, parse_deck("RY" * 3 + "BB" * 3 + REST))
    mosaic = Mosaic(BIRD)
    for text in ("Rh9Yi9", "Bg10Bh10", "Rj9Yk9"):
        move = parse_move(BIRD, text)
        assert state.is_legal(move), state.why_illegal(move)
        state.play(move)
        mosaic.lay(move)
    row = rows(mosaic.board(state))[8]
    assert [column for column in range(13) if row[4 * column] == SEAM] == [7, 9]


def test_owners_are_told_without_colour_too(terminal):
    state, mosaic, _ = played(40, built_in("lion"), 4)
    plain = click.unstyle(mosaic.board(state))
    shown = rows(mosaic.board(state))
    for owner in {province.owner for _, province in state.provinces()}:
        assert re.search(rf"[RYB]{owner}", plain)
    for village, owner in zip(state.board.villages, state.villages, strict=True):
        square = (village & -village).bit_length() - 1
        y, x = divmod(square, state.board.stride)
        cell = shown[y][4 * x : 4 * x + 4]
        assert (str(owner) if owner >= 0 else "V") in cell


def test_a_major_province_has_two_storeys(terminal):
    state, mosaic, _ = played(40)
    levels = [province.pagodas for _, province in state.provinces()]
    assert {1, 2} <= set(levels)
    assert click.unstyle(mosaic.board(state)).count("▲▲") == levels.count(2)


def test_the_last_tile_is_marked_without_colour_too(terminal):
    state, mosaic, last = played(1)
    text = click.unstyle(mosaic.board(state, last))
    assert text.count("[") == text.count("]") > 0


def test_a_terminal_without_drawings_gets_ascii(terminal):
    terminal(LC_ALL="C")
    state, mosaic, last = played(40)
    assert mosaic.board(state, last).isascii()
    assert mosaic.seats(state, ["a", "b"]).isascii()


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_the_seats_count_pagodas_and_fit_the_terminal(terminal, columns):
    terminal(COLUMNS=columns)
    state, mosaic, _ = played(9)
    names = ["a-very-long-name:depth=5,c=0.7,move_ms=50", "a-very-long-name:depth=6,c=0.7"]
    lines = click.unstyle(mosaic.seats(state, names, seen_by=0)).splitlines()
    assert all(width_of(line) <= int(columns) for line in lines)
    for line, left in zip(lines, state.left, strict=True):
        assert line.endswith(f"{left} to place")
        assert line.count("▲") == (0 if columns == "60" else left)
    assert "?? ?? ??" in lines[1]
    assert "??" not in lines[0]
    assert lines[0].split("1")[0] != lines[1].split("1")[0]


def test_a_board_in_colours(terminal, snapshot):
    state, mosaic, last = played(12, built_in("lion"), 3)
    text = f"{mosaic.board(state, last)}\n{mosaic.seats(state, ['ann', 'bob', 'eve'])}"
    assert text.replace("\x1b", "ESC") == snapshot


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TERM": "screen-256color"}, True),
        ({"TERM": "screen"}, True),
        ({"TERM": "tmux"}, True),
        ({}, True),
        ({"TERM": "dumb"}, False),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"NO_COLOR": "", "TERM": "xterm"}, True),
        ({"FORCE_COLOR": "0"}, False),
    ],
)
def test_a_terminal_has_colours_unless_its_environment_says_otherwise(environment, expected):
    assert has_colours(Terminal(), environment) == expected


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TERM": "xterm-256color"}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"CLICOLOR_FORCE": "0"}, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True),
    ],
)
def test_a_file_has_colours_only_if_they_are_asked_for(environment, expected):
    assert has_colours(io.StringIO(), environment) == expected
