"""The programs that build and start bots: which are missing here, and how to install them."""

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from arena.players.sandbox.programs import search_path

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


def missing_program(commands: Iterable[Sequence[str]]) -> str:
    """The first program that the commands need but PATH does not have; empty if none is missing."""
    return next(
        (words[0] for words in commands if "/" not in words[0] and not _is_here(words[0])), ""
    )


def missed_program(said: str) -> str:
    """The missing program that a failed build named, if it is one we know; else empty."""
    complaints = [
        line for line in said.splitlines() if "not found" in line or "No such file" in line
    ]
    words = set(re.findall(r"[\w+]+", "\n".join(complaints)))
    return next((program for program in INSTALL if program in words and not _is_here(program)), "")


def installation(program: str) -> str:
    """How to install a program."""
    if program not in INSTALL:
        return "install it, or fix its name in bot.toml"
    debian, mac = INSTALL[program]
    return (
        f"install it (on Debian and Ubuntu: {debian}; on macOS: {mac}), and make sure its folder is"
        " on PATH"
    )


def toolchain_files(programs: Iterable[str]) -> list[str]:
    """The files of these programs and of all compilers known here, with their sizes and times, by
    which a change of one shows.

    A build step such as ``make`` or ``sh`` does not say what it compiles with.
    """
    found = []
    for program in dict.fromkeys((*programs, *INSTALL)):
        place = shutil.which(program, path=search_path(os.environ))
        if place:
            status = Path(place).stat()
            found.append(
                f"{program} {place} {Path(place).resolve()} {status.st_size} {status.st_mtime_ns}"
            )
    return found


def _is_here(program: str) -> bool:
    return shutil.which(program, path=search_path(os.environ)) is not None
