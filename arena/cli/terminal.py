"""The terminal: lines folded between words at its width, which would break them inside a word, what
it can draw, and pages and games that wait for a key.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from shutil import get_terminal_size
from typing import TextIO

import click

from arena.exports.width import width_of

INDENT = "  "
WORD = re.compile(r"""(?:(?<!\w)'[^']*'(?!\w)|\S)+""")
"""What stays together; a command in quotes does, so that it can be copied."""
FRESH = "\x1b[H\x1b[2J"
KEYS = "space, n, right: next   b, left: back   g: start   G: end   q: quit"
FORWARD, BACK = (
    (" ", "n", "j", "\r", "\n", "\x1b[C", "\x1b[B"),
    ("b", "p", "k", "\x7f", "\x1b[D", "\x1b[A"),
)
QUIT = ("q", "\x1b", "\x03", "\x04", "")


def say(text: str) -> None:
    """Prints a sentence for the user to stderr."""
    click.echo(folded(text, columns_of(sys.stderr)), err=True)


def tell(text: str, indent: str = INDENT) -> None:
    """Prints sentences to stdout."""
    click.echo(screen_folded(text, indent))


def tell_with_commands(text: str) -> None:
    """Prints a text to stdout; a line that is a command stays as it is, to be copied whole."""
    for line in text.splitlines():
        is_command = line.startswith(INDENT) and line.lstrip().startswith("arena ")
        click.echo(line if is_command else screen_folded(line))


def screen_folded(text: str, indent: str = INDENT) -> str:
    """The text folded for the terminal that stdout is, if it is one."""
    return folded(text, columns_of(sys.stdout), indent)


def columns_of(stream: TextIO) -> int | None:
    """How wide a terminal is; None for a file or a pipe, where every line stays as it is."""
    return get_terminal_size().columns if stream.isatty() else None


def is_unicode(stream: TextIO) -> bool:
    """Whether a stream takes the characters of drawings. ``LC_ALL=C`` asks for plain ones: Python
    writes UTF-8 even then.
    """
    if os.environ.get("LC_ALL") in {"C", "POSIX"} or os.environ.get("TERM") == "dumb":
        return False
    return (stream.encoding or "").lower().replace("-", "") == "utf8"


def folded(text: str, width: int | None, indent: str = INDENT) -> str:
    """The text with each longer line on several ones, of which all but the first are indented."""
    return (
        text
        if width is None
        else "\n".join("\n".join(_fold(line, width, indent)) for line in text.split("\n"))
    )


def _fold(line: str, width: int, indent: str) -> Iterator[str]:
    head = line[: len(line) - len(line.lstrip())] + indent
    begin = end = 0
    for word in WORD.finditer(line):
        shown = click.unstyle(line[begin : word.end()])
        if begin < end and (len(head) if begin else 0) + width_of(shown) > width:
            yield (head if begin else "") + line[begin:end]
            begin = word.start()
        end = word.end()
    yield (head if begin else "") + line[begin:]


def step_through(pages: Sequence[str], read_key: Callable[[], str] = click.getchar) -> None:
    """Shows a page, reads a key and turns to another page, until a key or the end of input says to
    stop.
    """
    at = 0
    while True:
        click.echo(FRESH, nl=False, color=True)
        click.echo(f"{pages[at]}\n{at + 1} of {len(pages)}   {KEYS}")
        try:
            key = read_key()
        except (EOFError, KeyboardInterrupt):
            return
        if key in QUIT:
            return
        at = moved(at, key, len(pages) - 1)


def wait_for_key(read_key: Callable[[], str] = click.getchar) -> None:
    """Waits for a key. A key that quits, or the end of input, raises click.Abort."""
    click.echo("any key: next move   q: quit", nl=False)
    try:
        key = read_key()
    except EOFError:
        raise click.Abort from None
    if key in QUIT:
        raise click.Abort
    click.echo("\r\x1b[K", nl=False, color=True)


def moved(at: int, key: str, last: int) -> int:
    """The page after a key."""
    if key in ("g", "\x1b[H"):
        return 0
    if key in ("G", "\x1b[F"):
        return last
    return min(last, max(0, at + (key in FORWARD) - (key in BACK)))
