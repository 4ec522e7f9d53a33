"""The printed tables stand in the docs as the command prints them, and the prose claims no more."""

import re
from pathlib import Path

import pytest

from tests.ratings.proof import (
    PAGE,
    SUMMARY,
    Measured,
    between,
    cells_of,
    details,
    heads_of,
    measured,
    read,
    summary,
    summary_of,
)
from tests.ratings.rows import TABLES

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/reading-the-table.md", "docs/statistics.md")
CLAIM = re.compile(r"simulat|\bh[eo]lds?\b|of cases|of 100 runs|right together")
FIGURE = re.compile(r"(\d+(?:\.\d)?) ?%|(\d+) of 100\b|(?<![\d.])(0?\.\d+)")
NOMINAL = {95.0, 5.0}


@pytest.fixture(scope="module")
def page():
    return PAGE.read_text(encoding="utf-8")


def part(page, name):
    begin, end = between(page, name)
    return page[begin:end]


def test_the_page_has_every_row_that_the_command_prints(page):
    """After a change of the rows: `make proof`."""
    tables = cells_of(part(page, "rows"))
    assert [table[0] for table in tables] == [heads_of(table) for table in TABLES]
    for (_, *rows), table in zip(tables, TABLES, strict=True):
        assert [tuple(row[: len(table.labels)]) for row in rows] == [
            labels for labels, _ in table.rows
        ]
        assert re.findall(r"(?m)^### (.*)$", part(page, "rows")) == [
            table.title for table in TABLES
        ]


def test_the_summary_is_that_of_the_rows(page):
    tables = cells_of(part(page, "rows"))
    lines = [
        line
        for (_, *rows), table in zip(tables, TABLES, strict=True)
        for line in summary_of(table, rows)
    ]
    assert cells_of(part(page, "summary")) == [[SUMMARY, *lines]]


def test_a_table_says_how_many_runs_it_is_from_and_how_well_it_is_known(page):
    said = re.findall(r"([\d,]+) runs for each row; percentages are known to ±[\d.]+", page)
    assert len(said) == len(TABLES)


def test_what_is_printed_is_what_is_read():
    table = TABLES[0]._replace(rows=TABLES[0].rows[:2])
    found = {table.key: measured(table, 3)}
    text = details(found)
    [[heads, *rows]] = cells_of(text)
    assert (heads, rows) == (heads_of(table), found[table.key].rows)
    assert "3 runs for each row" in text
    made = f"<!-- proof: rows -->\n\n{text}\n<!-- proof: end of rows -->"
    [(key, again)] = read(made).items()
    assert (key, again.rows, again.tries) == (table.key, rows, 3)
    [[_, *lines]] = cells_of(summary({table.key: Measured(rows, 0.1, 3)}))
    assert lines == list(summary_of(table, rows))


def prose(name):
    """The sentences of a page, without its printed tables, blocks of code and tables."""
    text = (ROOT / name).read_text(encoding="utf-8")
    text = re.sub(r"(?s)<!-- proof: (\w+) -->.*?<!-- proof: end of \1 -->", "", text)
    text = re.sub(r"(?sm)^```.*?^```$|^\|.*?$", "", text)
    return re.split(r"(?<=[.:?])\s+", text)


@pytest.mark.parametrize("name", PAGES)
def test_claims_of_the_prose_are_figures_of_the_printed_tables(name, page):
    """A sentence about simulations has no figure of its own."""
    known = NOMINAL | {
        float(cell)
        for table in cells_of(page)
        for row in table
        for cell in row
        if re.fullmatch(r"\d+(\.\d)?", cell)
    }
    for sentence in filter(CLAIM.search, prose(name)):
        for percent, of_100, fraction in FIGURE.findall(sentence):
            figure = 100 * float(fraction) if fraction else float(percent or of_100)
            assert figure in known, sentence


def test_error_bars_may_be_called_those_of_95_percent(page):
    """As `reading-the-table.md` does, of runs of a planned number of deals."""
    _, *lines = cells_of(part(page, "summary"))[0]
    planned = {line[1]: line[4] for line in lines if line[0] == TABLES[0].title}
    for figure in ("ratings", "differences"):
        least, most = map(float, planned[figure].split(" to "))
        assert least >= 90
        assert most <= 99
