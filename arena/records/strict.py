"""Checks a record against every rule of
protocol/schemas/record.json that concerns a single record.
"""

import re
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from arena.errors import FaultKind
from arena.records.record import GameRecord, decode_record, encode_record

Count = Annotated[int, Meta(ge=0)]
Turn = Annotated[int, Meta(ge=0, le=72)]
Text = Annotated[str, Meta(min_length=1)]
Seats = Meta(min_length=2, max_length=4)
Times = Annotated[list[Annotated[float, Meta(ge=0)]], Seats]
BY_SEAT = ("left", "ranks", "think_ms", "slowest_ms")
EXPECTED = re.compile(r"Expected (.*?)(?:, got .*)?$")
TOP = re.compile(r"[.\[]")
PLACE = " - at `$."
"""What msgspec puts between an error and the field it is about."""


class _Fault(Struct, forbid_unknown_fields=True):
    seat: Annotated[int, Meta(ge=0, le=3)]
    turn: Turn
    kind: FaultKind
    detail: Text


class _Record(Struct, forbid_unknown_fields=True):
    v: Literal[1]
    id: Annotated[str, Meta(pattern=r"^[^/\s]+/[^/\s]+/[0-9]+/[0-9]+$")]
    board: Text
    deal: Annotated[int, Meta(ge=0, le=9_999_999)]
    seating: Annotated[int, Meta(ge=0, le=23)]
    bots: Annotated[list[Text], Seats]
    deck: Annotated[str, Meta(pattern=r"^(RR|YY|BB|RY|YB|RB){72}$")]
    moves: list[str]
    left: Annotated[list[Annotated[int, Meta(ge=0, le=24)]], Seats]
    ranks: Annotated[list[Annotated[int, Meta(ge=1, le=4)]], Seats]
    end: Literal["last pagoda", "no tiles", "no space", "forfeit"]
    faults: Annotated[list[_Fault], Meta(max_length=4)]
    think_ms: Times
    slowest_ms: Times
    turns: Turn
    sandbox: Text
    host: str
    ended: Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]
    clock: Literal["cpu", "wall"] | None = None


_decode = msgspec.json.Decoder(_Record).decode


class Wrong(NamedTuple):
    """What is wrong with a record: the field, the expected value, and the actual one."""

    field: str
    expected: str
    got: str


def decode_strictly(line: bytes) -> GameRecord | Wrong:
    """The record in a line of a journal (with its newline), or the first thing wrong with it."""
    try:
        strict = _decode(line)
        record = decode_record(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _unreadable(line, str(error))
    seats = len(strict.bots)
    for field in BY_SEAT:
        if len(getattr(strict, field)) != seats:
            return Wrong(field, f"{seats} values", str(getattr(strict, field)))
    for fault in strict.faults:
        if fault.seat >= seats or fault.turn > strict.turns:
            return Wrong(
                "faults",
                f"a seat below {seats} and a turn up to {strict.turns}",
                f"seat {fault.seat}, turn {fault.turn}",
            )
    if len({fault.seat for fault in strict.faults}) < len(strict.faults):
        return Wrong(
            "faults",
            "at most one fault per seat",
            f"seats {[fault.seat for fault in strict.faults]}",
        )
    slow = next(
        (seat for seat in range(seats) if strict.slowest_ms[seat] > strict.think_ms[seat]), None
    )
    if slow is not None:
        return Wrong(
            "slowest_ms",
            f"at most {strict.think_ms[slow]}, the total time of seat {slow}",
            str(strict.slowest_ms[slow]),
        )
    canonical = encode_record(record) + b"\n"
    return (
        record
        if line == canonical
        else Wrong("line", canonical.decode().rstrip(), line.decode(errors="replace").rstrip("\n"))
    )


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
