"""The terminal: what it can draw, and text folded between words, because a terminal would break
lines inside a word.
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
WORD = re.compile(r"""(?:(?<!\w)'[^']*'(?!\w)|\S)+""")
"""A pattern for text that stays on one line; a command in quotes does, so that it can be copied."""
SLOW_S = 1.0
"""Work that takes longer than this many seconds is announced."""


def say(text: str) -> None:
    """Prints a sentence for the user to stderr."""
    click.echo(folded(text, columns_of(sys.stderr)), err=True)


@contextmanager
def said_when_slow(text: str, *, quiet: bool = False) -> Iterator[None]:
    """Prints on stderr what is being done, if it takes over a second."""
    timer = threading.Timer(SLOW_S, say, (f"{printable(text)} ...",))
    timer.daemon = True
    if not quiet:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def tell(text: str, indent: str = INDENT) -> None:
    """Prints sentences to stdout."""
    click.echo(screen_folded(text, indent))


def tell_with_commands(text: str) -> None:
    """Prints a text to stdout; a line that is a command stays as it is, to be copied whole."""
    for line in text.splitlines():
        is_command = line.startswith(INDENT) and line.lstrip().startswith("arena ")
        click.echo(line if is_command else screen_folded(line))


def screen_folded(text: str, indent: str = INDENT) -> str:
    """The text folded to the width of the terminal that stdout is; unchanged if stdout is none."""
    return folded(text, columns_of(sys.stdout), indent)


def columns_of(stream: TextIO) -> int | None:
    """The width of a terminal; None for a file or a pipe, where lines are not folded."""
    return get_terminal_size().columns if stream.isatty() else None


def is_unicode(stream: TextIO) -> bool:
    """Whether a stream takes the characters of drawings. ``LC_ALL=C`` asks for plain ones: Python
    writes UTF-8 even then.
    """
    if os.environ.get("LC_ALL") in {"C", "POSIX"} or os.environ.get("TERM") == "dumb":
        return False
    return (stream.encoding or "").lower().replace("-", "") == "utf8"


def folded(text: str, width: int | None, indent: str = INDENT) -> str:
    """The text, with longer lines folded; all but the first part of a line are indented."""
    return (
        text
        if width is None
        else "\n".join("\n".join(_fold(line, width, indent)) for line in text.split("\n"))
    )


def _fold(line: str, width: int, indent: str) -> Iterator[str]:
    """The parts of a folded line."""
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
    """Whether the user asks for colours everywhere, or for none; None leaves it to the terminal."""
    forced = environment.get("FORCE_COLOR") or environment.get("CLICOLOR_FORCE") or ""
    if environment.get("NO_COLOR") or forced == "0":
        return False
    if forced:
        return True
    return False if environment.get("TERM") == "dumb" else None
