"""The error that ended a bot, as its stderr shows it: its place in the bot's files, its words, and
the cure of common ones.

What a crashed bot wrote is quoted last, or in quotation marks before a cure, so that none of it can
be taken for the arena's words.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from itertools import dropwhile, takewhile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from arena.players.folder import Bot
from arena.players.manifest import MANIFEST_FILE
from arena.players.sandbox.programs import program_place
from arena.players.sandbox.readable import search_path
from arena.players.sandbox.tiers import Sandbox

MAX_QUOTED = 300
"""The most characters of an error that a sentence quotes."""
MAX_READ = 1000
"""The most characters of a line that are examined."""
MAX_PATH = 100
"""The most characters of a path in a traceback."""
INSIDE = "/bot"  # where bubblewrap shows a bot its folder
# Folders of packages that others wrote, even if they lie in the bot's folder.
LIBRARIES = {"site-packages", "dist-packages", "node_modules"}
# The patterns are texts, which `re` compiles at their first use: to compile them all takes a worker
# a twentieth of its start, and hardly any worker sees a crash.
PLACED = r'  File "(?P<file>.+)", line (?P<line>\d+)(?:, in .+)?'
NETWORK = (
    r"ECONNREFUSED|ENETUNREACH|EAI_AGAIN|ENOTFOUND|connect EPERM|gaierror|Connect(ion)?Error"
    r"|ConnectionRefused|ConnectException|UnknownHostException|NetworkUnreachable|urlopen error"
    r"|Temporary failure in name resolution|Name or service not known|Network is unreachable"
)
"""The names of errors that programs in several languages raise without a network."""
NO_SOCKET = "PermissionError: [Errno 1]"  # the error for a system call that the sandbox refuses
HIDDEN = (
    r"(PermissionError: \[Errno 13\]|FileNotFoundError: \[Errno 2\]) .*'(?P<file>/[^']+)'"
    r"|could not be started: /.+(Permission denied|No such file).*"
)
"""The messages of programs that do not find a file, as when the sandbox hides it."""
REFUSED = (
    r"PermissionError: \[Errno 13\] Permission denied: '(?P<python>[^']+)'"
    r"|.*spawn(?:Sync)? (?P<node>\S+) EACCES"
    r"|.*Cannot run program \"(?P<java>[^\"]+)\".*Permission denied"
    r"|(?:.*: )?(?P<shell>[^: ]+): (?:Permission denied|cannot execute).*"
)
"""The messages of programs that may not execute a file, with its path or name."""
LOCK = r".*[Ss][Qq][Ll]ite\w*\b.*access permission denied"
"""The message of SQLite when it may not lock a part of its file."""
NOT_PERMITTED = r".*(\bEPERM\b|Operation not permitted|\bENOSYS\b|Function not implemented)"
"""The messages of programs whose system call was refused."""
SDK = ("arena", "msgspec")  # modules that a Python without the arena cannot import
NO_MODULE = r"ModuleNotFoundError: No module named '(\w+)(?:\.[\w.]+)?'"
NO_NODE_MODULE = r"Error: Cannot find module '(@[\w.-]+/[\w.-]+|\w[\w.-]*)[^']*'"
QUOTE = '"'
APOSTROPHE = "'"
NODE = "Node.js v"  # the start of the last line that Node.js writes after an error
NOWHERE = "(?!)"


class Form(NamedTuple):
    """How an uncaught error looks in a language. ``error`` and ``place`` are regular expressions.

    ``status``  the exit status of the process
    ``error``   matches the line with the error; its group ``said``, or if that is empty the next
                line, has the error's words
    ``place``   matches a line with a place, with the groups ``file`` and ``line``; the first place
                in the bot's own files counts
    ``sign``    how the last line of stderr begins if the error ended the process; an error that was
                caught has other lines after it. Empty: the last line may be any
    """

    status: int
    error: str
    place: str
    sign: str = ""


FORMS = (
    Form(126, r"(?P<said>[^:]+: .*: (?:Permission denied|cannot execute.*))", NOWHERE),
    Form(  # the arena's SDK
        1,
        r"\S+ line \d+: (?P<said>\w+ returned .+ at turn \d+: return .+)",
        r"(?P<file>\S+) line (?P<line>\d+): ",
    ),
    Form(  # Java; the cause that is printed last happened first
        1,
        r'(?:Exception in thread ".*?"|Caused by:) (?P<said>.+)',
        r"\s+at [^/(]+\((?P<file>\w+\.java):(?P<line>\d+)\)",
    ),
    Form(  # JavaScript; the place of a syntax error stands on an earlier line
        1,
        r"(?:error: )?(?:Uncaught )?(?:\(in promise\) )?(?P<said>\w*Error\b.*)",
        r"(?:\s+at )?(?:.*\()?(?:file://)?(?P<file>/[^:]+):(?P<line>\d+)(?::\d+\)?)?",
        NODE,
    ),
    Form(  # Rust, both since 1.73 and before
        101,
        r"thread '.*?' (?:\(\d+\) )?panicked at (?:'(?P<said>.*)', )?[^']+:\d+:\d+:?",
        r"thread .* (?P<file>\S+):(?P<line>\d+):\d+:?",
    ),
)


class Crash(NamedTuple):
    """The error that ended a bot.

    ``place``              where it happened in the bot's own files, such as ``bot.py line 12``, or
                           empty
    ``words``              the error's own words
    ``is_refused_socket``  whether the sandbox refused a socket
    """

    place: str
    words: str
    is_refused_socket: bool = False


def crash_of(stderr: str, status: int, folder: Path) -> Crash | None:
    """The error that ended the bot whose files are in ``folder``, with the exit status ``status``;
    None if its ``stderr`` shows no error in a known form.
    """
    lines = [line[:MAX_READ] for line in stderr.rstrip().splitlines()]
    python_crash = _traceback(lines, folder) if status == 1 else None
    other_crashes = (_crash_in_form(form, lines, folder) for form in FORMS if form.status == status)
    return python_crash or next(filter(None, other_crashes), None)


def _traceback(lines: Sequence[str], folder: Path) -> Crash | None:
    """The last error that these ``lines`` of stderr show in Python's form; None if there is none.
    The lines are read from the end, because the beginning of stderr may be cut off.
    """
    placed = [index for index, line in enumerate(lines) if re.fullmatch(PLACED, line)]
    last = max(placed, default=-1)
    after = list(dropwhile(lambda line: line[:1] in ("", " "), lines[last + 1 :]))
    if last < 0 or not after:
        return None
    words = " ".join(line.strip() for line in after)
    if len(words) > MAX_QUOTED:  # the middle is left out, because the end may matter
        half = MAX_QUOTED // 2 - 3
        words = f"{after[0][:half]} ... {after[-1].strip()[-half:]}"
    frames = takewhile(lambda line: line[:2] == "  ", reversed(lines[: last + 1]))
    matches = [re.fullmatch(PLACED, frame) for frame in frames]
    places = list(filter(None, matches))
    is_of_socket = PurePosixPath(places[0]["file"]).name == "socket.py"
    return Crash(
        _place_in_own_files(places, folder), words, words.startswith(NO_SOCKET) and is_of_socket
    )


def _crash_in_form(form: Form, lines: list[str], folder: Path) -> Crash | None:
    """The last error that these ``lines`` of stderr show in this form; None if there is none."""
    for index in reversed(range(len(lines))):
        error = re.fullmatch(form.error, lines[index])
        if error:
            words = error["said"] or "".join(lines[index + 1 : index + 2])
            in_order = lines[index:] + lines[:index]
            matches = (re.match(form.place, line) for line in in_order)
            places = filter(None, matches)
            return (
                Crash(_place_in_own_files(places, folder), words)
                if lines[-1].startswith(form.sign)
                else None
            )
    return None


def _place_in_own_files(places: Iterable[re.Match[str]], folder: Path) -> str:
    """The first of these places that lies in the bot's own files; empty for a library, or no file
    at all.
    """
    for place in places:
        inside = _inside(place["file"], folder)
        # Only files that exist count: the text may be anything that the bot chose to write.
        # Path.is_file raises OSError for some texts, such as a name that is too long.
        is_file = os.path.isfile
        is_there = inside and len(inside) <= MAX_PATH and is_file(folder / inside)
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
    """The path of a bot's file as its author knows it: ``file``, relative to the bot's ``folder``,
    below the ``name`` of the bot, such as ``my-bot/bot.py``. A script without a bot.toml is called
    by its own name.
    """
    return f"{name}/{file}" if (folder / MANIFEST_FILE).exists() else file


def with_own_paths(name: str, folder: Path, text: str) -> str:
    """The ``text`` that the bot called ``name`` wrote to stderr, with the paths that its author
    knows instead of those in ``folder``, the played copy, which may not exist any more; see
    `own_path`.
    """
    roots = {INSIDE, str(folder), str(folder.resolve())}
    copies = "|".join(map(re.escape, sorted(roots, key=len, reverse=True)))
    shown_path = own_path(name, folder, "")
    return re.sub(rf"(?:file://|(?<![\w./-]))(?:{copies})/", lambda _: shown_path, text)


def without_quoted(lines: Iterable[str], message: str) -> list[str]:
    """The lines of a bot's stderr without those that ``message`` already quotes. Indented lines
    stay: they are the code and the places in a traceback.
    """
    quoted = message.replace(QUOTE, APOSTROPHE)

    def is_news(line: str) -> bool:
        is_indented = line[:1].isspace()
        return not line or is_indented or line.replace(QUOTE, APOSTROPHE) not in quoted

    return list(filter(is_news, lines))


def cure_of(crash: Crash, bot: Bot, sandbox: Sandbox) -> str:
    """What a user can do about a common error of ``bot`` that does not lie in the bot's code but,
    for example, in a missing module or a grant; empty for all others.
    """
    is_walled = sandbox.tier != "none"
    is_shut = is_walled and not sandbox.of(bot.label).network
    if is_shut and (crash.is_refused_socket or re.search(NETWORK, crash.words)):
        return (
            "the sandbox keeps it off the network; if it needs that,"
            f" --allow {bot.base}=network lets it in"
        )
    missing = re.fullmatch(NO_MODULE, crash.words)
    if missing:
        return _cure_of_missing_module(missing[1], bot)
    refused = re.match(REFUSED, crash.words) if is_walled else None
    program = _program_in(refused) if refused else ""
    if program:
        return (
            f"the sandbox lets it run only its own programs and those that its command names: write"
            f' programs = ["{program}"] into its {MANIFEST_FILE}, or'
            f" --allow {bot.base}=exec:PATH lets it run a program"
        )
    hidden = re.match(HIDDEN, crash.words) if is_walled else None
    if hidden and not _inside(hidden["file"] or "/", bot.folder.resolve()):
        return (
            "the sandbox shows it no files but its own: put what it needs into its folder, or"
            f" --allow {bot.base}=read:PATH lets it read a place"
        )
    if is_walled and re.match(LOCK, crash.words):
        return (
            "the sandbox refuses the locks of SQLite: open the database without them, in Python by"
            " sqlite3.connect('file:NAME?nolock=1', uri=True)"
        )
    if is_walled and re.match(NOT_PERMITTED, crash.words):
        return "the sandbox refuses some system calls: docs/sandbox.md says which, and why"
    missing = re.match(NO_NODE_MODULE, crash.words)
    if missing:
        install = f"'npm install {missing[1]}'"
        return f"what it imports must lie in its folder: run {install} there, if you trust it"
    return ""


def _program_in(refused: re.Match[str]) -> str:
    """The program in a match of `REFUSED`, as a bot.toml can list it; empty if it cannot."""
    program = next(filter(None, refused.groups()), "")
    name = PurePosixPath(program).name
    if program_place(name) == program:
        return name
    return program if program_place(program) else ""


def _cure_of_missing_module(module: str, bot: Bot) -> str:
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
