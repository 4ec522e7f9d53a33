"""Records looked up in a journal."""

from collections.abc import Iterator
from heapq import nlargest
from os.path import commonprefix
from pathlib import Path

import msgspec

from arena.errors import RunError
from arena.records.journal import FILE, damaged_line, read_ids, read_lines
from arena.records.record import GameRecord, decode_record


def read_records(run: Path) -> Iterator[GameRecord]:
    """The records of a run in the order in which games ended; the first of an id counts. Raises RunError."""
    path, seen = run / FILE, set[str]()
    for number, line in enumerate(read_lines(path), 1):
        try:
            record = decode_record(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise damaged_line(path, number, line, error) from None
        if record.id not in seen:
            seen.add(record.id)
            yield record


def find_record(run: Path, game: str) -> GameRecord:
    """The record with this id. Raises RunError that names similar ones."""
    for record in read_records(run):
        if record.id == game:
            return record
    near = nlargest(3, read_ids(run / FILE), key=lambda known: len(commonprefix((known, game))))  # noqa: RUF071 - by letters it is
    raise RunError(
        f"expected the id of a game in {run}, got {game!r}",
        f"for example {', '.join(near)}" if near else "the run has no games yet",
    )
