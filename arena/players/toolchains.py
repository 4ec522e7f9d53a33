"""The programs that bots are built and started with: which of them is missing here, and how to come by it."""

import os
import shutil
from collections.abc import Iterable, Sequence

from arena.players.sandbox.launch import search_path

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
"""What installs a program, on Debian and on macOS."""


def missing_program(commands: Iterable[Sequence[str]]) -> str:
    """The first program that one of the commands takes from PATH and that is not there; empty when all are."""
    path = search_path(os.environ)
    needed = (words[0] for words in commands if "/" not in words[0])
    return next((program for program in needed if not shutil.which(program, path=path)), "")


def installation(program: str) -> str:
    """How to come by a program."""
    if program not in INSTALL:
        return "install it, or correct its name in bot.toml"
    debian, mac = INSTALL[program]
    return f"install it (on Debian and Ubuntu: {debian}; on macOS: {mac}), and have its folder on PATH"
