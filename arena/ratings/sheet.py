"""Reads the results of games played elsewhere from a CSV file with one row per game.

The columns are ``bot_0`` ... and ``share_0`` ... by seat, for 2 to 4 players. ``block`` is
optional: games with the same block share their luck. Other columns of the games.csv that the arena
exports (``rank_``, ``left_`` and ``think_ms_`` by seat, and ``faults``) are used if the file has
them.
"""

import csv
import io
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena.errors import UserError
from arena.ratings.cells import text_of
from arena.ratings.results import MIN_SEATS, SUMS, Counts, Flags, Floats, Ints, Outcomes, counts_of
from arena.records.record import MAX_SEATS, WHOLE

HINT = (
    "the first line names the columns, for example block,bot_0,bot_1,share_0,share_1; block is"
    " optional"
)
NEEDED_COLUMNS = [f"{what}_{seat}" for what, seat in product(("bot", "share"), range(MIN_SEATS))]
COLUMNS_BY_SEAT = ("bot", "share", "rank", *(summed.field for summed in SUMS))
KNOWN_COLUMNS = {f"{what}_{seat}" for what, seat in product(COLUMNS_BY_SEAT, range(MAX_SEATS))}
KNOWN_COLUMNS |= {"block", "faults"}
MAX_COLUMNS = 1_000
"""The largest number of columns in a file. games.csv has at most 28. A file with 30,000 columns
took seven seconds to check and read.
"""
LARGEST = 1e12
"""The largest number of ms, or of pagodas left, as in a record: a sum of them must stay finite."""
UNCLOSED = "EOF inside string"
"""What pandas says about a file in which a quote is missing."""
REPETITIVE_COLUMNS = ("bot_", "share_", "rank_", "faults")
"""The beginnings of the names of columns that contain few different texts."""
CLOSE = 0.005
"""How far a share in the file may be from the exact fraction: 0.33 and 0.3333 both count as a
third.
"""
PARTS = (0, *(WHOLE // count for count in range(1, MAX_SEATS + 1)))
"""The possible shares of a win, in parts of `WHOLE`."""
SHARES = "shares of 1/m for each of m winners and 0 for the others, for example 1,0 or 0.5,0.5"


class Sheet(NamedTuple):
    """The G games of a file, each with S seats, and notes for the reader.

    ``names``       the bots' names, sorted
    ``bots``        (G, S) the index in ``names`` of each seat's bot; ``len(names)`` for an empty
                    seat
    ``ranks``       (G, S) the rank of each seat; if the file has no ranks, 1 for the winners and 2
                    for the others
    ``values``      for each of `SUMS`, by its field: (G, S) the values, NaN where the file does
                    not say
    ``forfeits``    (G, S) whether the bot forfeited
    ``cluster``     (G,) the number of the game's block; without blocks, the number of the game
    ``has_blocks``  whether the file has the column ``block``
    ``has_ranks``   whether the file has ranks
    ``unused``      the names of columns of the file that are ignored
    ``notes``       sentences for the reader
    """

    names: list[str]
    bots: Ints
    ranks: Ints
    values: Mapping[str, Floats]
    forfeits: Flags
    cluster: Ints
    has_blocks: bool
    has_ranks: bool
    unused: list[str]
    notes: list[str]

    def counts(self, without: Collection[str] = ()) -> Counts:
        """Counts the games of the file, without those in which a bot of ``without`` played."""
        is_kept_name = np.array([name not in without for name in [*self.names, ""]])
        names = [name for name in self.names if name not in without]
        games = is_kept_name[self.bots].all(axis=1)
        new_number = is_kept_name.cumsum() - 1
        sums: dict[str, NDArray[Any]] = {"forfeits": self.forfeits[games]}
        for summed in SUMS:
            values = self.values[summed.field][games]
            sums[summed.games] = ~np.isnan(values)
            if summed.parts > 1:
                values = np.rint(values * summed.parts)
            sums[summed.total] = np.nan_to_num(values)
        clusters, cluster = np.unique(self.cluster[games], return_inverse=True)
        seats = new_number[self.bots[games]]
        outcomes = Outcomes(
            seats=seats,
            ranks=self.ranks[games],
            cluster=cluster,
            outcome=np.arange(len(seats)),
            sums=sums,
        )
        return counts_of(names, np.arange(len(clusters)), outcomes)


class ListedGame(NamedTuple):
    """One game of a file. By seat: the names of the ``bots``, an empty text for an empty seat;
    their ``ranks``; and ``forfeits``, whether the bot forfeited.
    """

    bots: list[str]
    ranks: list[int]
    forfeits: list[bool]


def read_sheet(data: bytes, name: str) -> Sheet:
    """Reads the games in ``data``, the content of a CSV file called ``name``. Raises UserError that
    names the line, the expected value and the one found.
    """
    text = _decoded(data, name)
    _, columns = next(_rows(text, name), (1, []))
    _check_header(columns, name)
    _check_widths(text, columns, name)
    known = [column for column in columns if column in KNOWN_COLUMNS]
    repetitive = [column for column in known if column.startswith(REPETITIVE_COLUMNS)]
    kinds: dict[Hashable, Any] = dict.fromkeys(known, "str")
    kinds |= dict.fromkeys(repetitive, "category")
    try:
        cells = pd.read_csv(io.StringIO(text), usecols=known, dtype=kinds, na_filter=False)
    except pd.errors.ParserError as error:
        raise _unreadable(text, name, error) from None
    size = sum(column.startswith("bot_") for column in known)
    has_blocks = "block" in known
    has_ranks = "rank_0" in known
    blocks = cells["block"].str.strip() if has_blocks else cells.index

    # A million rows have a few thousand different texts, each of which is parsed once.
    texts = cells[repetitive]
    if has_blocks:
        texts = texts.assign(block=np.where(blocks == "", "", "x"))
    kind_of_row = texts.groupby(list(texts), observed=True).ngroup().to_numpy()
    first_rows = texts.drop_duplicates()
    games = _parsed(first_rows, size, text, name)
    game_of_kind = np.argsort(kind_of_row[first_rows.index])
    game_of_row = game_of_kind[kind_of_row]

    bots_by_game = [game.bots for game in games]
    names = sorted(set(chain.from_iterable(bots_by_game)) - {""})
    number = {bot: place for place, bot in enumerate([*names, ""])}
    numbers = [list(map(number.__getitem__, bots_of_game)) for bots_of_game in bots_by_game]
    bots = _by_row(numbers, game_of_row, size)
    ranks = _by_row([game.ranks for game in games], game_of_row, size)
    forfeits = _by_row([game.forfeits for game in games], game_of_row, size)
    cluster = np.asarray(pd.factorize(blocks, sort=True)[0], dtype=np.int64)

    notes = _uneven_notes(cluster) if has_blocks else []
    has_large_tables = bool(((bots < len(names)).sum(axis=1) > MIN_SEATS).any())
    if has_large_tables and not has_ranks:
        equal = "between two bots that did not win, the result counts as equal"
        notes.append(f"the file has no ranks: {equal}")
    return Sheet(
        names=names,
        bots=bots,
        ranks=ranks,
        values={summed.field: _numbers(cells, summed.field, size, text, name) for summed in SUMS},
        forfeits=forfeits.astype(np.bool_),
        cluster=cluster,
        has_blocks=has_blocks,
        has_ranks=has_ranks,
        unused=sorted(set(columns) - set(known)),
        notes=notes,
    )


def _decoded(data: bytes, name: str) -> str:
    """Decodes ``data``, the content of the file ``name``, from UTF-8 with or without a byte order
    mark. Raises UserError.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        wrong = repr(error.object[error.start : error.end])
        raise UserError(
            f"{name}, line {line}: expected UTF-8, got {wrong}", "save it as UTF-8"
        ) from None


def _check_header(columns: Sequence[str], name: str) -> None:
    """Raises UserError if ``columns``, the header of the file ``name``, has more than `MAX_COLUMNS`
    columns, lacks a needed column, or has a column twice.
    """
    if len(columns) > MAX_COLUMNS:
        raise UserError(
            f"{name}, line 1: expected at most {MAX_COLUMNS:,} columns, got {len(columns):,}",
            "delete columns that are not used; block, and bot_ and share_ of each seat, suffice",
        )
    shown = ",".join(columns)
    missing = [column for column in NEEDED_COLUMNS if column not in columns]
    twice = [column for column in columns if columns.count(column) > 1]
    # For each seat, how many of its two needed columns exist: 2 for the first seats, then 0.
    held = []
    for seat in range(MAX_SEATS + 1):
        held.append(columns.count(f"bot_{seat}") + columns.count(f"share_{seat}"))
    has_gaps = 1 in held or held != sorted(held, reverse=True)
    wrong = ""
    if missing:
        wrong = f"the column {missing[0]}, got {shown or 'nothing'}"
    elif twice:
        wrong = f"each column once, got {twice[0]} twice"
    elif held[MAX_SEATS] or has_gaps:
        wrong = f"bot_ and share_ for up to {MAX_SEATS} seats, from 0, got {shown}"
    if wrong:
        raise UserError(f"{name}, line 1: expected {wrong}", HINT)


def _check_widths(text: str, columns: Sequence[str], name: str) -> None:
    """Raises UserError if a row of ``text`` has more cells than there are ``columns``, because
    pandas would silently drop some. ``name`` is the name of the file.
    """
    for line, row in _rows(text, name):
        if len(row) > len(columns):
            raise UserError(
                f"{name}, line {line}: expected {len(columns)} cells, got more",
                'put "quotes" around a cell that contains a comma',
            )


def _parsed(rows: pd.DataFrame, size: int, text: str, name: str) -> list[ListedGame]:
    """Parses the game in each of the ``rows``, with ``size`` seats. ``text`` and ``name`` are those
    of the whole file, for messages. Raises UserError.
    """
    games = []
    for row, texts in rows.to_dict("index").items():
        cells = {str(key): str(cell) for key, cell in texts.items()}
        try:
            games.append(game_of(cells, size))
        except ValueError as error:
            line = _line_of(text, int(str(row)), name)
            raise UserError(f"{name}, line {line}: {error}", "fix the line, or delete it") from None
    return games


def _line_of(text: str, row: int, name: str) -> int:
    """The number of the line in ``text``, the whole file ``name``, on which data row ``row`` ends.
    Rows are counted from 0, without the header and blank lines.
    """
    lines = [line for line, cells in _rows(text, name) if cells]
    return lines[row + 1]


def _rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of ``text``, the file ``name``, each as the number of the line on which it ends and
    its cells. Raises UserError for a cell that is too long for the reader.
    """
    rows = csv.reader(io.StringIO(text, newline=""))
    last = 0
    try:
        for cells in rows:
            last = rows.line_num
            yield last, cells
    except csv.Error:
        most = csv.field_size_limit()
        raise UserError(
            f"{name}, line {last + 1}: expected cells of at most {most:,} characters, got a longer"
            " one",
            "shorten the cell, or put the quote at its end if that is missing",
        ) from None


def _unreadable(text: str, name: str, error: Exception) -> UserError:
    """The error for the user about ``text``, the file ``name``, at which pandas failed with
    ``error``.
    """
    if UNCLOSED not in str(error):
        return UserError(f"{name}: expected a CSV file, got one that pandas cannot read: {error}")
    # The row with the open quote goes on to the end of the file: it begins after the row before.
    lines = [0, *(line for line, _ in _rows(text, name))]
    return UserError(
        f"{name}, line {lines[-2] + 1}: expected a quote at the end of a cell that begins with one,"
        " got the end of the file",
        "put the missing quote at the end of the cell",
    )


def _by_row(values: Sequence[Sequence[int]], game_of_row: Ints, size: int) -> Ints:
    """(G, S) for each row of the file, the values by seat of its game: row r has
    ``values[game_of_row[r]]``. ``size`` is S.
    """
    return np.array(values, dtype=np.int64).reshape(-1, size)[game_of_row]


def game_of(cells: Mapping[str, str], seats: int) -> ListedGame:
    """Parses the game in one row of a file with ``seats`` seats; ``cells`` has the row's texts by
    column. Raises ValueError with the expected value and the one found.
    """
    bots = [cells[f"bot_{seat}"].strip() for seat in range(seats)]
    size = bots.index("") if "" in bots else seats
    if size < MIN_SEATS or any(bots[size:]):
        names = ",".join(bots)
        raise ValueError(f"expected the names of two or more bots, without gaps, got {names}")
    winners = _winners(cells, seats, size)
    if not cells.get("block", "1"):
        raise ValueError("expected a block, got an empty cell")
    ranks = []
    for seat in range(seats):
        rank_by_share = "1" if seat in winners else "2"
        text = cells.get(f"rank_{seat}", rank_by_share)
        rank = _rank(text)
        if seat < size and (rank is None or (rank == 1) != (seat in winners)):
            expected = f"expected a rank from 1 to {MAX_SEATS}, 1 for the winners"
            raise ValueError(f"{expected}, got {text!r} in rank_{seat}")
        ranks.append(rank or 0)
    faults = f";{cells.get('faults', '')}"  # "seat:kind", joined by ";"
    forfeits = [f";{seat}:" in faults for seat in range(seats)]
    return ListedGame(list(map(text_of, bots)), ranks, forfeits)


def _winners(cells: Mapping[str, str], seats: int, size: int) -> list[int]:
    """The seats that share the win, by the texts in ``cells`` for ``seats`` seats, of which the
    first ``size`` are taken. Raises ValueError if the shares are not those of a win.
    """
    texts = [cells[f"share_{seat}"] for seat in range(seats)]
    winners = []
    won = []
    for seat, text in enumerate(texts):
        is_empty = seat >= size and not text.strip()
        part = 0 if is_empty else _parts(text)
        if part is None:
            raise ValueError(f"expected {SHARES}, got {text!r} in share_{seat}")
        if part and seat >= size:
            raise ValueError(f"expected no share where no bot sits, got {text!r} in share_{seat}")
        if part:
            winners.append(seat)
            won.append(part)
    if not winners or won != [WHOLE / len(winners)] * len(winners):
        raise ValueError(f"expected {SHARES}, got {','.join(texts[:size])}")
    return winners


def _parts(text: str) -> int | None:
    """The share that ``text``, such as 1, 0.5, .333 or 1/3, stands for, in parts of `WHOLE`; None
    if it is no possible share.
    """
    above, slash, below = text.partition("/")
    try:
        value = float(above) / float(below) if slash else float(above)
    except (ValueError, ZeroDivisionError):
        return None
    for part in PARTS:
        if abs(value - part / WHOLE) < CLOSE:
            return part
    return None


def _rank(text: str) -> int | None:
    """The rank that ``text`` stands for, from 1 to `MAX_SEATS`; None if it is no such number."""
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value in range(1, MAX_SEATS + 1) else None


def _numbers(cells: pd.DataFrame, what: str, size: int, text: str, name: str) -> Floats:
    """(G, S) the numbers in the columns ``what_0``, ``what_1`` and so on, for ``size`` seats; NaN
    where a cell is no number or the column is missing. ``text`` and ``name`` are those of the whole
    file, for messages. Raises UserError for a number that cannot be summed.
    """
    names = [f"{what}_{seat}" for seat in range(size)]
    numbers = cells.reindex(columns=names).apply(pd.to_numeric, errors="coerce")
    values = np.asarray(numbers, dtype=np.float64)
    too_large = np.argwhere(np.abs(values) > LARGEST)
    if len(too_large):
        row, seat = too_large[0]
        column = names[seat]
        raise UserError(
            f"{name}, line {_line_of(text, row, name)}: expected a number from"
            f" {-LARGEST:g} to {LARGEST:g} in {column}, got {cells[column].iloc[row]!r}",
            "fix the line, or delete it",
        )
    return values


def _uneven_notes(cluster: Ints) -> list[str]:
    """A list with a note if some blocks have fewer games than the most common number of games; an
    empty list if none has. ``cluster`` (G,) is the number of each game's block.
    """
    games = np.bincount(cluster)
    blocks_by_size = np.bincount(games)
    most_common = np.flatnonzero(blocks_by_size == blocks_by_size.max(initial=0))
    usual = int(most_common[-1]) if len(most_common) else 0
    fewer = int((games < usual).sum())
    if not fewer:
        return []
    shown = f"{fewer} of the {len(games)} blocks have fewer games than the usual {usual}"
    return [f"{shown}; they count all the same"]
