"""Decodes a line of a journal strictly, for `arena verify`: each field must have the form that the
arena writes, and the line must be the record's canonical JSON, byte by byte.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from itertools import chain
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from arena.faults import FaultKind
from arena.records.notes import wrong_note
from arena.records.record import MAX_SEATS, Fault, GameRecord, Text, encode_record
from arena.rules.notation import PASSED, seat_of_move

FIELDS_BY_SEAT = ("left", "ranks", "think_ms", "slowest_ms")
ROUNDING_MS = 0.05
"""By how much a time in a record, which has one decimal, may differ from the measured time."""
EXPECTED = re.compile(r"Expected (.*?)(?:, got .*)?$")
"""A regular expression for the beginning of msgspec's error messages."""
BEFORE_FIELD = " - at `$."
"""The text that msgspec puts between an error message and the path of the field concerned."""
END_OF_NAME = re.compile(r"[.\[]")
"""A regular expression for the end of a top-level field's name in the path of a field."""


class StrictFault(Fault, frozen=True, forbid_unknown_fields=True):
    """A fault with one of the known kinds and a detail that is not empty."""

    kind: FaultKind
    detail: Text


class StrictRecord(GameRecord, frozen=True, forbid_unknown_fields=True):
    """A record in which each field has the form that the arena gives it, and which has no other
    fields.
    """

    # Programs that only read records accept new fields and new words, which a later arena may
    # write, and are three times as fast without the patterns. This class accepts neither.
    id: Annotated[str, Meta(pattern=r"^[^/\s]+/[^/\s]+/[0-9]+/[0-9]+$")]
    deck: Annotated[str, Meta(pattern=r"^(RR|YY|BB|RY|YB|RB){72}$")]
    end: Literal["last pagoda", "no tiles", "no space", "forfeit"]
    faults: Annotated[list[StrictFault], Meta(max_length=MAX_SEATS)]  # type: ignore[assignment]
    sandbox: Text
    ended: Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]


_decode = msgspec.json.Decoder(StrictRecord).decode


class Difference(NamedTuple):
    """A difference between a file of a run and what the file should say.

    ``file``      the name of the file
    ``line``      counts from 1; None for a file that has no lines
    ``field``     the field that differs
    ``expected``  the right value, as shown to the user
    ``got``       the value in the file, as shown to the user
    """

    file: str
    line: int | None
    field: str
    expected: str
    got: str

    def __str__(self) -> str:
        """The difference in one line for people."""
        line = [f"line {self.line}"] if self.line else []
        place = ", ".join([self.file, *line, self.field])
        return f"{place}: expected {short(self.expected)}, got {short(self.got)}"


class Wrong(NamedTuple):
    """A mistake in a record: the ``field``, the ``expected`` value, and the value that the record
    has (``got``), all as texts for people.
    """

    field: str
    expected: str
    got: str


def decode_strictly(line: bytes) -> GameRecord | Wrong:
    """Decodes ``line``, a line of a journal with its newline. Returns the record, or the first
    mistake in the line.
    """
    try:
        record = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _undecodable(line, str(error))
    wrongs = chain(
        _wrong_lengths(record),
        _wrong_faults(record),
        _wrong_totals(record),
        _wrong_times(record),
        _wrong_sums(record),
        _wrong_end(record),
        _wrong_notes(record),
    )
    if first := next(wrongs, None):
        return first
    canonical = encode_record(record) + b"\n"
    if line != canonical:
        return Wrong("line", canonical.decode().rstrip(), _text_of(line))
    return record


def short(text: str, most: int = 160) -> str:
    """Returns ``text``; if it has more than ``most`` characters, its first and last ``most // 2``,
    with "..." between and its length added.
    """
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}...{text[-most // 2 :]} ({len(text)} characters)"


def _wrong_lengths(record: GameRecord) -> Iterator[Wrong]:
    """Yields a mistake for each by-seat list that does not have one value for each seat."""
    seats = len(record.bots)
    for field in FIELDS_BY_SEAT:
        values = getattr(record, field)
        if len(values) != seats:
            yield Wrong(field, f"{seats} values", str(values))


def _wrong_faults(record: GameRecord) -> Iterator[Wrong]:
    """Yields a mistake for each fault of a seat or a turn that the game does not have, and one if a
    seat has two faults.
    """
    seats = len(record.bots)
    for fault in record.faults:
        if fault.seat >= seats or fault.turn > record.turns:
            expected = f"a seat below {seats} and a turn up to {record.turns}"
            yield Wrong("faults", expected, f"seat {fault.seat}, turn {fault.turn}")
    faulty = [fault.seat for fault in record.faults]
    if len(set(faulty)) < len(faulty):
        yield Wrong("faults", "at most one fault per seat", f"seats {faulty}")


def _wrong_totals(record: GameRecord) -> Iterator[Wrong]:
    """Yields a mistake for each seat whose slowest answer took longer than all its answers
    together.
    """
    for seat, (slowest, total) in enumerate(zip(record.slowest_ms, record.think_ms, strict=True)):
        if slowest > total:
            expected = f"at most {total}, the total time of seat {seat}"
            yield Wrong("slowest_ms", expected, str(slowest))


def _wrong_times(record: GameRecord) -> Iterator[Wrong]:
    """Yields a mistake for each move without a time, each pass with a time, and each time above
    that of the seat's slowest answer. Yields nothing if the record has no times of single moves.
    """
    if record.ms is None:
        return
    if len(record.ms) != len(record.moves):
        yield Wrong("ms", f"{len(record.moves)} times, one for each move", str(len(record.ms)))
    for number, (move, ms) in enumerate(zip(record.moves, record.ms, strict=True)):
        slowest = record.slowest_ms[seat_of_move(number, len(record.bots))]
        is_pass = move == PASSED
        if is_pass and ms is not None:
            yield Wrong(f"ms[{number}]", "null for a pass", str(ms))
        if not is_pass and (ms is None or ms > slowest):
            yield Wrong(f"ms[{number}]", f"a time up to {slowest}, the slowest", str(ms))


def _wrong_sums(record: GameRecord) -> Iterator[Wrong]:
    """Yields a mistake for each seat whose total time, or the time of whose slowest answer, is not
    that of the seat's moves. Of a seat with a fault, the time of the answer at fault is unknown.
    Yields nothing if the record has no times of single moves.
    """
    if record.ms is None:
        return
    seats = len(record.bots)
    faulty = {fault.seat for fault in record.faults}
    for seat in range(seats):
        times = [ms for ms in record.ms[seat::seats] if ms is not None]
        total = sum(times)
        missing = record.think_ms[seat] - total
        # Each move's time and the total were rounded to a tenth; sums of floats are not exact.
        rounding = ROUNDING_MS * (len(times) + 1) + 1e-6
        if missing < -rounding or (missing > rounding and seat not in faulty):
            expected = f"{total:.1f} for seat {seat}, the sum of the times of its moves"
            yield Wrong("think_ms", expected, str(record.think_ms[seat]))
        slowest = max(times, default=0.0)
        if record.slowest_ms[seat] > slowest + 2 * ROUNDING_MS + 1e-6 and seat not in faulty:
            expected = f"{slowest} for seat {seat}, the time of its slowest move"
            yield Wrong("slowest_ms", expected, str(record.slowest_ms[seat]))


def _wrong_end(record: GameRecord) -> Iterator[Wrong]:
    """Yields a mistake if the time of the game's end is no date and time of day."""
    try:
        datetime.fromisoformat(record.ended)
    except ValueError:
        yield Wrong("ended", "a date and a time in UTC", record.ended)


def _wrong_notes(record: GameRecord) -> Iterator[Wrong]:
    """Yields a mistake for the first note that the arena would not have written in this form. What
    a note says is not checked.
    """
    if record.notes is None:
        return
    if not record.notes:
        yield Wrong("notes", "a note, or no such field", "[]")
    elif wrong := wrong_note(record.notes, record.turns):
        expected, got = wrong
        yield Wrong("notes", expected, got)


def _undecodable(line: bytes, message: str) -> Wrong:
    """The mistake in ``line``, which msgspec could not decode; ``message`` is msgspec's error
    message.
    """
    complaint, _, path = message.partition(BEFORE_FIELD)
    field = path.rstrip("`")
    got = ""
    if field:
        with suppress(msgspec.DecodeError, ValueError, RecursionError, KeyError, TypeError):
            top_level_field = END_OF_NAME.split(field)[0]
            got = msgspec.json.encode(msgspec.json.decode(line)[top_level_field]).decode()
    wanted = EXPECTED.match(complaint)
    expected = wanted[1] if wanted else f"a record by the schema ({complaint})"
    return Wrong(field or "line", expected, got or _text_of(line))


def _text_of(line: bytes) -> str:
    """Decodes a line of a journal to a text without its newline."""
    return line.decode(errors="replace").rstrip("\n")
