"""Lines folded between words at the width of a terminal, which would break them inside a word."""

import re
from collections.abc import Iterator
from shutil import get_terminal_size
from typing import TextIO

INDENT = "  "
WORD = re.compile(r"""(?:(?<!\w)'[^']*'(?!\w)|\S)+""")
"""What stays together; a command in quotes does, so that it can be copied."""


def columns_of(stream: TextIO) -> int | None:
    """How wide a terminal is; None for a file or a pipe, where every line stays as it is."""
    return get_terminal_size().columns if stream.isatty() else None


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
        if begin < end and (len(head) if begin else 0) + word.end() - begin > width:
            yield (head if begin else "") + line[begin:end]
            begin = word.start()
        end = word.end()
    yield (head if begin else "") + line[begin:]
