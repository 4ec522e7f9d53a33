"""A file of a run to which whole lines are appended, by one process at a time.

What was appended is on disk. A crash leaves at most a torn line at the end, which is cut off when
the file is opened again.
"""

import fcntl
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from arena.errors import RunError
from arena.records.regular import open_regular

log = logging.getLogger(__name__)

Cut = Callable[[bytes], None]
BLOCK = 1 << 16
MOST_KEPT = 1 << 20
"""Bytes that are kept of what is cut off."""


class FullError(RunError):
    """The disk is full; everything appended before is safe."""


class BusyError(RunError):
    """Another arena has the file open."""


@contextmanager
def turn_in(folder: Path) -> Iterator[None]:
    """Keeps a run's folder for this arena while it closes and opens the files in it. Raises
    BusyError if another one does.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"expected {folder} to be free, got another arena playing it") from None
        except OSError as error:
            # Some network file systems lock no folders; the files in it have locks of their own.
            log.info("no lock on %s: %s", folder, error)
        yield
    finally:
        os.close(descriptor)


class LineFile:
    """The file ``name`` of the run's folder, open for appending; use it as a context manager.

    ``descriptor`` is that of the file; ``repaired`` is the number of bytes cut off its end, which
    ``cut`` is given. ``what`` is what its lines hold, and ``busy`` the cure if another arena has it
    open. Raises BusyError then, unless it ``waits`` for the other one, and RunError if the file
    cannot be written.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        what: str,
        *,
        busy: str = "",
        cut: Cut | None = None,
        waits: bool = False,
    ) -> None:
        self.path = folder / name
        self._what = what
        try:
            self.descriptor = open_regular(folder, name, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            raise RunError(f"expected to write {self.path}, got {error}") from error
        try:
            self._lock(busy, waits=waits)
            self.repaired = self._cut_torn_tail(cut)
        except BaseException:
            os.close(self.descriptor)
            raise

    def append(self, data: bytes) -> None:
        """Writes whole lines and returns once they are on disk. If it raises FullError, none of
        them was written.
        """
        # A write that fails half-way takes back all of it, so that the next line does not begin in
        # the middle of a torn one.
        size = os.fstat(self.descriptor).st_size
        try:
            written = 0
            while written < len(data):
                written += os.write(self.descriptor, data[written:])
            os.fdatasync(self.descriptor)
        except OSError as error:
            os.ftruncate(self.descriptor, size)
            raise FullError(
                f"expected to append to {self.path}, got {error}",
                f"all earlier {self._what} are safe: free some disk space, then run the same"
                " command again",
            ) from error

    def close(self) -> None:
        """Closes the file and releases the lock."""
        os.close(self.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lock(self, busy: str, *, waits: bool) -> None:
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            raise BusyError(
                f"expected {self.path} to be free, got another arena writing it", busy
            ) from None

    def _cut_torn_tail(self, cut: Cut | None) -> int:
        """Cuts whatever follows the last newline, such as part of a line or zeros left by a crashed
        machine.
        """
        size = os.fstat(self.descriptor).st_size
        keep = _whole_length(self.descriptor, size)
        if keep == size:
            return 0
        if cut:
            cut(os.pread(self.descriptor, min(size - keep, MOST_KEPT), keep))
        os.ftruncate(self.descriptor, keep)
        os.fsync(self.descriptor)
        return size - keep


def _whole_length(descriptor: int, size: int) -> int:
    """The length up to the last newline that ends a line without zero bytes after it."""
    end = size
    while end > 0:
        start = max(0, end - BLOCK)
        at = os.pread(descriptor, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0
