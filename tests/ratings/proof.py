"""How often what the arena says of simulated runs is true: `docs/proof.csv`, and the summary of it
in `docs/statistics.md`.

``python -m tests.ratings.proof --tries 400 --write`` (`make proof`) makes both; without ``--write``
the summary goes to the screen, and ``--only KEY`` does some tables and leaves the others.
"""

import argparse
import csv
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.ratings.coverage import repeat
from tests.ratings.rows import TABLES

DOCS = Path(__file__).parents[2] / "docs"
PAGE, ROWS = DOCS / "statistics.md", DOCS / "proof.csv"
HEADS = ["table", "simulated", "figure", "found", "runs", "known_to"]
"""Of the file: ``found`` is in percent, but for the figures that count games or blocks.
``known_to`` is how many percent it may be off, at most.
"""
BEGIN, END = "<!-- proof: summary -->\n\n", "\n<!-- proof: end of summary -->"
UNTIL_BEGIN, UNTIL_END = "<!-- proof: until -->\n\n", "\n<!-- proof: end of until -->"
FORECAST_BEGIN = "<!-- proof: forecasts -->\n\n"
FORECAST_END = "\n<!-- proof: end of forecasts -->"
FORECAST_TABLE = "forecasts"
UNTIL_TABLE = "spending"
UNTIL_FIGURES = ["games", "ratings", "differences", "widest bar"]
"""What the page shows of the runs with ``--until``."""
SCALE_BEGIN, SCALE_END = "<!-- proof: scale -->\n\n", "\n<!-- proof: end of scale -->"
GAINS_BEGIN, GAINS_END = "<!-- proof: gains -->\n\n", "\n<!-- proof: end of gains -->"
LEAGUES_TABLE = "leagues"
POOLS_BEGIN, POOLS_END = "<!-- proof: pools -->\n\n", "\n<!-- proof: end of pools -->"
POOLS_TABLE = "pools"
REGRESSIONS_BEGIN = "<!-- proof: regressions -->\n\n"
REGRESSIONS_END = "\n<!-- proof: end of regressions -->"
REGRESSIONS_TABLE = "regressions"
VERDICTS_BEGIN, VERDICTS_END = "<!-- proof: verdicts -->\n\n", "\n<!-- proof: end of verdicts -->"
VERDICTS_TABLE = "verdicts"
SCALE_FIGURES = [
    "rating when placed",
    "rating after 20 versions",
    "games to be placed",
    "the level moves by",
    "best version too high by",
]
GAIN_FIGURES = [
    "error of gains",
    "error of likely gains",
    "gain if better",
    "likely gain if better",
    "true gain if better",
]
"""What the page shows of leagues, in two tables."""
TRIES = 400
NOMINAL = {"held": "95", "all": "at least 95", "false": "at most 5"}
"""What columns of these kinds should be, in percent."""
KNOWN_TO = (*NOMINAL, "rate")
"""The kinds of columns that the uncertainty of a table is for."""
SUMMARY = ["figure", "should be", "mean of all rows", "lowest and highest row"]


class Measured(NamedTuple):
    """A table with its figures: the cells of each row, how uncertain its percentages are, and the
    number of runs simulated for each row.
    """

    rows: list[list[str]]
    uncertainty: float
    tries: int


def measured(table, tries, pool=None):
    """Simulates all rows of a table, and tells on stderr how far it is."""
    tries = min(tries, table.tries or tries)
    rows, uncertainty = [], 0.0
    shares = np.array([column.kind in KNOWN_TO for column in table.columns])
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


def summary_of(found):
    """Mean, least and most of each figure that has a level, over the rows of all tables but those
    with few tries, which have parts of their own.
    """
    cells: dict[tuple[str, str], list[float]] = {}
    for table in (table for table in TABLES if table.key in found and table.tries is None):
        for place, column in enumerate(table.columns, len(table.labels)):
            if column.kind in NOMINAL:
                own = cells.setdefault((column.head, NOMINAL[column.kind]), [])
                own += [float(row[place]) for row in found[table.key].rows if row[place] != "-"]
    for (head, level), figures in cells.items():
        span = f"{min(figures):.1f} to {max(figures):.1f}"
        yield [head, level, f"{np.mean(figures):.1f}", span]


def summary(found):
    """The summary as the page has it; ``found``: `Measured` by key."""
    own = [found[table.key] for table in TABLES if table.key in found and table.tries is None]
    known = 100 * max(measure.uncertainty for measure in own)
    tries = " to ".join(f"{count:,}" for count in sorted({each.tries for each in own}))
    return (
        f"Percent of {tries} simulated runs for each row, which is known to ±{known:.1f} or"
        " better:\n\n"
        f"{markdown(SUMMARY, summary_of(found))}"
    )


def part_of(found, key, figures):
    """Some columns of the table with a key as the page has them; ``found``: `Measured` by key."""
    [table] = [each for each in TABLES if each.key == key]
    heads = [*table.labels, *(column.head for column in table.columns)]
    shown = [*table.labels, *figures]
    places = [heads.index(head) for head in shown]
    rows = [[row[place] for place in places] for row in found[key].rows]
    return markdown(shown, rows)


def with_tries(found, key, figures, what):
    """Some columns of the table with a key, below a sentence on how many of ``what`` there were
    for each row; ``found``: `Measured` by key.
    """
    measure = found[key]
    known = f"{100 * measure.uncertainty:.1f}"
    return (
        f"{measure.tries:,} simulated {what} for each row; percentages are known to ±{known} or"
        f" better:\n\n{part_of(found, key, figures)}"
    )


def with_all(found, key, what):
    """All columns of the table with a key, below a sentence on how many of ``what`` there were."""
    return with_tries(found, key, heads_of(key), what)


def heads_of(key):
    """The heads of the columns of the table with this key, without its labels."""
    [table] = [each for each in TABLES if each.key == key]
    return [column.head for column in table.columns]


def with_generated(page, found):
    """The text of the page with its generated parts made anew from ``found``."""
    parts = [
        (BEGIN, END, summary(found)),
        (UNTIL_BEGIN, UNTIL_END, part_of(found, UNTIL_TABLE, UNTIL_FIGURES)),
        (SCALE_BEGIN, SCALE_END, with_tries(found, LEAGUES_TABLE, SCALE_FIGURES, "leagues")),
        (GAINS_BEGIN, GAINS_END, part_of(found, LEAGUES_TABLE, GAIN_FIGURES)),
        (POOLS_BEGIN, POOLS_END, with_all(found, POOLS_TABLE, "leagues")),
        (REGRESSIONS_BEGIN, REGRESSIONS_END, with_all(found, REGRESSIONS_TABLE, "tests")),
        (VERDICTS_BEGIN, VERDICTS_END, with_all(found, VERDICTS_TABLE, "comparisons")),
        (FORECAST_BEGIN, FORECAST_END, part_of(found, FORECAST_TABLE, heads_of(FORECAST_TABLE))),
    ]
    for begin, end, text in parts:
        before = page.index(begin) + len(begin)
        after = page.index(end)
        page = page[:before] + text + page[after:]
    return page


def lines_of(found):
    """The lines of the file, without its heads."""
    for table in TABLES:
        if measure := found.get(table.key):
            places = len(table.labels)
            for row in measure.rows:
                labels = zip(table.labels, row[:places], strict=True)
                simulated = ", ".join(f"{label} {cell}" for label, cell in labels)
                for column, cell in zip(table.columns, row[places:], strict=True):
                    known = f"{100 * measure.uncertainty:.1f}"
                    yield [table.title, simulated, column.head, cell, str(measure.tries), known]


def read(lines):
    """`Measured` by key, of the lines of the file."""
    found = {}
    for table in TABLES:
        own = [line for line in lines if line[0] == table.title]
        width = len(table.columns)
        cells = [[line[3] for line in own[at : at + width]] for at in range(0, len(own), width)]
        if len(cells) == len(table.rows):
            rows = [[*row[0], *each] for row, each in zip(table.rows, cells, strict=True)]
            found[table.key] = Measured(rows, float(own[0][5]) / 100, int(own[0][4]))
    return found


def stored():
    """The lines of the file as it is, without its heads."""
    with ROWS.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def markdown(heads, rows):
    """A table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


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
        print(summary(found))
        return
    found = read(stored()) | found
    with ROWS.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADS, *lines_of(found)])
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_generated(page, found), encoding="utf-8")


if __name__ == "__main__":
    main()
