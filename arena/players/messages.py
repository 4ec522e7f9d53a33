"""The protocol's messages as typed structs (protocol/SPEC.md), and what they show of a game."""

import json
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw, Struct
from msgspec.structs import replace

from arena.errors import FaultKind, Forfeit
from arena.rules import State
from arena.rules.boards import COLOURS, Board, squares_of
from arena.rules.notation import TILES, move_text
from arena.rules.terms import NOBODY, Event
from arena.values import ClockKind, Value

PROTOCOL = 1

Id = Annotated[int, Meta(ge=0, le=2**53 - 1)]
View = Literal["incremental", "full"]


class Hello(Struct, tag="hello", frozen=True):
    """The first line to a process; answered by `Ready`."""

    id: int
    protocol: int
    arena: str


class Start(Struct, tag="start", frozen=True, omit_defaults=True):
    """A game begins. Times are in ms; ``game_ms`` is the bank for the whole game, absent if there
    is none.

    ``clock`` is ``wall`` if time is measured by the wall clock, absent if it is processor time.
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
    """A province in the full view."""

    colour: str
    seat: int
    pagodas: int
    squares: list[str]


class VillageView(Struct, frozen=True):
    """A village in the full view; ``seat`` is None while it is free."""

    seat: int | None
    squares: list[str]


class PositionView(Struct, frozen=True):
    """Everything R2.2 makes public. ``rows`` are the board's with the colours on them."""

    rows: list[str]
    provinces: list[ProvinceView]
    villages: list[VillageView]
    left: list[int]
    hands: list[int]
    pile: int


class Turn(Struct, tag="turn", frozen=True, omit_defaults=True, gc=False):
    """The seat must move; answered by `Move`. Only the full view has the last two fields."""

    id: int
    hand: list[str]
    time_ms: int
    position: PositionView | None = None
    legal: list[str] | None = None


class EventView(Struct, frozen=True, omit_defaults=True, gc=False):
    """One consequence of a placement; ``home`` are the pagodas each seat got back, if any."""

    event: str
    seat: int
    at: str
    size: int = 0
    home: list[int] | None = None


class Played(Struct, tag="played", frozen=True, omit_defaults=True, gc=False):
    """A seat placed a tile or passed; ``forfeited`` if it passes because it has left the game."""

    seat: int
    move: str
    events: list[EventView]
    left: list[int]
    pile: int
    forfeited: bool = False


class End(Struct, tag="end", frozen=True):
    """The game is over."""

    end: str
    left: list[int]
    ranks: list[int]


class Quit(Struct, tag="quit", frozen=True):
    """No more games: the process should exit."""


class Ready(Struct, tag="ready", frozen=True):
    """The answer to `Hello`."""

    id: Id
    view: View = "incremental"


ODD = (ValueError, RecursionError, LookupError, TypeError, AttributeError, msgspec.MsgspecError)
"""What reading a line may raise that is not JSON, or another JSON."""
SILENCE = Raw()
"""No note."""


class Move(Struct, tag="move", frozen=True, omit_defaults=True, gc=False):
    """The answer to `Turn`. What a note may be is judged later, by `said` and then by
    `records.record.note_of`, so that it never costs the move.
    """

    id: Id
    move: str
    note: Raw = SILENCE


FromArena = Hello | Start | Turn | Played | End | Quit
FromBot = Ready | Move

MOVE_EXAMPLE = '{"type":"move","id":2,"move":"Rc4Yd4"}'
READY_EXAMPLE = '{"type":"ready","id":1,"view":"full"}'

encode = msgspec.json.Encoder().encode
_from_arena: msgspec.json.Decoder[FromArena] = msgspec.json.Decoder(FromArena)
_any = msgspec.json.Decoder().decode
_known_types = frozenset(
    struct.__struct_config__.tag for struct in (Hello, Start, Turn, Played, End, Quit)
)
_from_bot: msgspec.json.Decoder[FromBot] = msgspec.json.Decoder(FromBot)


class _Typed(Struct):
    type: str


def decode_from_arena(line: bytes) -> FromArena | None:
    """A message from the arena; None for a type of a later protocol. Raises msgspec.DecodeError."""
    try:
        return _from_arena.decode(line)
    except msgspec.ValidationError:
        if msgspec.json.decode(line, type=_Typed).type in _known_types:
            raise
        return None


def decode_reply(line: bytes, example: str = MOVE_EXAMPLE) -> FromBot:
    """The reply, where one like ``example`` is due. Raises Forfeit (NOT_JSON, WRONG_SHAPE)."""
    try:
        return _from_bot.decode(line.decode())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        if not isinstance(error, msgspec.ValidationError) and (reply := _mended(line)):
            return reply
        if isinstance(error, msgspec.ValidationError) and line.lstrip().startswith(b"{"):
            detail = f"expected a reply such as {example}, got {shown(line)}: {error}"
            raise Forfeit(FaultKind.WRONG_SHAPE, detail) from None
        is_deep = isinstance(error, RecursionError)
        cure = "nest less deeply" if is_deep else "print debugging output to stderr"
        detail = f"expected one JSON object on one line, got {shown(line)}: {error}; {cure}"
        raise Forfeit(FaultKind.NOT_JSON, detail) from None


def _mended(line: bytes) -> Move | None:
    """The move in a line that only its note keeps from being JSON, if that is so."""
    # Many languages write a mean of no games as NaN, a text cut in the middle of a character, or a
    # tab as it is: such a note must not cost the bot its game. Python's own reader takes them.
    if b'"note"' not in line:
        return None
    try:
        told = json.loads(line.decode(errors="replace"), strict=False)
        note = json.dumps(told.pop("note"))
        return replace(msgspec.convert(told, Move), note=Raw(note))
    except ODD:
        return None


def said(note: Raw) -> object:
    """What a bot wrote as its note; None if that cannot be read."""
    try:
        return _any(note)
    except msgspec.MsgspecError:
        # a number out of range, or what `_mended` let pass
        try:
            return json.loads(bytes(note))
        except (ValueError, RecursionError):
            return None


def shown(line: bytes, most: int = 80) -> str:
    """A bot's line for use in a message: quoted, and cut to ``most`` bytes."""
    text = repr(line[:most])[1:]
    return text if len(line) <= most else f"{text}... ({len(line)} bytes)"


def turn_view(state: State, number: int, time_ms: int, *, full: bool) -> Turn:
    """The request to the seat whose turn it is."""
    hand = list(map(TILES.__getitem__, state.hands[state.mover]))
    if not full:
        return Turn(number, hand, time_ms)
    legal = [move_text(state.board, move) for move in state.legal_moves()]
    return Turn(number, hand, time_ms, position_view(state), legal)


def position_view(state: State) -> PositionView:
    """Everything public in a state."""
    board = state.board
    rows = [list(row) for row in board.rows]
    for colour, letter in enumerate(COLOURS):
        for square in squares_of(state.spaces(colour)):
            row, column = divmod(square, board.stride)
            rows[row][column] = letter
    return PositionView(
        rows=["".join(row) for row in rows],
        provinces=[
            ProvinceView(COLOURS[colour], area.owner, area.pagodas, _names(board, area.mask))
            for colour, area in state.provinces()
        ],
        villages=[
            VillageView(None if owner == NOBODY else owner, _names(board, village))
            for village, owner in zip(board.villages, state.villages, strict=True)
        ],
        left=state.left,
        hands=[len(hand) for hand in state.hands],
        pile=state.pile,
    )


def played_view(
    state: State, seat: int, move: int, events: Sequence[Event], *, forfeited: bool = False
) -> Played:
    """The public line about the move that led to this state."""
    board = state.board
    players = state.players
    views = []
    for name, owner, square, size, home in events:
        counts = dict(home)
        back = [counts.get(other, 0) for other in range(players)] if home else None
        views.append(EventView(name, owner, board.name_of(square), size, back))
    return Played(seat, move_text(board, move), views, state.left, state.pile, forfeited)


def _names(board: Board, mask: int) -> list[str]:
    return [board.name_of(square) for square in squares_of(mask)]
