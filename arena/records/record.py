"""A record: what the arena knows about one finished game, as one canonical line of JSON.

protocol/schemas/record.json describes records for other programs; a test compares that file with
the classes here. Code that reads a few fields of many records, and fast, declares a struct of its
own with the types named here.
"""

import re
from collections.abc import Iterable, Sequence, Sized
from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from arena.records.notes import Notes
from arena.rules.notation import PASSED, seat_of_move

VERSION: Literal[1] = 1
MAX_SEATS = 4
DUEL = 2
FORFEIT = "forfeit"
"""The ``end`` of a game that is over because all bots but one forfeited."""
DEALS = 10_000_000
"""Upper limit for the numbers of a board's deals: they are 0 to ``DEALS - 1``."""
NS_PER_MS = 1_000_000
WHOLE = 12
"""The number of integer parts of a win. 1, 2, 3 or 4 winners can share 12 parts evenly, so sums of
parts are exact.
"""
UNKNOWN_MARGIN = 25
"""The margin of a forfeited game of two players, of which only the winner is known; larger than any
margin in pagodas.
"""
Margins = tuple[Sequence[int], Sequence[int]]
"""The margins of two compared bots, one entry per game in each list: first the margins of the new
bot, then those of the old one.
"""
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
"""A time in ms, at most thirty years: a journal may come from anybody, and a sum of times must stay
finite.
"""
AnswerTimes = list[Milliseconds | None] | None


class Fault(Struct, frozen=True, gc=False):
    """A fault of the bot in ``seat``. ``turn`` is the number of placements before the fault,
    ``kind`` is one of `faults.FaultKind`, ``detail`` is a text for people.
    """

    seat: Annotated[int, Meta(ge=0, le=MAX_SEATS - 1)]
    turn: TurnNumber
    kind: str
    detail: str


def name_of(label: str) -> str:
    """The bot's name in ``label``, without version and options: ``my-bot`` for
    ``my-bot@2:depth=3``.
    """
    return label.partition(":")[0].partition("@")[0]


def version_key(label: str) -> list[tuple[int, str]]:
    """A sorting key for the versions of one bot, given by ``label``, the label of one of them. It
    compares numbers by value: 2 before 10, 1.9 before 1.10.
    """
    version = label.partition(":")[0].partition("@")[2]
    return [_sorting_key(part) for part in re.split(r"(\d+)", version)]


def _sorting_key(part: str) -> tuple[int, str]:
    """Sorts the numbers among the parts of a version by value, after all other parts."""
    if not part.isdecimal():
        return -1, part
    # By length and text, because int() refuses more than 4,300 digits.
    digits = part.lstrip("0")
    return len(digits), digits


class DealtGame(Struct, frozen=True, omit_defaults=True):
    """A game to play: ``id``, board, numbers of its deal and seating, the labels of the ``bots`` by
    seat, and the ``deck``, all 72 tiles in draw order, two letters each. ``v`` is the version of
    the format.
    """

    v: Literal[1]
    id: str
    board: Text
    deal: Deal
    seating: Seating
    bots: Annotated[list[Text], Seats]
    deck: str


class GameRecord(DealtGame, frozen=True, omit_defaults=True):
    """One finished game; lists have one entry per seat unless said otherwise.

    ``moves``       the moves of all seats in the order of play, including passes by the referee
    ``left``        pagodas left; fewer are better
    ``ranks``       1 is best; seats with equal results share a rank
    ``end``         how the game ended: last pagoda, no tiles, no space or forfeit
    ``faults``      the faults of bots that forfeited, in the order in which they forfeited
    ``think_ms``    total time of all answers, in ms
    ``slowest_ms``  time of the slowest answer, in ms
    ``turns``       number of placements
    ``sandbox``     the kind of sandbox, and the grants that seats had beyond it, such as
                    ``bubblewrap 0=network,env``
    ``host``        the machine that played the game, with its measured speed, see `host_text`
    ``ended``       time in UTC
    ``clock``       ``cpu`` if times are CPU time of the bots; None if they are those of the wall
                    clock
    ``ms``          the time of each entry of ``moves`` in ms, None for a pass; the list is None if
                    only totals are known
    ``notes``       what bots noted about their moves; None without notes
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
    """Raises ValueError unless each of the ``lists`` has ``seats`` entries, and each fault has an
    existing seat.
    """
    if any(len(entries) != seats for entries in lists):
        raise ValueError(f"expected ranks, left and times of {seats} seats")
    for fault in faults:
        if not 0 <= fault.seat < seats:
            raise ValueError(f"expected a fault of a seat below {seats}, got {fault.seat}")


def placed_at(moves: Sequence[str]) -> list[int]:
    """The indices of the placements among the ``moves`` of a game, which has passes, too."""
    return [index for index, text in enumerate(moves) if text != PASSED]


def movers_of(moves: Sequence[str], seats: int) -> list[int]:
    """The seat that made each placement among the ``moves`` of a game with this number of
    ``seats``, in the order of the placements.
    """
    return [seat_of_move(index, seats) for index in placed_at(moves)]


def faults_of(record: GameRecord, seat: int) -> list[Fault]:
    """The faults of ``seat`` in the game of ``record``."""
    return [fault for fault in record.faults if fault.seat == seat]


def shares(ranks: Sequence[int]) -> list[float]:
    """For ``ranks`` by seat, each seat's share of the win: 1/k for each of the k seats at rank 1, 0
    for the other seats.
    """
    winners = ranks.count(1)
    return [1 / winners if rank == 1 else 0.0 for rank in ranks]


def margins(game: GameRecord) -> list[int]:
    """By how much each seat of a game won (above 0) or lost (below 0).

    With two players it is the difference in pagodas left, or `UNKNOWN_MARGIN` either way if a bot
    forfeited, because pagodas left then say nothing about who would have won by how much. With more
    players the margin only expresses the rank: 0 for the only seat at rank 1, -1, -2 or -3 if 2, 3
    or 4 seats share rank 1, and 4 less for each rank below.
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
    """Describes a machine by its name and measured speed in games a second: ``name @ 1200/s``."""
    return f"{name} @ {speed}/s"


def split_host(text: str) -> tuple[str, int | None]:
    """Splits a text made by `host_text` into name and speed in games a second; for any other text,
    the whole text and None.
    """
    match = SPEED.fullmatch(text)
    if match is None:
        return text, None
    return match[1], int(match[2])
