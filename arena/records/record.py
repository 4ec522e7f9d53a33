"""A record: everything known about a finished game, as one canonical line of JSON.

protocol/schemas/record.json is the same for the world, and a test holds the two together. Where
only a few fields are wanted, and fast, a view declares those with the types that are named here.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import suppress
from itertools import chain
from statistics import median
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from arena.errors import FaultKind
from arena.records.note import Entry, wrong_note
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
DIFFERENT = 1.25
"""If one machine is more than this many times as fast as another, equal times do not give bots
equal computing power.
"""
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


def unlike(machines: Iterable[tuple[str, int | None]]) -> tuple[str, str, float] | None:
    """The slowest machine, the fastest, and the ratio of their speeds; None unless the ratio is too
    large.

    A machine that was measured more than once counts with its median speed.
    """
    measured = defaultdict[str, list[int]](list)
    for name, speed in machines:
        if speed is not None:
            measured[name].append(speed)
    known = sorted((median(speeds), name) for name, speeds in measured.items())
    if not known or known[-1][0] <= DIFFERENT * known[0][0]:
        return None
    return known[0][1], known[-1][1], known[-1][0] / known[0][0]


DIGITS = 4
"""The last digits of a deal's number, which are a bit of a page of ids."""


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
        """Adds an id; False when it was there before."""
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
    """The page of an id and its bit on that page, 0 if it has none. Page and bit together determine
    the id exactly.
    """
    line_up, *rest = name.rsplit("/", 2)
    if len(rest) == 2:  # noqa: PLR2004 - the deal and the seating
        deal, seating = rest
        last = deal[-DIGITS:]
        if last.isdecimal() and last.isascii():
            return (line_up, deal[:-DIGITS], len(last), seating), 1 << int(last)
    return ("", "", 0, ""), 0


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
