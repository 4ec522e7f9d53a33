"""Compares the tables in a run's folder with the tables that follow from its journal, for `arena
verify`.

A table that an earlier version wrote may lack columns that have been added since. A note names
them, and the others are compared. A new column therefore needs no change in this module.

Tables that version 1.0.0 wrote may differ from today's in two ways, which a note mentions:

- its first tables have no column ``mark`` and other ratings, so only columns that do not depend on
  ratings are compared;
- its later tables rank bots without a rating by their bounds and their shares of wins; today such
  bots are ranked by who beat whom.
"""

import csv
import io
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.errors import ArenaError
from arena.exports.files import csv_text, derived_text
from arena.ratings.cells import text_of
from arena.ratings.columns import DECIMALS, FILES, RATED, file_names
from arena.ratings.tables import Tables, run_tables
from arena.records.regular import open_regular, read_regular
from arena.records.strict import Difference
from arena.tournament.run import Run

STANDINGS = "standings.csv"
MARK = "mark"
MAX_HEAD = 1 << 16
"""The most bytes of a table's first line that are read."""
ADDED_IN_1_0 = (MARK, "rank_low", "rank_high", "deals")
"""The columns of the standings that the first tables of version 1.0.0 do not have."""
ORDER_1_0 = ["group", "side", "figure"]
SIDES_1_0 = {">": 0, "<": 2}
"""By mark, the place of bots outside the rated group in tables of version 1.0.0: 0 is above the
rated group, whose place is 1, and 2 below it.
"""
UNKNOWN_1_0 = 3


class CheckedTables(NamedTuple):
    """The result of `check_tables`: the first difference in each table that has one, and ``notes``
    about what could not be compared.
    """

    differences: list[Difference]
    notes: list[str]


def check_tables(run: Run, names: Sequence[str], prior: float | None) -> CheckedTables:
    """Compares the tables ``names`` in a run's folder with the ones computed from its journal with
    ``prior``. Columns that a file lacks are noted and not compared. In a run of version 1.0.0, the
    ranks and columns of that version are accepted, too.
    """
    if not names:
        note = "no tables to compare: use 'arena export RUN --to RUN' to write them"
        return CheckedTables([], [note])
    try:
        tables = run_tables(run.folder, run.info, prior)
    except ArenaError as error:
        expected = "a journal that gives this table"
        wrong = Difference(f"{names[0]}.csv", None, "table", expected, str(error))
        return CheckedTables([wrong], [])
    if run.info.is_of_1_0 and _is_without_marks(run):
        return _check_without_marks(run, names, tables)
    differences: list[Difference] = []
    notes: list[str] = []
    for name in names:
        path = run.folder / f"{name}.csv"
        missing = missing_columns(run, name)
        difference = csv_difference(path, derived_text(run, tables, name), missing=missing)
        notes += _missing_notes(name, missing)
        if difference and name == "standings" and run.info.is_of_1_0:
            by_1_0 = csv_text(*ranked_by_1_0(tables))
            before = csv_difference(path, [by_1_0], missing=missing)
            if before is None or _place_of(before) > _place_of(difference):
                difference = before
                notes.append(
                    f"{STANDINGS} is from version 1.0.0, which ranked bots without a rating in"
                    f" another way: their ranks are left as they are; 'arena standings {run.name}'"
                    " shows those of today"
                )
        differences += [difference] if difference else []
    return CheckedTables(differences, notes)


def _place_of(difference: Difference) -> tuple[int, int]:
    """The line and the column of a difference in the standings; the larger they are, the more of
    the table agrees.
    """
    columns = file_names("standings")
    column = columns.index(difference.field) if difference.field in columns else -1
    return difference.line or 0, column


def _check_without_marks(run: Run, names: Sequence[str], tables: Tables) -> CheckedTables:
    """Compares the tables ``names`` of a run of the first kind of version 1.0.0 with the computed
    ``tables``, in the columns that do not depend on ratings.
    """
    text = read_regular(run.folder, STANDINGS).decode(errors="replace")
    rows = csv.reader(io.StringIO(text))
    try:
        heads = next(rows)
        bots = [text_of(row[heads.index("bot")]) for row in rows]
    except (csv.Error, ValueError, IndexError, StopIteration):
        bots = []
    order = {bot: place for place, bot in enumerate(bots)}
    standings = tables.standings.sort_values(
        "bot", key=lambda names: names.map(order).fillna(len(order)), kind="stable"
    )
    differences = []
    notes = []
    for name in names:
        missing = missing_columns(run, name)
        expected = derived_text(run, tables, name)
        if name == "standings":
            expected = iter([csv_text(standings, file_names(name))])
        difference = csv_difference(run.folder / f"{name}.csv", expected, RATED, missing)
        differences += [difference] if difference else []
        notes += _missing_notes(name, [column for column in missing if column not in ADDED_IN_1_0])
    note = (
        "the tables are from version 1.0.0, which rated in another way: their ratings and ranks are"
        f" not compared; 'arena standings {run.name}' shows those of today"
    )
    return CheckedTables(differences, [note, *notes])


def _is_without_marks(run: Run) -> bool:
    """Whether the run's standings.csv has ratings but no column ``mark``, as the first runs of
    version 1.0.0 have.
    """
    if not os.path.lexists(run.folder / STANDINGS):
        return False
    heads = _heads(run, STANDINGS)
    return "elo" in heads and MARK not in heads


def ranked_by_1_0(tables: Tables) -> tuple[pd.DataFrame, list[str]]:
    """The standings of ``tables`` with the order and the ranks that version 1.0.0 gave them, and
    the columns of their file.
    """
    groups = dict[str, int]()
    for number, bots in enumerate(tables.groups):
        groups |= dict.fromkeys(bots, number)
    table = tables.standings
    sides = table["mark"].map(SIDES_1_0).fillna(1).where(table["elo"].notna(), UNKNOWN_1_0)
    table = table.assign(
        group=table["bot"].map(groups).fillna(len(tables.groups)),
        side=sides,
        figure=table["elo"].fillna(table["win_rate"]).fillna(0),
    )
    table = table.sort_values(
        [*ORDER_1_0, "bot"], ascending=[True, True, False, True], kind="stable"
    )
    is_new = table[ORDER_1_0].ne(table[ORDER_1_0].shift()).any(axis=1)
    places = np.arange(1, len(table) + 1)
    table["rank"] = np.maximum.accumulate(np.where(is_new, places, 0))
    return table, file_names("standings")


def missing_columns(run: Run, name: str) -> list[str]:
    """The last columns of table ``name``, if the file in the run's folder has all others and no
    more; otherwise an empty list. New columns come last, so these are what a file of an earlier
    version can lack. A file of games has its columns by the number of players, so it can lack none.
    """
    if name not in FILES:
        return []
    columns = file_names(name)
    found = _heads(run, f"{name}.csv")
    return columns[len(found) :] if found == columns[: len(found)] else []


def _heads(run: Run, file: str) -> list[str]:
    """The names of the columns in the first line of a table in the run's folder. Raises OSError,
    RunError.
    """
    with os.fdopen(open_regular(run.folder, file), "rb") as opened:
        return opened.readline(MAX_HEAD).decode(errors="replace").rstrip("\r\n").split(",")


def _missing_notes(name: str, missing: Sequence[str]) -> list[str]:
    """A list with a note about the ``missing`` columns of the file of table ``name``, if any."""
    if not missing:
        return []
    columns = "column" if len(missing) == 1 else "columns"
    names = ", ".join(missing)
    return [f"{name}.csv has no {columns} {names}, perhaps because an earlier version wrote it"]


def csv_difference(
    path: Path,
    expected: Iterable[str],
    skipped: Collection[str] = (),
    missing: Collection[str] = (),
) -> Difference | None:
    """The first cell or line in which the CSV file at ``path`` differs from ``expected``, a text in
    pieces, without its columns ``missing``; None if there is none. Columns in ``skipped`` are
    ignored, and the last decimal of a number may be off by one, due to rounding.
    """
    rows = _without(missing, csv.reader(_lines(expected)))
    opened = open_regular(path.parent, path.name)
    with os.fdopen(opened, encoding="utf-8", errors="replace", newline="") as file:
        both = zip_longest(rows, csv.reader(file), fillvalue=["end of file"])
        heads: list[str] = []
        try:
            for number, (cells, others) in enumerate(both, 1):
                heads = heads or cells
                if cells == others:
                    continue
                if len(cells) != len(others) or len(cells) == 1:
                    return Difference(path.name, number, "line", ",".join(cells), ",".join(others))
                for head, cell, found in zip(heads, cells, others, strict=True):
                    is_body = number > 1
                    if cell == found or (is_body and head in skipped):
                        continue
                    if not (is_body and _is_close(head, cell, found)):
                        return Difference(path.name, number, head, cell, found)
        except csv.Error as error:
            return Difference(path.name, None, "table", "lines of cells", str(error))
    return None


def _without(columns: Collection[str], rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """The ``rows`` of a table, the first of which is the header, without these ``columns``."""
    heads = next(rows)
    kept = [place for place, head in enumerate(heads) if head not in columns]
    yield [heads[place] for place in kept]
    for row in rows:
        yield [row[place] for place in kept]


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    """The lines of a text that comes in ``pieces``, without their newlines."""
    rest = ""
    for piece in pieces:
        *whole, rest = (rest + piece).split("\n")
        yield from whole
    if rest:
        yield rest


def _is_close(head: str, one: str, other: str) -> bool:
    """Whether ``one`` and ``other``, two cells of the column ``head``, are numbers that differ at
    most by rounding.
    """
    try:
        return abs(float(one) - float(other)) < 1.5 / 10.0 ** DECIMALS[head]
    except (KeyError, ValueError):
        return False
