"""What a run shows on a terminal while it plays."""

import pytest

from tests.support.commandline import Arena
from tests.support.terminals import ESCAPES, on_terminal, too_wide


@pytest.fixture
def arena(tmp_path):
    return Arena(tmp_path)


@pytest.mark.parametrize("term", ["dumb", "xterm-256color"])
def test_a_bar_fits_a_small_terminal_and_a_dumb_one(arena, term):
    status, written = on_terminal(
        arena, "run", "greedy", "random", "--deals", 30, columns=40, lines=6, TERM=term, NO_COLOR=""
    )
    assert status == 0
    assert "%" in written
    assert too_wide(written, 40) == []
    if term == "dumb":
        assert not ESCAPES.search(written.split("Rank")[0])


def test_a_comparison_shows_its_ratio_in_the_bar_of_a_terminal_and_else_in_lines(arena):
    words = ("compare", "careful-4", "greedy-2", "--out", "better")
    status, written = on_terminal(arena, *words, NO_COLOR="")
    assert status == 0
    assert "games, LLR=" in written
    assert "LLR " not in written
    assert too_wide(written, 80) == []
    _, err = arena("compare", "careful-4", "greedy-2", "--out", "again")
    assert "\n1 block: LLR " in err
    _, err = arena("compare", "careful-4", "greedy-2", "--out", "silent", "-q")
    assert "LLR" not in err
