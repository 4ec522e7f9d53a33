"""The printed tables of `docs/statistics.md`: how often what the arena says of simulated runs is
true.

``python -m tests.ratings.proof --tries 400 --write`` (`make proof`) puts them there; without
``--write`` they go to the screen, and ``--only KEY`` does some and leaves the others.
"""

import argparse
import os
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor
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
    """A table with its figures: the cells of each row, how uncertain its percentages are, and the
    number of runs simulated for each row.
    """

    rows: list[list[str]]
    uncertainty: float
    tries: int


def measured(table, tries, pool=None):
    """Simulates all rows of a table, and tells on stderr how far it is."""
    rows, uncertainty = [], 0.0
    shares = np.array([column.kind in NOMINAL for column in table.columns])
    trials = [trial_of for _, trial_of in table.rows]
    found = (pool.map if pool else map)(_simulated, trials, [tries] * len(trials))
    for (labels, _), (means, errors, seconds) in zip(table.rows, found, strict=True):
        cells = [column.text(mean) for column, mean in zip(table.columns, means, strict=True)]
        rows.append([*labels, *cells])
        uncertainty = max(uncertainty, *errors[shares & ~np.isnan(means)], 0.0)
        print(f"{table.key}: {' | '.join(rows[-1])}  ({seconds:.1f} s)", file=sys.stderr)
    return Measured(rows, uncertainty, tries)


def _simulated(trial_of, tries):
    began = time.process_time()
    return *repeat(trial_of(), tries), time.process_time() - began


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


def summary(found):
    """The summary as the page has it; ``found``: `Measured` by key."""
    lines = [
        line
        for table in TABLES
        if table.key in found
        for line in summary_of(table, found[table.key].rows)
    ]
    known = 100 * max(measure.uncertainty for measure in found.values())
    tries = " to ".join(f"{count:,}" for count in sorted({each.tries for each in found.values()}))
    return (
        f"Percent of {tries} simulated runs for each row, which is known to ±{known:.1f} or"
        " better:\n\n"
        f"{markdown(SUMMARY, lines)}"
    )


def details(found):
    """All rows as the page has them."""
    return "\n".join(
        f"### {table.title}\n\n"
        f"{found[table.key].tries:,} runs for each row; percentages are known to"
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


def read(page):
    """What a page has, by key."""
    begin, end = between(page, "rows")
    keys, found = {table.title: table.key for table in TABLES}, {}
    for title, part in re.findall(r"(?ms)^### (.*?)$(.*?)(?=^### |\Z)", page[begin:end]):
        tries, known = re.findall(r"([\d,]+) runs for each row.*±([\d.]+)", part)[0]
        [[_, *rows]] = cells_of(part)
        if title in keys:
            tries = int(tries.replace(",", ""))
            found[keys[title]] = Measured(rows, float(known) / 100, tries)
    return found


def main():
    """Prints or writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=TRIES)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*", choices=[table.key for table in TABLES])
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    with ProcessPoolExecutor(asked.jobs) as pool:
        found = {
            table.key: measured(table, asked.tries, pool)
            for table in TABLES
            if not asked.only or table.key in asked.only
        }
    if not asked.write:
        print(f"{summary(found)}\n{details(found)}")
        return
    page = PAGE.read_text(encoding="utf-8")
    found = read(page) | found
    for name, text in (("summary", summary(found)), ("rows", details(found))):
        begin, end = between(page, name)
        page = page[:begin] + text + page[end:]
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
