"""What the terminal can show, and text that is folded between words, because a terminal itself
breaks lines inside a word.
"""

import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import TextIO

import click

from arena.errors import printable
from arena.exports.grid import width_of

INDENT = "  "
"""What stands before the further lines of a folded line."""
WORD = re.compile(r"""(?:(?<!\w)'[^']*'(?!\w)|\S)+""")
"""Matches text that is not broken: a word, or a command in quotes, so that it can be copied."""
SLOW_S = 1.0
"""Work that takes longer than this many seconds is announced."""


def say(text: str) -> None:
    """Prints ``text``, a sentence for the user, to stderr."""
    click.echo(folded(text, columns_of(sys.stderr)), err=True)


@contextmanager
def announced_if_slow(text: str, *, quiet: bool = False) -> Iterator[None]:
    """A context manager that prints ``text`` to stderr if its block takes longer than `SLOW_S`
    seconds; never if ``quiet``.
    """
    timer = threading.Timer(SLOW_S, say, (f"{printable(text)} ...",))
    timer.daemon = True
    if not quiet:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def tell(text: str, indent: str = INDENT) -> None:
    """Prints a text to stdout, folded to the width of the terminal. ``indent`` stands before the
    further parts of a line that is folded.
    """
    click.echo(screen_folded(text, indent))


def tell_with_commands(text: str) -> None:
    """Prints a text to stdout, folded. A line that is a command is not folded, so that it can be
    copied.
    """
    for line in text.splitlines():
        is_command = line.startswith(INDENT) and line.lstrip().startswith("arena ")
        click.echo(line if is_command else screen_folded(line))


def screen_folded(text: str, indent: str = INDENT) -> str:
    """The text, folded to the width of the terminal, with ``indent`` before the further parts of a
    folded line; unchanged if stdout is no terminal.
    """
    return folded(text, columns_of(sys.stdout), indent)


def columns_of(stream: TextIO) -> int | None:
    """The number of columns of a terminal; None for a file or a pipe, where lines are
    not folded.
    """
    return get_terminal_size().columns if stream.isatty() else None


def is_unicode(stream: TextIO) -> bool:
    """Whether characters beyond ASCII, such as those of drawings, can be written to a stream. False
    also on a dumb terminal, and with ``LC_ALL=C``, with which Python itself would write UTF-8.
    """
    if os.environ.get("LC_ALL") in {"C", "POSIX"} or os.environ.get("TERM") == "dumb":
        return False
    return (stream.encoding or "").lower().replace("-", "") == "utf8"


def folded(text: str, width: int | None, indent: str = INDENT) -> str:
    """The text with each line folded to ``width`` columns; None changes nothing. ``indent`` stands
    before the further parts of a line.
    """
    if width is None:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        lines += _fold(line, width, indent)
    return "\n".join(lines)


def _fold(line: str, width: int, indent: str) -> Iterator[str]:
    """The lines into which ``line`` is folded, so that each is at most ``width`` columns wide where
    words allow that; all but the first are indented like the line, and by ``indent``.
    """
    head = line[: len(line) - len(line.lstrip())] + indent
    begin = end = 0
    for word in WORD.finditer(line):
        shown = click.unstyle(line[begin : word.end()])
        if begin < end and (len(head) if begin else 0) + width_of(shown) > width:
            yield (head if begin else "") + line[begin:end]
            begin = word.start()
        end = word.end()
    yield (head if begin else "") + line[begin:]


def colours_wanted(environment: Mapping[str, str] = os.environ) -> bool | None:
    """Whether the environment asks for colours (True) or for none (False); None if it leaves that
    to the terminal.
    """
    forced = environment.get("FORCE_COLOR") or environment.get("CLICOLOR_FORCE") or ""
    if environment.get("NO_COLOR") or forced == "0":
        return False
    if forced:
        return True
    return False if environment.get("TERM") == "dumb" else None
