"""Makes a bot ready to play: copies it, builds it or takes a build from the cache, and checks that
its programs exist.
"""

import hashlib
import os
import platform
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from arena.errors import BotFolderError
from arena.players import process
from arena.players.builds import MAX_DEPTH, BuildCache, cache_folder, extent
from arena.players.folder import (
    IGNORED,
    INTERPRETERS,
    Bot,
    bot_files,
    content_hash,
    copy_files,
    manifest_text,
    near_paths,
)
from arena.players.manifest import MANIFEST_FILE, played_text
from arena.players.process import run_build
from arena.players.sandbox.programs import unfit_program
from arena.players.sandbox.readable import search_path
from arena.players.sandbox.tiers import OPEN, Sandbox
from arena.players.temporary import make_passing, remove_passing, remove_tree, run_tool

_XCODE = "xcode-select --install"
INSTALL = {
    "node": ("apt install nodejs", "brew install node"),
    "cc": ("apt install gcc", _XCODE),
    "gcc": ("apt install gcc", _XCODE),
    "c++": ("apt install g++", _XCODE),
    "g++": ("apt install g++", _XCODE),
    "clang": ("apt install clang", _XCODE),
    "clang++": ("apt install clang", _XCODE),
    "make": ("apt install make", _XCODE),
    "rustc": ("apt install rustc", "brew install rust"),
    "cargo": ("apt install cargo", "brew install rust"),
    "javac": ("apt install default-jdk-headless", "brew install --cask temurin"),
    "java": ("apt install default-jdk-headless", "brew install --cask temurin"),
    "go": ("apt install golang-go", "brew install go"),
}
"""The commands that install a program, on Debian and on macOS."""
BUILD_S = 600
STAGING = ".staging-"
CORRECT = "fix the command in bot.toml"
OUTSIDE = "begin the command with python3, which is the arena's own, and install modules there"
PYTHON = re.compile(r"python[\d.]*")
HARMLESS = re.compile(r"-[bBdEiIOPqsSuvx]+|--[\w-]+=.*")
"""A pattern for options of interpreters after which the next word is still the script."""
Packed = Mapping[str, tuple[bytes, bool]]
"""A bot's files by path: their content, and whether each is executable."""
CURE_EXTENT = "let the last build step remove what the bot does not need"
CURE_BUILD = "fix the error it shows; the step runs in a copy of the bot's folder"


def _missed_program(output: str) -> str:
    """The program of `INSTALL` that is not installed and whose absence the ``output`` of a failed
    build shows; empty if there is none.
    """
    complaints = re.findall(r".*(?:not found|No such file).*", output)
    words = set(re.findall(r"[\w+]+", "\n".join(complaints)))
    for program in INSTALL:
        if program in words and not _place_of(program):
            return program
    return ""


def installation(program: str) -> str:
    """A sentence on how to install a program."""
    if program not in INSTALL:
        return "install it, or fix its name in bot.toml"
    debian, mac = INSTALL[program]
    how = f"install it (on Debian and Ubuntu: {debian}; on macOS: {mac})"
    return f"{how}, and make sure its folder is on PATH"


def _place_of(program: str) -> str | None:
    """The path of a program, None if it is not installed."""
    return shutil.which(program, path=search_path(os.environ))


def stage(bot: Bot, target: Path, sandbox: Sandbox = OPEN) -> Bot:
    """Copies the bot to ``target`` and builds it there, unless ``target`` has its files or its
    build already; anything else there is removed. Returns the bot with ``target`` as its folder.
    Raises BotFolderError if a program or file that the bot needs is missing, or if a build step
    fails.

    Only one process at a time may stage into the folder around ``target``, because unfinished
    copies there are removed.
    """
    staged = msgspec.structs.replace(bot, folder=target.resolve())
    if target.exists():
        # Built files have no hash to compare them with. They are complete, because a copy gets
        # its name only when it is finished, and only the arena writes to this folder.
        is_itself = bot.folder.resolve() == target.resolve()
        if is_itself or bot.manifest.build or content_hash(target, bot.manifest) == bot.sha256:
            return staged
        remove_tree(str(target))
    check_programs(bot)
    with _whole_or_not(target) as work:
        (_fetch_or_build if bot.manifest.build else _copy_to)(bot, work, sandbox)
        wrong, cure = missing_file(bot, work)
        if not wrong and sandbox.tier != "none":
            wrong, cure = unfit_program(bot.command, bot.manifest.programs, work)
        if wrong:
            raise BotFolderError(f"{bot.label}: {wrong}", cure)
    return staged


def stage_for_run(bot: Bot, target: Path, builds: Path, sandbox: Sandbox = OPEN) -> Bot:
    """Copies the bot to ``target`` in a run's folder, and returns the bot that plays.

    A bot with build steps is built in the folder ``builds``, which exists as long as the bot plays.
    So a run keeps the sources of a program, and not the program, which is large and made for one
    machine. Raises BotFolderError.
    """
    if not bot.manifest.build:
        return stage(bot, target, sandbox)
    check_programs(bot)
    copy = msgspec.structs.replace(bot, folder=target.resolve())
    is_itself = bot.folder.resolve() == target.resolve()
    if not (is_itself or _has_files_of(bot, target)):
        remove_tree(str(target))
        with _whole_or_not(target) as work:
            _copy_to(bot, work, sandbox)
    return stage(copy, builds / target.name, sandbox)


def _has_files_of(bot: Bot, folder: Path) -> bool:
    """Whether a folder has the bot's files and no others. Arenas before 1.1 left builds in it."""
    try:
        return folder.exists() and content_hash(folder, bot.manifest) == bot.sha256
    except BotFolderError:  # the build may be larger than a bot's folder is allowed to be
        return False


@contextmanager
def _whole_or_not(target: Path) -> Iterator[Path]:
    """A context manager that yields a path beside ``target`` at which the block makes a folder. If
    the block ends without an error, the folder is renamed to ``target``; otherwise it is removed.
    Unfinished folders beside it, left by earlier processes, are removed first.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    for left_over in target.parent.glob(f"{STAGING}*"):
        remove_tree(str(left_over))
    temporary = tempfile.mkdtemp(prefix=STAGING, dir=target.parent)
    try:
        work = Path(temporary, "bot")
        yield work
        work.rename(target)
    finally:
        remove_tree(temporary)


def pack(bot: Bot) -> Packed:
    """The content of a bot's files, by path below its folder: of those that its hash covers, and of
    its bot.toml. Raises BotFolderError, and OSError if a file cannot be read.
    """
    base = bot.folder.parent if bot.folder.is_file() else bot.folder
    packed = {}
    for file in bot_files(bot.folder):
        path = base / file
        packed[file.as_posix()] = (path.read_bytes(), os.access(path, os.X_OK))
    return packed


def unpack(bot: Bot, files: Packed, sandbox: Sandbox, folder: Path) -> Bot:
    """Writes the files to a new folder in ``folder`` on this machine, builds the bot there, and
    returns it.

    Raises BotFolderError if the files do not fit the bot's hash, a program is missing or a build
    step fails; OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".incoming-", dir=folder) as temporary:
        source = Path(temporary)
        for name, (content, is_executable) in files.items():
            file = source / name
            if not file.resolve().is_relative_to(source.resolve()):
                raise BotFolderError(f"expected files below a bot's folder, got {name!r}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(0o755 if is_executable else 0o644)
        if content_hash(source, bot.manifest) != bot.sha256:
            raise BotFolderError(
                f"{bot.label}: its files have changed since the run started",
                "undo the changes, or start another run",
            )
        packed = msgspec.structs.replace(bot, folder=source)
        return stage(packed, folder / f"{bot.base}-{bot.sha256}", sandbox)


@contextmanager
def staged_for_a_while(*bots: Bot, sandbox: Sandbox = OPEN) -> Iterator[list[Bot]]:
    """A context manager that yields the bots, staged in a temporary folder that is removed when the
    block ends. Raises BotFolderError, see `stage`.
    """
    with passing_folder("staged") as folder:
        staged = []
        for number, bot in enumerate(bots):
            copy = stage(bot, folder / f"{number}-{bot.base}", sandbox)
            staged.append(copy)
        yield staged


@contextmanager
def passing_folder(kind: str) -> Iterator[Path]:
    """A context manager that yields a temporary folder of this process and removes it when the
    block ends. ``kind`` is any word, such as ``builds``, that becomes a part of the folder's name.
    Raises OSError.
    """
    folder = make_passing(kind)
    try:
        yield Path(folder)
    finally:
        remove_passing(folder)


def check_programs(bot: Bot) -> None:
    """Raises BotFolderError if a program needed to build or start the bot is missing."""
    reason, cure = lack(bot)
    if reason:
        raise BotFolderError(f"{bot.label}: {reason}", cure)


def lack(bot: Bot) -> tuple[str, str]:
    """Why the bot cannot be built or started on this machine, and the cure; two empty texts if
    nothing is missing. Looks only for programs and, unless the bot has build steps, for the files
    that its command names.
    """
    steps = [*bot.manifest.build, bot.command]
    programs = [words[0] for words in steps]
    programs += bot.manifest.programs
    for program in programs:
        if "/" not in program and not _place_of(program):
            return f"expected the program {program!r} on PATH, found none", installation(program)
    if bot.manifest.build:
        return "", ""
    return missing_file(bot, bot.folder if bot.folder.is_dir() else bot.folder.parent)


def missing_file(bot: Bot, folder: Path) -> tuple[str, str]:
    """Why the command cannot start because a file of the bot in ``folder`` is missing or not
    executable, and the cure; two empty texts if nothing is wrong with the files.
    """
    program = bot.command[0]
    script = script_of(bot.command)
    file = folder / program
    if "/" in program and not (os.access(file, os.X_OK) and file.is_file()):
        reason = f"expected {program} to be an executable file in the bot's folder"
        return reason, _correction(program, folder)
    if script and not (folder / script).exists():
        reason = f"expected the file {script!r} of its command in the bot's folder, found none"
        return reason, _correction(script, folder)
    return "", ""


def script_of(command: Sequence[str]) -> str:
    """The path of the script that a command passes to an interpreter; empty if the command may be
    of another kind.
    """
    program = Path(command[0]).name
    words = iter(command[1:])
    word = next((each for each in words if not HARMLESS.fullmatch(each)), "")
    if word.startswith("-"):  # the next word may be its value
        return ""
    if PYTHON.fullmatch(program):
        return word
    return word if INTERPRETERS.get(Path(word).suffix) == program else ""


def _correction(word: str, folder: Path) -> str:
    """What to do about a word of the command that names no file."""
    if IGNORED & {*Path(word).parts}:
        return f"{Path(word).parts[0]} is not copied with a bot: {OUTSIDE}"
    return f"{near_paths(folder / word)} {CORRECT}".lstrip()


def build_cache(sandbox: Sandbox) -> BuildCache | None:
    """The cache of builds; None without a sandbox, or if others can write to its folder."""
    cache = BuildCache(cache_folder("builds"))
    return cache if sandbox.tier != "none" and cache.is_ours else None


def _copy_to(bot: Bot, work: Path, _: Sandbox) -> None:
    """Copies the bot's files into the folder ``work``."""
    work.mkdir()
    copy_files(bot.folder, work)
    if (work / MANIFEST_FILE).exists():
        text = played_text(manifest_text(work / MANIFEST_FILE), bot.manifest)
        (work / MANIFEST_FILE).write_text(text, encoding="utf-8")


def _fetch_or_build(bot: Bot, work: Path, sandbox: Sandbox) -> None:
    """Makes the built bot in the folder ``work``: a copy of an earlier build of the same files, or
    a new build.
    """
    cache = build_cache(sandbox)
    key = f"{bot.manifest.name}-{_build_key(bot, sandbox)}"
    try:
        if cache and cache.fetch(key, work):
            _open_to_reading(work)  # an older arena may have kept it
            return
    except OSError:  # the cache cannot be locked, for example
        remove_tree(str(work))
    _copy_to(bot, work, sandbox)
    # The files may have changed since they were hashed. Then this build must not be kept under that
    # hash for later runs.
    is_as_hashed = cache is not None and content_hash(work, bot.manifest) == bot.sha256
    for step in bot.manifest.build:
        _build(bot, step, work, sandbox)
    _open_to_reading(work)
    _refuse_special_files(bot, work)
    _check_extent(bot, work)
    if cache and is_as_hashed:
        with suppress(OSError):  # the bot is built already; keeping the build only saves time later
            cache.keep(key, work)


def _open_to_reading(folder: Path) -> None:
    """Lets everybody read all files in the folder of a build: the kernel stops counting CPU time at
    a program that may be run but not read. Lets nobody but the owner write to them, and no program
    run as its owner. Lets the owner write to the folder itself, because only who may write to a
    folder can move it.
    """
    run_tool("chmod", "-R", "a+rX,go-w,ug-s", str(folder))
    folder.chmod(stat.S_IMODE(folder.stat().st_mode) | stat.S_IWUSR)


def _refuse_special_files(bot: Bot, folder: Path) -> None:
    """Raises BotFolderError if the build steps left anything but files, folders and links. All
    processes of a bot play in the same folder, and although they cannot write to it, a pipe in it
    would connect those that play in different games.
    """
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if not (path.is_symlink() or path.is_file()):
                special = f"got {path.relative_to(folder).as_posix()!r}, a pipe, socket or device"
                raise BotFolderError(
                    f"{bot.label}: expected a build of files, folders and links, {special}",
                    "remove it in the last build step",
                )


def _check_extent(bot: Bot, folder: Path) -> None:
    """Raises BotFolderError if the build steps left more than the arena can copy and hash: too many
    bytes, or folders too deep. A file with holes takes little room where it was made, so the keeper
    lets it pass, but its copies have no holes.
    """
    try:
        size, depth = extent(folder)
    except OSError as error:
        unread = f"expected a build whose files can be read: {error.strerror}"
        raise BotFolderError(f"{bot.label}: {unread}", CURE_EXTENT) from error
    if depth > MAX_DEPTH:
        deep = f"expected a build with at most {MAX_DEPTH} levels of folders, got more"
        raise BotFolderError(f"{bot.label}: {deep}", CURE_EXTENT)
    most_mb = process.BUILD_LIMITS["disk_mb"]
    if size >> 20 > most_mb:
        large = f"expected a build of at most {most_mb} MB, got {size >> 20} MB"
        raise BotFolderError(f"{bot.label}: {large}", CURE_EXTENT)


def _build_key(bot: Bot, sandbox: Sandbox) -> str:
    """A hash of everything that a build depends on: the bot's files, the machine, the compilers."""
    # The files of all known compilers are included, because a step such as ``make`` does not say
    # which it uses. A changed compiler differs in size or time.
    known = [bot.sha256, sandbox.tier, platform.platform(), platform.node(), sys.version]
    programs = [step[0] for step in bot.manifest.build]
    for program in dict.fromkeys([*programs, *INSTALL]):
        place = _place_of(program)
        if place:
            status = Path(place).stat()
            known.append(f"{place} {Path(place).resolve()} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256(msgspec.json.encode(known)).hexdigest()


def _build(bot: Bot, step: list[str], folder: Path, sandbox: Sandbox) -> None:
    """Runs one build step in the folder. Raises BotFolderError if it fails or takes more than
    `BUILD_S` seconds.
    """
    shown = f"{bot.label}: the build step '{' '.join(step)}'"
    ending, tail = run_build(step, folder, sandbox, BUILD_S)
    if ending is None:
        raise BotFolderError(f"{shown} did not finish within {BUILD_S} s", "shorten it")
    if ending.failed:
        message = f"{shown} could not be started: {ending.failed}"
        raise BotFolderError(message, "fix the build in bot.toml")
    if ending.exit != 0:
        how = str(ending) if ending.exit is None else f"ended with status {ending.exit}"
        missed = _missed_program(tail)
        cure = f"{missed} is not on PATH: {installation(missed)}" if missed else CURE_BUILD
        raise BotFolderError(f"{shown} {how}:\n{tail}", cure)
