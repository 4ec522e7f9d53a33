"""The wire as a log: every line both ways between the arena and the bots of a game, as one JSON object a line."""

import time
from typing import BinaryIO

from msgspec import Struct

from arena.players.bot import BotPlayer
from arena.players.channel import Channel, Direction
from arena.players.folder import Bot
from arena.players.messages import encode
from arena.players.sandbox.tiers import Sandbox
from arena.players.timekeeper import ClockKind


class WireLine(Struct, frozen=True, omit_defaults=True):
    """One line of the log.

    ``ms`` since the log was opened, with three decimals; ``seat`` and ``bot`` whose wire it is; ``way`` to or from the bot; ``line`` comes
    without its end, and with escapes for bytes that are not UTF-8. ``unread`` marks what still waited, whole lines or the start of one,
    when the wire was closed.
    """

    ms: float
    seat: int
    bot: str
    way: Direction
    line: str
    unread: bool = False


class WireLog:
    """A log of all wires of a game, in the order in which the arena wrote and read. The file is the caller's."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._began_ns = time.monotonic_ns()

    def write(self, seat: int, bot: str, way: Direction, text: bytes, *, unread: bool = False) -> None:
        """Adds a line, or several; empty ones are left out. Raises OSError."""
        ms = round((time.monotonic_ns() - self._began_ns) / 1e6, 3)
        for line in text.split(b"\n"):
            if line.strip():
                shown = line.decode(errors="backslashreplace")
                self._file.write(encode(WireLine(ms, seat, bot, way, shown, unread)) + b"\n")


class LoggedPlayer(BotPlayer):
    """A bot whose wire is logged."""

    def __init__(self, bot: Bot, startup_ms: int, sandbox: Sandbox, log: WireLog, seat: int, clock: ClockKind = "cpu") -> None:
        super().__init__(bot, startup_ms, sandbox, clock)
        self._log = log
        self._seat = seat

    def channel(self, to_bot: int, from_bot: int) -> Channel:
        """A channel that logs."""
        return _LoggedChannel(to_bot, from_bot, self._log, self._seat, self.name)


class _LoggedChannel(Channel):
    def __init__(self, to_bot: int, from_bot: int, log: WireLog, seat: int, bot: str) -> None:
        super().__init__(to_bot, from_bot)
        self._log, self._seat, self._bot = log, seat, bot

    def close(self) -> None:
        """Logs what was not read, and closes."""
        if self._open:
            self._receive()
            self._log.write(self._seat, self._bot, "from", self._incoming, unread=True)
        super().close()

    def _note(self, direction: Direction, text: bytes) -> None:
        super()._note(direction, text)
        self._log.write(self._seat, self._bot, direction, text)
