"""Looking up records in a journal."""

from collections.abc import Iterator, Mapping
from heapq import nlargest
from os.path import commonprefix
from pathlib import Path
from typing import TypeVar

import msgspec

from arena.errors import RunError
from arena.records.journal import journal_of, read_ids, read_rows
from arena.records.record import GameRecord, check_seats, decode_record

Form = TypeVar("Form")


def read_records(run: Path) -> Iterator[GameRecord]:
    """The records of a run, in the order the games ended; if an id occurs twice, the first record
    counts. Raises RunError.
    """
    return (record for _, record in read_rows(journal_of(run), _fitting_record))


def _fitting_record(line: bytes) -> GameRecord:
    """The record, if each of its lists has one entry per seat. Raises DecodeError, ValueError."""
    record = decode_record(line)
    check_seats(
        len(record.bots),
        record.faults,
        record.left,
        record.ranks,
        record.think_ms,
        record.slowest_ms,
    )
    return record


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
    ids = iter(read_ids(journal_of(run)))
    for known in ids:
        if known == game:
            return before, next(ids, "")
        before = known
    return "", ""


def deal_of(record: GameRecord) -> tuple[str, str, tuple[str, ...]]:
    """What is equal in games that differ only in who sits where."""
    return record.board, record.deck, tuple(sorted(record.bots))


def find_record(run: Path, game: str) -> GameRecord:
    """The record with this id. Raises RunError with similar ids in the hint."""
    # first the id as we write it, then in any other JSON form
    for holding in (msgspec.json.encode(game), b""):
        for _, record in read_rows(journal_of(run), _fitting_record, holding):
            if record.id == game:
                return record
    # Letter by letter.
    near = nlargest(
        3,
        read_ids(journal_of(run)),
        key=lambda known: len(commonprefix((known, game))),  # noqa: RUF071
    )
    raise RunError(
        f"expected the id of a game in {run}, got {game!r}",
        f"for example {', '.join(near)}" if near else "the run has no games yet",
    )
