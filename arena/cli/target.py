"""Writes a file that the user named with an option such as ``--to`` or ``--csv``."""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from arena.errors import UserError, cannot_write
from arena.records.regular import write_durably

REFUSED = {stat.S_IFDIR: "a folder", stat.S_IFSOCK: "a socket", stat.S_IFBLK: "a disk"}
"""By the type of a file, what cannot be written; a disk, because its content would be lost."""


def write_target(path: Path, data: bytes) -> None:
    """Writes ``data`` to the file ``path`` that the user named.

    A regular file is replaced in one step. A link stays: the file to which it leads is written. A
    FIFO or a character device, such as ``/dev/null``, is opened and written. If the file is stdout
    or stderr of this process, ``data`` comes after the output so far.

    Raises UserError for a folder, a socket or a disk, and if the file cannot be written; OSError if
    stdout or stderr cannot be written.
    """
    status = _status_of(path)
    kind = stat.S_IFMT(status.st_mode) if status else stat.S_IFREG
    if kind in REFUSED:
        raise UserError(
            f"expected a file to write at {path}, got {REFUSED[kind]}", "name another file"
        )
    # A regular file that is stdout must not be replaced: later output would be lost.
    stream = _own_stream(status) if status else None
    if stream:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    elif kind == stat.S_IFREG:
        write_durably(Path(os.path.realpath(path)) if path.is_symlink() else path, data)
    else:
        _write_in_place(path, data)


def _status_of(path: Path) -> os.stat_result | None:
    """The status of the file to which ``path`` leads; None if there is no such file yet. Raises
    UserError.
    """
    try:
        return os.stat(path)  # noqa: PTH116 - Path.stat is the same
    except FileNotFoundError:
        return None
    except OSError as error:
        raise cannot_write(path, error) from error


def _write_in_place(path: Path, data: bytes) -> None:
    """Opens the FIFO or device ``path`` and writes ``data``. Raises UserError."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        raise cannot_write(path, error) from error


def _own_stream(status: os.stat_result) -> TextIO | None:
    """The stream of this process, stdout or stderr, that writes to the file with this ``status``;
    None if neither does.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # closed
            continue
        # A stream in memory has no descriptor.
        with suppress(OSError):
            if os.path.samestat(status, os.fstat(stream.fileno())):
                return stream
    return None
