"""A bot's process as a player: the dialogue, the time for each answer, and its stderr by turns."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from arena import __version__
from arena.errors import Forfeit
from arena.faults import FaultKind
from arena.players.channel import Channel, Unanswered, WireLog
from arena.players.crashes import with_own_paths, without_quoted
from arena.players.decoding import MOVE_EXAMPLE, READY_EXAMPLE, decode_reply, read_note, shown
from arena.players.failures import Aftermath
from arena.players.folder import Bot
from arena.players.messages import PROTOCOL, SILENCE, Hello, Move, Quit, Ready, Start, ToBot, encode
from arena.players.meter import Meter
from arena.players.player import KEPT_BYTES, Answer, Dialogue, Player
from arena.players.process import BotProcess
from arena.players.sandbox.tiers import OPEN, Sandbox
from arena.players.timekeeper import Timekeeper
from arena.players.views import turn_view
from arena.records.notes import Note, note_of
from arena.records.record import NS_PER_MS
from arena.records.timing import BEST_CLOCK
from arena.rules import State
from arena.values import ClockKind

QUIT_S = 0.1
"""How many seconds a bot may take to exit after 'quit'. A slower one is killed, which
is no fault.
"""
LAST_LINES = 5
"""How many lines of a failed bot's stderr are shown."""
LINE = 200
"""How many characters of each of these lines are shown."""
SETTLE_S = 1.0
"""How many seconds to wait for what a busy bot still writes; where ten programs shared a core, 20
ms of writing took 0.1 s.
"""
NAP_S = 0.00005
LONGEST_NAP_S = 0.005
PART_BYTES = 16 << 10
"""The most bytes of a bot's stderr that are shown at a time."""
REPEAT_IT = "repeat the id of the request, and answer it once"
Reply = TypeVar("Reply", Move, Ready)


class Stderr:
    """Collects what a process writes to stderr while people watch its game. ``lines`` has the
    lines, each as a pair of the time it was written, such as ``turn 3``, and the text. ``hear`` is
    called with the new lines as they are read.
    """

    # The bot can cut, fill and overwrite the file, but not what has been read from it. So the
    # position kept here, not the file's own, says what is new.

    def __init__(self, hear: Callable[[bytes], None] = lambda _: None) -> None:
        self.lines: list[tuple[str, str]] = []
        self._hear = hear
        self._at = 0
        self._when = "before its first turn"

    def goes_on(self, process: BotProcess, when: str) -> None:
        """Notes that the arena is about to ask the bot, or to tell it the end of the game. Lines
        that the bot writes from now on are marked ``when``, such as ``turn 3``.
        """
        self.catch_up(process)
        self._when = when

    def settle(self, process: BotProcess, channel: Channel) -> None:
        """Reads what the bot writes until it has read its input and is idle, and waits for that for
        at most `SETTLE_S`.
        """
        deadline = time.monotonic() + SETTLE_S
        nap_s = NAP_S
        while time.monotonic() < deadline:
            if not channel.unread_by_bot() and process.meter.is_idle():
                break
            # A worker and its bots share one core, so the bot runs only while the worker sleeps.
            time.sleep(nap_s)
            nap_s = min(2 * nap_s, LONGEST_NAP_S)
        self.catch_up(process)

    def catch_up(self, process: BotProcess) -> None:
        """Reads what was written since the last call. Of more than `PART_BYTES` bytes only the
        first are kept, and a line that says how many follow.
        """
        text = process.stderr_from(self._at, PART_BYTES)
        is_flood = len(text) == PART_BYTES
        # Bytes that may begin a value to hide are kept back until more comes, or left out.
        text = text[: len(text) - process.grants.begun(text)]
        self._at += len(text)
        shown_text = process.grants.hidden(text).decode(errors="backslashreplace")
        # Not splitlines(): only a newline ends a line here, and other line breaks are escaped.
        lines = [line for line in shown_text.split("\n") if line.strip()]
        if is_flood:
            there = self._at
            self._at = max(self._at, process.stderr_size())
            lines.append(f"({self._at - there:,} more bytes are not shown)")
        self.lines += [(self._when, line) for line in lines]
        self._hear("\n".join(lines).encode())


class Speech(NamedTuple):
    """How the arena speaks to a bot. Tools replace single parts.

    ``encode``   makes the line of a message, without its newline
    ``numbers``  makes the ids of all requests to one process
    ``connect``  makes the channel from the descriptors to and from the bot
    ``note``     decides what is kept of a note; None for nothing
    """

    encode: Callable[[ToBot], bytes] = encode
    numbers: Callable[[], Iterator[int]] = lambda: count(1)
    connect: Callable[[int, int], Channel] = Channel
    note: Callable[[object], Note | None] = note_of


USUAL = Speech()


class BotPlayer(Player):
    """A bot that plays in its own process, which starts with the bot's first game.

    ``process``        exists from the first game on; None before it, and after `dismiss` or `stop`
    ``has_full_view``  whether the bot asked for the full view in its greeting
    ``is_starting``    whether the process has not answered hello yet
    ``stderr``         collects the bot's stderr; None if nobody watches
    """

    def __init__(
        self,
        bot: Bot,
        startup_ms: int,
        sandbox: Sandbox = OPEN,
        clock: ClockKind = BEST_CLOCK,
        speech: Speech = USUAL,
        stderr: Stderr | None = None,
    ) -> None:
        self.bot = bot
        self.name = bot.label
        self.startup_ms = startup_ms
        self.sandbox = sandbox
        self.has_full_view = False
        self.clock: ClockKind = clock
        self._grants = sandbox.of(bot.label)
        self._options = bot.options
        self.stderr = stderr
        self._speech = speech
        self._encode = speech.encode
        self._numbers = speech.numbers()
        self.process: BotProcess | None = None
        self._channel: Channel | None = None
        self._timekeeper: Timekeeper | None = None
        self._after: Aftermath | None = None
        self.is_starting = self._has_moved = False
        self._began_ns = time.monotonic_ns()

    @property
    def is_running(self) -> bool:
        """Whether the process has been started and has not exited."""
        return self._channel is not None and not (self.process and self.process.ending())

    @property
    def channel(self) -> Channel:
        """The channel to and from the process, which must have been opened."""
        assert self._channel is not None, "the game has begun"
        return self._channel

    def begin(self, start: Start) -> None:
        """Starts the process and has it greet, unless it runs already, and queues the announcement
        of a game, which is sent with the next request. Raises Forfeit (STARTUP) for the bot's
        fault, Void, SandboxError or BusyMachineError if the machine fails.
        """
        self._began_ns = time.monotonic_ns()
        self.start_idle_ns = 0
        is_running = self.is_running
        if not is_running:
            self.stop()
        elif self.process:
            self.process.trim_stderr()
        if not is_running:
            self.start()
        self.channel.queue(self._encode(replace(start, options={**self._options, **start.options})))

    def choose(self, state: State, budget_ns: int) -> Answer:
        """Asks the bot for a move, for which it has ``budget_ns`` ns. Raises Forfeit for the bot's
        fault; whether the move is legal is not checked. Raises BusyMachineError if the machine is
        too busy to time the bot.
        """
        number = next(self._numbers)
        view = turn_view(state, number, budget_ns // NS_PER_MS, full=self.has_full_view)
        request = self._encode(view)
        if self.stderr and self.process:
            self.stderr.goes_on(self.process, f"turn {state.turns + 1}")
        began_ns = time.monotonic_ns()
        line, spent_ns = self._ask(request, budget_ns)
        answered_ns = time.monotonic_ns()
        if self.stderr and self.process:
            self.stderr.settle(self.process, self.channel)
        if self.process and self.process.may_compute:
            self.process.pause()
        reply = self._reply(Move, line, number)
        self._has_moved = True
        note = None if reply.note is SILENCE else self._speech.note(read_note(reply.note))
        assert self._timekeeper is not None, "it has just timed the answer"
        idle_ns = self._timekeeper.idle_ns
        return Answer(reply.move, spent_ns, began_ns, answered_ns, note, idle_ns)

    def rest(self, *, must_stop: bool = False) -> None:
        """Pauses the processes of a bot that computes, or wakes up now and then, while another bot
        is asked; they go on when it is asked. From then on they are paused after each answer. A bot
        that computes all the same is ended. With ``must_stop`` the processes are paused even if
        they do not compute.
        """
        if not (self._timekeeper and self.process and self.process.meter.is_started):
            return
        self.process.keeper.read()
        if self._timekeeper.ran_ns():
            self.process.is_suspect = True
            self.process.pause()
            return
        if not self.process.is_paused:
            has_woken = self._timekeeper.has_woken()
            self.process.wakings += has_woken
            if must_stop or has_woken or self.process.may_compute:
                self.process.pause()

    def inform(self, line: bytes) -> None:
        """Queues a public line, which is sent with the next request."""
        self.channel.queue(line)

    def finish(self) -> None:
        """Sends the lines about the end of the game, and ends the process of a bot that wants a
        fresh one for each game.
        """
        if self.stderr and self.process:
            self.stderr.goes_on(self.process, "after the end")
        if self.process:
            self.process.go_on()
        self.channel.flush()
        if self.stderr and self.process:
            self.stderr.settle(self.process, self.channel)
        if self.bot.manifest.fresh:
            self.stop()

    def dismiss(self) -> None:
        """Kills the process and all that it started, without asking it to quit. Calling it again
        does nothing.
        """
        if self._channel:
            self._channel.close()
        if self.process:
            if self.stderr:
                self.stderr.catch_up(self.process)
            self.process.stop()
        self.process = self._channel = self._timekeeper = self._after = None

    def stop(self) -> None:
        """Asks the process to quit, gives it a moment, then kills it. Calling it again does
        nothing.
        """
        if self._channel and self.process and self._channel.accepts_input and self.is_running:
            self.process.go_on()
            self._channel.queue(encode(Quit()))
            self._channel.flush()
            self._channel.close_input()
            self.process.ending(QUIT_S)
        self.dismiss()

    def take_stderr(self) -> list[tuple[str, str]]:
        """The lines that the bot wrote to stderr since the last call, each as a pair of the time it
        was written, such as ``turn 3``, and the text; empty unless stderr is collected.
        """
        if not self.stderr:
            return []
        lines = self.stderr.lines
        self.stderr.lines = []
        with_paths = partial(with_own_paths, self.bot.base, self.bot.folder)
        return [(when, with_paths(line)) for when, line in lines]

    def evidence(self) -> tuple[str, Dialogue, str]:
        """A text about how the process ended and what it used (empty if it still runs), the last
        lines of the dialogue, and the end of the bot's stderr; all three are empty without a
        process.
        """
        if self.process is None or self._channel is None:
            return "", [], ""
        ending = self.process.ending()
        lines = []
        for way, text, at_ns in self._channel.lines():
            shown_text = self._grants.hidden(text)[:KEPT_BYTES].decode(errors="backslashreplace")
            lines.append((way, round((at_ns - self._began_ns) / 1e6, 1), shown_text))
        return f"{ending}; {ending.use}" if ending else "", lines, self.process.stderr_tail()

    def start(self) -> None:
        """Starts the process and has it greet. Raises Forfeit (STARTUP) for the bot's fault, Void,
        SandboxError or BusyMachineError if the machine fails.
        """
        self.open()
        try:
            self.greet()
        except Forfeit as fault:
            detail = f"{fault.detail}{self._aftermath().last_words()}"
            raise Forfeit(FaultKind.STARTUP, detail) from fault

    def open(self) -> None:
        """Starts the process without sending it anything yet. Raises Void or SandboxError if the
        machine cannot start it.
        """
        bot = self.bot
        processes = self.bot.manifest.processes
        process = self.process = BotProcess(
            bot.command,
            bot.folder,
            self.sandbox,
            bot.memory_mb,
            processes,
            grants=self._grants,
            programs=bot.manifest.programs,
        )
        self.attach(self._speech.connect(process.to_bot, process.from_bot), process.meter)

    def attach(self, channel: Channel, meter: Meter) -> None:
        """Makes the player speak over this channel from now on, and charge the bot for the CPU time
        that this meter shows.
        """
        self._channel = channel
        self._timekeeper = Timekeeper(channel, meter, self.clock)
        self._numbers = self._speech.numbers()
        self.is_starting = True
        self._has_moved = False

    def greet(self) -> None:
        """Says hello, and learns which view the bot wants. Raises Forfeit, and Void or
        BusyMachineError if the machine fails.
        """
        number = next(self._numbers)
        budget_ns = self.startup_ms * NS_PER_MS
        request = self._encode(Hello(number, PROTOCOL, __version__))
        line, _ = self._ask(request, budget_ns, budget_ns)
        self.has_full_view = self._reply(Ready, line, number).view == "full"
        self.is_starting = False
        assert self._timekeeper is not None, "it has just timed the answer"
        self.start_idle_ns = self._timekeeper.idle_ns
        self._timekeeper.begin()

    def _ask(
        self, request: bytes, budget_ns: int, most_idle_ns: int | None = None
    ) -> tuple[bytes, int]:
        """The line that answers a request, and its cost in ns. Raises Forfeit, and Void or
        BusyMachineError if the machine fails.
        """
        assert self._timekeeper is not None, "the game has begun"
        try:
            if self.process:
                self.process.go_on()
            return self._timekeeper.ask(request, budget_ns, self.meanwhile, most_idle_ns)
        except Unanswered as failure:
            fault = self._aftermath().fault_of(failure, budget_ns)
            # without the values of the variables that it was granted
            raise Forfeit(fault.kind, self._grants.hidden_text(fault.detail)) from None

    def _reply(self, kind: type[Reply], line: bytes, number: int) -> Reply:
        """Decodes ``line``, which must be a reply of this kind to the request with this number.
        Raises Forfeit.
        """
        line = self._grants.hidden(line)
        reply = decode_reply(line, MOVE_EXAMPLE if kind is Move else READY_EXAMPLE)
        if not isinstance(reply, kind):
            due = f'of type "move" to the request {number}'
            due = due if kind is Move else f"such as {READY_EXAMPLE} to the hello"
            raise Forfeit(FaultKind.WRONG_SHAPE, f"expected a reply {due}, got {shown(line)}")
        if reply.id != number:
            wanted = f'expected the id of the request, "id":{number}, got {shown(line)}'
            raise self._aftermath().unasked(f"{wanted}: {REPEAT_IT}")
        return reply

    def _aftermath(self) -> Aftermath:
        """The object that finds out what a failed exchange with this process means. It is made at
        the first failure, and kept.
        """
        assert self.process is not None, "the game has begun"
        self._after = self._after or Aftermath(
            self.bot, self.process, self.channel, self.sandbox, self.startup_ms,
            self.is_starting, self._has_moved,
        )  # fmt: skip
        return self._after


def lines_of_failed_start(player: BotPlayer) -> list[str]:
    """Starts the process of a player. Returns the lines that tell a user why the bot did not start;
    an empty list if it started. Raises Void, SandboxError or BusyMachineError if the machine fails.
    """
    bot = player.bot
    try:
        player.start()
    except Forfeit as fault:
        stderr = with_own_paths(bot.base, bot.folder, player.evidence()[2])
        told = last_lines(bot.base, stderr, fault.detail)
        return [f"{bot.base} did not start: {fault}", *told]
    return []


def logged_player(
    bot: Bot,
    startup_ms: int,
    sandbox: Sandbox,
    log: WireLog,
    seat: int,
    clock: ClockKind = BEST_CLOCK,
) -> BotPlayer:
    """A player that writes all lines from and to the bot, and its stderr, to ``log``, as those of
    ``seat``. A request is logged before the bot reads it. ``startup_ms`` is how many ms the bot may
    take to start, by this ``clock``.
    """
    write = partial(log.write, seat, bot.label, sandbox.of(bot.label).hidden)
    speech = Speech(connect=partial(Channel, exchange=None, tap=write))
    stderr = Stderr(partial(write, "stderr"))
    return BotPlayer(bot, startup_ms, sandbox, clock, speech, stderr)


def last_lines(label: str, stderr: str, message: str) -> list[str]:
    """The lines to print below ``message``: a heading with the bot's ``label``, and the last lines
    of its ``stderr`` that the message does not quote already. Empty if there are none.
    """
    words = without_quoted(stderr.rstrip().splitlines(), message)[-LAST_LINES:]
    if not words:
        return []
    return [f"{label} wrote last:", *(f"  {line[:LINE]}" for line in words)]
