"""The wire log: every line between the arena and the bots of a game, in both directions, as one
JSON object per line.
"""

import time
from typing import BinaryIO

from msgspec import Struct

from arena.players.bot import BotPlayer
from arena.players.channel import Channel, Direction
from arena.players.folder import Bot
from arena.players.messages import ClockKind, encode
from arena.players.sandbox.tiers import Sandbox


class WireLine(Struct, frozen=True, omit_defaults=True):
    """One line of the log.

    ``ms`` is counted from the opening of the log, with three decimals. ``seat`` and ``bot`` say
    whose wire it is, and ``way`` is to or from the bot. ``line`` comes without its newline, and
    with escapes for bytes that are not UTF-8. ``unread`` marks output that was still waiting when
    the wire was closed, whether whole lines or part of one.
    """

    ms: float
    seat: int
    bot: str
    way: Direction
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
        self, seat: int, bot: str, way: Direction, text: bytes, *, unread: bool = False
    ) -> None:
        """Adds one or more lines, skipping empty ones. Raises OSError."""
        ms = round((time.monotonic_ns() - self._began_ns) / 1e6, 3)
        for line in text.split(b"\n"):
            if line.strip():
                shown = line.decode(errors="backslashreplace")
                self._file.write(encode(WireLine(ms, seat, bot, way, shown, unread)) + b"\n")


class LoggedPlayer(BotPlayer):
    """A bot whose wire is logged."""

    def __init__(
        self,
        bot: Bot,
        startup_ms: int,
        sandbox: Sandbox,
        log: WireLog,
        seat: int,
        clock: ClockKind = "cpu",
    ) -> None:
        super().__init__(bot, startup_ms, sandbox, clock)
        self._log = log
        self._seat = seat

    def channel(self, to_bot: int, from_bot: int) -> Channel:
        """A channel that logs."""
        return _LoggedChannel(to_bot, from_bot, self._log, self._seat, self.name)


class _LoggedChannel(Channel):
    def __init__(self, to_bot: int, from_bot: int, log: WireLog, seat: int, bot: str) -> None:
        super().__init__(to_bot, from_bot, exchange=None)
        self._log, self._seat, self._bot = log, seat, bot

    def close(self) -> None:
        """Logs the unread rest and closes."""
        if self._open:
            self._receive()
            self._log.write(self._seat, self._bot, "from", self._incoming, unread=True)
        super().close()

    def _note(self, direction: Direction, text: bytes) -> None:
        super()._note(direction, text)
        self._log.write(self._seat, self._bot, direction, text)
