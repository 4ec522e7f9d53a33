"""The file of all rows is as the command writes it, its summary follows from it, and the prose
claims no more.
"""

import re
from pathlib import Path

import pytest

from tests.ratings.proof import (
    BEGIN,
    END,
    HEADS,
    PAGE,
    ROWS,
    lines_of,
    measured,
    read,
    stored,
    summary,
    summary_of,
    with_generated,
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


@pytest.fixture(scope="module")
def found():
    return read(stored())


def test_the_file_has_every_row_of_every_table(found):
    """After a change of the rows: `make proof`."""
    assert ROWS.read_text(encoding="utf-8").startswith(",".join(HEADS))
    assert list(found) == [table.key for table in TABLES]
    assert list(lines_of(found)) == stored()


def test_the_generated_parts_of_the_page_are_those_of_the_rows(page, found):
    assert with_generated(page, found) == page


def test_what_is_written_is_what_is_read():
    table = TABLES[0]
    few = table._replace(rows=table.rows[:1])
    measure = measured(few, 3)
    found = {table.key: measure._replace(rows=measure.rows * len(table.rows), uncertainty=0.1)}
    [(key, again)] = read(list(lines_of(found))).items()
    assert (key, again.tries, again.uncertainty) == (table.key, 3, 0.1)
    places = len(table.labels)
    assert [row[:places] for row in again.rows] == [list(labels) for labels, _ in table.rows]
    assert [row[places:] for row in again.rows] == [measure.rows[0][places:]] * len(table.rows)
    for line in summary_of({table.key: again}):
        assert f"| {' | '.join(line)} |" in summary({table.key: again})


def prose(name):
    """The sentences of a page, without its blocks of code and tables."""
    text = (ROOT / name).read_text(encoding="utf-8")
    text = re.sub(r"(?sm)^```.*?^```$|^\|.*?$", "", text)
    return re.split(r"(?<=[.:?])\s+", text)


@pytest.mark.parametrize("name", PAGES)
def test_claims_of_the_prose_are_figures_of_the_tables(name, page):
    """A sentence about simulations has no figure of its own."""
    cells = [line[3] for line in stored()] + page[page.index(BEGIN) : page.index(END)].split(" ")
    known = NOMINAL | {float(cell) for cell in cells if re.fullmatch(r"\d+(\.\d)?", cell)}
    for sentence in filter(CLAIM.search, prose(name)):
        for percent, of_100, fraction in FIGURE.findall(sentence):
            figure = 100 * float(fraction) if fraction else float(percent or of_100)
            assert figure in known, sentence


def test_error_bars_may_be_called_those_of_95_percent(found):
    """As `reading-the-table.md` does, of runs of a planned number of deals."""
    key = TABLES[0].key
    for figure, _, _, span in summary_of({key: found[key]}):
        if figure in ("ratings", "differences"):
            least, most = map(float, span.split(" to "))
            assert least >= 90
            assert most <= 99
