"""What a bot does after an exchange with it has failed, and the fault that this shows.

A fault stays in a journal for ever, so the arena takes the time to be right about it: it waits for
what the bot may be about to do, in moments that pass only while the bot can do it.
"""

import time
from collections.abc import Iterator

from arena.errors import FaultKind, Forfeit
from arena.players.channel import MAX_LINE, Channel, OutputEnded, Overflowed, SpokeUnasked, TimedOut
from arena.players.messages import shown
from arena.players.process import BotProcess, Ending
from arena.players.timekeeper import NS_PER_MS, OutOfTime, Overspent

GRACE_NS = 200_000_000
"""After a missed deadline: how long to wait for a late answer, once with the bot's input open and
once with it closed.
"""
EXIT_NS = 1_000_000_000
"""After the end of its output: how long a bot may take to exit."""
DRAIN_NS = 100_000_000
"""How long to watch whether unasked output turns into a flood."""
STEP_NS = 10_000_000
MOST_NS = 5_000_000_000
"""No wait is longer by the wall clock, whatever the bot does."""
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

Failure = OutOfTime | Overspent | OutputEnded | SpokeUnasked | Overflowed
FAILURES = (OutOfTime, Overspent, OutputEnded, SpokeUnasked, Overflowed)
"""Every way in which an exchange can fail."""


def moments(process: BotProcess, span_ns: int) -> Iterator[int]:
    """Deadlines of short waits, one after another, until the bot has had ``span_ns`` for itself.

    Measured: on a busy machine a bot that was exiting got no processor for longer than the arena
    had patience, and its clean exit was judged as closed output. So time counts only if the bot
    slept or computed, not if it waited for a processor, and a step in which the whole machine
    stood still counts as two steps at most.
    """
    end_ns = time.monotonic_ns() + MOST_NS
    while span_ns > 0:
        began_ns, used_ns = time.monotonic_ns(), process.used_ns()
        if began_ns >= end_ns:
            return
        yield began_ns + STEP_NS
        passed_ns = min(time.monotonic_ns() - began_ns, 2 * STEP_NS)
        computed_ns = process.used_ns() - used_ns
        span_ns -= min(passed_ns, computed_ns) if process.is_busy() else passed_ns


def ending_within(process: BotProcess, span_ns: int) -> Ending | None:
    """How the bot ends before it has had ``span_ns`` for itself, None if it goes on."""
    for moment_ns in moments(process, span_ns):
        ending = process.ending((moment_ns - time.monotonic_ns()) / 1e9)
        if ending:
            return ending
    return None


class Aftermath:
    """One bot after a failed exchange. ``is_starting`` tells the greeting from a turn;
    ``has_moved`` is set once the process has answered a turn.
    """

    def __init__(
        self,
        process: BotProcess,
        channel: Channel,
        *,
        startup_ms: int,
        is_starting: bool,
        has_moved: bool,
    ) -> None:
        self._process = process
        self._channel = channel
        self._startup = f"the {startup_ms} ms"
        self._is_starting = is_starting
        self._has_moved = has_moved

    def fault_of(self, failure: Failure, budget_ns: int) -> Forfeit:
        """The fault that a failed exchange was."""
        match failure:
            case OutOfTime():
                return self._overdue(failure)
            case Overspent():
                return self._overspent(failure, budget_ns)
            case OutputEnded():
                return self._ended(failure.partial)
            case SpokeUnasked():
                return self.unasked(
                    f"expected silence until the next request, got {shown(failure.line)}: answer"
                    " each request once, log to stderr"
                )
            case Overflowed(one_line=True):
                return Forfeit(
                    FaultKind.LONG_LINE,
                    f"expected lines of at most {MAX_LINE >> 10} KiB, got a longer one that starts"
                    f" {shown(failure.start)}",
                )
            case Overflowed():
                return Forfeit(FaultKind.FLOOD, FLOODED)

    def unasked(self, detail: str) -> Forfeit:
        """The fault for a line that answers no request: a flood if there are many."""
        if self._channel.is_flooding(moments(self._process, DRAIN_NS)):
            return Forfeit(FaultKind.FLOOD, FLOODED)
        return Forfeit(FaultKind.UNKNOWN_ID, detail)

    def last_words(self) -> str:
        """The last line of stderr, which names the error in most languages."""
        full = "; its stderr is full: log less" if self._process.stderr_is_full() else ""
        words = self._process.stderr_tail().strip().splitlines()
        return f"{full}; {LAST_WORDS} {words[-1][:300]}" if words else full

    def _overspent(self, failure: Overspent, budget_ns: int) -> Forfeit:
        """The fault of an answer that cost too much processor time."""
        if self._is_starting:
            return Forfeit(
                FaultKind.STARTUP,
                f"no answer came within {self._startup} of processor time allowed for start-up:"
                f" {START_FASTER}",
            )
        cost, budget, before = (
            round(each / NS_PER_MS) for each in (failure.cost_ns, budget_ns, failure.unasked_ns)
        )
        cure = (
            f", {before} of them before it was asked: {THINK_WHEN_ASKED}"
            if before
            else f": {THINK_LESS}"
        )
        return Forfeit(
            FaultKind.LATE,
            f"the bot used {cost} ms of processor time for an answer that might take {budget}"
            f" ms{cure}",
        )

    def _overdue(self, failure: OutOfTime) -> Forfeit:
        """Finds out why the answer is missing: waits a little for it, then closes the bot's input
        and waits again.
        """
        deadline_ns = time.monotonic_ns()
        allowance = (
            f"{self._startup} allowed for start-up" if self._is_starting else failure.allowance
        )
        slow = START_FASTER if self._is_starting else THINK_LESS
        late_ms, has_output = None, True
        ending = self._process.ending()
        if not ending:
            try:
                late_ms = self._late_ms(deadline_ns)
                ending = self._process.ending()
            except OutputEnded:
                has_output, ending = False, ending_within(self._process, EXIT_NS)
        if late_ms is not None:
            came = f"the answer came {late_ms} ms after {allowance} had passed: {slow}"
            return Forfeit(FaultKind.LATE, came)
        if ending:
            detail = f"no answer came within {allowance}, and the bot {ending}{self.last_words()}"
            return Forfeit(_kind(ending), detail)
        unread = self._channel.unread_by_bot()
        if unread:
            return Forfeit(
                FaultKind.NEVER_READS,
                f"no answer came within {allowance}, and {unread} bytes of input were left unread:"
                " read stdin line by line",
            )
        if not has_output or not self._process.has_output_open():
            return self._ended(failure.partial)
        return self._silent(failure.partial, deadline_ns, allowance, slow)

    def _silent(self, partial: bytes, deadline_ns: int, allowance: str, slow: str) -> Forfeit:
        """The fault of a bot that has read its input and says nothing: an answer that comes when
        its input ends was written in time, but never flushed.
        """
        self._channel.close_input()
        try:
            late_ms = self._late_ms(deadline_ns)
        except OutputEnded:
            late_ms = None
        if late_ms is not None:
            if self._has_moved:  # such a bot does flush, so we do not advise it
                came = f"the answer came {late_ms} ms after {allowance} had passed: {slow}"
                return Forfeit(FaultKind.SILENT, came)
            return Forfeit(FaultKind.SILENT, AFTER_CLOSING.format(late_ms=late_ms, slow=slow))
        if partial:
            return Forfeit(
                FaultKind.LATE,
                f"only part of a line came within {allowance}, {shown(partial)}: send each answer"
                " whole, with a newline at the end",
            )
        # a bot that answered hello flushes: what it holds back would have come when its input ended
        cure = FLUSH if self._is_starting else f"answer every turn; {slow}"
        return Forfeit(FaultKind.SILENT, f"no answer came within {allowance}: {cure}")

    def _late_ms(self, deadline_ns: int) -> int | None:
        """How long after the deadline the answer comes, None if it does not. Raises
        OutputEnded.
        """
        for moment_ns in moments(self._process, GRACE_NS):
            try:
                self._channel.read_line(moment_ns)
            except TimedOut:
                continue
            except Overflowed:
                return None
            return (time.monotonic_ns() - deadline_ns) // NS_PER_MS
        return None

    def _ended(self, partial: bytes) -> Forfeit:
        ending = ending_within(self._process, EXIT_NS)
        after = f" after writing {shown(partial)} without a newline" if partial else ""
        if ending is None:
            detail = (
                f"the bot closed its output{after} but kept running: keep stdout open until the"
                " line 'quit'"
            )
            return Forfeit(FaultKind.CLOSED_OUTPUT, detail)
        return Forfeit(_kind(ending), f"the bot {ending}{after}{_cure(ending)}{self.last_words()}")


def _cure(ending: Ending) -> str:
    """What to do about it, unless the ending already says so."""
    if ending.excess or ending.unwatched or ending.failed:
        return ""
    if ending.exit is not None:
        return " when an answer was due: answer every turn, and stay until the line 'quit'"
    return " when an answer was due: look for a crash in its code or in a library"


def _kind(ending: Ending) -> FaultKind:
    if ending.failed:
        return FaultKind.STARTUP
    if ending.excess and ending.excess[0] == "memory":
        return FaultKind.MEMORY
    return FaultKind.KILLED if ending.signal is not None else FaultKind.EXIT
