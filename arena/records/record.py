"""A record: everything known about a finished game, as one canonical line of JSON; and what is kept
in it of a bot's notes on its moves, by the limits of P5.6 in protocol/SPEC.md.

protocol/schemas/record.json is the same for the world, and a test holds the two together. Where
only a few fields are wanted, and fast, a view declares those with the types that are named here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from arena.errors import FaultKind
from arena.rules.notation import PASSED

VERSION: Literal[1] = 1
MOST_SEATS = 4
DUEL = 2
FORFEIT = "forfeit"
"""How a game ends in which all but one forfeit."""
DEALS = 10_000_000
"""The deals of a board have numbers below this."""
UNKNOWN_MARGIN = 25
"""A margin larger than any in pagodas: that of a forfeited game, of which only the winner is known.
"""
Margins = tuple[Sequence[int], Sequence[int]]
"""The margins of two bots that are compared, the new one first, game by game."""
NO_MARGINS: Margins = ((), ())
SPEED = re.compile(r"(.*) @ ([1-9][0-9]{0,8})/s", re.DOTALL)

Text = Annotated[str, Meta(min_length=1)]
Seats = Meta(min_length=2, max_length=MOST_SEATS)
Deal = Annotated[int, Meta(ge=0, le=DEALS - 1)]
Seating = Annotated[int, Meta(ge=0, le=23)]
Turn = Annotated[int, Meta(ge=0, le=72)]
Left = Annotated[int, Meta(ge=0, le=24)]
Rank = Annotated[int, Meta(ge=1, le=MOST_SEATS)]
Milliseconds = Annotated[float, Meta(ge=0, le=1e12)]
"""Up to thirty years: a journal may come from anybody, and sums of such times are still numbers."""
AnswerTimes = list[Milliseconds | None] | None
Entry = dict[str, int | float | str]
"""A note in a record: the turn, then what the bot said, as it named it."""
Notes = list[Entry] | None


class Fault(Struct, frozen=True, gc=False):
    """A bot's fault: ``turn`` counts the placements before it, ``kind`` is one of
    `errors.FaultKind`.
    """

    seat: Annotated[int, Meta(ge=0, le=MOST_SEATS - 1)]
    turn: Turn
    kind: str
    detail: str


def name_of(label: str) -> str:
    """``my-bot`` for ``my-bot@2:depth=3``: a bot's name without version and options."""
    return label.partition(":")[0].partition("@")[0]


def version_key(label: str) -> list[tuple[int, str]]:
    """What orders the versions of a bot as people count: 2 before 10, 1.9 before 1.10."""
    version = label.partition(":")[0].partition("@")[2]
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", version)
    ]


class DealtGame(Struct, frozen=True, omit_defaults=True):
    """A game to play: ``bots`` by seat, and the ``deck``, all 72 tiles in draw order, two letters
    each.
    """

    v: Literal[1]
    id: str
    board: Text
    deal: Deal
    seating: Seating
    bots: Annotated[list[Text], Seats]
    deck: str


class GameRecord(DealtGame, frozen=True, omit_defaults=True):
    """One finished game; lists are by seat unless said otherwise.

    ``moves``  in order of play, including passes by the referee
    ``left``   pagodas left; ``ranks`` 1 is best, equal is equal
    ``end``    last pagoda, no tiles, no space or forfeit
    ``think_ms``, ``slowest_ms``  total time of all answers, and the longest single one
    ``turns``  number of placements; ``ended`` in UTC
    ``sandbox``  the tier in use, and what seats might do beyond it: ``bubblewrap 0=network,env``
    ``clock``  ``cpu`` if time is the bots' processor time; left out if it is that of the clock on
               the wall
    """

    moves: list[str]
    left: Annotated[list[Left], Seats]
    ranks: Annotated[list[Rank], Seats]
    end: str
    faults: Annotated[list[Fault], Meta(max_length=MOST_SEATS)]
    think_ms: Annotated[list[Milliseconds], Seats]
    slowest_ms: Annotated[list[Milliseconds], Seats]
    turns: Turn
    sandbox: str
    host: str
    ended: str
    clock: Literal["cpu", "wall"] | None = None
    ms: AnswerTimes = None
    notes: Notes = None


encode_record = msgspec.json.Encoder().encode
decode_record = msgspec.json.Decoder(GameRecord).decode


def check_seats(seats: int, faults: Iterable[Fault], *lists: Sized) -> None:
    """Raises ValueError unless each of a record's by-seat lists has ``seats`` entries, and its
    faults name existing seats.
    """
    if any(len(entries) != seats for entries in lists):
        raise ValueError(f"expected ranks, left and times of {seats} seats")
    for fault in faults:
        if not 0 <= fault.seat < seats:
            raise ValueError(f"expected a fault of a seat below {seats}, got {fault.seat}")


def shares(ranks: Sequence[int]) -> list[float]:
    """Each seat's share of the win: 1/k for each of the k seats at rank 1, 0 for the rest."""
    winners = ranks.count(1)
    return [1 / winners if rank == 1 else 0.0 for rank in ranks]


def margins(game: GameRecord) -> list[int]:
    """By how much each seat won (above 0) or lost, or its rank if there are more than two players.

    With two players it is the difference in pagodas left, or `UNKNOWN_MARGIN` either way if the
    game was forfeited: it ended with pagodas in hand that say nothing about who would have won by
    how much. With more players it is 0 for rank 1, -1 to -3 if that is shared by 2 to 4, and 4 less
    for each rank below.
    """
    if len(game.bots) > DUEL:
        return [-4 * (rank - 1) - game.ranks.count(rank) + 1 for rank in game.ranks]
    lead = game.left[1] - game.left[0]
    if game.faults:
        lead = UNKNOWN_MARGIN * (game.ranks[1] - game.ranks[0])
    return [lead, -lead]


def host_text(name: str, speed: int) -> str:
    """``name @ 1200/s``."""
    return f"{name} @ {speed}/s"


def split_host(text: str) -> tuple[str, int | None]:
    """The name, and the speed if it was measured."""
    found = SPEED.fullmatch(text)
    return (found[1], int(found[2])) if found else (text, None)


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
    wrong = next(chain(_wrong_seats(record), _wrong_times(record), _wrong_notes(record)), None)
    canonical = encode_record(record) + b"\n"
    if wrong or line == canonical:
        return wrong or record
    return Wrong("line", canonical.decode().rstrip(), _text_of(line))


def _wrong_seats(record: GameRecord) -> Iterator[Wrong]:
    seats, faulty = len(record.bots), [fault.seat for fault in record.faults]
    for field in BY_SEAT:
        if len(getattr(record, field)) != seats:
            yield Wrong(field, f"{seats} values", str(getattr(record, field)))
    for fault in record.faults:
        if fault.seat >= seats or fault.turn > record.turns:
            expected = f"a seat below {seats} and a turn up to {record.turns}"
            yield Wrong("faults", expected, f"seat {fault.seat}, turn {fault.turn}")
    if len({*faulty}) < len(faulty):
        yield Wrong("faults", "at most one fault per seat", f"seats {faulty}")
    for seat, (slowest, total) in enumerate(zip(record.slowest_ms, record.think_ms, strict=True)):
        if slowest > total:
            expected = f"at most {total}, the total time of seat {seat}"
            yield Wrong("slowest_ms", expected, str(slowest))


def _wrong_times(record: GameRecord) -> Iterator[Wrong]:
    """Whether each placement has a time, which is at most that of the seat's slowest answer."""
    if record.ms is None:
        return
    if len(record.ms) != len(record.moves):
        yield Wrong("ms", f"{len(record.moves)} times, one for each move", str(len(record.ms)))
    for number, (move, ms) in enumerate(zip(record.moves, record.ms, strict=True)):
        most = record.slowest_ms[number % len(record.bots)]
        if (ms is None) != (move == PASSED) or (ms or 0.0) > most:
            expected = "null for a pass" if move == PASSED else f"a time up to {most}, the slowest"
            yield Wrong(f"ms[{number}]", expected, str(ms))


def _wrong_notes(record: GameRecord) -> Iterator[Wrong]:
    """The form of the notes; what they say is the bot's affair."""
    found = wrong_note(record.notes or [], record.turns)
    if found or record.notes == []:
        yield Wrong("notes", *(found or ("a note, or no such field", "[]")))


def _unreadable(line: bytes, message: str) -> Wrong:
    """The parts of msgspec's error about a line."""
    complaint, _, place = message.partition(PLACE)
    wanted, field = EXPECTED.match(complaint), place.rstrip("`")
    got = ""
    if field:
        with suppress(msgspec.DecodeError, ValueError, RecursionError, KeyError, TypeError):
            got = msgspec.json.encode(msgspec.json.decode(line)[TOP.split(field)[0]]).decode()
    expected = wanted[1] if wanted else f"a record by the schema ({complaint})"
    return Wrong(field or "line", expected, got or _text_of(line))


def _text_of(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\n")


def short(text: str, most: int = 160) -> str:
    """The text, shortened in the middle if it is long."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}...{text[-most // 2 :]} ({len(text)} characters)"


# notes

MOST_TEXT, MOST_NUMBERS, MOST_NAME = 160, 8, 24
"""Characters of the text, named numbers, and characters of their names; the rest is cut."""
LARGEST = 2**53 - 1
"""No named number is further from 0."""
VALUE_DECIMALS, DIGITS = 4, 6
"""What is kept of the value, and the significant digits of a number with a fraction."""
NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_]{{0,{MOST_NAME - 1}}}", re.ASCII)
TAKEN = frozenset(("turn", "seat", "value", "text"))
"""What no number can be called: they would be taken for what the arena says."""
HARMLESS = "no control characters, and none that hide or reorder"
MOST_SAID = f"at most {MOST_NUMBERS} numbers"
# Fixed ranges, not str.isprintable: what that says of new characters differs between versions of
# Python, and a record has to be the same for all.
HIDING = re.compile(
    "[\0-\x1f\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""What controls a terminal, hides words or turns them round, and what is no character."""


class Note(Struct, frozen=True):
    """What is ``kept`` of a note, by name and in the bot's order."""

    kept: dict[str, int | float | str]

    @property
    def value(self) -> float | None:
        """The expected share of the win, 0 to 1, if the bot said it."""
        value = self.kept.get("value")
        return value if isinstance(value, float) else None

    @property
    def text(self) -> str:
        """The text, or nothing."""
        return str(self.kept.get("text", ""))

    @property
    def numbers(self) -> dict[str, int | float]:
        """The numbers that have names of the bot's own."""
        items = self.kept.items()
        return {name: n for name, n in items if name != "value" and not isinstance(n, str)}

    def entry(self, turn: int) -> Entry:
        """The note of the move that was made after ``turn`` placements, for a record."""
        return {"turn": turn, **self.kept}

    def __str__(self) -> str:
        """One line for people."""
        said = [] if self.value is None else [f"value {self.value:g}"]
        said += [f"{name} {number}" for name, number in self.numbers.items()]
        return ": ".join(part for part in (", ".join(said), self.text) if part)


def note_of(said: object) -> Note | None:
    """What is kept of anything that a bot may have said; None if that is nothing. It never fails,
    since a note costs no bot its move.
    """
    parts = _parts(said) if isinstance(said, dict) else ()
    kept = {name: fitting for name, _, fitting, _ in parts if fitting is not None}
    return Note(kept) if kept else None


class Loss(NamedTuple):
    """A part of a note that is cut or dropped: what was expected of it, and what came."""

    part: str
    expected: str
    got: str


def losses(said: object) -> list[Loss]:
    """What `note_of` does not keep as it was said, for a bot's author."""
    if not isinstance(said, dict):
        return [] if said is None else [Loss("note", "an object", _shown(said, is_text=False))]
    return [
        Loss(name, expected, _shown(told, is_text=name == "text"))
        for name, told, _, expected in _parts(said)
        if expected
    ]


def _parts(said: dict[str, Any]) -> Iterator[tuple[str, Any, float | str | None, str]]:
    """The parts of a note: name, what was said, what is kept of it, and what was expected where
    that is less.
    """
    numbers = 0
    for name, told in said.items():
        fitting: float | str | None = None
        if name == "value":
            fitting = _value_of(told)
            expected = "a number from 0 to 1" if fitting is None else ""
        elif name == "text":
            fitting, expected = _fitting_text(told), "text"
            if isinstance(told, str):
                is_long, is_whole = len(told) > MOST_TEXT, (fitting or "") == told.strip()
                expected = (
                    f"at most {MOST_TEXT} characters" if is_long else "" if is_whole else HARMLESS
                )
        elif name in TAKEN:
            expected = "another name, because turn and seat are the arena's"
        elif not NAME.fullmatch(name):
            expected = f"a name of 1 to {MOST_NAME} letters, digits and _, with a letter first"
        elif (number := _number_of(told)) is None:
            expected = f"a number no further from 0 than {LARGEST:,}"
        else:
            numbers += 1
            fitting, expected = (number, "") if numbers <= MOST_NUMBERS else (None, MOST_SAID)
        yield name, told, fitting, expected


def _shown(told: object, *, is_text: bool) -> str:
    """A part of a note in a few characters; it may be of any size and depth."""
    if isinstance(told, str):
        return f"{len(told)} characters" if is_text else repr(told[:MOST_NAME])
    if isinstance(told, list | dict):
        return "a list" if isinstance(told, list) else "an object"
    return "a larger one" if isinstance(told, int) and abs(told) > LARGEST else str(told)


def _value_of(told: object) -> float | None:
    if type(told) is not float and type(told) is not int:
        return None
    # Nothing is rounded that is far out: a whole number may be too large for a float.
    value = round(told, VALUE_DECIMALS) + 0.0 if -1 < told < 2 else -1.0  # noqa: PLR2004
    return value if 0 <= value <= 1 else None


def _number_of(told: object) -> int | float | None:
    if type(told) is int:
        return told if -LARGEST <= told <= LARGEST else None
    if type(told) is float and -LARGEST <= told <= LARGEST:
        return float(f"{told:.{DIGITS}g}")
    return None


def _fitting_text(told: object) -> str | None:
    if type(told) is not str:
        return None
    text = told[:MOST_TEXT]
    if not (text.isascii() and text.isprintable()):
        text = HIDING.sub(" ", text)
    return text.strip() or None


def kept_notes(notes: Sequence[Entry] | None) -> dict[int, Note]:
    """The notes of a record by turn. They may come from a stranger's journal, so they are cut once
    more.
    """
    found = {}
    for entry in notes or ():
        turn, note = entry.get("turn"), note_of(entry)
        if type(turn) is int and note:
            found[turn] = note
    return found


def wrong_note(notes: Sequence[Mapping[str, Any]], turns: int) -> tuple[str, str] | None:
    """What was expected of the first note of a record that is not as the arena writes them, and
    what it is; ``turns`` is the number of placements.
    """
    before = -1
    for entry in notes:
        turn, note = entry.get("turn"), note_of(entry)
        if type(turn) is not int or not before < turn < turns:
            return f"a turn above {before} and below {turns}", str(turn)
        if note is None or note.entry(turn) != entry:
            return "a note within the limits of P5.6", str(dict(entry))
        before = turn
    return None
