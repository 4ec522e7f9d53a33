"""A record: everything known about a finished game, as one canonical line of JSON."""

from collections.abc import Iterable, Sequence, Sized
from typing import Protocol

import msgspec
from msgspec import Struct

VERSION = 1


class Fault(Struct, frozen=True):
    """A bot's fault: ``turn`` counts the placements before it, ``kind`` is one of
    `errors.FaultKind`.
    """

    seat: int
    turn: int
    kind: str
    detail: str


class GameRecord(Struct, frozen=True, omit_defaults=True):
    """One finished game; lists are by seat unless said otherwise.

    ``deck``   all 72 tiles in draw order, two letters each
    ``moves``  in order of play, including passes by the referee
    ``left``   pagodas left; ``ranks`` 1 is best, equal is equal
    ``end``    last pagoda, no tiles, no space or forfeit
    ``think_ms``, ``slowest_ms``  total time of all answers, and the longest single one
    ``turns``  number of placements; ``sandbox`` the tier in use; ``ended`` in UTC
    ``clock``  ``cpu`` if time is the bots' processor time; left out if it is that of the clock on
               the wall
    """

    v: int
    id: str
    board: str
    deal: int
    seating: int
    bots: list[str]
    deck: str
    moves: list[str]
    left: list[int]
    ranks: list[int]
    end: str
    faults: list[Fault]
    think_ms: list[float]
    slowest_ms: list[float]
    turns: int
    sandbox: str
    host: str
    ended: str
    clock: str | None = None


encode_record = msgspec.json.Encoder().encode
decode_record = msgspec.json.Decoder(GameRecord).decode


class OfASeat(Protocol):
    """A fault, of which at least the seat was read."""

    @property
    def seat(self) -> int:
        """The seat at fault."""


def check_seats(seats: int, faults: Iterable[OfASeat], *lists: Sized) -> None:
    """Raises ValueError unless each of a record's by-seat lists has ``seats`` entries, and its
    faults name existing seats.
    """
    for entries in lists:
        if len(entries) != seats:
            raise ValueError(f"expected ranks, left and times of {seats} seats")
    for fault in faults:
        if not 0 <= fault.seat < seats:
            raise ValueError(f"expected a fault of a seat below {seats}, got {fault.seat}")


def shares(ranks: Sequence[int]) -> list[float]:
    """Each seat's share of the win: 1/k for each of the k seats at rank 1, 0 for the rest."""
    winners = ranks.count(1)
    return [1 / winners if rank == 1 else 0.0 for rank in ranks]
