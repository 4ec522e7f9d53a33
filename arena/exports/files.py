"""Writes tables as CSV, Parquet and JSON, with the columns and decimals that other programs rely
on. A file is replaced in one step.
"""

import csv
import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from typing import Any, assert_never

import pandas as pd
from pandas.api.types import is_numeric_dtype

from arena.errors import UserError
from arena.exports.formats import DEFAULT, Format
from arena.ratings.cells import cell_of
from arena.ratings.column import BOUNDS
from arena.ratings.columns import DECIMALS, FILES, file_names
from arena.ratings.tables import Tables
from arena.ratings.tally import Row, WholeRow, row_decoder
from arena.records.journal import read_rows
from arena.records.notes import kept_notes
from arena.records.record import movers_of, shares
from arena.records.regular import durable_file
from arena.tournament.run import Run

AT_ONCE = 5_000
"""The number of games held in memory at a time; a row group of the Parquet file has as many."""
BY_SEAT = {
    "bot": "string",
    "share": "float64",
    "rank": "int8",
    "left": "int8",
    "think_ms": "float64",
}
"""The columns that a file of games has for each seat (``bot_0`` and so on), with their types; a
value is missing if a game has no such seat.
"""
DERIVED = (*FILES, "games")


def csv_text(table: pd.DataFrame, columns: list[str] | None = None) -> str:
    """The ``columns`` of ``table`` (None: all) as CSV text with a header.

    Decimals have a ``.``, missing values are empty cells, and texts are as `cells.cell_of` makes
    them.
    """
    shown = rounded(table, columns)
    for name in shown.columns:
        if not is_numeric_dtype(shown[name]):
            shown[name] = shown[name].astype(object).map(_cell)
    return str(shown.to_csv(index=False, lineterminator="\n"))


def _cell(value: Any) -> Any:
    """``value`` as the cell of a CSV file; texts are as `cells.cell_of` makes them."""
    return cell_of(value) if isinstance(value, str) else value


def rounded(table: pd.DataFrame, columns: list[str] | None = None) -> pd.DataFrame:
    """The ``columns`` of ``table`` (None: all), rounded to the decimals in `columns.DECIMALS`,
    without negative zeros.
    """
    chosen = (table[columns] if columns else table).copy()
    for name in chosen.columns.intersection(list(DECIMALS)):
        chosen[name] = chosen[name].round(DECIMALS[name]) + 0.0
    return chosen


def table_rows(table: pd.DataFrame) -> Any:
    """The rows of ``table`` as a list of objects for JSON, with None for missing values.

    In a table of ratings or differences with marks, each row says with ``bound`` whether its figure
    is known on one side only. Then the figure itself is None, and the end of its interval that is
    known has the bound.
    """
    rows = json.loads(rounded(table).to_json(orient="records"))
    figure = next((name for name in ("elo", "elo_diff") if name in table), None)
    if figure is None or "mark" not in table:
        return rows
    for row in rows:
        row["bound"] = row["mark"] in BOUNDS
        if row["bound"]:
            row[figure] = None
    return rows


def standings_file(tables: Tables) -> tuple[pd.DataFrame, list[str]]:
    """The standings of ``tables`` and the columns of their CSV file. If bots were left out, the
    file has a further column, ``without``, with their names.
    """
    names = file_names("standings")
    if not tables.without:
        return tables.standings, names
    return tables.standings.assign(without="+".join(tables.without)), [*names, "without"]


def standings_object(tables: Tables, *, pairs: bool) -> dict[str, Any]:
    """What the text of the standings shows, for JSON: a list of objects for each table, the
    sentences and the notes. ``pairs`` adds the table of pairs.

    ``independent_games`` is None if unknown.
    """
    worth = tables.independent_games
    content: dict[str, Any] = {
        "match": list(tables.match),
        "games": tables.games,
        "deals": tables.clusters,
        "independent_games": None if worth is None else round(worth, 1),
        "anchors": dict(tables.anchors),
        "clock": tables.clock or None,
        "without": list(tables.without),
        "standings": table_rows(tables.standings),
        "seats": table_rows(tables.seats),
    }
    if pairs:
        content["pairs"] = table_rows(tables.pairs)
    return {**content, "sentences": list(tables.sentences), "notes": tables.notes}


def export_run(run: Run, folder: Path, tables: Tables, form: Format = DEFAULT) -> list[Path]:
    """Writes the tables standings, pairs, seats and faults, and the games of the run, into
    ``folder``, which is created if needed; returns the paths of the files. Files of these names are
    replaced. ``form`` is csv or parquet.

    Parquet files have the content of the CSV files with the tables' types; the file of games has
    more columns, see `_games_schema`. Raises RunError if the run cannot be read, and UserError if a
    file cannot be written or if pyarrow, which Parquet needs, is not installed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder}: {error}") from error
    paths = [folder / f"{name}.{form}" for name in DERIVED]
    for name, path in zip(DERIVED, paths, strict=True):
        match form:
            case "parquet":
                _write_parquet(run, tables, name, path)
            case "csv":
                with durable_file(path) as file:
                    file.writelines(piece.encode() for piece in derived_text(run, tables, name))
            case _:
                assert_never(form)
    return paths


def derived_text(run: Run, tables: Tables, name: str) -> Iterator[str]:
    """The content, in pieces, of the CSV file ``name`` (one of DERIVED) of a run with these
    tables.
    """
    if name == "games":
        yield from csv_of_games(run, tables.most_seats)
    else:
        yield csv_text(getattr(tables, name), file_names(name))


def csv_of_games(run: Run, seats: int) -> Iterator[str]:
    """The games of a run as CSV with a header, in pieces, in the journal's order. If an id occurs
    twice, only its first record counts.

    The columns are ``id``, ``block`` (board/deal, by which error bars are clustered), ``board``,
    ``deal``, ``seating``, ``end``, ``turns``, then those of `BY_SEAT` for each of ``seats`` seats
    (empty for seats the game does not have), then ``faults`` ("seat:kind", joined by ``;``).

    Raises RunError for a damaged line.
    """
    rows = read_rows(run.journal, row_decoder(Row))
    piece: list[list[Any]] = [_head(seats)]
    while piece:
        text = StringIO()
        csv.writer(text, lineterminator="\n").writerows(piece)
        yield text.getvalue()
        piece = []
        for _, row in islice(rows, AT_ONCE):
            piece.append(list(map(_cell, _cells(row, seats))))


def _head(seats: int) -> list[str]:
    """The names of the columns of a file of games, for games of at most ``seats`` players."""
    by_seat = _seat_columns(BY_SEAT, seats)
    return ["id", "block", "board", "deal", "seating", "end", "turns", *by_seat, "faults"]


def _seat_columns(kinds: Mapping[str, str], seats: int) -> dict[str, str]:
    """The columns that a file of games has for each seat, seat by seat, such as ``rank_0``, each
    with its type. ``kinds`` has the types of one seat's columns by name.
    """
    columns = {}
    for seat in range(seats):
        for name, kind in kinds.items():
            columns[f"{name}_{seat}"] = kind
    return columns


def _cells(row: Row, seats: int) -> list[Any]:
    """The cells of the game ``row`` in a file of games with columns for ``seats`` seats."""
    places = zip(row.bots, shares(row.ranks), row.ranks, row.left, row.think_ms, strict=True)
    by_seat: list[Any] = list(chain.from_iterable(places))
    by_seat += [None] * (len(BY_SEAT) * (seats - len(row.bots)))
    faults = ";".join(f"{fault.seat}:{fault.kind}" for fault in row.faults)
    game = [row.id, f"{row.board}/{row.deal}", row.board, row.deal, row.seating, row.end, row.turns]
    return [*game, *by_seat, faults]


def games_frame(run: Run, *, moves: bool = False) -> pd.DataFrame:
    """The games of a run, in the journal's order, with the columns of `csv_of_games`.

    ``deal``, ``seating``, ``turns`` are int64; columns by seat have the types in `BY_SEAT`, with
    Int8 for int8. With ``moves`` the columns ``deck``, ``moves``, ``ms`` and ``notes`` of
    `_games_schema` follow.

    Raises RunError.
    """
    rows = list(read_rows(run.journal, row_decoder(WholeRow if moves else Row)))
    sizes = [len(row.bots) for _, row in rows]
    seats = max(sizes, default=2)
    names = [*_head(seats), *(("deck", "moves", "ms", "notes") if moves else ())]
    cells = []
    for _, row in rows:
        cells.append(_whole(row, seats) if isinstance(row, WholeRow) else _cells(row, seats))
    kinds = {name: kind.replace("i", "I") for name, kind in BY_SEAT.items() if kind != "string"}
    by_seat = _seat_columns(kinds, seats)
    return pd.DataFrame(cells, columns=pd.Index(names)).astype(by_seat)


def _whole(row: WholeRow, seats: int) -> list[Any]:
    """The cells of the game ``row`` in a Parquet file of games with columns for ``seats`` seats.
    Notes get the seat of their bot, which a record leaves out because it follows from the turn.
    """
    movers = movers_of(row.moves, len(row.bots))
    notes = []
    for turn, note in kept_notes(row.notes).items():
        if 0 <= turn < len(movers):
            shown = {
                "turn": turn,
                "seat": movers[turn],
                "value": note.value,
                "text": note.text or None,
                "numbers": list(note.numbers.items()),
            }
            notes.append(shown)
    return [*_cells(row, seats), row.deck, row.moves, row.ms, notes or None]


def parquet_library() -> Any:
    """The pyarrow module. Raises UserError if it is not installed."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError:
        raise UserError(
            "Parquet files need pyarrow, which is not installed",
            "pip install 'qin-arena[parquet]', or use CSV files",
        ) from None


def _write_parquet(run: Run, tables: Tables, name: str, path: Path) -> None:
    library = parquet_library()
    if name == "games":
        schema = _games_schema(tables.most_seats, library)
        batches = _games_batches(run, tables.most_seats, library, schema)
    else:
        rows = rounded(getattr(tables, name), file_names(name))
        table = library.Table.from_pandas(rows, preserve_index=False)
        schema = table.schema
        batches = table.to_batches()
    with (
        durable_file(path) as file,
        library.parquet.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)


def _games_schema(seats: int, library: Any) -> Any:
    """The columns of a Parquet file of games: those of `csv_of_games` for ``seats`` seats, and four
    more. ``library`` is pyarrow.

    ``id``, ``block``, ``board``, ``end``, ``faults``  string
    ``deal``, ``seating``, ``turns``                   int32
    columns by seat                                    as in `BY_SEAT`
    ``deck``                                           string: all 72 tiles in draw order, two
                                                       letters each
    ``moves``                                          list of string, in order of play
    ``ms``                                             list of float64: the time of each move in ms,
                                                       missing for a pass; the list is missing if no
                                                       bot was asked
    ``notes``                                          list of the bots' notes, missing without
                                                       notes: turn int16 (placements before the
                                                       move), seat int8, value float64 (expected
                                                       share of the win), text string, numbers a map
                                                       of float64
    """
    kinds = _seat_columns(BY_SEAT, seats)
    kinds |= dict.fromkeys(("deal", "seating", "turns"), "int32")
    text = library.string()
    real = library.float64()
    note = {"turn": library.int16(), "seat": library.int8(), "value": real, "text": text}
    note["numbers"] = library.map_(text, real)
    named = [(name, getattr(library, kinds.get(name, "string"))()) for name in _head(seats)]
    named += [
        ("deck", text),
        ("moves", library.list_(text)),
        ("ms", library.list_(real)),
        ("notes", library.list_(library.struct(note))),
    ]
    return library.schema(named)


def _games_batches(run: Run, seats: int, library: Any, schema: Any) -> Iterator[Any]:
    """The games of a run as record batches of pyarrow (``library``), with the columns of ``schema``
    for ``seats`` seats.
    """
    rows = read_rows(run.journal, row_decoder(WholeRow))
    while piece := [_whole(row, seats) for _, row in islice(rows, AT_ONCE)]:
        columns = map(library.array, zip(*piece, strict=True), schema.types)
        yield library.record_batch(list(columns), schema=schema)
