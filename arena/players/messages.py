"""The messages of the protocol as typed structs (protocol/SPEC.md)."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from arena.values import ClockKind, Value

PROTOCOL = 1
Id = Annotated[int, Meta(ge=0, le=2**53 - 1)]
View = Literal["incremental", "full"]


class Hello(Struct, tag="hello", frozen=True):
    """The first message to a process; the bot answers with `Ready`. ``arena`` is the arena's
    version.
    """

    id: int
    protocol: int
    arena: str


class Start(Struct, tag="start", frozen=True, omit_defaults=True):
    """The start of a game. ``board`` has the board's rows, and ``pagodas`` is the number of pagodas
    that each player holds at the start. Times are in ms; ``game_ms`` is the bank for the whole
    game, absent if there is none.

    ``clock`` is ``wall`` if time is measured by the wall clock, and absent for CPU time.
    ``options`` has the value of each option that the bot declares, absent if it declares none.
    """

    players: int
    seat: int
    board: tuple[str, ...]
    pagodas: int
    seed: int
    move_ms: int
    game_ms: int | None = None
    increment_ms: int = 0
    clock: ClockKind = "cpu"
    options: dict[str, Value] = {}


class ProvinceView(Struct, frozen=True):
    """A province in the full view of a position: its ``colour``, the ``seat`` that owns it, the
    number of ``pagodas`` on it, and the names of its squares.
    """

    colour: str
    seat: int
    pagodas: int
    squares: list[str]


class VillageView(Struct, frozen=True):
    """A village in the full view of a position: the ``seat`` that owns it, None while it is free,
    and the names of its squares.
    """

    seat: int | None
    squares: list[str]


class PositionView(Struct, frozen=True):
    """Everything that is public in a position (R2.2). ``rows`` are the board's rows with the
    colours on them. ``left`` has the pagodas left and ``hands`` the number of tiles in hand, both
    by seat; ``pile`` is the number of tiles in the draw pile.
    """

    rows: list[str]
    provinces: list[ProvinceView]
    villages: list[VillageView]
    left: list[int]
    hands: list[int]
    pile: int


class Turn(Struct, tag="turn", frozen=True, gc=False):
    """A request for a move; the bot answers with `Move`. ``hand`` has the tiles of the seat, two
    letters each, and ``time_ms`` is the time for the answer in ms.
    """

    id: int
    hand: list[str]
    time_ms: int


class FullTurn(Struct, tag="turn", frozen=True):
    """A request for a move with the full view: like `Turn`, and ``position`` is a `PositionView`
    and ``legal`` the list of the legal moves, both already encoded as JSON.
    """

    id: int
    hand: list[str]
    time_ms: int
    position: Raw
    legal: Raw


class EventView(Struct, frozen=True, omit_defaults=True, gc=False):
    """One consequence of a placement: ``event`` is its kind, ``at`` a square. ``home`` has by seat
    the pagodas that were given back, None if none were.
    """

    event: str
    seat: int
    at: str
    size: int = 0
    home: list[int] | None = None


class Played(Struct, tag="played", frozen=True, omit_defaults=True, gc=False):
    """A public line: a seat placed a tile or passed. ``left`` has by seat the pagodas left
    afterwards, and ``pile`` is the number of tiles in the draw pile. ``forfeited`` says that the
    seat passed because it has left the game.
    """

    seat: int
    move: str
    events: list[EventView]
    left: list[int]
    pile: int
    forfeited: bool = False


class End(Struct, tag="end", frozen=True):
    """The message that the game is over: ``end`` is the reason, ``left`` the pagodas left and
    ``ranks`` the ranks, both by seat.
    """

    end: str
    left: list[int]
    ranks: list[int]


class Quit(Struct, tag="quit", frozen=True):
    """The message that tells a bot's process to exit, because no more games follow."""


class Ready(Struct, tag="ready", frozen=True):
    """The bot's answer to `Hello`. With the ``view`` ``full`` it gets each request as `FullTurn`,
    with ``incremental`` as `Turn`.
    """

    id: Id
    view: View = "incremental"


SILENCE = Raw()
"""The value of a missing note."""


class Move(Struct, tag="move", frozen=True, omit_defaults=True, gc=False):
    """The bot's answer to `Turn`. Whether the note is well formed is judged later, by
    `decoding.read_note` and then by `records.notes.note_of`, so that a bad note never costs the
    move.
    """

    id: Id
    move: str
    note: Raw = SILENCE


FromArena = Hello | Start | Turn | Played | End | Quit
"""A message as the SDK reads it."""
ToBot = FromArena | FullTurn
"""A message as the arena sends it."""
FromBot = Ready | Move
encode = msgspec.json.Encoder().encode
