"""Which colours a terminal is taken to have."""

import io

import pytest

from arena.cli.colours import Colour, Depth, colours_wanted, depth_of, painted


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("environment", "depth"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, Depth.FULL),
        ({"TERM": "tmux-256color", "COLORTERM": "24bit"}, Depth.FULL),
        ({"TERM": "xterm-direct"}, Depth.FULL),
        ({"TERM": "screen-256color"}, Depth.INDEXED),
        ({"TERM": "linux"}, Depth.BASIC),
        ({}, Depth.BASIC),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, Depth.NONE),
        ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, Depth.NONE),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, Depth.NONE),
        ({"NO_COLOR": "", "TERM": "xterm"}, Depth.BASIC),
        ({"FORCE_COLOR": "0", "COLORTERM": "truecolor"}, Depth.NONE),
    ],
)
def test_a_terminal_says_in_its_environment_how_many_colours_it_has(environment, depth):
    assert depth_of(Terminal(), environment) == depth


@pytest.mark.parametrize(
    ("environment", "depth"),
    [
        ({"COLORTERM": "truecolor"}, Depth.NONE),
        ({"FORCE_COLOR": "3"}, Depth.FULL),
        ({"FORCE_COLOR": "2"}, Depth.INDEXED),
        ({"FORCE_COLOR": "1"}, Depth.BASIC),
        ({"CLICOLOR_FORCE": "1", "COLORTERM": "truecolor"}, Depth.FULL),
        ({"CLICOLOR_FORCE": "0"}, Depth.NONE),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, Depth.BASIC),
    ],
)
def test_a_file_has_colours_only_if_they_are_asked_for(environment, depth):
    assert depth_of(io.StringIO(), environment) == depth


def test_it_is_left_to_the_terminal_if_nothing_is_asked():
    assert colours_wanted({"TERM": "xterm"}) is None


def test_a_colour_is_written_for_the_terminal():
    red, white = Colour((185, 59, 43), 124, 1), Colour((255, 255, 255), 231, 15)
    assert painted("x", Depth.NONE, white, red) == "x"
    assert painted("x", Depth.BASIC, white, red) == "\x1b[97;41mx\x1b[0m"
    assert painted("x", Depth.INDEXED, white, red) == "\x1b[38;5;231;48;5;124mx\x1b[0m"
    assert (
        painted("x", Depth.FULL, white, red, is_bold=True)
        == "\x1b[1;38;2;255;255;255;48;2;185;59;43mx\x1b[0m"
    )
