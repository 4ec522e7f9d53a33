"""The journal: the append-only file of records, and the single source of truth about a run.

One process writes, holding a lock. A record counts once its line, including the newline, is on
disk. The journal of a finished run may be compressed with gzip or zstd; it is then read like any
other.
"""

import gzip
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self, TypeVar

import msgspec
from msgspec import Struct

from arena.errors import RunError
from arena.records.ids import Ids
from arena.records.linefile import FullError, LineFile
from arena.records.record import GameRecord, encode_record
from arena.records.regular import open_regular

FILE = "games.jsonl"
TORN = "games.torn"
COMPRESSED = {".gz": "gzip", ".zst": "zstd"}
"""The ending of a compressed journal's name, and the program that compressed it."""
LONGEST = 1 << 20
"""The longest line, in bytes; a record has about two thousand."""
AT_ONCE = 1 << 17
"""Bytes to read at a time."""


class _Identified(Struct):
    id: str


class HasId(Protocol):
    """Anything a record can be decoded to."""

    @property
    def id(self) -> str:
        """The game's id."""


Row = TypeVar("Row", bound=HasId)


_decode_id = msgspec.json.Decoder(_Identified).decode


JournalFullError = FullError
"""The disk is full; all records appended before are safe."""


class Journal:
    """The journal of a run, open for appending; use it as a context manager.

    ``ids`` are the games it holds. ``repaired`` is the number of bytes cut off its end: part of a
    record that was being written when the machine or the arena died. The cut bytes are kept in
    ``games.torn``.

    Raises RunError if another arena has it open, or if a line other than the last is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        packed = journal_of(folder)
        if packed != self.path:
            raise RunError(
                f"expected to append to {self.path}, got the compressed {packed.name}",
                f"unpack it first: {_unpack(packed)}",
            )
        busy = "wait for it, or choose another --out"
        self._file = LineFile(folder, FILE, "games", busy=busy, cut=self._keep_torn)
        self.repaired = self._file.repaired
        try:
            self.ids = Ids(read_ids(self.path))
            sync_folder(folder)
        except BaseException:
            self.close()
            raise

    def append(self, records: Sequence[GameRecord]) -> None:
        """Writes records and returns once they are on disk. If it raises JournalFullError, none of
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
        folder = self.path.parent
        with os.fdopen(
            open_regular(folder, TORN, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab"
        ) as file:
            file.write(torn)


def journal_of(folder: Path) -> Path:
    """The path of a run's journal, which may be compressed; the plain name if there is none yet."""
    path = folder / FILE
    packed = [folder / (FILE + suffix) for suffix in COMPRESSED]
    return next((place for place in (path, *packed) if os.path.lexists(place)), path)


@contextmanager
def open_journal(path: Path) -> Iterator[BinaryIO]:
    """Opens a journal for reading, decompressing it on the fly if needed. Raises RunError."""
    library: Any = gzip if path.suffix == ".gz" else _zstd(path) if path.suffix == ".zst" else None
    try:
        raw = os.fdopen(open_regular(path.parent, path.name), "rb", AT_ONCE)
    except FileNotFoundError:
        raise RunError(f"expected a journal {path}, found none") from None
    except OSError as error:
        raise RunError(f"expected to read the journal {path}, got {error}") from error
    with raw, library.open(raw, "rb") if library else raw as file:
        yield file


def _zstd(path: Path) -> Any:
    """The standard library's zstd module, or the package that provides it on older Pythons. Raises
    RunError.
    """
    for name in ("compression.zstd", "backports.zstd"):
        with suppress(ImportError):
            return import_module(name)
    raise RunError(
        f"expected a module that reads zstd for {path}, found neither compression.zstd (Python"
        " 3.14) nor backports.zstd",
        f"pip install 'qin-arena[zstd]', or unpack it: {_unpack(path)}",
    )


def _unpack(packed: Path) -> str:
    """The command that unpacks a journal and leaves only the plain one."""
    return f"{'gunzip' if packed.suffix == '.gz' else 'unzstd --rm'} {packed}"


def _damages(path: Path) -> tuple[type[Exception], ...]:
    """The exceptions that reading a damaged compressed file can raise."""
    return (
        EOFError,
        gzip.BadGzipFile,
        zlib.error,
        *([_zstd(path).ZstdError] if path.suffix == ".zst" else []),
    )


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
    except _damages(path) as error:
        program = COMPRESSED[path.suffix]
        raise RunError(
            f"expected {path} to be whole and compressed by {program}, got {error}",
            "restore the file",
        ) from None


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


def sync_folder(folder: Path) -> None:
    """Flushes the entries of a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
