"""The printed table of `docs/statistics.md`: how often what the arena says of simulated runs is
true.

``python -m tests.ratings.proof --tries 400 --write`` (`make proof`) puts it there; without
``--write`` it goes to the screen, and ``--only KEY`` picks parts.
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
BEGIN, END = "<!-- make proof: begin -->\n", "<!-- make proof: end -->\n"
TRIES = 400
NOMINAL = {"held": "95", "false": "5"}
"""What columns of these kinds should be, in percent."""
SUMMARY = ("simulated", "rows", "figure", "should be", "is")


class Measured(NamedTuple):
    """A table with its figures: the cells of each row, and how uncertain its percentages are."""

    rows: list[list[str]]
    uncertainty: float


def measured(table, tries):
    """Simulates all rows of a table; tells on stderr how far it is."""
    rows, uncertainty = [], 0.0
    shares = np.array([column.kind != "count" for column in table.columns])
    for labels, trial_of in table.rows:
        began = time.process_time()
        means, errors = repeat(trial_of(), tries)
        cells = [column.text(mean) for column, mean in zip(table.columns, means, strict=True)]
        rows.append([*labels, *cells])
        uncertainty = max(uncertainty, *errors[shares & ~np.isnan(means)], 0.0)
        seconds = time.process_time() - began
        print(f"{table.key}: {' | '.join(rows[-1])}  ({seconds:.1f} s)", file=sys.stderr)
    return Measured(rows, uncertainty)


def summary_of(table, rows):
    """The rows of the summary that sum up a table's cells: the least and the most of each figure
    that has a level.
    """
    for place, column in enumerate(table.columns, len(table.labels)):
        if column.kind not in NOMINAL:
            continue
        figures = [float(row[place]) for row in rows if row[place] != "-"]
        if figures:
            span = f"{min(figures):.1f} to {max(figures):.1f}"
            yield [table.title, str(len(figures)), column.head, NOMINAL[column.kind], span]


def markdown(heads, rows):
    """A table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def printed(found, tries):
    """The summary, and each table below a heading; ``found``: `Measured` by key."""
    tables = [table for table in TABLES if table.key in found]
    lines = [line for table in tables for line in summary_of(table, found[table.key].rows)]
    parts = [
        f"{tries:,} runs were simulated for each row. All figures but counts are in percent.\n\n",
        markdown(SUMMARY, lines),
    ]
    for table in tables:
        rows, uncertainty = found[table.key]
        heads = [*table.labels, *(column.head for column in table.columns)]
        parts += [
            f"\n### {table.title}\n\n",
            f"{tries:,} runs for each row; percentages are known to ±{100 * uncertainty:.1f} or"
            " better.\n\n",
            markdown(heads, rows),
        ]
    return "\n" + "".join(parts) + "\n"


def tables_in(text):
    """Of a page: the cells of the printed tables, by key, as they stand there, and the summary."""
    inner = text[text.index(BEGIN) + len(BEGIN) : text.index(END)]
    first, *others = re.split(r"(?m)^### ", inner)
    keys = {table.title: table.key for table in TABLES}
    found = {keys.get(other.split("\n", 1)[0]): _cells(other) for other in others}
    return _cells(first), found


def _cells(text):
    return [re.split(r" \| ", line[2:-2]) for line in text.splitlines() if line.startswith("| ")]


def main():
    """Prints or writes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tries", type=int, default=TRIES)
    parser.add_argument("--only", nargs="*", choices=[table.key for table in TABLES])
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    tables = [table for table in TABLES if not asked.only or table.key in asked.only]
    text = printed({table.key: measured(table, asked.tries) for table in tables}, asked.tries)
    if not asked.write:
        print(text)
        return
    page = PAGE.read_text(encoding="utf-8")
    before, after = page[: page.index(BEGIN)], page[page.index(END) :]
    PAGE.write_text(f"{before}{BEGIN}{text}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
