"""What a bot does after an exchange with it has failed, and the fault that this shows.

A fault stays in a journal for ever, so the arena takes the time to be right about it: it waits for
what the bot may be about to do, in moments that pass only while the bot can do it. What a bot that
crashed says of it on stderr is quoted last, or in quotation marks before a cure, so that no word of
it can be taken for the arena's.
"""

import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import dropwhile, takewhile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from msgspec import Struct

from arena.errors import FaultKind, Forfeit
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
from arena.players.folder import Bot
from arena.players.manifest import MANIFEST_FILE
from arena.players.messages import shown
from arena.players.process import BotProcess, Ending, ending_within, moments
from arena.players.sandbox.launch import search_path
from arena.players.sandbox.tiers import Sandbox
from arena.players.timekeeper import OutOfTime, Overspent
from arena.records.record import NS_PER_MS

MOST_SAID, MOST_READ, MOST_PATH = 300, 1000, 100
"""Characters of an error that a sentence quotes, of a line that is looked at, and of a path."""
INSIDE = "/bot"  # where bubblewrap shows a bot its folder
# Packages that somebody else wrote, though they may lie in the bot's folder.
LIBRARIES = {"site-packages", "dist-packages", "node_modules"}
PLACED = re.compile(r'  File "(?P<file>.+)", line (?P<line>\d+)(?:, in .+)?')
NETWORK = re.compile(
    r"ECONNREFUSED|ENETUNREACH|EAI_AGAIN|ENOTFOUND|connect EPERM|gaierror|Connect(ion)?Error"
    r"|ConnectionRefused|ConnectException|UnknownHostException|NetworkUnreachable|urlopen error"
    r"|Temporary failure in name resolution|Name or service not known|Network is unreachable"
)
"""What errors are called that a program meets without a network, in several languages."""
NO_SOCKET = "PermissionError: [Errno 1]"  # for whatever the sandbox refuses
HIDDEN = re.compile(
    r"(PermissionError: \[Errno 13\]|FileNotFoundError: \[Errno 2\]) .*'(?P<file>/[^']+)'"
    r"|could not be started: /.+(Permission denied|No such file).*"
)
"""What it says that a program meets where the sandbox shows it nothing."""
SDK = ("arena", "msgspec")  # what another Python misses that has not got the arena
NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)(?:\.[\w.]+)?'")
NO_NODE_MODULE = re.compile(r"Error: Cannot find module '(@[\w.-]+/[\w.-]+|\w[\w.-]*)[^']*'")
QUOTE, APOSTROPHE = '"', "'"
NODE = "Node.js v"  # how the last line begins that Node.js writes after an error
NOWHERE = re.compile("(?!)")
GRACE_NS = 200_000_000  # for a late answer, once with the bot's input open and once closed
EXIT_NS = 1_000_000_000  # after the end of its output, for a bot to exit
DRAIN_NS = 100_000_000  # to see whether unasked output turns into a flood
LINE_KB = MAX_LINE >> 10
CRASHED = "the bot crashed"
THINK_LESS = "think less (position.think_ms says how long), or allow more with --move-ms"
START_FASTER = "start faster: load less before ready"
FLOODED = (
    f"expected one line per request, got more than {LINE_KB} KiB that nobody asked for: answer each"
    " request once, log to stderr"
)


class Form(NamedTuple):
    """How an error that nobody caught looks in a language: the exit status, the line with the error
    (without words of it, the next one has them), and those with places, the first of the bot's own
    from the error on. The last line must begin with the sign: a caught error ended nothing.
    """

    status: int
    error: re.Pattern[str]
    place: re.Pattern[str]
    sign: str = ""


FORMS = (
    Form(1, re.compile("(?P<said>could not be started: .+)"), NOWHERE),  # confine.py
    Form(127, re.compile("(?P<said>prlimit: failed to execute .+)"), NOWHERE),
    Form(  # the arena's SDK
        1,
        re.compile(r"\S+ line \d+: (?P<said>\w+ returned .+ at turn \d+: return .+)"),
        re.compile(r"(?P<file>\S+) line (?P<line>\d+): "),
    ),
    Form(  # Java; the last cause is the first in time
        1,
        re.compile(r'(?:Exception in thread ".*?"|Caused by:) (?P<said>.+)'),
        re.compile(r"\s+at [^/(]+\((?P<file>\w+\.java):(?P<line>\d+)\)"),
    ),
    Form(  # JavaScript; an error of its syntax has its place on a line before
        1,
        re.compile(r"(?:error: )?(?:Uncaught )?(?:\(in promise\) )?(?P<said>\w*Error\b.*)"),
        re.compile(r"(?:\s+at )?(?:.*\()?(?:file://)?(?P<file>/[^:]+):(?P<line>\d+)(?::\d+\)?)?"),
        NODE,
    ),
    Form(  # Rust, since 1.73 and before
        101,
        re.compile(r"thread '.*?' (?:\(\d+\) )?panicked at (?:'(?P<said>.*)', )?[^']+:\d+:\d+:?"),
        re.compile(r"thread .* (?P<file>\S+):(?P<line>\d+):\d+:?"),
    ),
)


class Crash(NamedTuple):
    """Where in the bot's files, such as ``bot.py line 12``, or empty; and what the error says."""

    place: str
    said: str
    is_refused_socket: bool = False


def crash_of(stderr: str, status: int, folder: Path) -> Crash | None:
    """The error that ended a bot of this folder, if its stderr tells of one we can read."""
    lines = [line[:MOST_READ] for line in stderr.rstrip().splitlines()]
    found = _traceback(lines, folder) if status == 1 else None
    told = (_told(form, lines, folder) for form in FORMS if form.status == status)
    return found or next(filter(None, told), None)


def _traceback(lines: Sequence[str], folder: Path) -> Crash | None:
    """The last error in Python's form, read from its end, as its beginning may be cut off."""
    last = max((at for at, line in enumerate(lines) if PLACED.fullmatch(line)), default=-1)
    after = list(dropwhile(lambda line: line[:1] in ("", " "), lines[last + 1 :]))
    if last < 0 or not after:
        return None
    said = " ".join(line.strip() for line in after)
    if len(said) > MOST_SAID:  # without its middle: the end may matter
        half = MOST_SAID // 2 - 3
        said = f"{after[0][:half]} ... {after[-1].strip()[-half:]}"
    frames = takewhile(lambda line: line[:2] == "  ", reversed(lines[: last + 1]))
    places = [place for place in map(PLACED.fullmatch, frames) if place]
    is_of_socket = PurePosixPath(places[0]["file"]).name == "socket.py"
    return Crash(_own(places, folder), said, said.startswith(NO_SOCKET) and is_of_socket)


def _told(form: Form, lines: list[str], folder: Path) -> Crash | None:
    """The last error in this form."""
    for at in reversed(range(len(lines))):
        if error := form.error.fullmatch(lines[at]):
            said = error["said"] or "".join(lines[at + 1 : at + 2])
            places = filter(None, map(form.place.match, lines[at:] + lines[:at]))
            return Crash(_own(places, folder), said) if lines[-1].startswith(form.sign) else None
    return None


def _own(places: Iterable[re.Match[str]], folder: Path) -> str:
    """The first place in the bot's own files; empty for one in a library, or in no file at all."""
    for place in places:
        inside = _inside(place["file"], folder)
        # A file that is there: any other text may say what it likes.
        is_there = inside and len(inside) <= MOST_PATH and os.path.isfile(folder / inside)  # noqa: PTH113
        if is_there and not LIBRARIES & {*PurePosixPath(inside).parts}:
            return f"{inside} line {place['line']}"
    return ""


def _inside(file: str, folder: Path) -> str:
    """The path of a file in the bot's folder, relative to it; empty for any other."""
    path = PurePosixPath(file)
    roots = [root for root in (str(folder), INSIDE) if path.is_relative_to(root)]
    path = path.relative_to(roots[0]) if roots else path
    return "" if path.is_absolute() or ".." in path.parts else str(path)


def own_path(name: str, folder: Path, file: str) -> str:
    """A file of a bot as its author knows it: below the bot's name, such as ``my-bot/bot.py``. A
    script without a bot.toml is known by its own name.
    """
    return f"{name}/{file}" if (folder / MANIFEST_FILE).exists() else file


def with_own_paths(name: str, folder: Path, text: str) -> str:
    """What a bot wrote to stderr, with the paths that its author knows instead of those in the copy
    of its folder that was played, which may be gone.
    """
    roots = {INSIDE, str(folder), str(folder.resolve())}
    copies = "|".join(map(re.escape, sorted(roots, key=len, reverse=True)))
    own = own_path(name, folder, "")
    return re.sub(rf"(?:file://|(?<![\w./-]))(?:{copies})/", lambda _: own, text)


def without_quoted(lines: Iterable[str], message: str) -> list[str]:
    """The lines of a bot's stderr, but not the error that a message already quotes. An error begins
    at the edge, and lines of code and places in a traceback do not.
    """
    quoted = message.replace(QUOTE, APOSTROPHE)
    return [
        line
        for line in lines
        if not line or line[0].isspace() or line.replace(QUOTE, APOSTROPHE) not in quoted
    ]


def cure_of(crash: Crash, bot: Bot, sandbox: Sandbox) -> str:
    """What to do about an error that is common and not in the bot's code; empty for all others."""
    is_walled = sandbox.tier != "none"
    is_shut = is_walled and not sandbox.of(bot.label).network
    if is_shut and (crash.is_refused_socket or NETWORK.search(crash.said)):
        return (
            "the sandbox keeps it off the network; if it needs that,"
            f" --allow {bot.base}=network lets it in"
        )
    if missing := NO_MODULE.fullmatch(crash.said):
        return _for_want_of(missing[1], bot)
    hidden = HIDDEN.match(crash.said) if is_walled else None
    if hidden and not _inside(hidden["file"] or "/", bot.folder.resolve()):
        return (
            "the sandbox shows it no files but its own: put what it needs into its folder, or"
            f" --allow {bot.base}=read:PATH lets it read a place"
        )
    if missing := NO_NODE_MODULE.match(crash.said):
        install = f"'npm install {missing[1]}'"
        return f"what it imports must lie in its folder: run {install} there, if you trust it"
    return ""


def _for_want_of(module: str, bot: Bot) -> str:
    """Where to put a module of Python's that a bot misses."""
    program = bot.command[0]
    found = program if "/" in program else shutil.which(program, path=search_path(os.environ))
    python = found or sys.executable
    if module in SDK:
        if Path(python).parent == Path(sys.executable).parent:
            return f"{python}, which runs the arena too, does not find {module}: see 'arena doctor'"
        return (
            f"it ran {python}, which has no arena.sdk: begin the command in {MANIFEST_FILE} with"
            f" 'python3', the arena's own, or run '{python} -m pip install qin-arena'"
        )
    alone = f"make a folder of both with a {MANIFEST_FILE}, because a script is played alone"
    own = "put it in the bot's folder" if (bot.folder / MANIFEST_FILE).exists() else alone
    pip = f"'{python} -m pip install {module}'"
    return f"install what it imports with {pip} if you trust it, or if that is your own, {own}"


class Aftermath(Struct):
    """One bot after a failed exchange. ``has_moved``: the process has answered a turn;
    ``has_told``: a fault already has what the bot said last.
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
        """The fault that a failed exchange was."""
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
        """The fault for a line that answers no request: a flood if there are many."""
        if self.channel.is_flooding(moments(DRAIN_NS)):
            return Forfeit(FaultKind.FLOOD, FLOODED)
        return Forfeit(FaultKind.UNKNOWN_ID, detail)

    def last_words(self) -> str:
        """The last line of stderr, which often names the error; once, and not after a crash."""
        if self.has_told:
            return ""
        self.has_told = True
        full = "; its stderr is full: log less" if self.process.stderr_is_full() else ""
        lines = self.process.stderr_tail().strip().splitlines()
        words = [line for line in lines if line.strip() and not line.startswith(NODE)]
        if not words:
            return full
        last = with_own_paths(self.bot.base, self.bot.folder, words[-1][:MOST_SAID])
        return f"{full}; last line on stderr: {last}"

    def _overspent(self, failure: Overspent, budget_ns: int) -> Forfeit:
        """The fault of an answer that cost too much processor time."""
        if self.is_starting:
            allowed = f"the {self.startup_ms} ms of processor time allowed for start-up"
            detail = f"no answer came within {allowed}: {START_FASTER}"
            return Forfeit(FaultKind.STARTUP, detail)
        cost, budget = (round(each / NS_PER_MS) for each in (failure.cost_ns, budget_ns))
        spent = f"the bot used {cost} ms of processor time for an answer that might take {budget}"
        return Forfeit(FaultKind.LATE, f"{spent} ms: {THINK_LESS}")

    def _overdue(self, failure: OutOfTime) -> Forfeit:
        """Why the answer is missing: waits a little, closes the bot's input and waits again."""
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
        if not (ending := self.process.ending()):
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
        if unread := self.channel.unread_by_bot():
            cure = f"{START_FASTER}, then read stdin" if self.is_starting else "read stdin"
            left = f"{unread} bytes of input were left unread: {cure} line by line"
            return Forfeit(FaultKind.NEVER_READS, f"{none}, and {left}")
        if not has_output or not self.process.has_output_open():
            return self._ended(partial)
        # It has read its input and says nothing: an answer that comes when its input ends was
        # written in time, but never flushed.
        self.channel.close_input()
        with suppress(OutputEnded):
            late_ms = self._late_ms(deadline_ns)
        if late_ms is not None:  # a bot that has moved does flush, so we do not advise it
            closed = (
                "the bot answered only after its input was closed: flush stdout after each line"
            )
            closed += f" (or, if it was still thinking, it was {late_ms} ms late: {slow})"
            return Forfeit(FaultKind.SILENT, came.format(late_ms) if self.has_moved else closed)
        if partial:
            part = f"only part of a line came within {allowed}, {shown(partial)}"
            whole = "send each answer whole, with a newline at the end"
            return Forfeit(FaultKind.LATE, f"{part}: {whole}")
        # a bot that answered hello flushes: what it holds back would have come when its input ended
        flush = "answer every request, and flush stdout after each line"
        cure = flush if self.is_starting else f"answer every turn; {THINK_LESS}"
        return Forfeit(FaultKind.SILENT, f"{none}: {cure}")

    def _late_ms(self, deadline_ns: int) -> int | None:
        """How long after the deadline the answer comes, if it does. Raises OutputEnded."""
        for moment_ns in moments(GRACE_NS):
            try:
                self.channel.read_line(moment_ns)
            except TimedOut:
                continue
            except (LongLine, Flooded):
                return None
            return (time.monotonic_ns() - deadline_ns) // NS_PER_MS
        return None

    def _ended(self, partial: bytes) -> Forfeit:
        """The fault of a bot whose output ended, after part of a line or nothing."""
        ending = ending_within(self.process, EXIT_NS)
        after = f" after writing {shown(partial)} without a newline" if partial else ""
        if ending is None:
            closed = f"the bot closed its output{after} but kept running"
            return Forfeit(
                FaultKind.CLOSED_OUTPUT, f"{closed}: keep stdout open until the line 'quit'"
            )
        if crashed := self._crash(ending, after):
            return Forfeit(_kind(ending), crashed)
        words = self.last_words()
        return Forfeit(_kind(ending), f"the bot {ending}{after}{_cure(ending, words)}{words}")

    def _crash(self, ending: Ending, after: str) -> str:
        """The error that ended the bot, in its own words; empty if it has not told of one."""
        if not ending.exit or self.process.stderr_is_full():
            return ""
        crash = crash_of(self.process.stderr_tail(), ending.exit, self.bot.folder.resolve())
        if crash is None:
            return ""
        self.has_told = True
        cure = cure_of(crash, self.bot, self.sandbox)
        place = own_path(self.bot.base, self.bot.folder, crash.place) if crash.place else ""
        where = f" at {place}" if place else ""
        said = crash.said[:MOST_SAID]
        if cure:
            said = f'"{said.replace(QUOTE, APOSTROPHE)}"; {cure}'
        return f"{CRASHED}{where}{after}: {said}"


def _cure(ending: Ending, words: str) -> str:
    """When it ended, and what to do about that, unless the bot or the ending already says so."""
    if ending.excess or ending.unwatched or ending.failed:
        return ""
    if ending.exit == 0:
        loop = "is run(choose) its last line? Without the SDK, read lines until 'quit'"
        return f" without an answer: {loop}"
    due = " when an answer was due"
    if ending.exit is None:
        return f"{due}: look for a crash in its code or in a library"
    return due if words else f"{due}: let it say why on stderr"


def _kind(ending: Ending) -> FaultKind:
    if ending.failed:
        return FaultKind.STARTUP
    if ending.excess and ending.excess[0] == "memory":
        return FaultKind.MEMORY
    return FaultKind.KILLED if ending.signal is not None else FaultKind.EXIT
