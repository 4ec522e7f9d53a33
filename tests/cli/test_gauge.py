"""The test of a comparison as it is drawn while the games are played."""

import pytest

from arena.exports.pen import ASCII, Pen
from arena.exports.verdicts import elo_text, gauge_text
from arena.ratings.estimates import look_at
from arena.ratings.sequential import Question, SequentialTest

QUESTION = Question(0, 10, 0.05, 0.05)


def result_of(wins, losses):
    test = SequentialTest(QUESTION)
    for _ in range(wins):
        test.add(1.0, 0.0)
    for _ in range(losses):
        test.add(0.0, 1.0)
    return test


def test_the_ratio_stands_between_its_bounds():
    assert gauge_text(result_of(0, 0), 34, Pen()) == "-2.94 ├─────●─────┤ 2.94  LLR 0.00"
    assert gauge_text(result_of(90, 60), 36, ASCII) == "-2.94 |------:-o----| 2.94  LLR 0.83"


@pytest.mark.parametrize(("wins", "losses", "ends"), [(400, 0, ("├", "●")), (0, 400, ("●", "┤"))])
def test_a_ratio_beyond_a_bound_stands_on_it(wins, losses, ends):
    text = gauge_text(result_of(wins, losses), 50, Pen())
    drawn = text.split()[1]
    assert (drawn[0], drawn[-1]) == ends


@pytest.mark.parametrize("width", range(30, 120, 7))
def test_a_gauge_is_never_wider_than_it_may_be_if_there_is_room_for_one(width):
    text = gauge_text(result_of(90, 60), width, Pen())
    assert len(text) <= max(width, len("LLR 1.69 [-2.94, 2.94]"))


def test_a_narrow_terminal_gets_the_figures_alone():
    assert gauge_text(result_of(0, 0), 28, Pen()) == "LLR 0.00 [-2.94, 2.94]"


def test_the_elo_is_told_once_the_blocks_bound_it():
    assert elo_text(look_at(result_of(1, 0))) == ""
    assert elo_text(look_at(result_of(90, 60))).startswith(", Elo +")
