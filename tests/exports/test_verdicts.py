"""The answers of comparisons and searches in words: no figure where nothing is known."""

import pytest

from arena.exports.verdicts import bill_text, finding_text, how_far_text, llr_text, verdict_text
from arena.ratings.sequential import Question, WinTest


def fed(values, question=None):
    test = WinTest(question or Question(0, 10))
    for value in values:
        test.add((1 + value) / 2, (1 - value) / 2)
    return test


def first_line(values, **words):
    return verdict_text(fed(values), "new", "old", 2 * len(values), **words).splitlines()[0]


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([1, 0, -1], "undecided: nothing is known yet about new against old"),
        ([0, 1, -1, 0] * 20, "new is +0 [-55, +55] Elo against old: undecided"),
    ],
)
def test_an_answer_begins_with_the_difference_or_says_that_nothing_is_known(values, line):
    assert first_line(values) == line


def test_the_same_player_has_no_figures(snapshot):
    text = verdict_text(fed([0] * 5), "new", "old", 10, is_same=True)
    assert text.splitlines() == snapshot


def test_an_open_end_is_called_open_and_not_infinite():
    assert "inf" not in verdict_text(fed([1] * 3), "new", "old", 6, is_wide=True)


def test_a_finding_says_what_to_do(snapshot):
    close = fed([0, 1, -1, 0] * 20)
    assert finding_text(close, "new", "old") == snapshot
    lost = fed([-1, 0] * 40)
    assert finding_text(lost, "new", "old") == snapshot
    assert finding_text(fed([1, 0] * 40), "new", "old") == snapshot
    assert finding_text(close, "new", "old", is_same=True) == snapshot


def test_a_ratio_has_its_bounds_and_its_hypotheses():
    assert llr_text(fed([], Question(-5, 5))) == "0.00 (-2.94, 2.94) [-5, 5]"


def test_a_bill_names_two_gains_and_their_times(snapshot):
    text = bill_text(fed([0, 1]), 2, lambda games: games * 3.0)
    assert text == snapshot
    assert " h" in text or " min" in text
    assert " min" not in bill_text(fed([0, 1]), 2, None)


def test_a_bill_for_a_test_against_a_loss_counts_from_its_first_hypothesis(snapshot):
    text = bill_text(fed([0, 1], Question(-10, 0)), 2, None)
    assert text == snapshot


def test_how_far_a_comparison_has_come_is_a_probability_and_a_number_of_games(snapshot):
    assert how_far_text(fed([]), "new", "old", 2) == snapshot
    assert how_far_text(fed([1, 0, 1, 0, 0]), "new", "old", 2) == snapshot
    assert how_far_text(fed([-1, 0, -1, 0, 0]), "new", "old", 2) == snapshot
