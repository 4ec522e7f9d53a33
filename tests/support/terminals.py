"""Commands on a terminal of a certain size, with all that they write on it."""

import fcntl
import os
import re
import socket
import struct
import subprocess
import sys
import termios

from arena.cli.terminal import WORD
from arena.exports.grid import width_of
from tests.support.loaded import answered, ask, loaded_arena

ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[()=>].?)")


def on_terminal(arena, *arguments, columns=80, lines=24, **variables):
    """The exit status of a command, and what it wrote to its terminal."""
    size = {"COLUMNS": str(columns), "LINES": str(lines), "PAGER": "cat"}
    environment = {**arena.environment, **size, **variables}
    ours, theirs = open_terminal(columns, lines)
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(loaded_arena(environment).place)
        ask(asking, [[*map(str, arguments)], str(arena.home), environment], [theirs] * 3)
        os.close(theirs)
        written = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        return answered(asking), written.decode()


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # nobody has the other end any more
        return b""


def too_wide(written, columns):
    """The lines that the terminal breaks though they could have been folded: a path, or a command
    to be copied, stays whole.
    """
    lines = re.split(r"[\r\n]+", ESCAPES.sub("", written))
    return [
        line
        for line in lines
        if width_of(line) > columns
        and not line.lstrip().startswith("arena ")
        and len(WORD.findall(line)) > 1
    ]


def open_terminal(columns, lines):
    """The two ends of a terminal of this size: ours, and that of a program."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    return ours, theirs


def started_on(terminal, folder, arguments, environment):
    """The process of a command of the arena in ``folder``, with the program's end of a terminal as
    its input and its output; that end is closed here.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "arena", *arguments],
        cwd=folder,
        env=environment,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    return process


class Screen:
    """What a terminal shows, with all that has left it at its top. Knows what the arena writes:
    lines, the way up, and erasing to the end of the line or of the screen.
    """

    def __init__(self):
        self._lines = [""]
        self._row = 0
        self._column = 0
        self._rest = ""

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self._lines)

    def write(self, text):
        text = self._rest + text
        # A sequence may have come in part.
        whole = re.search(r"\x1b[^A-Za-z=>]*$", text)
        self._rest = whole[0] if whole else ""
        text = text[: len(text) - len(self._rest)]
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b.|[^\x1b]", text, re.DOTALL):
            self._put(part)

    def _put(self, part):
        line = self._lines[self._row]
        if part == "\n":
            self._row += 1
            self._column = 0
            if self._row == len(self._lines):
                self._lines.append("")
        elif part == "\r":
            self._column = 0
        elif part == "\b":
            self._column -= 1
        elif part.startswith("\x1b[") and part[-1] == "A":
            self._row -= int(part[2:-1] or 1)
        elif part in ("\x1b[K", "\x1b[J"):
            self._lines[self._row] = line[: self._column]
            if part[-1] == "J":
                del self._lines[self._row + 1 :]
        elif part.isprintable():
            before = line[: self._column].ljust(self._column)
            self._lines[self._row] = before + part + line[self._column + 1 :]
            self._column += 1
