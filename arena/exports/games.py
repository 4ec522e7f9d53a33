"""One row for each game, written while reading the journal: games.csv, and games.parquet, which
also has decks and moves.
"""

import csv
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from arena.ratings.columns import cell_of
from arena.ratings.tally import Row, WholeRow, row_decoder
from arena.records.journal import journal_of, read_rows
from arena.records.note import kept_notes
from arena.records.record import shares
from arena.rules.notation import PASSED

AT_ONCE = 5_000
"""Games held in memory at a time: a row group of the Parquet file."""
BY_SEAT = {
    "bot": "string",
    "share": "float64",
    "rank": "int8",
    "left": "int8",
    "think_ms": "float64",
}
"""The columns for each seat (``bot_0`` and so on) and their types; missing if a game has no such
seat.
"""


def csv_of_games(run: Path, seats: int) -> Iterator[str]:
    """The games of a run as CSV with a header, in pieces, in the journal's order; the first record
    of each id counts.

    The columns are ``id``, ``block`` (board/deal, by which error bars are clustered), ``board``,
    ``deal``, ``seating``, ``end``, ``turns``, then those of `BY_SEAT` for each of the ``seats`` of
    the largest table (empty for seats the game does not have), then ``faults`` ("seat:kind", joined
    by ``;``).

    Raises RunError for a damaged line.
    """
    rows = read_rows(journal_of(run), row_decoder(Row))
    piece: list[list[Any]] = [_head(seats)]
    while piece:
        text = StringIO()
        csv.writer(text, lineterminator="\n").writerows(piece)
        yield text.getvalue()
        piece = [
            [cell_of(cell) if isinstance(cell, str) else cell for cell in _cells(row, seats)]
            for _, row in islice(rows, AT_ONCE)
        ]


def _head(seats: int) -> list[str]:
    by_seat = [f"{name}_{seat}" for seat in range(seats) for name in BY_SEAT]
    return ["id", "block", "board", "deal", "seating", "end", "turns", *by_seat, "faults"]


def _cells(row: Row, seats: int) -> list[Any]:
    by_seat = [
        value
        for place in zip(
            row.bots, shares(row.ranks), row.ranks, row.left, row.think_ms, strict=True
        )
        for value in place
    ]
    missing = [None] * (len(BY_SEAT) * (seats - len(row.bots)))
    faults = ";".join(f"{fault.seat}:{fault.kind}" for fault in row.faults)
    block = f"{row.board}/{row.deal}"
    return [
        row.id,
        block,
        row.board,
        row.deal,
        row.seating,
        row.end,
        row.turns,
        *by_seat,
        *missing,
        faults,
    ]


def games_frame(run: Path, *, moves: bool = False) -> pd.DataFrame:
    """The games of a run, in the journal's order, with the columns of `csv_of_games`.

    ``deal``, ``seating``, ``turns`` are int64; by seat as `BY_SEAT` says, with Int8 for int8. With
    ``moves`` the columns ``deck``, ``moves``, ``ms`` and ``notes`` of `parquet_of_games` follow.

    Raises RunError.
    """
    rows = list(read_rows(journal_of(run), row_decoder(WholeRow if moves else Row)))
    seats = max((len(row.bots) for _, row in rows), default=2)
    names = [*_head(seats), *(("deck", "moves", "ms", "notes") if moves else ())]
    cells = [
        _whole(row, seats) if isinstance(row, WholeRow) else _cells(row, seats) for _, row in rows
    ]
    kinds = {
        f"{name}_{seat}": kind.replace("i", "I")
        for seat in range(seats)
        for name, kind in BY_SEAT.items()
        if kind != "string"
    }
    return pd.DataFrame(cells, columns=pd.Index(names)).astype(kinds)


def parquet_of_games(run: Path, seats: int, library: Any) -> tuple[Any, Iterator[Any]]:
    """The same games as a pyarrow schema and record batches, with four more columns at the end.

    ``id``, ``block``, ``board``, ``end``, ``faults``  string
    ``deal``, ``seating``, ``turns``  int32; by seat as `BY_SEAT` says
    ``deck``   string, all 72 tiles in draw order, two letters each; ``moves`` list of string, in
               order of play
    ``ms``     list of float64, the time of each move, missing for a pass; missing if no bot was
               asked
    ``notes``  list of what bots said: turn int16 (placements before the move), seat int8, value
               float64 (expected share of the win), text, numbers a map of float64; missing if
               nothing was said
    """
    kinds = {f"{name}_{seat}": kind for seat in range(seats) for name, kind in BY_SEAT.items()}
    kinds |= dict.fromkeys(("deal", "seating", "turns"), "int32")
    fields = [
        (name, getattr(library, kinds.get(name, "string"))()) for name in (*_head(seats), "deck")
    ]
    lists = {
        "moves": library.string(),
        "ms": library.float64(),
        "notes": library.struct(
            {
                "turn": library.int16(),
                "seat": library.int8(),
                "value": library.float64(),
                "text": library.string(),
                "numbers": library.map_(library.string(), library.float64()),
            }
        ),
    }
    schema = library.schema([*fields, *((name, library.list_(lists[name])) for name in lists)])
    return schema, _batches(run, seats, library, schema)


def _batches(run: Path, seats: int, library: Any, schema: Any) -> Iterator[Any]:
    rows = read_rows(journal_of(run), row_decoder(WholeRow))
    while piece := [_whole(row, seats) for _, row in islice(rows, AT_ONCE)]:
        columns = [
            library.array(column, kind)
            for column, kind in zip(zip(*piece, strict=True), schema.types, strict=True)
        ]
        yield library.record_batch(columns, schema=schema)


def _whole(row: WholeRow, seats: int) -> list[Any]:
    return [*_cells(row, seats), row.deck, row.moves, row.ms, _said(row) or None]


def _said(row: WholeRow) -> list[dict[str, Any]]:
    """The notes of a game, each with the seat, which follows from its turn."""
    notes = kept_notes(row.notes)
    movers = [number % len(row.bots) for number, move in enumerate(row.moves) if move != PASSED]
    return [
        {
            "turn": turn,
            "seat": movers[turn],
            "value": note.value,
            "text": note.text or None,
            "numbers": list(note.numbers.items()),
        }
        for turn, note in notes.items()
        if 0 <= turn < len(movers)
    ]
