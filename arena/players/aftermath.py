"""What a bot does after an exchange with it has failed, and which fault that shows.

A fault stays in the journal for ever, so the arena takes time to get it right. It waits for what
the bot may be about to do, in short steps that count only while the bot can act. What a crashed bot
wrote to stderr is quoted last, or in quotation marks before a cure, so that none of it can be taken
for the arena's words.
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
from arena.players.decoding import shown
from arena.players.folder import Bot
from arena.players.manifest import MANIFEST_FILE
from arena.players.process import BotProcess, Ending, ending_within, moments
from arena.players.sandbox.launch import search_path
from arena.players.sandbox.tiers import Sandbox
from arena.players.timekeeper import OutOfTime, Overspent
from arena.records.record import NS_PER_MS

MAX_SAID = 300
"""The most characters of an error that a sentence quotes."""
MAX_READ = 1000
"""The most characters of a line that are examined."""
MAX_PATH = 100
"""The most characters of a path in a traceback."""
INSIDE = "/bot"  # where bubblewrap shows a bot its folder
# Folders of packages that others wrote, even if they lie in the bot's folder.
LIBRARIES = {"site-packages", "dist-packages", "node_modules"}
PLACED = re.compile(r'  File "(?P<file>.+)", line (?P<line>\d+)(?:, in .+)?')
NETWORK = re.compile(
    r"ECONNREFUSED|ENETUNREACH|EAI_AGAIN|ENOTFOUND|connect EPERM|gaierror|Connect(ion)?Error"
    r"|ConnectionRefused|ConnectException|UnknownHostException|NetworkUnreachable|urlopen error"
    r"|Temporary failure in name resolution|Name or service not known|Network is unreachable"
)
"""The names of errors that programs in several languages raise without a network."""
NO_SOCKET = "PermissionError: [Errno 1]"  # the error for a system call that the sandbox refuses
HIDDEN = re.compile(
    r"(PermissionError: \[Errno 13\]|FileNotFoundError: \[Errno 2\]) .*'(?P<file>/[^']+)'"
    r"|could not be started: /.+(Permission denied|No such file).*"
)
"""The messages of programs that do not find a file, as when the sandbox hides it."""
SDK = ("arena", "msgspec")  # modules that a Python without the arena cannot import
NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)(?:\.[\w.]+)?'")
NO_NODE_MODULE = re.compile(r"Error: Cannot find module '(@[\w.-]+/[\w.-]+|\w[\w.-]*)[^']*'")
QUOTE = '"'
APOSTROPHE = "'"
NODE = "Node.js v"  # the start of the last line that Node.js writes after an error
NOWHERE = re.compile("(?!)")
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


class Form(NamedTuple):
    """How an uncaught error looks in a language: the exit status, the line with the error (if that
    line does not contain its words, the next one does), and the lines with places in files, of
    which the first in the bot's own files counts. The last line of stderr must begin with ``sign``,
    because an error that was caught ended nothing.
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
    Form(  # Java; the cause that is printed last happened first
        1,
        re.compile(r'(?:Exception in thread ".*?"|Caused by:) (?P<said>.+)'),
        re.compile(r"\s+at [^/(]+\((?P<file>\w+\.java):(?P<line>\d+)\)"),
    ),
    Form(  # JavaScript; the place of a syntax error stands on an earlier line
        1,
        re.compile(r"(?:error: )?(?:Uncaught )?(?:\(in promise\) )?(?P<said>\w*Error\b.*)"),
        re.compile(r"(?:\s+at )?(?:.*\()?(?:file://)?(?P<file>/[^:]+):(?P<line>\d+)(?::\d+\)?)?"),
        NODE,
    ),
    Form(  # Rust, both since 1.73 and before
        101,
        re.compile(r"thread '.*?' (?:\(\d+\) )?panicked at (?:'(?P<said>.*)', )?[^']+:\d+:\d+:?"),
        re.compile(r"thread .* (?P<file>\S+):(?P<line>\d+):\d+:?"),
    ),
)


class Crash(NamedTuple):
    """The error that ended a bot: its place in the bot's files, such as ``bot.py line 12`` or
    empty, and its words.
    """

    place: str
    words: str
    is_refused_socket: bool = False


def crash_of(stderr: str, status: int, folder: Path) -> Crash | None:
    """The error that ended a bot in this folder, if its stderr shows one in a known form."""
    lines = [line[:MAX_READ] for line in stderr.rstrip().splitlines()]
    python_crash = _traceback(lines, folder) if status == 1 else None
    other_crashes = (_told(form, lines, folder) for form in FORMS if form.status == status)
    return python_crash or next(filter(None, other_crashes), None)


def _traceback(lines: Sequence[str], folder: Path) -> Crash | None:
    """The last error in Python's form. It is read from the end, because the beginning of stderr may
    be cut off.
    """
    last = max((index for index, line in enumerate(lines) if PLACED.fullmatch(line)), default=-1)
    after = list(dropwhile(lambda line: line[:1] in ("", " "), lines[last + 1 :]))
    if last < 0 or not after:
        return None
    words = " ".join(line.strip() for line in after)
    if len(words) > MAX_SAID:  # the middle is left out, because the end may matter
        half = MAX_SAID // 2 - 3
        words = f"{after[0][:half]} ... {after[-1].strip()[-half:]}"
    frames = takewhile(lambda line: line[:2] == "  ", reversed(lines[: last + 1]))
    places = [place for place in map(PLACED.fullmatch, frames) if place]
    is_of_socket = PurePosixPath(places[0]["file"]).name == "socket.py"
    return Crash(_own(places, folder), words, words.startswith(NO_SOCKET) and is_of_socket)


def _told(form: Form, lines: list[str], folder: Path) -> Crash | None:
    """The last error in this form."""
    for index in reversed(range(len(lines))):
        error = form.error.fullmatch(lines[index])
        if error:
            words = error["said"] or "".join(lines[index + 1 : index + 2])
            places = filter(None, map(form.place.match, lines[index:] + lines[:index]))
            return Crash(_own(places, folder), words) if lines[-1].startswith(form.sign) else None
    return None


def _own(places: Iterable[re.Match[str]], folder: Path) -> str:
    """The first of these places that lies in the bot's own files; empty for a library, or no file
    at all.
    """
    for place in places:
        inside = _inside(place["file"], folder)
        # Only files that exist count: the text may be anything that the bot chose to write.
        is_there = inside and len(inside) <= MAX_PATH and os.path.isfile(folder / inside)  # noqa: PTH113
        if is_there and not LIBRARIES & {*PurePosixPath(inside).parts}:
            return f"{inside} line {place['line']}"
    return ""


def _inside(file: str, folder: Path) -> str:
    """The path of a file in the bot's folder, relative to that folder; empty for any other file."""
    path = PurePosixPath(file)
    roots = [root for root in (str(folder), INSIDE) if path.is_relative_to(root)]
    path = path.relative_to(roots[0]) if roots else path
    return "" if path.is_absolute() or ".." in path.parts else str(path)


def own_path(name: str, folder: Path, file: str) -> str:
    """The path of a bot's file as its author knows it: below the bot's name, such as
    ``my-bot/bot.py``. A script without a bot.toml is called by its own name.
    """
    return f"{name}/{file}" if (folder / MANIFEST_FILE).exists() else file


def with_own_paths(name: str, folder: Path, text: str) -> str:
    """A bot's stderr with the paths that its author knows, instead of those in the played copy of
    its folder, which may not exist any more.
    """
    roots = {INSIDE, str(folder), str(folder.resolve())}
    copies = "|".join(map(re.escape, sorted(roots, key=len, reverse=True)))
    shown_path = own_path(name, folder, "")
    return re.sub(rf"(?:file://|(?<![\w./-]))(?:{copies})/", lambda _: shown_path, text)


def without_quoted(lines: Iterable[str], message: str) -> list[str]:
    """The lines of a bot's stderr without the error that a message already quotes. Indented lines
    stay: they are the code and the places in a traceback.
    """
    quoted = message.replace(QUOTE, APOSTROPHE)
    return [
        line
        for line in lines
        if not line or line[0].isspace() or line.replace(QUOTE, APOSTROPHE) not in quoted
    ]


def cure_of(crash: Crash, bot: Bot, sandbox: Sandbox) -> str:
    """What to do about a common error that does not lie in the bot's code; empty for all others."""
    is_walled = sandbox.tier != "none"
    is_shut = is_walled and not sandbox.of(bot.label).network
    if is_shut and (crash.is_refused_socket or NETWORK.search(crash.words)):
        return (
            "the sandbox keeps it off the network; if it needs that,"
            f" --allow {bot.base}=network lets it in"
        )
    missing = NO_MODULE.fullmatch(crash.words)
    if missing:
        return _for_want_of(missing[1], bot)
    hidden = HIDDEN.match(crash.words) if is_walled else None
    if hidden and not _inside(hidden["file"] or "/", bot.folder.resolve()):
        return (
            "the sandbox shows it no files but its own: put what it needs into its folder, or"
            f" --allow {bot.base}=read:PATH lets it read a place"
        )
    missing = NO_NODE_MODULE.match(crash.words)
    if missing:
        install = f"'npm install {missing[1]}'"
        return f"what it imports must lie in its folder: run {install} there, if you trust it"
    return ""


def _for_want_of(module: str, bot: Bot) -> str:
    """Where to put a Python module that the bot could not import."""
    program = bot.command[0]
    path = program if "/" in program else shutil.which(program, path=search_path(os.environ))
    python = path or sys.executable
    if module in SDK:
        if Path(python).parent == Path(sys.executable).parent:
            return f"{python}, which runs the arena too, does not find {module}: see 'arena doctor'"
        return (
            f"it ran {python}, which has no arena.sdk: begin the command in {MANIFEST_FILE} with"
            f" 'python3', the arena's own, or run '{python} -m pip install qin-arena'"
        )
    alone = f"make a folder of both with a {MANIFEST_FILE}, because a script is played alone"
    install_own = "put it in the bot's folder" if (bot.folder / MANIFEST_FILE).exists() else alone
    pip = f"'{python} -m pip install {module}'"
    return (
        f"install what it imports with {pip} if you trust it, or if that is your own, {install_own}"
    )


class Aftermath(Struct):
    """A bot after a failed exchange. ``has_moved``: the process has answered a turn before.
    ``has_told``: an earlier fault already quotes the bot's last words.
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
        """The fault that a failed exchange shows."""
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
        """The fault of a bot that wrote a line without being asked: a flood if there are many."""
        if self.channel.is_flooding(moments(DRAIN_NS)):
            return Forfeit(FaultKind.FLOOD, FLOODED)
        return Forfeit(FaultKind.UNKNOWN_ID, detail)

    def last_words(self) -> str:
        """The last line of stderr, which often names the error. It is quoted once, and not after a
        crash.
        """
        if self.has_told:
            return ""
        self.has_told = True
        full = "; its stderr is full: log less" if self.process.stderr_is_full() else ""
        lines = self.process.stderr_tail().strip().splitlines()
        words = [line for line in lines if line.strip() and not line.startswith(NODE)]
        if not words:
            return full
        last = with_own_paths(self.bot.base, self.bot.folder, words[-1][:MAX_SAID])
        return f"{full}; last line on stderr: {last}"

    def _overspent(self, failure: Overspent, budget_ns: int) -> Forfeit:
        """The fault of an answer that cost too much CPU time."""
        if self.is_starting:
            allowed = f"the {self.startup_ms} ms of CPU time allowed for start-up"
            detail = f"no answer came within {allowed}: {START_FASTER}"
            return Forfeit(FaultKind.STARTUP, detail)
        cost, budget = (round(each / NS_PER_MS) for each in (failure.cost_ns, budget_ns))
        spent = f"the bot used {cost} ms of CPU time for an answer that might take {budget}"
        return Forfeit(FaultKind.LATE, f"{spent} ms: {THINK_LESS}")

    def _overdue(self, failure: OutOfTime) -> Forfeit:
        """The fault of a missing answer. To find the reason, it waits a little, then closes the
        bot's input and waits again.
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
        """How many ms after the deadline the answer comes; None if it does not come. Raises
        OutputEnded.
        """
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
        crashed = self._crash(ending, after)
        if crashed:
            return Forfeit(_kind(ending), crashed)
        words = self.last_words()
        return Forfeit(_kind(ending), f"the bot {ending}{after}{_cure(ending, words)}{words}")

    def _crash(self, ending: Ending, after: str) -> str:
        """The error that ended the bot, in its own words; empty if its stderr shows none."""
        if not ending.exit or self.process.stderr_is_full():
            return ""
        crash = crash_of(self.process.stderr_tail(), ending.exit, self.bot.folder.resolve())
        if crash is None:
            return ""
        self.has_told = True
        cure = cure_of(crash, self.bot, self.sandbox)
        place = own_path(self.bot.base, self.bot.folder, crash.place) if crash.place else ""
        where = f" at {place}" if place else ""
        said = crash.words[:MAX_SAID]
        if cure:
            said = f'"{said.replace(QUOTE, APOSTROPHE)}"; {cure}'
        return f"{CRASHED}{where}{after}: {said}"


def _cure(ending: Ending, words: str) -> str:
    """When the bot ended and what to do about that, unless the bot's words or the ending already
    say so.
    """
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
    """The kind of fault that an ending is."""
    if ending.failed:
        return FaultKind.STARTUP
    if ending.excess and ending.excess[0] == "memory":
        return FaultKind.MEMORY
    return FaultKind.KILLED if ending.signal is not None else FaultKind.EXIT
