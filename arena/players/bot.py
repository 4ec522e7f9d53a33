"""A bot's process as a player: the dialogue, and the time for each answer."""

import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import NamedTuple

from msgspec.structs import replace

from arena import __version__
from arena.errors import FaultKind, Forfeit
from arena.players.aftermath import FAILURES, LAST_WORDS, THINK_WHEN_ASKED, Aftermath, Failure
from arena.players.channel import Channel, Line
from arena.players.folder import Bot
from arena.players.messages import (
    PROTOCOL,
    READY_EXAMPLE,
    SILENCE,
    ClockKind,
    FromArena,
    Hello,
    Move,
    Quit,
    Ready,
    Start,
    decode_reply,
    encode,
    said,
    shown,
)
from arena.players.player import KEPT_BYTES, Answer, Player, Words
from arena.players.process import BotProcess
from arena.players.sandbox.tiers import OPEN, Sandbox
from arena.players.stderr import Stderr
from arena.players.timekeeper import BEST_CLOCK, NS_PER_MS, Metered, Timekeeper
from arena.players.views import turn_view
from arena.records.note import Note, note_of
from arena.records.stderr import StderrPart
from arena.rules import State

QUIT_S = 0.1
"""How long a bot may take to exit after 'quit'. Nothing depends on it: a slower one is killed, and
that is no fault.
"""


class Speech(NamedTuple):
    """How the arena speaks to a bot; a tool that wants a part of it otherwise gives its own.

    ``encode`` makes a line of a message, ``numbers`` the ids of all requests to one process,
    ``connect`` the channel for the process's pipes, and ``note`` what is kept of a note.
    """

    encode: Callable[[FromArena], bytes] = encode
    numbers: Callable[[], Iterator[int]] = lambda: count(1)
    connect: Callable[[int, int], Channel] = Channel
    note: Callable[[object], Note | None] = note_of


USUAL = Speech()


class BotPlayer(Player):
    """A bot that plays in its own process, which starts with the bot's first game."""

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
        self._stderr = stderr
        self.clock: ClockKind = clock
        self.sandbox = sandbox
        self._grants = sandbox.of(bot.label)
        self.name = bot.label
        self.startup_ms = startup_ms
        self._process: BotProcess | None = None
        self._channel: Channel | None = None
        self._timekeeper: Timekeeper | None = None
        self._options = bot.options
        self._speech = speech
        self._encode = speech.encode
        self._numbers = speech.numbers()
        self._has_moved = self._full = False
        self._began_ns = time.monotonic_ns()

    @property
    def is_running(self) -> bool:
        """Whether the process has been started and has not exited."""
        return self._channel is not None and not (self._process and self._process.ending())

    def begin(self, start: Start) -> None:
        """Starts the process if there is none, and announces the game. Raises Forfeit (STARTUP),
        Void.
        """
        self._began_ns = time.monotonic_ns()
        is_running = self.is_running
        if not is_running:
            self.stop()
        elif self._process:
            self._process.trim_stderr()
        if self._stderr:
            self._stderr.begin(start.seat)
        if not is_running:
            self._start()
        self.channel.queue(self._encode(replace(start, options={**self._options, **start.options})))

    def choose(self, state: State, budget_ns: int) -> Answer:
        """Asks for a move. Raises Forfeit."""
        number = next(self._numbers)
        request = self._encode(turn_view(state, number, budget_ns // NS_PER_MS, full=self._full))
        keeper = self._timekeeper
        assert keeper is not None, "the game has begun"
        if self._stderr:
            self._stderr.turn(state.turns)
        began_ns = time.monotonic_ns()
        try:
            line, spent_ns = keeper.ask(request, budget_ns, self.meanwhile)
        except FAILURES as failure:
            raise self._fault_of(failure, budget_ns) from None
        answered_ns = time.monotonic_ns()
        if self._stderr and self._stderr.at_once:
            self._stderr.settle(self.channel)
        line = self._grants.hidden(line) if self._grants.env else line
        reply = decode_reply(line)
        if not isinstance(reply, Move):
            raise Forfeit(
                FaultKind.WRONG_SHAPE,
                f'expected a reply of type "move" to the request {number}, got {shown(line)}',
            )
        if reply.id != number:
            raise self._wrong_id(number, line)
        self._has_moved = True
        note = None if reply.note is SILENCE else self._speech.note(said(reply.note))
        return Answer(reply.move, spent_ns, began_ns, answered_ns, note)

    def request(self, state: State, time_ms: int) -> None:
        """Queues a turn whose answer nobody waits for."""
        view = turn_view(state, next(self._numbers), time_ms, full=self._full)
        self.channel.queue(self._encode(view))

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
        if self._stderr:
            self._stderr.end()
        self.channel.flush()
        if self.bot.manifest.fresh:
            self.stop()

    def dismiss(self) -> None:
        """Kills the process and everything it started, without sending anything; calling it again
        does nothing.
        """
        if self._channel:
            self._channel.close()
        if self._process:
            self._process.stop()
        if self._stderr:
            self._stderr.close()
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

    def stderr(self) -> list[StderrPart]:
        """What it wrote to stderr, if somebody listens."""
        if self._stderr is None:
            return []
        if self._channel:
            self._stderr.hear_out(self._channel)
        return self._stderr.parts()

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
                self._grants.hidden(line.text)[:KEPT_BYTES].decode(errors="backslashreplace"),
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
        return self.channel.lines()

    @property
    def channel(self) -> Channel:
        """The lines to and from the process."""
        assert self._channel is not None, "the game has begun"
        return self._channel

    @property
    def process(self) -> BotProcess:
        """The process itself."""
        assert self._process is not None, "the game has begun"
        return self._process

    def _start(self) -> None:
        self.open()
        try:
            self.greet()
        except Forfeit as fault:
            is_told = LAST_WORDS in fault.detail
            words = "" if is_told else self._aftermath(is_starting=True).last_words()
            raise Forfeit(FaultKind.STARTUP, f"{fault.detail}{words}") from fault

    def open(self) -> None:
        """Starts the process without sending it anything yet. Raises Void."""
        bot, processes = self.bot, self.bot.manifest.processes
        process = BotProcess(
            bot.command, bot.folder, self.sandbox, bot.memory_mb, processes, grants=self._grants
        )
        self._process = process
        if self._stderr:
            self._stderr.open(process)
        self.attach(self._speech.connect(process.to_bot, process.from_bot), process)

    def attach(self, channel: Channel, metered: Metered) -> None:
        """Speaks over this channel from now on, and charges what is metered."""
        self._channel = channel
        self._timekeeper = Timekeeper(channel, metered, self.clock, self._grants.cpus)
        self._numbers = self._speech.numbers()
        self._has_moved = False

    def greet(self) -> None:
        """Says hello, and hears which view the bot wants. Raises Forfeit, Void."""
        number = next(self._numbers)
        hello = self._encode(Hello(number, PROTOCOL, __version__))
        budget_ns, keeper = self.startup_ms * NS_PER_MS, self._timekeeper
        assert keeper is not None, "the process is there"
        try:
            line, _ = keeper.ask(hello, budget_ns, self.meanwhile, budget_ns)
        except FAILURES as failure:
            raise self._fault_of(failure, budget_ns, is_starting=True) from None
        line = self._grants.hidden(line) if self._grants.env else line
        reply = decode_reply(line, READY_EXAMPLE)
        if not isinstance(reply, Ready):
            raise Forfeit(
                FaultKind.WRONG_SHAPE,
                f"expected a reply such as {READY_EXAMPLE} to the hello, got {shown(line)}",
            )
        if reply.id != number:
            raise self._wrong_id(number, line)
        self._full = reply.view == "full"
        keeper.begin()

    def _wrong_id(self, number: int, line: bytes) -> Forfeit:
        return self._aftermath().unasked(
            f'expected the id of the request, "id":{number}, got {shown(line)}: repeat the id'
            " of the request, and answer it once"
        )

    def _fault_of(self, failure: Failure, budget_ns: int, *, is_starting: bool = False) -> Forfeit:
        """The fault that a failure comes to, told without the values of the bot's variables. Raises
        Void.
        """
        fault = self._aftermath(is_starting=is_starting).fault_of(failure, budget_ns)
        return Forfeit(fault.kind, self._grants.hidden_text(fault.detail))

    def _aftermath(self, *, is_starting: bool = False) -> Aftermath:
        return Aftermath(
            self.process,
            self.channel,
            startup_ms=self.startup_ms,
            is_starting=is_starting,
            has_moved=self._has_moved,
        )
