"""Commands on a terminal of a certain size, with all that they write on it."""

import fcntl
import os
import re
import socket
import struct
import termios

from arena.cli.terminal import WORD
from arena.exports.grid import width_of
from tests.support.loaded import answered, ask, loaded_arena

ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[()=>].?)")


def on_terminal(arena, *arguments, columns=80, lines=24, **variables):
    """The exit status of a command, and what it wrote to its terminal."""
    size = {"COLUMNS": str(columns), "LINES": str(lines), "PAGER": "cat"}
    environment = {**arena.environment, **size, **variables}
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
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
