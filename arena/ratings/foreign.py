"""Results of games played elsewhere, from a CSV file with one row per game.

Columns: ``bot_0`` ... and ``share_0`` ... by seat, for 2 to 4 players. ``block`` is optional: rows
with the same block share their luck. The other columns of games.csv (``rank_``, ``left_`` and
``think_ms_`` by seat, and ``faults``) are used if present.
"""

import csv
import io
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena.errors import UserError
from arena.ratings.columns import text_of
from arena.ratings.components import Floats, Ints
from arena.ratings.results import WHOLE
from arena.ratings.rows import complaint, share_parts
from arena.records.record import MOST_SEATS

EXAMPLE = "block,bot_0,bot_1,share_0,share_1"
HINT = f"the first line names the columns, for example {EXAMPLE}; block is optional"
NEEDED = [f"{what}_{seat}" for what in ("bot", "share") for seat in range(2)]
KNOWN = {
    "block",
    "faults",
    *(
        f"{what}_{seat}"
        for what in ("bot", "share", "rank", "left", "think_ms")
        for seat in range(MOST_SEATS)
    ),
}
COMMA, NEWLINE = ord(","), ord("\n")


class Sheet(NamedTuple):
    """A file's games as a frame for `results.count_frame`, and what the reader should know.

    In the frame, ``left`` and ``think_ms`` are NaN if the file does not have them. Without
    ``has_ranks``, all bots that did not win rank equal. ``unused`` are columns that we do not use.
    ``uneven`` is a note on blocks with fewer games than others, or empty.
    """

    frame: pd.DataFrame
    has_blocks: bool
    has_ranks: bool
    unused: list[str]
    uneven: str


def read_sheet(data: bytes, name: str) -> Sheet:
    """The games in a CSV file. Raises UserError with the line, what was expected, and what came."""
    columns = _header(data, name)
    _check_widths(data, name, len(columns))
    known = [column for column in columns if column in KNOWN]
    kinds = {
        column: "category" if column.startswith(("bot_", "share_")) else "str" for column in known
    }
    cells = pd.read_csv(
        io.BytesIO(data), usecols=known, dtype=kinds, na_filter=False, encoding="utf-8-sig"
    )
    size = sum(column.startswith("bot_") for column in known)
    bots, names = _bots(cells, size)
    parts = np.column_stack([_mapped(cells[f"share_{seat}"], share_parts) for seat in range(size)])
    wrong = _first_wrong(cells, bots >= 0, parts)
    if wrong is not None:
        raise _row_error(data, name, columns, wrong)
    frame = _frame(cells, bots, names, np.maximum(parts, 0))
    has_blocks = "block" in known
    return Sheet(
        frame,
        has_blocks,
        "rank_0" in known,
        sorted(set(columns) - set(known)),
        _uneven(frame) if has_blocks else "",
    )


def _header(data: bytes, name: str) -> list[str]:
    """The names of the columns."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{name}, line {line}: expected UTF-8, got {error.object[error.start : error.end]!r}",
            "save it as UTF-8",
        ) from None
    columns = next(csv.reader(io.StringIO(text[: text.find("\n") + 1] or text)), [])
    missing = [column for column in NEEDED if column not in columns]
    if missing:
        raise UserError(
            f"{name}, line 1: expected the column {missing[0]}, got"
            f" {','.join(columns) or 'nothing'}",
            HINT,
        )
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise UserError(f"{name}, line 1: expected each column once, got {twice} twice", HINT)
    for seat in range(MOST_SEATS + 1):
        pair = {f"bot_{seat}", f"share_{seat}"} & set(columns)
        before = f"bot_{seat - 1}" in columns or seat == 0
        if pair and (len(pair) == 1 or not before or seat == MOST_SEATS):
            raise UserError(
                f"{name}, line 1: expected bot_ and share_ for up to {MOST_SEATS} seats, from 0,"
                f" got {','.join(columns)}",
                HINT,
            )
    return columns


def _check_widths(data: bytes, name: str, width: int) -> None:
    """Raises UserError for a line with more cells than columns, because pandas would silently drop
    some.
    """
    if b'"' in data or b"\r" in data.replace(b"\r\n", b"\n"):
        rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
        wide = next((rows.line_num for row in rows if len(row) > width), None)
    else:
        letters = np.frombuffer(data if data.endswith(b"\n") else data + b"\n", dtype=np.uint8)
        ends, commas = np.flatnonzero(letters == NEWLINE), np.flatnonzero(letters == COMMA)
        over = np.flatnonzero(np.diff(np.searchsorted(commas, ends), prepend=0) >= width)
        wide = int(over[0]) + 1 if len(over) else None
    if wide:
        raise UserError(
            f"{name}, line {wide}: expected {width} cells, got more",
            'put "quotes" around a cell that contains a comma',
        )


def _bots(cells: pd.DataFrame, size: int) -> tuple[Ints, list[str]]:
    """(G, size) indices in the sorted names, -1 for empty seats, and the names."""
    seats = [cells[f"bot_{seat}"] for seat in range(size)]
    names = sorted(
        {text_of(str(name).strip()) for column in seats for name in column.cat.categories} - {""}
    )
    place = {name: number for number, name in enumerate(names)} | {"": -1}
    return (
        np.column_stack(
            [_mapped(column, lambda name: place[text_of(name.strip())]) for column in seats]
        ),
        names,
    )


def _mapped(column: "pd.Series[str]", meaning: Callable[[str], int]) -> Ints:
    """The meaning of each cell of a categorical column."""
    meanings = np.array([meaning(str(text)) for text in column.cat.categories], dtype=np.int64)
    return meanings[column.cat.codes.to_numpy()] if len(column) else np.empty(0, dtype=np.int64)


def _first_wrong(cells: pd.DataFrame, seated: NDArray[np.bool_], parts: Ints) -> int | None:
    """The first row that `rows.complaint` objects to.

    It is asked once for each kind of row, of which a million rows have a few: what it says depends
    on where bots sit, on shares and ranks, and on whether there is a block.
    """
    kind = np.zeros(len(cells), dtype=np.int64)
    told = [*seated.T, *parts.T]
    told += [cells[f"rank_{seat}"] for seat in range(parts.shape[1]) if f"rank_{seat}" in cells]
    told += [cells["block"].str.strip() == ""] if "block" in cells else []
    for column in told:
        codes, found = pd.factorize(np.asarray(column))
        kind = pd.factorize(kind * len(found) + codes)[0]
    firsts = np.unique(kind, return_index=True)[1]
    size = parts.shape[1]
    for row in sorted(firsts.tolist()):
        texts = {str(name): str(value) for name, value in cells.iloc[row].items()}
        if complaint(texts, size):
            return int(row)
    return None


def _row_error(data: bytes, name: str, columns: Sequence[str], number: int) -> UserError:
    """The error for the row with this number, not counting blank lines."""
    rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    next(rows)
    found = -1
    for row in rows:
        found += bool(row)
        if found == number:
            break
    cells = dict.fromkeys(columns, "") | dict(zip(columns, row, strict=False))
    said = complaint(cells, sum(column.startswith("bot_") for column in columns))
    return UserError(f"{name}, line {rows.line_num}: {said}", "fix the line, or delete it")


def _numbers(cells: pd.DataFrame, column: str) -> Floats:
    return pd.to_numeric(cells[column], errors="coerce").to_numpy(dtype=np.float64)


def _frame(cells: pd.DataFrame, bots: Ints, names: list[str], parts: Ints) -> pd.DataFrame:
    """A frame for `results.count_frame`; a cluster is a block, numbered in sorted order, or a
    single game.
    """
    seated = bots >= 0
    game, seat = np.nonzero(seated)
    share = parts[seated] / WHOLE
    cluster = (
        np.unique(cells["block"].str.strip().to_numpy(dtype=object), return_inverse=True)[1]
        if "block" in cells
        else np.arange(len(bots))
    )
    return pd.DataFrame(
        {
            "game": game.astype(np.int64),
            "seats": seated.sum(axis=1)[game].astype(np.int8),
            "seat": seat.astype(np.int8),
            "bot": pd.Categorical.from_codes(bots[seated], dtype=pd.CategoricalDtype(names)),
            "rank": (
                _by_seat(cells, "rank", seated).astype(np.int8)
                if "rank_0" in cells
                else np.where(share > 0, 1, 2).astype(np.int8)
            ),
            "share": share,
            "left": _by_seat(cells, "left", seated),
            "forfeit": _forfeits(cells, seated),
            "think_ms": _by_seat(cells, "think_ms", seated),
            "cluster": cluster.astype(np.int64)[game],
        }
    )


def _by_seat(cells: pd.DataFrame, what: str, seated: NDArray[np.bool_]) -> Floats:
    """The numbers in ``what_0``, ``what_1`` ... for the occupied seats, NaN if there is none."""
    columns = [f"{what}_{seat}" for seat in range(seated.shape[1])]
    absent = np.full(len(cells), np.nan)
    return np.column_stack(
        [_numbers(cells, column) if column in cells else absent for column in columns]
    )[seated]


def _forfeits(cells: pd.DataFrame, seated: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each occupied seat, whether ``faults`` ("seat:kind" joined by ``;``) names it."""
    forfeited = np.zeros(seated.shape, dtype=np.bool_)
    faults = cells["faults"] if "faults" in cells else pd.Series([], dtype=str)
    for row in np.flatnonzero((faults != "").to_numpy()):
        for fault in str(faults.iloc[row]).split(";"):
            seat = fault.partition(":")[0]
            if seat.isdecimal() and int(seat) < seated.shape[1]:
                forfeited[row, int(seat)] = True
    return forfeited[seated]


def _uneven(frame: pd.DataFrame) -> str:
    """A note if some blocks have fewer games than most."""
    games = frame.loc[frame["seat"] == 0, "cluster"].value_counts()
    usual = int(games.mode().max()) if len(games) else 0
    fewer = int((games < usual).sum())
    return (
        f"{fewer} of the {len(games)} blocks have fewer games than the usual {usual}; they count"
        " all the same"
        if fewer
        else ""
    )
