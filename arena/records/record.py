"""A record: everything known about a finished game, as one canonical line of JSON.

protocol/schemas/record.json describes records for other programs, and a test compares the two. Code
that wants a few fields of many records, and fast, declares a struct of its own with the types named
here.
"""

import re
from collections.abc import Iterable, Sequence, Sized
from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from arena.records.notes import Notes

VERSION: Literal[1] = 1
MAX_SEATS = 4
DUEL = 2
FORFEIT = "forfeit"
"""How a game ends if all bots but one forfeit."""
DEALS = 10_000_000
"""The numbers of a board's deals are below this."""
NS_PER_MS = 1_000_000
WHOLE = 12
"""A win in integer parts, which 1, 2, 3 or 4 winners can share evenly, so that sums are exact."""
UNKNOWN_MARGIN = 25
"""The margin of a forfeited game, of which only the winner is known; larger than any in pagodas."""
Margins = tuple[Sequence[int], Sequence[int]]
"""The margins of two bots that are compared, the new one first, game by game."""
NO_MARGINS: Margins = ((), ())
SPEED = re.compile(r"(.*) @ ([1-9][0-9]{0,8})/s", re.DOTALL)

Text = Annotated[str, Meta(min_length=1)]
Seats = Meta(min_length=2, max_length=MAX_SEATS)
Deal = Annotated[int, Meta(ge=0, le=DEALS - 1)]
Seating = Annotated[int, Meta(ge=0, le=23)]
TurnNumber = Annotated[int, Meta(ge=0, le=72)]
Left = Annotated[int, Meta(ge=0, le=24)]
Rank = Annotated[int, Meta(ge=1, le=MAX_SEATS)]
Milliseconds = Annotated[float, Meta(ge=0, le=1e12)]
"""At most thirty years: a journal may come from anybody, and a sum of times must stay finite."""
AnswerTimes = list[Milliseconds | None] | None


class Fault(Struct, frozen=True, gc=False):
    """A bot's fault: ``turn`` counts the placements before it, ``kind`` is one of
    `faults.FaultKind`.
    """

    seat: Annotated[int, Meta(ge=0, le=MAX_SEATS - 1)]
    turn: TurnNumber
    kind: str
    detail: str


def name_of(label: str) -> str:
    """``my-bot`` for ``my-bot@2:depth=3``: a bot's name without version and options."""
    return label.partition(":")[0].partition("@")[0]


def version_key(label: str) -> list[tuple[int, str]]:
    """A key that sorts the versions of a bot as people count: 2 before 10, 1.9 before 1.10."""
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
    ``clock``  ``cpu`` if time is the bots' CPU time; left out if it is that of the clock on
               the wall
    """

    moves: list[str]
    left: Annotated[list[Left], Seats]
    ranks: Annotated[list[Rank], Seats]
    end: str
    faults: Annotated[list[Fault], Meta(max_length=MAX_SEATS)]
    think_ms: Annotated[list[Milliseconds], Seats]
    slowest_ms: Annotated[list[Milliseconds], Seats]
    turns: TurnNumber
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


def utc_now() -> str:
    """The present time in UTC, to the second, such as ``2026-03-01T12:00:00Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def host_text(name: str, speed: int) -> str:
    """A machine with its measured speed in games a second: ``name @ 1200/s``."""
    return f"{name} @ {speed}/s"


def split_host(text: str) -> tuple[str, int | None]:
    """The name and the speed in a text of `host_text`; the speed is None if the text has none."""
    match = SPEED.fullmatch(text)
    if match is None:
        return text, None
    return match[1], int(match[2])
