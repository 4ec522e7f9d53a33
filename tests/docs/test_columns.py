"""The columns of the files, as the page lists them; ``make golden`` writes them there."""

import os
import re
from pathlib import Path

import pytest

from arena.ratings.column import placed
from arena.ratings.columns import FILES, STANDINGS

PAGE = Path(__file__).parents[2] / "docs" / "reading-the-table.md"


def listed(name):
    """The table of a file's columns, as the page should have it."""
    head = f"| in `{name}.csv` | on the screen | what it says | from |\n|---|---|---|---|\n"
    rows = [
        f"| `{column.name}` | {column.head} | {column.meaning} | {column.source} |\n"
        for column in placed(FILES[name], "file")
    ]
    return head + "".join(rows)


@pytest.mark.parametrize("name", FILES)
def test_the_page_lists_the_columns_of_each_file(name):
    text, table = PAGE.read_text(encoding="utf-8"), listed(name)
    if os.environ.get("ARENA_GOLDEN") == "write":
        text = re.sub(rf"(?m)^\| in `{name}\.csv` .*\n(?:\|.*\n)*", lambda _: table, text)
        PAGE.write_text(text, encoding="utf-8")
    assert table in text, "ARENA_GOLDEN=write writes it anew"


@pytest.mark.parametrize("name", FILES)
def test_every_column_of_a_file_says_what_it_means_and_where_it_comes_from(name):
    for column in placed(FILES[name], "file"):
        assert column.meaning, column
        assert column.source, column


def test_a_column_has_as_many_decimals_in_every_table():
    known = {}
    for columns in FILES.values():
        for column in columns:
            if not column.of:
                assert known.setdefault(column.name, column.decimals) == column.decimals


def test_a_later_column_stands_behind_those_that_readers_of_the_file_know():
    """One number moves a column of the standings into the file."""
    known = placed(STANDINGS, "file")
    later = [column._replace(file=4) if column.name == "los" else column for column in STANDINGS]
    assert [column.name for column in placed(later, "file")] == [
        *(column.name for column in known),
        "los",
    ]


def test_the_columns_that_programs_have_read_longest_come_first_and_then_the_marks():
    old = "rank,bot,elo,elo_low,elo_high,games,wins,shared,losses,win_rate,avg_rank,avg_left,"
    new = "forfeits,think_ms,mark,rank_low,rank_high,deals"
    assert ",".join(column.name for column in placed(STANDINGS, "file")) == old + new
