"""Tables as CSV, Parquet and JSON: the columns that others rely on, with fixed decimals. Files are
written atomically.
"""

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pandas.api.types import is_numeric_dtype

from arena.errors import UserError
from arena.exports.games import csv_of_games, parquet_of_games
from arena.ratings.columns import DECIMALS, FILES, cell_of, file_names
from arena.ratings.tables import Tables
from arena.records.regular import durable_file, write_durably

DERIVED = (*FILES, "games")
Format = Literal["csv", "parquet"]


def csv_text(table: pd.DataFrame, columns: list[str] | None = None) -> str:
    """The table as CSV with a header, ``.`` decimals and empty cells for missing values; texts are
    as `columns.cell_of` makes them.
    """
    shown = rounded(table, columns)
    for name in shown.columns:
        if not is_numeric_dtype(shown[name]):
            shown[name] = (
                shown[name]
                .astype(object)
                .map(lambda value: cell_of(value) if isinstance(value, str) else value)
            )
    return str(shown.to_csv(index=False, lineterminator="\n"))


def standings_file(tables: Tables) -> tuple[pd.DataFrame, list[str]]:
    """The standings and the columns of their file; the last one, ``without``, names the bots whose
    games are left out, if any are.
    """
    names = file_names("standings")
    if not tables.without:
        return tables.standings, names
    return tables.standings.assign(without="+".join(tables.without)), [*names, "without"]


def standings_object(tables: Tables, *, pairs: bool, covariance: bool = False) -> dict[str, Any]:
    """Everything that the text of the standings shows, for JSON: a list of objects for each table,
    the sentences and the notes.

    ``independent_games`` is None if unknown. ``covariance`` adds the covariance matrix of the
    ratings by name, in Elo squared.
    """
    chosen = {"standings": tables.standings, "seats": tables.seats} | (
        {"pairs": tables.pairs} if pairs else {}
    )
    worth = tables.independent_games
    return {
        "match": list(tables.match),
        "games": tables.games,
        "deals": tables.clusters,
        "independent_games": None if worth is None else round(worth, 1),
        "anchors": dict(tables.anchors),
        "clock": tables.clock or None,
        "without": list(tables.without),
        **{name: table_rows(table) for name, table in chosen.items()},
        **(
            {"covariance": json.loads(tables.covariance.to_json(orient="index"))}
            if covariance
            else {}
        ),
        "sentences": list(tables.sentences),
        "notes": tables.notes,
    }


def table_rows(table: pd.DataFrame) -> Any:
    """The rows as objects, None for missing values."""
    return json.loads(rounded(table).to_json(orient="records"))


def rounded(table: pd.DataFrame, columns: list[str] | None = None) -> pd.DataFrame:
    """The given columns with the decimals of `columns.DECIMALS`, and no negative zeros."""
    chosen = (table[columns] if columns else table).copy()
    for name in chosen.columns.intersection(list(DECIMALS)):
        chosen[name] = chosen[name].round(DECIMALS[name]) + 0.0
    return chosen


def write_table(path: Path, table: pd.DataFrame, columns: list[str] | None = None) -> None:
    """Writes a table as a CSV file. Raises RunError."""
    write_durably(path, csv_text(table, columns).encode())


def write_standings(folder: Path, tables: Tables) -> Path:
    """Writes standings.csv and pairs.csv; returns the path of the first."""
    path = folder / "standings.csv"
    write_table(path, tables.standings, file_names("standings"))
    write_table(folder / "pairs.csv", tables.pairs, file_names("pairs"))
    return path


def export_run(run: Path, folder: Path, tables: Tables, form: Format = "csv") -> list[Path]:
    """Writes standings, pairs, seats, faults and games into a folder, which is created if needed;
    returns their paths.

    Parquet files have the same content as the CSV files, with the tables' types; only
    `games.parquet_of_games` has more. Raises UserError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"expected to make the folder {folder}, got {error}") from error
    paths = [folder / f"{name}.{form}" for name in DERIVED]
    for name, path in zip(DERIVED, paths, strict=True):
        if form == "parquet":
            _write_parquet(run, tables, name, path)
        else:
            with durable_file(path) as file:
                file.writelines(piece.encode() for piece in derived_text(run, tables, name))
    return paths


def derived_text(run: Path, tables: Tables, name: str) -> Iterator[str]:
    """The contents, in pieces, of the CSV file with this name (one of DERIVED) for a run with these
    tables.
    """
    if name == "games":
        yield from csv_of_games(run, tables.most_seats)
    else:
        yield csv_text(getattr(tables, name), file_names(name))


def parquet_library() -> Any:
    """The pyarrow module. Raises UserError if it is not installed."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError:
        raise UserError(
            "expected pyarrow for Parquet files, found none",
            "pip install 'qin-arena[parquet]', or use CSV files",
        ) from None


def _write_parquet(run: Path, tables: Tables, name: str, path: Path) -> None:
    library = parquet_library()
    if name == "games":
        schema, batches = parquet_of_games(run, tables.most_seats, library)
    else:
        table = library.Table.from_pandas(
            rounded(getattr(tables, name), file_names(name)), preserve_index=False
        )
        schema, batches = table.schema, table.to_batches()
    with (
        durable_file(path) as file,
        library.parquet.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)
