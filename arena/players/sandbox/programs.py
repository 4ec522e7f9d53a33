"""Which programs a bot may execute, beside the files in its own folder: those that its command and
its bot.toml name, and what these programs need to start.

The kernel stops counting the CPU time of a process, and of all that it starts, when the process
executes a file that it may not read. So a bot may execute no other program of the system, and all
of these must be readable.
"""

import errno
import os
import re
import shutil
import stat
import struct
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from arena.players.sandbox.readable import is_system, search_path

BOT_FOLDER = "/bot"
"""Where bubblewrap shows a bot its own folder."""
MAX_LINE = 256
"""The most bytes of a script's first line that the kernel reads."""
MAX_NAMES = 100
"""The most words of a command that are looked for on PATH."""
BLANKS = " \t"
NAME = re.compile(r"[\w+./-]+")
HELPERS = {"java": ("lib/jspawnhelper",)}
"""Files that a program executes to start another program, relative to the program's
installation.
"""
USUAL = "/bin/sh"
"""A program whose loader every bot may execute, because the loader serves the programs in the bot's
folder, too.
"""
ELF = b"\x7fELF"
DAMAGED = (OSError, ValueError, IndexError, OverflowError, struct.error)
"""What reading the head of a program raises if the file is damaged or cannot be read."""
WORD_64 = 2
LITTLE_ENDIAN = 1
INTERPRETER_SEGMENT = 3
MAX_SEGMENTS = 100
MAX_PATH = 4096


class Program(Struct, frozen=True):
    """A file that a bot may have to execute, outside its folder.

    ``path``       its path, which may be a link; links in the bot's folder are followed
    ``needed_by``  what names it: the bot's command, bot.toml, or a script
    ``is_loader``  whether the file loads the shared libraries of a program
    """

    path: str
    needed_by: str
    is_loader: bool = False


def executable_files(command: Sequence[str], programs: Sequence[str], folder: Path) -> list[str]:
    """The paths of the files outside the bot's ``folder`` that the bot may execute if ``command``
    starts it and its bot.toml lists ``programs``. Files that do not exist are left out.
    """
    named = [*_required(command, programs, folder), *_mentioned(command, folder)]
    paths = dict.fromkeys([*(program.path for program in named), *_usual_loaders()])
    return [path for path in paths if os.path.isfile(path)]  # noqa: PTH113 - every start needs this


@cache
def _usual_loaders() -> tuple[str, ...]:
    """The paths of the loaders that every bot may execute."""
    programs = needed_files(USUAL, USUAL, Path(BOT_FOLDER))
    return tuple(program.path for program in programs if program.is_loader)


def unfit_program(command: Sequence[str], programs: Sequence[str], folder: Path) -> tuple[str, str]:
    """Why a bot in this ``folder`` cannot execute a program that its command or its bot.toml names,
    and the cure; two empty texts if it can execute all of them.
    """
    for name in programs:
        if program_place(name) is None:
            reason = f"bot.toml names the program {name!r}, which is neither on PATH nor below /usr"
            return reason, "install the program, or name another one"
    for program in _required(command, programs, folder):
        try:
            status = os.stat(program.path)  # noqa: PTH116 - like the kernel
        except OSError as error:
            if program.is_loader:  # the kernel may have another way to start the program
                continue
            reason = f"{program.needed_by} names the program {program.path!r}, which cannot be used"
            return f"{reason}: {error.strerror}", "install the program, or name another one"
        if not is_readable(status):
            mode = stat.S_IMODE(status.st_mode)
            reason = f"{program.needed_by} names the program {program.path}"
            cure = unreadable_cure(program.path)
            return f"{reason}, which the bot may not read: its mode is {mode:04o}", cure
    return "", ""


def unreadable_cure(path: str) -> str:
    """What to do about the program at ``path``, which may be executed but not read."""
    return (
        f"use another program, or run 'chmod a+r {path}': the kernel does not count the CPU time of"
        " programs that may be executed but not read"
    )


def is_readable(status: os.stat_result) -> bool:
    """Whether a process of this user may read the file with this ``status``, if it has none of
    root's capabilities.
    """
    if status.st_uid == os.geteuid():
        return bool(status.st_mode & stat.S_IRUSR)
    if status.st_gid in (os.getegid(), *os.getgroups()):
        return bool(status.st_mode & stat.S_IRGRP)
    return bool(status.st_mode & stat.S_IROTH)


def program_place(name: str) -> str | None:
    """The path of a program that a bot.toml lists: a name that is found on PATH, or the absolute
    path of a file of the system. None if there is no such program.
    """
    if os.sep not in name:
        return shutil.which(name, path=search_path(os.environ))
    path = os.path.normpath(name)
    is_program = is_system(path) and os.access(path, os.X_OK)
    return path if is_program and os.path.isfile(path) else None  # noqa: PTH113


def possible_places(name: str) -> list[str]:
    """The paths at which a program that the bot itself looks for by ``name`` may be found: like
    `program_place`, and for a name on PATH also the later files, up to the first one of the system.
    The first file on PATH may lie in a folder that the bot does not see.
    """
    place = program_place(name)
    if place is None or os.sep in name:
        return [place] if place else []
    places = list[str]()
    for part in search_path(os.environ).split(os.pathsep):
        found = shutil.which(name, path=part)
        if found:
            places.append(found)
            if is_system(found):
                break
    return places


def needed_files(path: str, needed_by: str, folder: Path) -> Iterator[Program]:
    """Yields the program at ``path`` and the files that the kernel executes to start it, as far as
    they lie outside the bot's ``folder``: the interpreter of a script, the program that ``env``
    looks for, the loader of shared libraries, and the helpers of `HELPERS`. ``needed_by`` says, for
    messages, what names the program.
    """
    waiting = [Program(path, needed_by)]
    seen = set[str]()
    while waiting:
        program = waiting.pop(0)
        if "\0" in program.path:
            continue
        real = os.path.realpath(program.path)
        if real in seen:
            continue
        seen.add(real)
        name = os.path.relpath(real, folder) if Path(real).is_relative_to(folder) else program.path
        if not Path(real).is_relative_to(folder):
            is_link_inside = Path(program.path).is_relative_to(folder)
            place = real if is_link_inside else program.path
            yield Program(place, program.needed_by, program.is_loader)
        waiting += [Program(each, name, is_loader) for each, is_loader in _started_by(real, folder)]


def _required(command: Sequence[str], programs: Sequence[str], folder: Path) -> Iterator[Program]:
    """The files that the bot cannot do without: its command's program, the ``programs`` of its
    bot.toml, and what these need.
    """
    first = command[0]
    if os.sep in first:
        yield from needed_files(_outside(first, folder), "the bot's command", folder)
    elif place := program_place(first):
        yield from needed_files(place, "the bot's command", folder)
    for name in programs:
        if place := program_place(name):
            yield from needed_files(place, "bot.toml", folder)


def _mentioned(command: Sequence[str], folder: Path) -> Iterator[Program]:
    """The programs on PATH whose names occur in the words of the command after the first, and what
    they need, as in ``nice python3 bot.py`` and ``sh -c "exec node bot.js"``.
    """
    names = dict.fromkeys(chain.from_iterable(map(NAME.findall, command[1:])))
    for name in list(names)[:MAX_NAMES]:
        for place in possible_places(name):
            yield from needed_files(place, "the bot's command", folder)


def _outside(path: str, folder: Path) -> str:
    """The path outside the sandbox of a file that a bot calls by ``path``, relative to its folder
    or absolute.
    """
    if path.startswith(f"{BOT_FOLDER}{os.sep}"):
        path = os.path.relpath(path, BOT_FOLDER)
    return str(folder / path)


def _started_by(path: str, folder: Path) -> list[tuple[str, bool]]:
    """The paths of the files that the kernel, or the program at ``path`` itself, executes next,
    each with whether it is a loader.
    """
    try:
        with open(path, "rb", opener=_open_regular) as file:
            head = file.read(MAX_LINE)
            if head.startswith(b"#!"):
                return [(place, False) for place in _interpreters(head, folder)]
            loader = _loader(file) if head.startswith(ELF) else ""
    except DAMAGED:
        return []
    program = Path(path)
    helpers = (program.parent.parent / name for name in HELPERS.get(program.name, ()))
    needed = [(str(helper), False) for helper in helpers if helper.exists()]
    return [*needed, *([(loader, True)] if loader else [])]


def _open_regular(path: str, flags: int) -> int:
    """Opens a regular file without waiting, as the ``opener`` of `open`. Raises OSError for
    anything else, such as a terminal or a pipe, on which a read would wait.
    """
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return descriptor


def _interpreters(head: bytes, folder: Path) -> list[str]:
    """The path of the interpreter in the first line of a script, and those of the program which
    ``env`` may find for it.
    """
    line = os.fsdecode(head.partition(b"\n")[0][2:]).strip(BLANKS)
    words = re.split(f"[{BLANKS}]+", line)  # other white space is part of a name for the kernel
    if not line:
        return []
    found = [_outside(words[0], folder)]
    if Path(words[0]).name == "env":
        # -S, which splits the rest of the line, may stand before the name or be joined to it
        for word in words[1:]:
            name = word.removeprefix("-S")
            if name and name[0] != "-" and "=" not in name:
                found += possible_places(name)
                break
    return found


def _loader(file: BinaryIO) -> str:
    """The loader that an ELF file names; empty for a static program. Raises OSError, struct.error
    if the file is damaged.
    """
    file.seek(0)
    header = file.read(64)
    is_64 = header[4] == WORD_64
    order = "<" if header[5] == LITTLE_ENDIAN else ">"
    (table,) = struct.unpack_from(f"{order}{'Q' if is_64 else 'I'}", header, 32 if is_64 else 28)
    size, count = struct.unpack_from(f"{order}HH", header, 54 if is_64 else 42)
    for number in range(min(count, MAX_SEGMENTS)):
        file.seek(table + number * size)
        segment = file.read(size)
        (kind,) = struct.unpack_from(f"{order}I", segment)
        if kind != INTERPRETER_SEGMENT:
            continue
        if is_64:
            (offset,) = struct.unpack_from(f"{order}Q", segment, 8)
            (length,) = struct.unpack_from(f"{order}Q", segment, 32)
        else:
            (offset,) = struct.unpack_from(f"{order}I", segment, 4)
            (length,) = struct.unpack_from(f"{order}I", segment, 16)
        file.seek(offset)
        return os.fsdecode(file.read(min(length, MAX_PATH)).rstrip(b"\0"))
    return ""
