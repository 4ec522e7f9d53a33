"""Lines at the width of a terminal, and its colours."""

import io

from arena.cli import terminal
from arena.cli.terminal import announced_if_slow, colours_wanted, columns_of, folded
from tests.support.commandline import without_waiting


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


def test_it_is_left_to_the_terminal_if_nothing_is_asked():
    assert colours_wanted({"TERM": "xterm"}) is None


def test_what_is_said_only_where_it_takes_long_is_what_tests_leave_out(
    monkeypatch, capsys, snapshot
):
    monkeypatch.setattr(terminal, "SLOW_S", 0)
    told = ""
    with announced_if_slow("rating the games of results/r"):
        while not told.endswith("\n"):
            told += capsys.readouterr().err
    assert told == snapshot
    assert without_waiting(f"before\n{told}after\n") == "before\nafter\n"
