"""The printed tables of `docs/statistics.md`: how often what the arena says of simulated runs is
true.

``python -m tests.ratings.proof --tries 400 --write`` (`make proof`) puts them there; without
``--write`` they go to the screen, and ``--only KEY`` picks some.
"""

import argparse
import re
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.ratings.coverage import repeat
from tests.ratings.rows import TABLES

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
TRIES = 400
NOMINAL = {"held": "95", "all": "at least 95", "false": "at most 5"}
"""What columns of these kinds should be, in percent."""
SUMMARY = ["simulated", "figure", "should be", "mean of all rows", "lowest and highest row"]


class Measured(NamedTuple):
    """A table with its figures: the cells of each row, and how uncertain its percentages are."""

    rows: list[list[str]]
    uncertainty: float


def measured(table, tries):
    """Simulates all rows of a table, and tells on stderr how far it is."""
    rows, uncertainty = [], 0.0
    shares = np.array([column.kind in NOMINAL for column in table.columns])
    for labels, trial_of in table.rows:
        began = time.process_time()
        means, errors = repeat(trial_of(), tries)
        cells = [column.text(mean) for column, mean in zip(table.columns, means, strict=True)]
        rows.append([*labels, *cells])
        uncertainty = max(uncertainty, *errors[shares & ~np.isnan(means)], 0.0)
        seconds = time.process_time() - began
        print(f"{table.key}: {' | '.join(rows[-1])}  ({seconds:.1f} s)", file=sys.stderr)
    return Measured(rows, uncertainty)


def heads_of(table):
    """The first line of a table."""
    return [*table.labels, *(column.head for column in table.columns)]


def summary_of(table, rows):
    """What the summary says of a table: mean, least and most of each figure that has a level."""
    for place, column in enumerate(table.columns, len(table.labels)):
        if column.kind in NOMINAL:
            figures = [float(row[place]) for row in rows if row[place] != "-"]
            span = f"{min(figures):.1f} to {max(figures):.1f}"
            mean = f"{np.mean(figures):.1f}"
            yield [table.title, column.head, NOMINAL[column.kind], mean, span]


def summary(found, tries):
    """The summary as the page has it; ``found``: `Measured` by key."""
    lines = [
        line
        for table in TABLES
        if table.key in found
        for line in summary_of(table, found[table.key].rows)
    ]
    known = 100 * max(measure.uncertainty for measure in found.values())
    return (
        f"Percent of {tries:,} simulated runs for each row, known to ±{known:.1f} or better:\n\n"
        f"{markdown(SUMMARY, lines)}"
    )


def details(found, tries):
    """All rows as the page has them."""
    return "\n".join(
        f"### {table.title}\n\n"
        f"{tries:,} tries for each row; percentages are known to"
        f" ±{100 * found[table.key].uncertainty:.1f} or better.\n\n"
        f"{markdown(heads_of(table), found[table.key].rows)}"
        for table in TABLES
        if table.key in found
    )


def markdown(heads, rows):
    """A table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def between(page, name):
    """The span of a page between the markers of a part."""
    begin, end = f"<!-- proof: {name} -->\n\n", f"\n<!-- proof: end of {name} -->"
    return page.index(begin) + len(begin), page.index(end)


def cells_of(text):
    """The cells of each table in a text, by its lines without the rule."""
    tables = re.findall(r"(?m)(?:^\|.*\n)+", text)
    return [
        [line[2:-2].split(" | ") for line in table.splitlines() if not line.startswith("| ---")]
        for table in tables
    ]


def main():
    """Prints or writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=TRIES)
    parser.add_argument("--only", nargs="*", choices=[table.key for table in TABLES])
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    found = {
        table.key: measured(table, asked.tries)
        for table in TABLES
        if not asked.only or table.key in asked.only
    }
    parts = {"summary": summary(found, asked.tries), "rows": details(found, asked.tries)}
    if not asked.write:
        print("\n".join(parts.values()))
        return
    page = PAGE.read_text(encoding="utf-8")
    for name, text in parts.items():
        begin, end = between(page, name)
        page = page[:begin] + text + page[end:]
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
