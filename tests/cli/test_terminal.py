"""Lines at the width of a terminal, and pages looked at with the keys."""

import io

import pytest

from arena.cli.terminal import columns_of, folded, moved, step_through


def test_a_long_line_is_folded_between_words_and_a_short_one_stays():
    assert folded("one two three four\na  table  row", 13) == "one two three\n  four\na  table  row"


def test_a_row_of_a_table_is_folded_in_its_last_column():
    assert (
        folded("Bot  Language  Description\nx    C         plays any move", 20, indent=" " * 15)
        == "Bot  Language\n               Description\nx    C         plays\n               any\n  "
        "             move"
    )


def test_what_is_indented_stays_so():
    assert folded("    one two three", 12) == "    one two\n      three"


def test_a_command_in_quotes_is_not_folded():
    assert (
        folded("next: look, then 'arena check ./my-bot'; it's done", 30)
        == "next: look, then\n  'arena check ./my-bot'; it's\n  done"
    )


def test_a_word_that_is_too_long_has_a_line_of_its_own():
    assert folded("see /a/very/long/path now", 10) == "see\n  /a/very/long/path\n  now"


def test_a_file_or_a_pipe_gets_lines_as_they_are():
    assert columns_of(io.StringIO()) is None
    assert folded("one two three four", None) == "one two three four"


@pytest.mark.parametrize(
    ("at", "key", "then"),
    [
        (0, " ", 1), (0, "n", 1), (0, "\x1b[C", 1), (4, " ", 4), (2, "b", 1), (2, "\x1b[D", 1),
        (0, "b", 0),
        (3, "g", 0), (1, "G", 4), (2, "x", 2),
    ],
)  # fmt: skip
def test_a_key_moves(at, key, then):
    assert moved(at, key, 4) == then


@pytest.mark.parametrize("end", ["q", "\x1b", None])
def test_pages_are_shown_until_it_is_enough(capsys, end):
    keys = iter([" ", " ", "b", end])

    def read_key():
        key = next(keys)
        if key is None:
            raise EOFError
        return key

    step_through(["one", "two", "three"], read_key)
    shown = capsys.readouterr().out
    assert [page.splitlines()[0] for page in shown.split("\x1b[H\x1b[2J")[1:]] == [
        "one",
        "two",
        "three",
        "two",
    ]
    assert "3 of 3   space" in shown
