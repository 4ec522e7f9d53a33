"""A bot's process as a player: the dialogue, the deadlines, and the fault for each way a dialogue
can fail.
"""

import time

from arena import __version__
from arena.errors import FaultKind, Forfeit
from arena.players.channel import (
    MAX_LINE,
    Channel,
    Line,
    OutputEnded,
    Overflowed,
    SpokeUnasked,
    TimedOut,
)
from arena.players.folder import Bot
from arena.players.messages import (
    PROTOCOL,
    READY_EXAMPLE,
    ClockKind,
    FromArena,
    FromBot,
    Hello,
    Move,
    Quit,
    Ready,
    Start,
    decode_reply,
    encode,
    shown,
)
from arena.players.player import KEPT_BYTES, Answer, Player, Words
from arena.players.process import BotProcess, Ending
from arena.players.sandbox.tiers import OPEN, Sandbox
from arena.players.timekeeper import BEST_CLOCK, NS_PER_MS, OutOfTime, Overspent, Timekeeper
from arena.players.views import turn_view
from arena.rules import State

GRACE_NS = 200_000_000
"""After a missed deadline: how long to wait for a late answer, once with the bot's input open and
once with it closed.
"""
EXIT_S = 0.25
QUIT_S = 0.1
FLOODED = (
    f"expected one line per request, got more than {MAX_LINE >> 10} KiB that nobody asked for:"
    " answer each request once, log to stderr"
)
THINK_WHEN_ASKED = "think only when asked, and end every process you start"
LAST_WORDS = "last line on stderr:"
THINK_LESS = "think less (position.think_ms says how long), or allow more with --move-ms"
START_FASTER = "start faster: load less before ready"
FLUSH = "answer every request, and flush stdout after each line"
AFTER_CLOSING = (
    "the bot answered only after its input was closed: flush stdout after each line "
    "(or, if it was still thinking, it was {late_ms} ms late: {slow})"
)


class BotPlayer(Player):
    """A bot that plays in its own process, which starts with the bot's first game."""

    def __init__(
        self, bot: Bot, startup_ms: int, sandbox: Sandbox = OPEN, clock: ClockKind = BEST_CLOCK
    ) -> None:
        self.bot = bot
        self.clock: ClockKind = clock
        self.sandbox = sandbox
        self.name = bot.label
        self.startup_ms = startup_ms
        self._process: BotProcess | None = None
        self._channel: Channel | None = None
        self._timekeeper: Timekeeper | None = None
        self._requests = self._moves = 0
        self._full = False
        self._began_ns = time.monotonic_ns()

    @property
    def is_running(self) -> bool:
        """Whether the process has been started and has not exited."""
        return self._process is not None and self._process.ending() is None

    def begin(self, start: Start) -> None:
        """Starts the process if there is none, and announces the game. Raises Forfeit (STARTUP),
        Void.
        """
        self._began_ns = time.monotonic_ns()
        if not self.is_running:
            self.stop()
            self._start()
        self._line().queue(self.encoded(start))

    def choose(self, state: State, budget_ns: int) -> Answer:
        """Asks for a move. Raises Forfeit."""
        number = self.next_id()
        request = self.encoded(turn_view(state, number, budget_ns // 1_000_000, full=self._full))
        began_ns = time.monotonic_ns()
        line, spent_ns = self._ask(request, budget_ns)
        answered_ns = time.monotonic_ns()
        reply = decode_reply(line)
        if not isinstance(reply, Move):
            raise Forfeit(
                FaultKind.WRONG_SHAPE,
                f'expected a reply of type "move" to the request {number}, got {shown(line)}',
            )
        self._check_id(reply, number, line)
        self._moves += 1
        return Answer(reply.move, spent_ns, began_ns, answered_ns)

    def encoded(self, message: FromArena) -> bytes:
        """A message as a line."""
        return encode(message)

    def next_id(self) -> int:
        """The id for the next request."""
        self._requests += 1
        return self._requests

    def owed_ns(self) -> int:
        """The processor time that the bot has used since its last answer; 0 by the wall clock."""
        return self._timekeeper.owed_ns() if self._timekeeper else 0

    def overspent(self, budget_ns: int) -> Forfeit | None:
        """The fault of a bot that has used more unasked than its
        next answer may cost, if it has.
        """
        owed_ns = self.owed_ns()
        if owed_ns <= budget_ns:
            return None
        return Forfeit(
            FaultKind.LATE,
            f"its processes used {owed_ns // NS_PER_MS} ms of processor time while it was not"
            f" asked, more than the {budget_ns // NS_PER_MS} ms of its next answer:"
            f" {THINK_WHEN_ASKED}",
        )

    def inform(self, line: bytes) -> None:
        """Queues a public line; it is sent with the next request."""
        assert self._channel is not None, "the game has begun"
        self._channel.queue(line)

    def finish(self) -> None:
        """Sends the lines about the end of the game; stops the process if the bot wants a fresh one
        for each game.
        """
        self._line().flush()
        if self._process:
            self._process.trim_stderr()
        if self.bot.manifest.fresh:
            self.stop()

    def dismiss(self) -> None:
        """Kills the process and everything it started, without sending anything; calling it again
        does nothing.
        """
        if self._channel and self._process:
            self._channel.close()
            self._process.stop()
        self._process = self._channel = self._timekeeper = None

    def stop(self) -> None:
        """Asks the process to quit, gives it a moment, then dismisses it; calling it again does
        nothing.
        """
        if self._channel and self._process and self._channel.accepts_input and self.is_running:
            self._channel.queue(encode(Quit()))
            self._channel.flush()
            self._channel.close_input()
            self._process.ending(QUIT_S)
        self.dismiss()

    def evidence(self) -> tuple[str, Words, str]:
        """How the process ended and what it used; the last lines in both directions, with ms since
        the game began; the end of stderr.
        """
        if self._process is None or self._channel is None:
            return "", [], ""
        ending = self._process.ending()
        lines = [
            (
                line.direction,
                round((line.at_ns - self._began_ns) / 1e6, 1),
                line.text[:KEPT_BYTES].decode(errors="backslashreplace"),
            )
            for line in self._channel.lines()
        ]
        return f"{ending}; {ending.use}" if ending else "", lines, self._process.stderr_tail()

    @property
    def has_full_view(self) -> bool:
        """Whether the bot asked for the full view."""
        return self._full

    @property
    def counts_exactly(self) -> bool:
        """Whether the kernel itself adds up the processor time of all that the bot starts."""
        return self._process is not None and self._process.counts_exactly

    def memory_mb(self) -> int:
        """The memory that the bot's processes use now, without memory that belongs to files."""
        return self._process.memory_mb() if self._process else 0

    def stderr_written(self) -> int:
        """The number of bytes the process has written to stderr."""
        return self._process.stderr_written() if self._process else 0

    def lines(self) -> list[Line]:
        """The kept lines of the dialogue: the last ones in each direction."""
        return self._line().lines()

    def _line(self) -> Channel:
        assert self._channel is not None, "the game has begun"
        return self._channel

    def _start(self) -> None:
        self.open()
        number = self.next_id()
        hello = self.encoded(Hello(number, PROTOCOL, __version__))
        try:
            ready = self._greet(hello, number)
        except Forfeit as fault:
            words = "" if LAST_WORDS in fault.detail else self._last_words()
            raise Forfeit(FaultKind.STARTUP, f"{fault.detail}{words}") from fault
        self._full = ready.view == "full"
        if self._timekeeper:
            self._timekeeper.begin()

    def open(self) -> None:
        """Starts the process without sending it anything yet. Raises Void."""
        wanted = self.bot.manifest
        self._process = BotProcess(
            self.bot.command, self.bot.folder, self.sandbox, wanted.memory_mb, wanted.processes
        )
        self._channel = self.channel(self._process.to_bot, self._process.from_bot)
        self._timekeeper = Timekeeper(self._channel, self._process, self.clock)
        self._requests = self._moves = 0

    def channel(self, to_bot: int, from_bot: int) -> Channel:
        """The channel for a new process."""
        return Channel(to_bot, from_bot)

    def _greet(self, hello: bytes, number: int) -> Ready:
        line, _ = self._ask(hello, self.startup_ms * 1_000_000, starting=True)
        reply = decode_reply(line, READY_EXAMPLE)
        if not isinstance(reply, Ready):
            raise Forfeit(
                FaultKind.WRONG_SHAPE,
                f"expected a reply such as {READY_EXAMPLE} to the hello, got {shown(line)}",
            )
        self._check_id(reply, number, line)
        return reply

    def _ask(self, request: bytes, budget_ns: int, *, starting: bool = False) -> tuple[bytes, int]:
        """The reply and what it cost in ns. Raises Forfeit, Void."""
        keeper = self._timekeeper
        assert keeper is not None, "the process is there"
        try:
            return keeper.ask(request, budget_ns, self.meanwhile, budget_ns if starting else None)
        except OutOfTime as error:
            allowance = (
                f"the {self.startup_ms} ms allowed for start-up" if starting else error.allowance
            )
            raise self._overdue(
                error.partial, time.monotonic_ns(), allowance, starting=starting
            ) from None
        except Overspent as error:
            allowance = f"the {self.startup_ms} ms of processor time allowed for start-up"
            slow = Forfeit(FaultKind.STARTUP, f"no answer came within {allowance}: {START_FASTER}")
            raise slow if starting else _late(error, budget_ns) from None
        except OutputEnded as error:
            raise self._ended(error.partial) from None
        except SpokeUnasked as error:
            detail = (
                f"expected silence until the next request, got {shown(error.line)}: answer each"
                " request once, log to stderr"
            )
            raise self._unasked(detail) from None
        except Overflowed as error:
            if error.one_line:
                detail = (
                    f"expected lines of at most {MAX_LINE >> 10} KiB, got a longer one that starts"
                    f" {shown(error.start)}"
                )
                raise Forfeit(FaultKind.LONG_LINE, detail) from None
            raise Forfeit(FaultKind.FLOOD, FLOODED) from None

    def _check_id(self, reply: FromBot, number: int, line: bytes) -> None:
        if reply.id != number:
            raise self._unasked(
                f'expected the id of the request, "id":{number}, got {shown(line)}: repeat the id'
                " of the request, and answer it once"
            )

    def _unasked(self, detail: str) -> Forfeit:
        """The fault for a line that answers no request: a flood if there are many."""
        return (
            Forfeit(FaultKind.FLOOD, FLOODED)
            if self._line().is_flooding()
            else Forfeit(FaultKind.UNKNOWN_ID, detail)
        )

    def _overdue(
        self, partial: bytes, deadline_ns: int, allowance: str, *, starting: bool
    ) -> Forfeit:
        """Finds out why the answer is missing: waits a little for it, then closes the bot's input
        and waits again.
        """
        assert self._process is not None
        unread = self._line().unread_by_bot()
        slow = START_FASTER if starting else THINK_LESS
        if not self._process.ending() and self._answers_within(GRACE_NS):
            late_ms = (time.monotonic_ns() - deadline_ns) // 1_000_000
            return Forfeit(
                FaultKind.LATE, f"the answer came {late_ms} ms after {allowance} had passed: {slow}"
            )
        ending = self._process.ending()
        if ending:
            detail = f"no answer came within {allowance}, and the bot {ending}{self._last_words()}"
            return Forfeit(_ending_kind(ending), detail)
        if unread:
            return Forfeit(
                FaultKind.NEVER_READS,
                f"no answer came within {allowance}, and {unread} bytes of input were left unread:"
                " read stdin line by line",
            )
        if not self._process.has_output_open():
            return self._ended(partial)
        self._line().close_input()
        if self._answers_within(GRACE_NS):
            late_ms = (time.monotonic_ns() - deadline_ns) // 1_000_000
            if self._moves:  # what sent those has no need to be told to flush
                return Forfeit(
                    FaultKind.SILENT,
                    f"the answer came {late_ms} ms after {allowance} had passed: {slow}",
                )
            return Forfeit(FaultKind.SILENT, AFTER_CLOSING.format(late_ms=late_ms, slow=slow))
        if partial:
            return Forfeit(
                FaultKind.LATE,
                f"only part of a line came within {allowance}, {shown(partial)}: send each answer"
                " whole, with a newline at the end",
            )
        # a bot that answered hello flushes: what it holds back would have come when its input ended
        return Forfeit(
            FaultKind.SILENT,
            f"no answer came within {allowance}:"
            f" {FLUSH if starting else f'answer every turn; {slow}'}",
        )

    def _answers_within(self, nanoseconds: int) -> bool:
        try:
            self._line().read_line(time.monotonic_ns() + nanoseconds)
        except (TimedOut, OutputEnded, Overflowed):
            return False
        return True

    def _ended(self, partial: bytes) -> Forfeit:
        assert self._process is not None
        ending = self._process.ending(EXIT_S)
        after = f" after writing {shown(partial)} without a newline" if partial else ""
        if ending is None:
            detail = (
                f"the bot closed its output{after} but kept running: keep stdout open until the"
                " line 'quit'"
            )
            return Forfeit(FaultKind.CLOSED_OUTPUT, detail)
        return Forfeit(
            _ending_kind(ending), f"the bot {ending}{after}{_cure(ending)}{self._last_words()}"
        )

    def _last_words(self) -> str:
        """The last line of stderr, which names the error in most languages."""
        if self._process is None:
            return ""
        full = "; its stderr is full: log less" if self._process.stderr_is_full() else ""
        words = self._process.stderr_tail().strip().splitlines()
        return f"{full}; {LAST_WORDS} {words[-1][:300]}" if words else full


def _late(error: Overspent, budget_ns: int) -> Forfeit:
    """The fault of an answer that cost too much processor time."""
    cost, budget, before = (
        round(each / NS_PER_MS) for each in (error.cost_ns, budget_ns, error.unasked_ns)
    )
    cure = (
        f", {before} of them before it was asked: {THINK_WHEN_ASKED}"
        if before
        else f": {THINK_LESS}"
    )
    return Forfeit(
        FaultKind.LATE,
        f"the bot used {cost} ms of processor time for an answer that might take {budget} ms{cure}",
    )


def _cure(ending: Ending) -> str:
    """What to do about it, unless the ending already says so."""
    if ending.excess or ending.unwatched or ending.failed:
        return ""
    if ending.exit is not None:
        return " when an answer was due: answer every turn, and stay until the line 'quit'"
    return " when an answer was due: look for a crash in its code or in a library"


def _ending_kind(ending: Ending) -> FaultKind:
    if ending.failed:
        return FaultKind.STARTUP
    if ending.excess and ending.excess[0] == "memory":
        return FaultKind.MEMORY
    return FaultKind.KILLED if ending.signal is not None else FaultKind.EXIT
