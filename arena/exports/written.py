"""Writes the tables that a run keeps in its folder, standings.csv and pairs.csv, without pandas,
which takes longer to load than these tables take to write. The content is that of `files.csv_text`.
"""

import csv
from collections.abc import Sequence
from io import StringIO
from math import isnan
from typing import Any

import numpy as np

from arena.ratings.cells import cell_of
from arena.ratings.columns import DECIMALS, file_names
from arena.ratings.table_data import TableData
from arena.ratings.tables import Tables
from arena.records.regular import write_durably
from arena.tournament.run import Run


def write_standings(run: Run, tables: Tables) -> None:
    """Writes standings.csv and pairs.csv, from ``tables``, into the folder of a run. Raises
    RunError.
    """
    for name in ("standings", "pairs"):
        text = data_csv(tables.data[name], file_names(name))
        write_durably(run.folder / f"{name}.csv", text.encode())


def data_csv(data: TableData, names: Sequence[str]) -> str:
    """The columns ``names`` of a table as CSV with a header: rounded to the decimals in
    `columns.DECIMALS`, missing values as empty cells, and texts as `cells.cell_of` makes them.
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    columns = [_cells(data, name) for name in names]
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()


def _cells(data: TableData, name: str) -> list[Any]:
    """The cells of the column ``name``."""
    column = data[name]
    if column.dtype == np.object_:
        return [cell_of(text) for text in column.tolist()]
    if column.dtype != np.float64:
        return list(column.tolist())
    rounded = np.round(column, DECIMALS[name]) + 0.0 if name in DECIMALS else column
    return ["" if isnan(value) else value for value in rounded.tolist()]
