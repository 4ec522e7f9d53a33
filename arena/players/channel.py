"""Lines over a bot's two pipes: one deadline per reply, and a bound on all that is read; and a log
of them, one JSON object a line.

The usual case of an exchange is one call in C, if that was built; the Python text of `Channel` does
all other cases. ``ARENA_CHANNEL=python|native`` forces one; it is an error if it is missing.
"""

import array
import fcntl
import os
import select
import sys
import termios
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import BinaryIO, Literal

from msgspec import Struct

from arena.errors import UserError
from arena.players.messages import encode

MAX_LINE = 64 * 1024
"""The longest line, and the most that may wait unread, in bytes."""
KEPT_LINES = 40
CHUNK = 8 * 1024
COUNTER_BYTES = 8

Direction = Literal["to", "from"]
Write = Callable[[int, bytes], int]
"""Writes to a descriptor as `os.write` does; returns how many bytes it took."""
Said = tuple[Direction, bytes, int]
"""What one side said, one line or several, and when, on the monotonic clock."""
Told = tuple[bytes | None, bytes, int, int, int, int]
"""The reply, or None if this is not the usual case; what else was read; how many bytes were
written; when they were sent and when the reply was read, on the monotonic clock in ns; the counter
at that time, -1 without one.
"""
Exchange = Callable[[int, int, bytes, int, int], Told]
"""Sends lines, waits for one until a deadline, and reads the counter: three descriptors, or -1."""


def chosen(wanted: str) -> Exchange | None:
    """The C function, or None for the Python code. Raises UserError."""
    if wanted not in ("", "python", "native"):
        raise UserError(
            f"expected ARENA_CHANNEL to be python or native, got {wanted!r}",
            "unset ARENA_CHANNEL, or set it to one of them",
        )
    if wanted == "python":
        return None
    try:
        # A machine without a compiler has none.
        from arena.players.native import exchange  # noqa: PLC0415
    except ImportError as error:
        if wanted == "native":
            raise UserError(
                f"expected the native channel, as ARENA_CHANNEL asks, got {error}",
                "install a C compiler and run 'pip install .' again, or unset ARENA_CHANNEL",
            ) from None
        return None
    return exchange


EXCHANGE = chosen(os.environ.get("ARENA_CHANNEL", ""))
CHANNEL: Literal["python", "native"] = "native" if EXCHANGE else "python"
"""Which code is in use."""


Tap = Callable[..., None]
"""Hears all that passes, as in `Said`; with ``unread=True`` what waited when it was closed."""


class Unanswered(Exception):  # noqa: N818 - judged by the caller
    """No answer came; ``partial`` is what did, such as a part of a line."""

    def __init__(self, partial: bytes = b"") -> None:
        super().__init__()
        self.partial = partial


class TimedOut(Unanswered):
    """The deadline passed."""


class OutputEnded(Unanswered):
    """The bot's output ended."""


class LongLine(Unanswered):
    """More than MAX_LINE bytes arrived without an end of line."""


class Flooded(Unanswered):
    """More than MAX_LINE bytes arrived that nobody asked for."""


class SpokeUnasked(Unanswered):
    """A complete line was waiting before the request was sent."""


class Channel:
    """The arena's ends of a bot's pipes, which it owns.

    ``exchange`` does a request in one call in the usual case. Without it, and in every other case,
    the code below does it step by step, and only that code uses ``write``. ``tap`` hears all lines;
    without ``exchange`` it hears a request before the bot does.

    ``counter`` may be set to a descriptor that is then read with each reply: 8 bytes that are a
    number, such as the processor time of the bot in ns. ``counted`` is the number that came with
    the last reply, or -1.
    """

    def __init__(
        self,
        to_bot: int,
        from_bot: int,
        exchange: Exchange | None = EXCHANGE,
        tap: Tap | None = None,
        write: Write = os.write,
    ) -> None:
        self._to_bot = to_bot
        self._from_bot = from_bot
        self._exchange = exchange
        self._tap = tap
        self._write_some = write
        self.counter = self.counted = -1
        os.set_blocking(to_bot, False)
        os.set_blocking(from_bot, False)
        self._readable = select.poll()
        self._readable.register(from_bot, select.POLLIN)
        self._both = select.poll()
        self._both.register(from_bot, select.POLLIN)
        self._both.register(to_bot, select.POLLOUT)
        self._incoming = b""
        self._queue: list[bytes] = []
        self.queue = self._queue.append
        """Adds a line (without its newline) that is sent together with the next request. It is the
        list's own method, because every placement is queued for every seat.
        """
        self._outgoing = b""
        self._open = True
        self._said: deque[Said] = deque(maxlen=KEPT_LINES)
        # A tap costs nothing where there is none: two calls an exchange are 2 % of it.
        self._note: Callable[[Said], None] = self._said.append if tap is None else self._tell_tap
        self.accepts_input = True

    def lines(self) -> list[Said]:
        """The last lines, one by one and without their newlines."""
        every = [
            (direction, line, at_ns)
            for direction, text, at_ns in self._said
            for line in text.rstrip(b"\n").split(b"\n")
        ]
        return every[-KEPT_LINES:]

    def ask(self, line: bytes, deadline_ns: int) -> bytes:
        """Sends everything queued and this line, then waits for the reply, which is not empty and
        comes without its newline. Raises TimedOut, OutputEnded, LongLine, Flooded, SpokeUnasked.
        """
        if self._incoming:
            self._check_unasked()
        queue = self._queue
        queue.append(line)
        # A reply in two steps. The exchange in C does only the usual case: all written at once,
        # one whole line back. In every other case it says how far it got, and the code that reads
        # and writes step by step goes on from there, so that odd cases are written once, in Python.
        if self._exchange is None or self._incoming or self._outgoing:
            self._send(deadline_ns)
            return self.read_line(deadline_ns)
        queue.append(b"")
        lines = b"\n".join(queue)
        queue.clear()
        reply, rest, written, sent_ns, at_ns, counted = self._exchange(
            self._to_bot, self._from_bot, lines, deadline_ns, self.counter
        )
        self._note(("to", lines, sent_ns))
        if reply is None:
            self._outgoing = lines[written:]
            self._incoming = rest
            return self.go_on(deadline_ns)
        self._note(("from", reply, at_ns))
        self.counted = counted
        return reply

    def go_on(self, deadline_ns: int) -> bytes:
        """After TimedOut, waits on for the same reply until a later deadline, as `ask` does."""
        self._write(deadline_ns)
        return self.read_line(deadline_ns)

    def read_line(self, deadline_ns: int) -> bytes:
        """The next line that is not empty. Raises TimedOut, OutputEnded, LongLine, Flooded."""
        seen = skipped = 0
        while True:
            incoming = self._incoming
            end = incoming.find(b"\n", seen)
            if end < 0:
                seen = len(incoming)
                self._wait(deadline_ns)
                continue
            if end > MAX_LINE:
                raise LongLine(incoming[:MAX_LINE])
            self._incoming = incoming[end + 1 :]
            line = incoming[:end]
            if line and not line.isspace():
                self._note(("from", line, time.monotonic_ns()))
                self._count()
                return line
            seen = 0
            skipped = skipped + end + 1
            if skipped > MAX_LINE:
                raise Flooded

    def _wait(self, deadline_ns: int) -> None:
        """Waits for more than the part of a line that has arrived."""
        if len(self._incoming) > MAX_LINE:
            raise LongLine(self._incoming[:MAX_LINE])
        if not self._is_readable(deadline_ns):
            raise TimedOut(self._incoming)
        if not self._receive():
            raise OutputEnded(self._incoming)

    def _is_readable(self, deadline_ns: int) -> bool:
        """Whether there is something to read, or the end of it, by the deadline."""
        # It looks once even if the deadline has passed: what had come by then was in time, and it
        # is the machine that was late to look.
        return bool(self._readable.poll(max(0, deadline_ns - time.monotonic_ns()) / 1e6))

    def is_flooding(self, deadlines_ns: Iterable[int]) -> bool:
        """Whether more than MAX_LINE unasked bytes wait, or come by the last of these deadlines."""
        for deadline_ns in deadlines_ns:
            while len(self._incoming) <= MAX_LINE and self._is_readable(deadline_ns):
                if not self._receive():
                    return False
        return len(self._incoming) > MAX_LINE

    def flush(self) -> None:
        """Sends as much of the queue as it can without waiting, and drops the rest."""
        if self._queue:
            self._send(0)
        self._outgoing = b""

    def close_input(self) -> None:
        """Closes the bot's standard input."""
        if self.accepts_input:
            self.accepts_input = False
            self._exchange = None
            os.close(self._to_bot)

    def close(self) -> None:
        """Closes both pipes; calling it again does nothing."""
        if self._open and self._tap:
            self._receive()
            self._tap("from", self._incoming, time.monotonic_ns(), unread=True)
        self.close_input()
        if self._open:
            self._open = False
            os.close(self._from_bot)

    def unread_by_bot(self) -> int:
        """The number of bytes, sent or still queued, that the bot has not read."""
        return len(self._outgoing) + (pipe_fill(self._to_bot) if self.accepts_input else 0)

    def _tell_tap(self, said: Said) -> None:
        """Remembers what was said, and lets the tap hear it."""
        assert self._tap is not None
        self._said.append(said)
        self._tap(*said)

    def _count(self) -> None:
        if self.counter >= 0:
            self.counted = int.from_bytes(os.read(self.counter, COUNTER_BYTES), sys.byteorder)

    def _send(self, deadline_ns: int) -> None:
        self._queue.append(b"")
        lines = b"\n".join(self._queue)
        self._queue.clear()
        self._note(("to", lines, time.monotonic_ns()))
        self._outgoing += lines
        self._write(deadline_ns)

    def _write(self, deadline_ns: int) -> None:
        """Writes the queue until the deadline, and reads meanwhile so that neither side blocks."""
        while self._outgoing and self.accepts_input:
            try:
                self._outgoing = self._outgoing[self._write_some(self._to_bot, self._outgoing) :]
            except BlockingIOError:
                if len(self._incoming) > MAX_LINE:
                    return
                remaining = deadline_ns - time.monotonic_ns()
                ready = dict(self._both.poll(max(0, remaining) / 1e6)) if remaining > 0 else {}
                if not ready or (self._from_bot in ready and not self._receive()):
                    return
            except BrokenPipeError:
                self.close_input()

    def _receive(self) -> int:
        """Reads what is available; 0 at the end of the bot's output."""
        try:
            chunk = os.read(self._from_bot, CHUNK)
        except BlockingIOError:
            return 1
        self._incoming += chunk
        return len(chunk)

    def _check_unasked(self) -> None:
        """Judges what came too soon: half a line may begin an answer. Raises SpokeUnasked."""
        if not self._incoming.strip():
            self._incoming = b""
            return
        if b"\n" not in self._incoming:
            return
        line = self._incoming.lstrip().split(b"\n", 1)[0]
        self._note(("from", line, time.monotonic_ns()))
        raise SpokeUnasked(line)


def pipe_fill(descriptor: int) -> int:
    """The number of unread bytes in a pipe; 0 if the system cannot tell."""
    count = array.array("i", [0])
    try:
        fcntl.ioctl(descriptor, termios.FIONREAD, count)
    except OSError:
        return 0
    return count[0]


class WireLine(Struct, frozen=True, omit_defaults=True):
    """One line of the log; ``ms`` since the log was opened, with three decimals. ``line`` comes
    without its newline, and with escapes for bytes that are not UTF-8. ``unread`` marks output that
    was still waiting when the wire was closed.
    """

    ms: float
    seat: int
    bot: str
    way: Direction | Literal["stderr"]
    line: str
    unread: bool = False


class WireLog:
    """A log of all the wires of a game, in order, in a file that the caller owns."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._began_ns = time.monotonic_ns()

    def write(
        self,
        seat: int,
        bot: str,
        hidden: Callable[[bytes], bytes],
        way: Direction | Literal["stderr"],
        text: bytes,
        at_ns: int | None = None,
        *,
        unread: bool = False,
    ) -> None:
        """Adds lines of that moment or now, without what is ``hidden`` and empty ones. Raises
        OSError.
        """
        ms = round(((time.monotonic_ns() if at_ns is None else at_ns) - self._began_ns) / 1e6, 3)
        for line in hidden(text).split(b"\n"):
            if line.strip():
                shown = line.decode(errors="backslashreplace")
                self._file.write(encode(WireLine(ms, seat, bot, way, shown, unread)) + b"\n")
