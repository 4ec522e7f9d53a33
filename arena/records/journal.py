"""The journal: the append-only file of a run's records. What a run's results are is computed from
the journal alone.

One process writes it, holding a lock. A record counts once its line, including the newline, is on
disk. Records stand in the order in which they were written, which is about that in which the games
ended. The journal of a finished run may be compressed with gzip; the functions here read it like
any other.
"""

import gzip
import os
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
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
    """A decoded record, or a decoded part of one, that has at least the game's id."""

    @property
    def id(self) -> str:
        """The id of the game."""


class _Identified(Struct):
    """A record of which only the id is decoded."""

    id: str


Row = TypeVar("Row", bound=HasId)

_decode_id = msgspec.json.Decoder(_Identified).decode


PAGE_DIGITS = 4
"""The number of last digits of a deal's number that select a bit in a page of ids; see `Ids`."""


class Ids:
    """A set of texts, meant for the ids of games, which takes little memory for ids of the form
    ``board/line-up/deal/seating``.

    Ids that differ only in the last digits of the deal share a page: an int with one bit for each.
    A million games take at most about ten megabytes, and a few kilobytes if each line-up plays all
    deals. Any other text is stored as it is.
    """

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._pages: dict[tuple[str, str, int, str], int] = {}
        self._others: set[str] = set()
        for name in ids:
            self.add(name)

    def add(self, name: str) -> bool:
        """Adds the id ``name``. Returns whether it was new."""
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
    """Where `Ids` stores the id ``name``: the key of its page, and an int with its bit on that
    page; the bit is 0 if the id is stored as text. Page and bit together determine the id.
    """
    line_up, *rest = name.rsplit("/", 2)
    if len(rest) == 2:  # noqa: PLR2004 - the deal and the seating
        deal, seating = rest
        last = deal[-PAGE_DIGITS:]
        if last.isdecimal() and last.isascii():
            return (line_up, deal[:-PAGE_DIGITS], len(last), seating), 1 << int(last)
    return ("", "", 0, ""), 0


class Journal:
    """The journal in a run's folder, open for appending; use it as a context manager.

    ``ids`` are the ids of the games in the journal, updated by `append`. ``repaired`` is the number
    of bytes cut off its end when it was opened: part of a record that was being written when the
    machine or the arena crashed. The cut bytes are appended to ``games.torn``.

    The constructor raises RunError if another arena has the journal open, if the journal is
    compressed, or if a whole line is not a record.
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
        """Writes ``records``, whose ids must be new, and returns when they are on disk. If writing
        fails, raises FullError, and the journal is as before.
        """
        # Records that wait together share one flush: a flush takes milliseconds on a disk, a game
        # of built-in bots less than one.
        lines = [encode_record(record) + b"\n" for record in records]
        self._file.append(b"".join(lines))
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
        # A game is reported as played only after its newline is on disk, so the bytes after the
        # last newline belong to a game that is played again. They are kept for inspection.
        """Appends ``torn``, the bytes cut off the journal's end, to games.torn."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with os.fdopen(open_regular(self.path.parent, TORN, flags), "ab") as file:
            file.write(torn)


def journal_of(folder: Path) -> Path:
    """The path of the journal in a run's folder: the compressed file if only that exists, else
    ``games.jsonl``, which need not exist.
    """
    path = folder / JOURNAL_FILE
    packed = folder / (JOURNAL_FILE + COMPRESSED)
    return packed if os.path.lexists(packed) and not os.path.lexists(path) else path


@contextmanager
def open_journal(path: Path) -> Iterator[BinaryIO]:
    """A context manager that opens the journal at ``path`` for reading, and decompresses it if its
    name ends with ``.gz``. Raises RunError.
    """
    try:
        raw = os.fdopen(open_regular(path.parent, path.name), "rb", AT_ONCE)
    except FileNotFoundError:
        raise RunError(f"there is no journal {path}") from None
    except OSError as error:
        raise RunError(f"cannot read the journal {path}: {error}") from error
    with raw, gzip.open(raw) if path.suffix == COMPRESSED else nullcontext(raw) as file:
        yield cast("BinaryIO", file)


def read_lines(path: Path, start: int = 0) -> Iterator[bytes]:
    """Yields the complete lines of the journal at ``path``, each with its newline. ``start`` is the
    byte offset, after decompression, at which the first of them begins. A last line without a
    newline is left out, because it is still being written. Raises RunError.
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
    """The ids of the records in the journal at ``path``, including repeated ones. Raises RunError
    with the number of a line that is not a record.
    """
    return (row.id for _, row in _decoded(path, _decode_id))


def read_rows(
    path: Path, decode: Callable[[bytes], Row], holding: bytes = b""
) -> Iterator[tuple[int, Row]]:
    """Reads the journal at ``path``: for each record, the byte offset of its line (after
    decompression) and what ``decode`` made of the line. If an id occurs twice, only the first
    record counts. A last line without a newline is left out.

    Lines that do not contain the bytes ``holding`` are skipped. While the rows are taken, raises
    RunError if the journal cannot be read, and RunError with the line number if ``decode`` raises a
    DecodeError, ValueError or RecursionError.
    """
    seen = Ids()
    return (found for found in _decoded(path, decode, holding) if seen.add(found[1].id))


def _decoded(
    path: Path, decode: Callable[[bytes], Row], holding: bytes = b""
) -> Iterator[tuple[int, Row]]:
    """Reads all lines of the journal at ``path`` that contain the bytes ``holding``. Yields the
    byte offset of each, and what ``decode`` made of it. Unlike `read_rows` it includes records
    whose id came before. Raises RunError.
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
    """Makes the error for a ``line`` of the journal at ``path`` that is not a record. ``number``
    counts lines from 1; ``error`` is what decoding the line raised.
    """
    return RunError(
        f"{path}, line {number}: expected a record, got {line[:60]!r}: {error}",
        "something else changed the file: restore it, or delete the line and the game will be"
        " played again",
    )


def read_records(run: Path) -> Iterator[GameRecord]:
    """The records of a run, in the order of the journal. If an id occurs twice, only the first
    record counts. Raises RunError while the records are taken.
    """
    return (record for _, record in read_rows(journal_of(run), _fitting_record))


def _fitting_record(line: bytes) -> GameRecord:
    """Decodes ``line`` to a record. Raises DecodeError, or ValueError unless its by-seat lists have
    one entry per seat and its faults name existing seats.
    """
    record = decode_record(line)
    lists = record.left, record.ranks, record.think_ms, record.slowest_ms
    check_seats(len(record.bots), record.faults, *lists)
    return record


def unplayed_text(run: Path) -> str:
    """A sentence for a run whose games all ended by forfeit: which bots forfeited how often, and
    why. Empty for any other run, and for a run without games. Raises RunError.
    """
    games = 0
    for games, record in enumerate(read_records(run), 1):  # noqa: B007
        if record.end != FORFEIT:
            return ""
    whole = f"all {games:,} games" if games > 1 else "the one game"
    return f"{whole} ended by forfeits: {forfeits_text(run)}" if games else ""


def forfeits_text(run: Path) -> str:
    """A sentence that names the bots that forfeited games of a run, how often and why, those with
    most forfeits first, at most three by name; empty if no bot forfeited. Raises RunError.
    """
    forfeits = defaultdict[str, Counter[str]](Counter)
    for record in read_records(run):
        for fault in record.faults:
            forfeits[record.bots[fault.seat]][fault.kind] += 1
    worst = sorted(forfeits.items(), key=lambda item: (-item[1].total(), item[0]))
    sentences = [f"{bot} forfeited {_reasons(kinds)}" for bot, kinds in worst[:NAMED]]
    if len(worst) > NAMED:
        sentences.append(f"{counted(len(worst) - NAMED, 'more bot')} forfeited some")
    return "; ".join(sentences)


def _reasons(kinds: Counter[str]) -> str:
    """Writes the number of faults of each kind as a text, such as ``3 (late) and 1 (exit)``."""
    *most, last = [f"{count:,} ({kind})" for kind, count in kinds.most_common()]
    return f"{', '.join(most)} and {last}" if most else last


def board_of(record: GameRecord, boards: Mapping[str, Form]) -> Form:
    """The entry of ``boards``, a mapping from the names of a run's boards to boards in any form,
    for the board of ``record``. Raises RunError if the run has no such board.
    """
    if record.board not in boards:
        raise RunError(
            f"expected one of the run's boards, {', '.join(boards)}, got {record.board!r} in"
            f" {record.id}"
        )
    return boards[record.board]


def records_of_deal(run: Path, record: GameRecord) -> list[GameRecord]:
    """The records of a run's games that the same bots as in ``record``, in whatever seats, played
    with the same deck on the same board, in the order of the journal. ``record`` is among them if
    it is in the journal. Raises RunError.
    """
    # The lines are searched for the deck as the arena writes it; other JSON forms are not found.
    found = read_rows(journal_of(run), _fitting_record, msgspec.json.encode(record.deck))
    return [other for _, other in found if deal_of(other) == deal_of(record)]


def neighbours(run: Path, game: str) -> tuple[str, str]:
    """The ids of the games whose records stand right before and right after that of the game with
    the id ``game`` in the journal of a run. An empty text stands for a missing neighbour; both are
    empty if the run has no such game. Raises RunError.
    """
    before = ""
    ids = read_ids(journal_of(run))
    for known in ids:
        if known == game:
            return before, next(ids, "")
        before = known
    return "", ""


def deal_of(record: GameRecord) -> tuple[str, str, tuple[str, ...]]:
    """A key for ``record`` that is equal for games with the same board, deck and bots, whatever
    their seats.
    """
    return record.board, record.deck, tuple(sorted(record.bots))


def find_record(run: Path, game: str) -> GameRecord:
    """The record with the id ``game`` in the journal of a run. Raises RunError if there is no such
    record, with similar ids in its hint, or if the journal cannot be read.
    """
    forms = []
    # Bytes on the command line may be no UTF-8; then no journal has the id.
    with suppress(UnicodeEncodeError):
        # first the id as the arena writes it, then in any other JSON form
        forms = [msgspec.json.encode(game), b""]
    for holding in forms:
        for _, record in read_rows(journal_of(run), _fitting_record, holding):
            if record.id == game:
                return record

    def shared_length(known: str) -> int:
        return len(commonprefix((known, game)))  # noqa: RUF071 - of ids, not of paths

    near = nlargest(3, read_ids(journal_of(run)), key=shared_length)
    raise RunError(
        f"{run} has no game {game!r}",
        f"for example {', '.join(near)}" if near else "the run has no games yet",
    )
