"""Reads lines as messages: those of the arena, and the replies of bots with their notes."""

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from arena.errors import Forfeit
from arena.players.messages import End, FromArena, FromBot, Hello, Move, Played, Quit, Start, Turn

DECODE_ERRORS = (
    ValueError,
    RecursionError,
    LookupError,
    TypeError,
    AttributeError,
    msgspec.MsgspecError,
)
"""The exceptions that reading a line can raise if it is not JSON, or not the JSON that was
expected.
"""
MOVE_EXAMPLE = '{"type":"move","id":2,"move":"Rc4Yd4"}'
READY_EXAMPLE = '{"type":"ready","id":1,"view":"full"}'
_from_arena: msgspec.json.Decoder[FromArena] = msgspec.json.Decoder(FromArena)
_any = msgspec.json.Decoder().decode
_known_types = frozenset(
    struct.__struct_config__.tag for struct in (Hello, Start, Turn, Played, End, Quit)
)
_from_bot: msgspec.json.Decoder[FromBot] = msgspec.json.Decoder(FromBot)


class _Typed(Struct):
    """A message of which only the type is read."""

    type: str


def decode_from_arena(line: bytes) -> FromArena | None:
    """The message of the arena in this line; None for a type that a later protocol adds. Raises
    msgspec.DecodeError.
    """
    try:
        return _from_arena.decode(line)
    except msgspec.ValidationError:
        if msgspec.json.decode(line, type=_Typed).type in _known_types:
            raise
        return None


def decode_reply(line: bytes, example: str = MOVE_EXAMPLE) -> FromBot:
    """The bot's reply in this line; ``example`` shows in error messages what was expected. Raises
    Forfeit (NOT_JSON, WRONG_SHAPE).
    """
    try:
        return _from_bot.decode(line.decode())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        # Imported here because a bot that imports the SDK reads no replies.
        from arena.faults import FaultKind  # noqa: PLC0415

        is_json = isinstance(error, msgspec.ValidationError)
        mended = None if is_json else _mended(line)
        if mended is not None:
            return mended
        if is_json and line.lstrip().startswith(b"{"):
            detail = f"expected a reply such as {example}, got {shown(line)}: {error}"
            raise Forfeit(FaultKind.WRONG_SHAPE, detail) from None
        is_deep = isinstance(error, RecursionError)
        cure = "nest less deeply" if is_deep else "print debugging output to stderr"
        detail = f"expected one JSON object on one line, got {shown(line)}: {error}; {cure}"
        raise Forfeit(FaultKind.NOT_JSON, detail) from None


def _mended(line: bytes) -> Move | None:
    """The move in a line that is not JSON only because of its note; None if that is not
    the reason.
    """
    # Many languages write NaN for the mean of no games, texts cut in the middle of a character, or
    # unescaped tabs. Such a note must not cost the bot its game, and Python's own reader takes it.
    if b'"note"' not in line:
        return None
    import json  # noqa: PLC0415 - every start of a Python bot would wait for it

    try:
        fields = json.loads(line.decode(errors="replace"), strict=False)
        note = json.dumps(fields.pop("note"))
        return replace(msgspec.convert(fields, Move), note=Raw(note))
    except DECODE_ERRORS:
        return None


def read_note(note: Raw) -> object:
    """The value of a bot's note; None if it cannot be read."""
    try:
        return _any(note)
    except msgspec.MsgspecError:
        # the note has a number out of range, or was accepted by `_mended`
        import json  # noqa: PLC0415

        try:
            return json.loads(bytes(note))
        except (ValueError, RecursionError):
            return None


def shown(line: bytes, most: int = 80) -> str:
    """A bot's line for use in a message: quoted, and cut to ``most`` bytes."""
    text = repr(line[:most])[1:]
    return text if len(line) <= most else f"{text}... ({len(line)} bytes)"
