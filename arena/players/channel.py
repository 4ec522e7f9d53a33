"""Exchanges lines with a bot over its two pipes, with one deadline per reply and a limit on
everything that is read. Also a log of these lines, one JSON object per line.

The usual case of an exchange is one call in C, if that was built; `Channel` has Python code for all
other cases. The environment variable ``ARENA_CHANNEL`` chooses one of the two, see `chosen`.
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

from arena.errors import UserError, check_variable
from arena.players.messages import encode

MAX_LINE = 64 * 1024
"""The most bytes of a line, and the most that may wait unread."""
KEPT_LINES = 40
CHUNK = 8 * 1024
COUNTER_BYTES = 8

Direction = Literal["to", "from"]
Write = Callable[[int, bytes], int]
"""A function that writes to a descriptor as `os.write` does, and returns how many bytes it took."""
Said = tuple[Direction, bytes, int]
"""What one side sent: the direction, one line or several, and the time on the monotonic clock."""
Told = tuple[bytes | None, bytes, int, int, int, int]
"""The result of an exchange: the reply (None if this is not the usual case), further bytes that
were read, the number of bytes written, the times in ns when they were sent and when the reply was
read, on the monotonic clock, and the counter at the latter time, -1 without one.
"""
Exchange = Callable[[int, int, bytes, int, int], Told]
"""A function that sends lines, waits for one line until a deadline, and reads a counter. Its
arguments are the descriptors to and from the bot, the lines, the deadline, and the counter's
descriptor or -1.
"""


def chosen(wanted: str) -> Exchange | None:
    """The function in C that does a whole exchange with a bot, or None if Python code is to do it.
    ``wanted`` is the value of the environment variable ``ARENA_CHANNEL``: ``python`` for Python
    code, ``native`` for C, and empty for C if the arena was built with it, else Python.

    Raises UserError for another value, and if ``native`` is wanted but was not built.
    """
    check_variable("ARENA_CHANNEL", wanted, ["python", "native"])
    if wanted == "python":
        return None
    try:
        # An arena that was installed without a C compiler does not have this module.
        from arena.players.native import exchange  # noqa: PLC0415
    except ImportError as error:
        if wanted == "native":
            raise UserError(
                f"ARENA_CHANNEL asks for the native channel, which cannot be loaded: {error}",
                "install a C compiler and run 'pip install .' again, or unset ARENA_CHANNEL",
            ) from None
        return None
    return exchange


EXCHANGE = chosen(os.environ.get("ARENA_CHANNEL", ""))
CHANNEL: Literal["python", "native"] = "native" if EXCHANGE else "python"
"""The code in use, ``python`` or ``native``."""


Tap = Callable[..., None]
"""A callback that is given everything that passes, as in `Said`; with ``unread=True``, what still
waited when the channel was closed.
"""


class Unanswered(Exception):  # noqa: N818 - judged by the caller
    """No answer came that counts; the subclasses say why. ``partial`` is what did come, such as
    part of a line; empty if nothing did.
    """

    def __init__(self, partial: bytes = b"") -> None:
        super().__init__()
        self.partial = partial


class TimedOut(Unanswered):
    """The deadline passed before a whole line of an answer had come."""


class OutputEnded(Unanswered):
    """The bot's output ended, so no answer can come."""


class LongLine(Unanswered):
    """More than MAX_LINE bytes came without a newline; ``partial`` has the first of them."""


class Flooded(Unanswered):
    """More than MAX_LINE bytes came that nobody asked for, such as blank lines."""


class SpokeUnasked(Unanswered):
    """A whole line, ``partial``, came before the request was sent."""


class Channel:
    """The arena's ends of the two pipes of a bot, which the channel owns and closes. ``to_bot`` and
    ``from_bot`` are their descriptors.

    ``exchange`` is the function that does a request in one call in the usual case. Without it, and
    in every other case, the code below does the request step by step; only that code uses
    ``write``, which takes the place of `os.write`. ``tap`` is given all lines; without ``exchange``
    it gets a request before the bot does.

    ``counter`` may be set to a descriptor that is read with each reply: 8 bytes that are a number,
    such as the CPU time of the bot in ns. ``counted`` is the number that came with the last reply.
    Both are -1 if there is none. ``accepts_input`` is False once the bot's input is closed.
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
        # Without a tap nothing is called: two calls per exchange would take 2 % of its time.
        self._note: Callable[[Said], None] = self._said.append if tap is None else self._tell_tap
        self.accepts_input = True

    def lines(self) -> list[Said]:
        """The last lines both ways, at most `KEPT_LINES`, the oldest first, one by one and without
        their newlines.
        """
        every = list[Said]()
        for direction, text, at_ns in self._said:
            lines = text.rstrip(b"\n").split(b"\n")
            every += [(direction, line, at_ns) for line in lines]
        return every[-KEPT_LINES:]

    def ask(self, line: bytes, deadline_ns: int) -> bytes:
        """Sends the queued lines and ``line``, then waits for the reply until ``deadline_ns``, a
        time of `time.monotonic_ns`. Returns the reply without its newline; blank lines before it
        are skipped. Raises TimedOut, OutputEnded, LongLine or Flooded, and SpokeUnasked before
        anything is sent.
        """
        if self._incoming:
            self._check_unasked()
        queue = self._queue
        queue.append(line)
        # The C code handles only the usual case: everything is written at once, and one whole line
        # comes back. In every other case it returns how far it got, and the code below continues
        # step by step. So the rare cases exist once, in Python.
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
        """After TimedOut, continues to send the request and to wait for its reply, until a later
        deadline. Returns and raises what `read_line` does.
        """
        self._write(deadline_ns)
        return self.read_line(deadline_ns)

    def read_line(self, deadline_ns: int) -> bytes:
        """The next line that is not blank, without its newline. ``deadline_ns`` is a time of
        `time.monotonic_ns`. Raises TimedOut at the deadline, OutputEnded, LongLine for a line of
        more than MAX_LINE bytes, and Flooded if the blank lines before it have more than MAX_LINE
        bytes.
        """
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
        """Waits for more bytes from the bot and reads them once; they may be a part of a line.
        Raises TimedOut at the deadline, LongLine and OutputEnded.
        """
        if len(self._incoming) > MAX_LINE:
            raise LongLine(self._incoming[:MAX_LINE])
        if not self._is_readable(deadline_ns):
            raise TimedOut(self._incoming)
        if not self._receive():
            raise OutputEnded(self._incoming)

    def _is_readable(self, deadline_ns: int) -> bool:
        """Whether there is something to read, or the end of the output, by the deadline."""
        # It looks once even if the deadline has passed: the output may have come in time, and only
        # this process was late to look.
        return bool(self._readable.poll(max(0, deadline_ns - time.monotonic_ns()) / 1e6))

    def is_flooding(self, deadlines_ns: Iterable[int]) -> bool:
        """Whether more than MAX_LINE bytes that nobody asked for wait to be read, or arrive by the
        last of these deadlines, times of `time.monotonic_ns`. They are taken one by one, so that an
        iterator can do something between two waits. False at once if the bot's output ends.
        """
        for deadline_ns in deadlines_ns:
            while len(self._incoming) <= MAX_LINE and self._is_readable(deadline_ns):
                if not self._receive():
                    return False
        return len(self._incoming) > MAX_LINE

    def flush(self) -> None:
        """Sends as many of the queued lines as the pipe takes without waiting, and drops all that
        it has not taken, also of earlier lines.
        """
        if self._queue:
            self._send(0)
        self._outgoing = b""

    def close_input(self) -> None:
        """Closes the bot's standard input; calling it again does nothing."""
        if self.accepts_input:
            self.accepts_input = False
            self._exchange = None
            os.close(self._to_bot)

    def close(self) -> None:
        """Closes both pipes; before, the tap is given what was still unread. Calling it again does
        nothing.
        """
        if self._open and self._tap:
            self._receive()
            self._tap("from", self._incoming, time.monotonic_ns(), unread=True)
        self.close_input()
        if self._open:
            self._open = False
            os.close(self._from_bot)

    def unread_by_bot(self) -> int:
        """The number of bytes of requests that the bot has not read: those in the pipe, where the
        system can tell, and those that the pipe has not taken yet. Lines of `queue` that no request
        has sent do not count.
        """
        return len(self._outgoing) + (pipe_fill(self._to_bot) if self.accepts_input else 0)

    def _tell_tap(self, sent: Said) -> None:
        """Keeps lines that one side sent for `lines`, and calls the tap with them."""
        assert self._tap is not None
        self._said.append(sent)
        self._tap(*sent)

    def _count(self) -> None:
        """Reads the counter, if there is one, into ``counted``."""
        if self.counter >= 0:
            self.counted = int.from_bytes(os.read(self.counter, COUNTER_BYTES), sys.byteorder)

    def _send(self, deadline_ns: int) -> None:
        """Takes the queued lines as sent, and writes as much of them as the bot takes until the
        deadline.
        """
        self._queue.append(b"")
        lines = b"\n".join(self._queue)
        self._queue.clear()
        self._note(("to", lines, time.monotonic_ns()))
        self._outgoing += lines
        self._write(deadline_ns)

    def _write(self, deadline_ns: int) -> None:
        """Writes what is left of the sent lines until the deadline, and reads at the same time, so
        that neither side blocks the other.
        """
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
        """Reads what is available, at most `CHUNK` bytes, and returns the number of bytes; 0 at the
        end of the bot's output, and 1 if there is nothing to read yet.
        """
        try:
            chunk = os.read(self._from_bot, CHUNK)
        except BlockingIOError:
            return 1
        self._incoming += chunk
        return len(chunk)

    def _check_unasked(self) -> None:
        """Looks at output that was read before the request and not used. Blanks are dropped, and
        part of a line is kept, because it may be the beginning of an answer. Raises SpokeUnasked
        for a whole line.
        """
        if not self._incoming.strip():
            self._incoming = b""
            return
        if b"\n" not in self._incoming:
            return
        line = self._incoming.lstrip().split(b"\n", 1)[0]
        self._note(("from", line, time.monotonic_ns()))
        raise SpokeUnasked(line)


def pipe_fill(descriptor: int) -> int:
    """The number of unread bytes in the pipe of the file ``descriptor``; 0 if the system cannot
    tell.
    """
    count = array.array("i", [0])
    try:
        fcntl.ioctl(descriptor, termios.FIONREAD, count)
    except OSError:
        return 0
    return count[0]


class WireLine(Struct, frozen=True, omit_defaults=True):
    """One line of the log. ``ms`` is the time since the log was opened, in ms with three decimals.
    ``way`` is ``to`` the bot, ``from`` it, or ``stderr``. ``line`` has no newline, and escapes for
    bytes that are not UTF-8. ``unread`` marks output that still waited when the channel was closed.
    """

    ms: float
    seat: int
    bot: str
    way: Direction | Literal["stderr"]
    line: str
    unread: bool = False


class WireLog:
    """A log of what the bots of a game were sent and wrote, their stderr included, in a file that
    the caller owns: one JSON object (`WireLine`) for each line that is not empty, in the order in
    which they were added.
    """

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
        """Adds to the log the lines in ``text``, which the bot labelled ``bot`` in ``seat`` was
        sent or wrote (``way``), with the time ``at_ns`` of `time.monotonic_ns`, or the present one.
        ``hidden`` is called with the text and returns it without secrets; blank lines are left out.
        ``unread`` marks output that still waited when the channel was closed. Raises OSError.
        """
        ms = round(((time.monotonic_ns() if at_ns is None else at_ns) - self._began_ns) / 1e6, 3)
        for line in hidden(text).split(b"\n"):
            if line.strip():
                shown = line.decode(errors="backslashreplace")
                self._file.write(encode(WireLine(ms, seat, bot, way, shown, unread)) + b"\n")
