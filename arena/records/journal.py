"""The journal: the append-only file of records, and the single source of truth about a run.

One process writes, holding a lock. A record counts once its line, including the newline, is on
disk. The journal of a finished run may be compressed with gzip; it is then read like any other.
"""

import gzip
import os
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from heapq import nlargest
from os.path import commonprefix
from pathlib import Path
from typing import BinaryIO, Protocol, Self, TypeVar, cast

import msgspec
from msgspec import Struct

from arena.errors import RunError, counted
from arena.records.record import FORFEIT, GameRecord, check_seats, decode_record, encode_record
from arena.records.regular import LineFile, folder_below, open_regular

JOURNAL_FILE = "games.jsonl"
TORN = "games.torn"
COMPRESSED = ".gz"
"""The ending of a compressed journal's name."""
LONGEST = 1 << 20
"""The most bytes of a line; a record has about two thousand."""
AT_ONCE = 1 << 17
"""The number of bytes that are read at a time."""
NAMED = 3
"""The most bots with forfeits that a sentence names."""

Form = TypeVar("Form")


class HasId(Protocol):
    """Any type to which a record can be decoded."""

    @property
    def id(self) -> str:
        """The game's id."""


class _Identified(Struct):
    """A record of which only the id is read."""

    id: str


Row = TypeVar("Row", bound=HasId)

_decode_id = msgspec.json.Decoder(_Identified).decode


PAGE_DIGITS = 4
"""The last digits of a deal's number, which select a bit of a page of ids."""


class Ids:
    """A set of ids that is exact for any text, and small when ids are
    ``board/line-up/deal/seating`` with many deals.

    Ids that differ only in the last digits of the deal share a page: an int with one bit for each.
    A million games take about ten megabytes at most, and a few kilobytes if every line-up plays all
    deals. Any other text is stored as it is.
    """

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._pages: dict[tuple[str, str, int, str], int] = {}
        self._others: set[str] = set()
        for name in ids:
            self.add(name)

    def add(self, name: str) -> bool:
        """Adds an id. Returns False if it was in the set already."""
        page, bit = _place(name)
        if not bit:
            is_new = name not in self._others
            self._others.add(name)
            return is_new
        bits = self._pages.get(page, 0)
        self._pages[page] = bits | bit
        return not bits & bit

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        page, bit = _place(name)
        return bool(self._pages.get(page, 0) & bit) if bit else name in self._others

    def __iter__(self) -> Iterator[str]:
        for (line_up, deal, digits, seating), bits in self._pages.items():
            rest = bits
            while rest:
                last = (rest & -rest).bit_length() - 1
                yield f"{line_up}/{deal}{last:0{digits}}/{seating}"
                rest &= rest - 1
        yield from self._others

    def __len__(self) -> int:
        return len(self._others) + sum(bits.bit_count() for bits in self._pages.values())


def _place(name: str) -> tuple[tuple[str, str, int, str], int]:
    """The page of an id, and its bit on that page, 0 if the id is stored as text. Page and bit
    together determine the id.
    """
    line_up, *rest = name.rsplit("/", 2)
    if len(rest) == 2:  # noqa: PLR2004 - the deal and the seating
        deal, seating = rest
        last = deal[-PAGE_DIGITS:]
        if last.isdecimal() and last.isascii():
            return (line_up, deal[:-PAGE_DIGITS], len(last), seating), 1 << int(last)
    return ("", "", 0, ""), 0


class Journal:
    """The journal of a run, open for appending; use it as a context manager.

    ``ids`` are the games it holds. ``repaired`` is the number of bytes cut off its end: part of a
    record that was being written when the machine or the arena died. The cut bytes are kept in
    ``games.torn``.

    Raises RunError if another arena has it open, or if a line other than the last is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / JOURNAL_FILE
        packed = journal_of(folder)
        if packed != self.path:
            raise RunError(
                f"cannot append to {self.path}: the journal is compressed as {packed.name}",
                f"unpack it first: gunzip {packed}",
            )
        busy = "wait for it, or choose another --out"
        self._file = LineFile(folder, JOURNAL_FILE, "games", busy=busy, cut=self._keep_torn)
        self.repaired = self._file.repaired
        try:
            self.ids = Ids(read_ids(self.path))
            with folder_below(folder, ()) as at:
                os.fsync(at)
        except BaseException:
            self.close()
            raise

    def append(self, records: Sequence[GameRecord]) -> None:
        """Writes records and returns once they are on disk. If it raises FullError, none of
        them was written.
        """
        # Records that wait together share one flush: it takes milliseconds on a disk, a game of
        # built-in bots less than one.
        self._file.append(b"".join(encode_record(record) + b"\n" for record in records))
        for record in records:
            self.ids.add(record.id)

    def close(self) -> None:
        """Closes the file and releases the lock."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _keep_torn(self, torn: bytes) -> None:
        # A line was reported as played only after its newline was on disk, so what comes after the
        # last one was promised to nobody and is played again. It is kept beside, for who looks.
        """Keeps the bytes cut off the end in a file beside the journal."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with os.fdopen(open_regular(self.path.parent, TORN, flags), "ab") as file:
            file.write(torn)


def journal_of(folder: Path) -> Path:
    """The path of a run's journal, which may be compressed; the plain name if there is none yet."""
    path = folder / JOURNAL_FILE
    packed = folder / (JOURNAL_FILE + COMPRESSED)
    return packed if os.path.lexists(packed) and not os.path.lexists(path) else path


@contextmanager
def open_journal(path: Path) -> Iterator[BinaryIO]:
    """Opens a journal for reading, decompressing it on the fly if needed. Raises RunError."""
    try:
        raw = os.fdopen(open_regular(path.parent, path.name), "rb", AT_ONCE)
    except FileNotFoundError:
        raise RunError(f"there is no journal {path}") from None
    except OSError as error:
        raise RunError(f"cannot read the journal {path}: {error}") from error
    with raw, gzip.open(raw) if path.suffix == COMPRESSED else nullcontext(raw) as file:
        yield cast("BinaryIO", file)


def read_lines(path: Path, start: int = 0) -> Iterator[bytes]:
    """The complete lines of a journal, from the byte at which one begins. A last line without a
    newline is still being written and is left out. Raises RunError.
    """
    try:
        with open_journal(path) as file:
            file.seek(start)
            while line := file.readline(LONGEST):
                if line.endswith(b"\n"):
                    yield line
                elif len(line) == LONGEST:
                    raise RunError(
                        f"{path}: expected lines below {LONGEST >> 20} MiB, got a longer one",
                        "restore the file",
                    )
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise RunError(f"{path} is not a complete gzip file: {error}", "restore the file") from None


def read_ids(path: Path) -> Iterator[str]:
    """The ids of the records in a journal. Raises RunError with the number of a line that is not a
    record.
    """
    return (row.id for _, row in _decoded(path, _decode_id))


def read_rows(
    path: Path, decode: Callable[[bytes], Row], holding: bytes = b""
) -> Iterator[tuple[int, Row]]:
    """The records in a journal, decoded by ``decode``, each with the byte offset of its line; the
    first record of each id counts.

    Lines that do not contain the bytes ``holding`` are skipped. Raises RunError with the line
    number if ``decode`` raises a DecodeError or ValueError.
    """
    seen = Ids()
    return (found for found in _decoded(path, decode, holding) if seen.add(found[1].id))


def _decoded(
    path: Path, decode: Callable[[bytes], Row], holding: bytes = b""
) -> Iterator[tuple[int, Row]]:
    """The decoded records of a journal, each with the offset of its line, including
    repeated ids.
    """
    start = 0
    for number, line in enumerate(read_lines(path), 1):
        if holding in line:
            try:
                row = decode(line)
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                raise damaged_line(path, number, line, error) from None
            yield start, row
        start += len(line)


def damaged_line(path: Path, number: int, line: bytes, error: Exception) -> RunError:
    """The error for a line in the middle of a journal that is not a record."""
    return RunError(
        f"{path}, line {number}: expected a record, got {line[:60]!r}: {error}",
        "something else changed the file: restore it, or delete the line and the game will be"
        " played again",
    )


def read_records(run: Path) -> Iterator[GameRecord]:
    """The records of a run, in the order the games ended; if an id occurs twice, the first record
    counts. Raises RunError.
    """
    return (record for _, record in read_rows(journal_of(run), _fitting_record))


def _fitting_record(line: bytes) -> GameRecord:
    """The record, if each of its lists has one entry per seat. Raises DecodeError, ValueError."""
    record = decode_record(line)
    lists = record.left, record.ranks, record.think_ms, record.slowest_ms
    check_seats(len(record.bots), record.faults, *lists)
    return record


def unplayed_text(run: Path) -> str:
    """A sentence about a run in which no game was decided by play: which bots forfeited how often,
    and why. Empty for any other run, and for a run without games. Raises RunError.
    """
    games = 0
    for games, record in enumerate(read_records(run), 1):  # noqa: B007
        if record.end != FORFEIT:
            return ""
    whole = f"all {games:,} games" if games > 1 else "the one game"
    return f"{whole} ended by forfeits: {forfeits_text(run)}" if games else ""


def forfeits_text(run: Path) -> str:
    """A sentence about the bots that forfeited games of a run, how often and why, the worst first;
    empty if no bot did. Raises RunError.
    """
    forfeits = defaultdict[str, Counter[str]](Counter)
    for record in read_records(run):
        for fault in record.faults:
            forfeits[record.bots[fault.seat]][fault.kind] += 1
    worst = sorted(forfeits.items(), key=lambda item: (-item[1].total(), item[0]))
    told = [f"{bot} forfeited {_reasons(kinds)}" for bot, kinds in worst[:NAMED]]
    if len(worst) > NAMED:
        told.append(f"{counted(len(worst) - NAMED, 'more bot')} forfeited some")
    return "; ".join(told)


def _reasons(kinds: Counter[str]) -> str:
    """The kinds of faults with their numbers, in words."""
    *most, last = [f"{count:,} ({kind})" for kind, count in kinds.most_common()]
    return f"{', '.join(most)} and {last}" if most else last


def board_of(record: GameRecord, boards: Mapping[str, Form]) -> Form:
    """The board of a record, from those of its run by name, in whatever form. Raises RunError."""
    if record.board not in boards:
        raise RunError(
            f"expected one of the run's boards, {', '.join(boards)}, got {record.board!r} in"
            f" {record.id}"
        )
    return boards[record.board]


def records_of_deal(run: Path, record: GameRecord) -> list[GameRecord]:
    """The games of a run that the same bots played with the same deck on the same board, this one
    included, in the order they ended. Raises RunError.
    """
    # The deck is looked for as we write it: a line of another JSON form is not found.
    found = read_rows(journal_of(run), _fitting_record, msgspec.json.encode(record.deck))
    return [other for _, other in found if deal_of(other) == deal_of(record)]


def neighbours(run: Path, game: str) -> tuple[str, str]:
    """The ids of the games that ended before and after a game, empty where there is none. Raises
    RunError.
    """
    before = ""
    ids = read_ids(journal_of(run))
    for known in ids:
        if known == game:
            return before, next(ids, "")
        before = known
    return "", ""


def deal_of(record: GameRecord) -> tuple[str, str, tuple[str, ...]]:
    """A key that is equal for games that differ only in the seats of their bots."""
    return record.board, record.deck, tuple(sorted(record.bots))


def find_record(run: Path, game: str) -> GameRecord:
    """The record with this id. Raises RunError with similar ids in the hint."""
    # first the id as we write it, then in any other JSON form
    for holding in (msgspec.json.encode(game), b""):
        for _, record in read_rows(journal_of(run), _fitting_record, holding):
            if record.id == game:
                return record
    alike: Callable[[str], int] = lambda known: len(commonprefix((known, game)))  # noqa: RUF071, E731
    near = nlargest(3, read_ids(journal_of(run)), key=alike)
    raise RunError(
        f"{run} has no game {game!r}",
        f"for example {', '.join(near)}" if near else "the run has no games yet",
    )
