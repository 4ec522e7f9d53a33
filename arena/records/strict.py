"""Checks a record against every rule of protocol/schemas/record.json that concerns a single record,
and says where a run's folder does not say what it should.
"""

import re
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from arena.errors import FaultKind
from arena.records.note import wrong_note
from arena.records.record import MOST_SEATS, Fault, GameRecord, Text, encode_record
from arena.rules.notation import PASSED

BY_SEAT = ("left", "ranks", "think_ms", "slowest_ms")
EXPECTED = re.compile(r"Expected (.*?)(?:, got .*)?$")
TOP = re.compile(r"[.\[]")
PLACE = " - at `$."
"""What msgspec puts between an error and the field it is about."""


class _StrictFault(Fault, frozen=True, forbid_unknown_fields=True):
    kind: FaultKind
    detail: Text


class _StrictRecord(GameRecord, frozen=True, forbid_unknown_fields=True):
    # Who only reads records takes new fields and new words, which a later arena may write, and is
    # three times as fast without the patterns. Here nothing is overlooked.
    id: Annotated[str, Meta(pattern=r"^[^/\s]+/[^/\s]+/[0-9]+/[0-9]+$")]
    deck: Annotated[str, Meta(pattern=r"^(RR|YY|BB|RY|YB|RB){72}$")]
    end: Literal["last pagoda", "no tiles", "no space", "forfeit"]
    faults: Annotated[list[_StrictFault], Meta(max_length=MOST_SEATS)]  # type: ignore[assignment]
    sandbox: Text
    ended: Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]


_decode = msgspec.json.Decoder(_StrictRecord).decode


class Difference(NamedTuple):
    """``line`` counts from 1, None if the file has no lines; ``field`` is what differs; the other
    two are shown to the user unchanged.
    """

    file: str
    line: int | None
    field: str
    expected: str
    got: str

    def __str__(self) -> str:
        """One line for people."""
        place = ", ".join([self.file, *([f"line {self.line}"] if self.line else []), self.field])
        return f"{place}: expected {short(self.expected)}, got {short(self.got)}"


class Wrong(NamedTuple):
    """What is wrong with a record: the field, the expected value, and the actual one."""

    field: str
    expected: str
    got: str


def decode_strictly(line: bytes) -> GameRecord | Wrong:
    """The record in a line of a journal (with its newline), or the first thing wrong with it."""
    try:
        record = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _unreadable(line, str(error))
    seats = len(record.bots)
    for field in BY_SEAT:
        if len(getattr(record, field)) != seats:
            return Wrong(field, f"{seats} values", str(getattr(record, field)))
    for fault in record.faults:
        if fault.seat >= seats or fault.turn > record.turns:
            return Wrong(
                "faults",
                f"a seat below {seats} and a turn up to {record.turns}",
                f"seat {fault.seat}, turn {fault.turn}",
            )
    if len({fault.seat for fault in record.faults}) < len(record.faults):
        return Wrong(
            "faults",
            "at most one fault per seat",
            f"seats {[fault.seat for fault in record.faults]}",
        )
    slow = next(
        (seat for seat in range(seats) if record.slowest_ms[seat] > record.think_ms[seat]), None
    )
    if slow is not None:
        return Wrong(
            "slowest_ms",
            f"at most {record.think_ms[slow]}, the total time of seat {slow}",
            str(record.slowest_ms[slow]),
        )
    wrong = _wrong_times(record) or _wrong_notes(record)
    if wrong:
        return wrong
    canonical = encode_record(record) + b"\n"
    return (
        record
        if line == canonical
        else Wrong("line", canonical.decode().rstrip(), line.decode(errors="replace").rstrip("\n"))
    )


def _wrong_times(record: GameRecord) -> Wrong | None:
    """Whether each placement has a time, which is at most that of the seat's slowest answer."""
    if record.ms is None:
        return None
    if len(record.ms) != len(record.moves):
        return Wrong("ms", f"{len(record.moves)} times, one for each move", str(len(record.ms)))
    for number, (move, ms) in enumerate(zip(record.moves, record.ms, strict=True)):
        most = record.slowest_ms[number % len(record.bots)]
        if (ms is None) != (move == PASSED) or (ms or 0.0) > most:
            expected = "null for a pass" if move == PASSED else f"a time up to {most}, the slowest"
            return Wrong(f"ms[{number}]", expected, str(ms))
    return None


def _wrong_notes(record: GameRecord) -> Wrong | None:
    """The form of the notes; what they say is the bot's affair."""
    if record.notes is None:
        return None
    if not record.notes:
        return Wrong("notes", "a note, or no such field", "[]")
    found = wrong_note(record.notes, record.turns)
    return Wrong("notes", *found) if found else None


def _unreadable(line: bytes, message: str) -> Wrong:
    """The parts of msgspec's error about a line."""
    complaint, _, place = message.partition(PLACE)
    wanted = EXPECTED.match(complaint)
    expected = wanted[1] if wanted else f"a record by the schema ({complaint})"
    field = place.rstrip("`")
    try:
        got = msgspec.json.encode(
            msgspec.json.decode(line)[TOP.split(field)[0]] if field else None
        ).decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError):
        got = ""
    return Wrong(
        field or "line",
        expected,
        got if field and got else line.decode(errors="replace").rstrip("\n"),
    )


def short(text: str, most: int = 160) -> str:
    """The text, shortened in the middle if it is long."""
    return (
        text
        if len(text) <= most
        else f"{text[: most // 2]}...{text[-most // 2 :]} ({len(text)} characters)"
    )
