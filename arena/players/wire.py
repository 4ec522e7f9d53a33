"""The wire log: every line between the arena and the bots of a game, in both directions, as one
JSON object per line.
"""

import time
from functools import partial
from typing import BinaryIO, Literal

from msgspec import Struct

from arena.players.bot import BotPlayer, Speech
from arena.players.channel import Channel, Direction
from arena.players.folder import Bot
from arena.players.messages import ClockKind, encode
from arena.players.sandbox.tiers import Sandbox
from arena.players.stderr import Stderr
from arena.players.timekeeper import BEST_CLOCK
from arena.records.stderr import StderrPart


class WireLine(Struct, frozen=True, omit_defaults=True):
    """One line of the log.

    ``ms`` is counted from the opening of the log, with three decimals. ``seat`` and ``bot`` say
    whose wire it is, and ``way`` is to or from the bot, or its stderr. ``line`` comes without its
    newline, and with escapes for bytes that are not UTF-8. ``unread`` marks output that was still
    waiting when the wire was closed, whether whole lines or part of one.
    """

    ms: float
    seat: int
    bot: str
    way: Direction | Literal["stderr"]
    line: str
    unread: bool = False


class WireLog:
    """A log of all the wires of a game, in the order the arena wrote and read. The caller owns the
    file.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._began_ns = time.monotonic_ns()

    def write(
        self, seat: int, bot: str, way: Direction, text: bytes, at_ns: int, *, unread: bool = False
    ) -> None:
        """Adds one or more lines, skipping empty ones. Raises OSError."""
        ms = round((at_ns - self._began_ns) / 1e6, 3)
        for line in text.split(b"\n"):
            if line.strip():
                shown = line.decode(errors="backslashreplace")
                self._file.write(encode(WireLine(ms, seat, bot, way, shown, unread)) + b"\n")

    def hear(self, bot: str, part: StderrPart) -> None:
        """Adds what a bot wrote to its stderr. Raises OSError."""
        ms = round((time.monotonic_ns() - self._began_ns) / 1e6, 3)
        for line in part.lines():
            self._file.write(encode(WireLine(ms, part.seat, bot, "stderr", line)) + b"\n")


def logged_player(
    bot: Bot,
    startup_ms: int,
    sandbox: Sandbox,
    log: WireLog,
    seat: int,
    clock: ClockKind = BEST_CLOCK,
) -> BotPlayer:
    """A bot whose wire and stderr are logged, each request before the bot reads it."""
    grants = sandbox.of(bot.label)

    def write(way: Direction, text: bytes, at_ns: int, *, unread: bool = False) -> None:
        log.write(seat, bot.label, way, grants.hidden(text), at_ns, unread=unread)

    def connect(to_bot: int, from_bot: int) -> Channel:
        return Channel(to_bot, from_bot, exchange=None, tap=write)

    stderr = Stderr(partial(log.hear, bot.label), at_once=True)
    return BotPlayer(bot, startup_ms, sandbox, clock, Speech(connect=connect), stderr)
