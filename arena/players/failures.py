"""What a bot does after an exchange with it has failed, and which fault that shows: whether it was
late, silent, or ended.

A fault stays in the journal for ever, so the arena takes time to get it right. It waits for what
the bot may be about to do, in short steps that count only while the bot can act.
"""

import math
import signal
import time
from contextlib import suppress

from msgspec import Struct

from arena.errors import Forfeit
from arena.faults import FaultKind
from arena.players.channel import (
    MAX_LINE,
    Channel,
    Flooded,
    LongLine,
    OutputEnded,
    SpokeUnasked,
    TimedOut,
    Unanswered,
)
from arena.players.crashes import (
    APOSTROPHE,
    MAX_QUOTED,
    NODE,
    QUOTE,
    Crash,
    crash_of,
    cure_of,
    own_path,
    with_own_paths,
)
from arena.players.decoding import shown
from arena.players.endings import Ending
from arena.players.folder import Bot
from arena.players.process import BotProcess, check_started, ending_within, moments
from arena.players.sandbox.launch import SHARED_MB
from arena.players.sandbox.tiers import Sandbox
from arena.players.timekeeper import OutOfTime, Overspent
from arena.records.record import NS_PER_MS

GRACE_NS = 200_000_000  # the wait for a late answer, once with the bot's input open, once closed
EXIT_NS = 1_000_000_000  # the wait for a bot to exit after its output has ended
DRAIN_NS = 100_000_000  # the wait to see whether unasked output becomes a flood
LINE_KB = MAX_LINE >> 10
CRASHED = "the bot crashed"
THINK_LESS = "think less (position.think_ms says how long), or allow more with --move-ms"
START_FASTER = "start faster: load less before ready"
FLOODED = (
    f"expected one line per request, got more than {LINE_KB} KiB that nobody asked for: answer each"
    " request once, log to stderr"
)


class Aftermath(Struct):
    """Finds out which fault a bot has committed whose exchange with the arena has failed.

    ``startup_ms``   the time for start-up in ms
    ``is_starting``  whether the process has not answered hello yet
    ``has_moved``    whether the process has answered a turn before
    ``has_told``     whether an earlier message already quotes the bot's last words
    """

    bot: Bot
    process: BotProcess
    channel: Channel
    sandbox: Sandbox
    startup_ms: int
    is_starting: bool
    has_moved: bool
    has_told: bool = False

    def fault_of(self, failure: Unanswered, budget_ns: int) -> Forfeit:
        """The fault that ``failure``, a failed exchange, shows. ``budget_ns`` is the time in ns
        that the bot had for its answer. To find the reason, it may wait up to about two seconds and
        close the bot's input, so the bot cannot be asked again. Raises Void if the machine did not
        start the bot, see `check_started`.
        """
        match failure:
            case OutOfTime():
                return self._overdue(failure)
            case Overspent():
                return self._overspent(failure, budget_ns)
            case OutputEnded():
                return self._ended(failure.partial)
            case SpokeUnasked():
                early = f"expected silence until the next request, got {shown(failure.partial)}"
                return self.unasked(f"{early}: answer each request once, log to stderr")
            case LongLine():
                start = f"got a longer one that starts {shown(failure.partial)}"
                detail = f"expected lines of at most {LINE_KB} KiB, {start}"
                return Forfeit(FaultKind.LONG_LINE, detail)
            case _:
                return Forfeit(FaultKind.FLOOD, FLOODED)

    def unasked(self, detail: str) -> Forfeit:
        """The fault of a bot that wrote a line without being asked, with ``detail`` as the text for
        people; a flood if the bot wrote many such lines. Waits up to `DRAIN_NS` to see that.
        """
        if self.channel.is_flooding(moments(DRAIN_NS)):
            return Forfeit(FaultKind.FLOOD, FLOODED)
        return Forfeit(FaultKind.UNKNOWN_ID, detail)

    def last_words(self) -> str:
        """The end of a message, with a "; " before it: the last line that the bot wrote to stderr,
        which often names the error, and whether its stderr is full. Empty if there is nothing to
        say, or if an earlier message has quoted the error.
        """
        if self.has_told:
            return ""
        self.has_told = True
        full = "; its stderr is full: log less" if self.process.stderr_is_full() else ""
        lines = self.process.stderr_tail().strip().splitlines()
        words = [line for line in lines if line.strip() and not line.startswith(NODE)]
        if not words:
            return full
        last = with_own_paths(self.bot.base, self.bot.folder, words[-1][:MAX_QUOTED])
        return f"{full}; last line on stderr: {last}"

    def _overspent(self, failure: Overspent, budget_ns: int) -> Forfeit:
        """The fault of an answer that cost too much CPU time."""
        if self.is_starting:
            allowed = f"the {self.startup_ms} ms of CPU time allowed for start-up"
            detail = f"no answer came within {allowed}: {START_FASTER}"
            return Forfeit(FaultKind.STARTUP, detail)
        cost = round(failure.cost_ns / NS_PER_MS)
        budget = round(budget_ns / NS_PER_MS)
        spent = f"the bot used {cost} ms of CPU time for an answer that might take {budget}"
        return Forfeit(FaultKind.LATE, f"{spent} ms: {THINK_LESS}")

    def _overdue(self, failure: OutOfTime) -> Forfeit:
        """The fault of a bot whose answer is missing. To find the reason, this method waits a
        little, then closes the bot's input and waits again.
        """
        deadline_ns = time.monotonic_ns()
        partial = failure.partial
        allowed = failure.allowance
        slow = THINK_LESS
        if self.is_starting:
            use = f" ({failure.use})" if failure.use else ""
            allowed = f"the {self.startup_ms} ms allowed for start-up{use}"
            slow = START_FASTER
        none = f"no answer came within {allowed}"
        came = f"the answer came {{}} ms after {allowed} had passed: {slow}"
        late_ms = None
        has_output = True
        ending = self.process.ending()
        if not ending:
            try:
                late_ms = self._late_ms(deadline_ns)
                ending = self.process.ending()
            except OutputEnded:
                has_output = False
                ending = ending_within(self.process, EXIT_NS)
        if late_ms is not None:
            return Forfeit(FaultKind.LATE, came.format(late_ms))
        if ending:
            how = self._crash(ending, "") or f"the bot {ending}{self.last_words()}"
            return Forfeit(_kind(ending), f"{none}, and {how}")
        unread = self.channel.unread_by_bot()
        if unread:
            cure = f"{START_FASTER}, then read stdin" if self.is_starting else "read stdin"
            left = f"{unread} bytes of input were left unread: {cure} line by line"
            return Forfeit(FaultKind.NEVER_READS, f"{none}, and {left}")
        if not has_output or not self.process.has_output_open():
            return self._ended(partial)
        # The bot has read its input and is silent: an answer that comes when its input ends was
        # written in time, but never flushed.
        self.channel.close_input()
        with suppress(OutputEnded):
            late_ms = self._late_ms(deadline_ns)
        if late_ms is not None:  # a bot that has moved before does flush: other advice
            closed = (
                "the bot answered only after its input was closed: flush stdout after each line"
            )
            closed += f" (or, if it was still thinking, it was {late_ms} ms late: {slow})"
            return Forfeit(FaultKind.SILENT, came.format(late_ms) if self.has_moved else closed)
        if partial:
            part = f"only part of a line came within {allowed}, {shown(partial)}"
            whole = "send each answer whole, with a newline at the end"
            return Forfeit(FaultKind.LATE, f"{part}: {whole}")
        # a bot that answered hello flushes: held-back output would have come when its input ended
        flush = "answer every request, and flush stdout after each line"
        cure = flush if self.is_starting else f"answer every turn; {THINK_LESS}"
        return Forfeit(FaultKind.SILENT, f"{none}: {cure}")

    def _late_ms(self, deadline_ns: int) -> int | None:
        """Waits for the late answer for at most `GRACE_NS`. Returns how many ms after
        ``deadline_ns`` the answer came, rounded up, None if it did not come. Raises OutputEnded.
        """
        for moment_ns in moments(GRACE_NS):
            try:
                self.channel.read_line(moment_ns)
            except TimedOut:
                continue
            except (LongLine, Flooded):
                return None
            return math.ceil((time.monotonic_ns() - deadline_ns) / NS_PER_MS)
        return None

    def _ended(self, partial: bytes) -> Forfeit:
        """The fault of a bot whose output ended after ``partial``, part of a line or nothing."""
        ending = ending_within(self.process, EXIT_NS)
        after = f" after writing {shown(partial)} without a newline" if partial else ""
        if ending is None:
            closed = f"the bot closed its output{after} but kept running"
            return Forfeit(
                FaultKind.CLOSED_OUTPUT, f"{closed}: keep stdout open until the line 'quit'"
            )
        crashed = self._crash(ending, after)
        if crashed:
            return Forfeit(_kind(ending), crashed)
        words = self.last_words()
        return Forfeit(_kind(ending), f"the bot {ending}{after}{_cure(ending, words)}{words}")

    def _crash(self, ending: Ending, after: str) -> str:
        """A sentence with the error that ended the bot, in its own words, or why it could not be
        started; empty if its stderr shows no error. ``after`` is a phrase about what the bot wrote
        to stdout last. Raises Void, see `check_started` and `BotProcess.check_room`.
        """
        check_started(ending, self.bot.label)
        if ending.exit or (ending.signal and not ending.excess):
            self.process.check_room()
        if ending.failed:
            cure = cure_of(Crash("", str(ending)), self.bot, self.sandbox)
            return f"the bot {ending}{'; ' if cure else ''}{cure}"
        if not ending.exit or self.process.stderr_is_full():
            return ""
        crash = crash_of(self.process.stderr_tail(), ending.exit, self.bot.folder.resolve())
        if crash is None:
            return ""
        self.has_told = True
        cure = cure_of(crash, self.bot, self.sandbox)
        place = own_path(self.bot.base, self.bot.folder, crash.place) if crash.place else ""
        where = f" at {place}" if place else ""
        said = crash.words[:MAX_QUOTED]
        if cure:
            said = f'"{said.replace(QUOTE, APOSTROPHE)}"; {cure}'
        return f"{CRASHED}{where}{after}: {said}"


def _cure(ending: Ending, words: str) -> str:
    """The end of a message about the ``ending`` of a bot: that an answer was due, and what to do.
    Empty if the text of the ending says what to do; ``words`` is the text of `last_words`, which
    may say why the bot ended.
    """
    if ending.excess or ending.unwatched:
        return ""
    if ending.exit == 0:
        loop = "is run(choose) its last line? Without the SDK, read lines until 'quit'"
        return f" without an answer: {loop}"
    due = " when an answer was due"
    if ending.signal == signal.SIGKILL:
        return f"{due}: the kernel does that when memory runs out, so let fewer games run at once"
    if ending.signal == signal.SIGBUS:
        return (
            f"{due}: it used a part of a mapped file that the file does not have, as when"
            f" /dev/shm is full, which has room for {SHARED_MB} MB in bubblewrap"
        )
    if ending.exit is None:
        return f"{due}: look for a crash in its code or in a library"
    return due if words else f"{due}: let it say why on stderr"


def _kind(ending: Ending) -> FaultKind:
    """The kind of fault that the bot commits by ending in this way."""
    if ending.failed:
        return FaultKind.STARTUP
    if ending.excess and ending.excess[0] == "memory":
        return FaultKind.MEMORY
    return FaultKind.KILLED if ending.signal is not None else FaultKind.EXIT
