"""Opens the files of a run's folder, which may come from anybody: only regular files below the
folder are opened, and links are not followed.

A folder unpacked from an archive can hold a link to one of the user's own files where the run's
journal or log belongs, or a pipe to which nobody ever writes. So files of a run are opened here,
folder by folder from the run's folder down. The run's folder itself is named by the user, and may
be a link.

`LineFile` appends lines to a file, for one process at a time. Appended lines are on disk when the
call returns. A crash leaves at most an incomplete line at the end, which is cut off when the file
is opened again.
"""

import errno
import fcntl
import logging
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Self

from arena.errors import RunError, cannot_write

MAX_BYTES = 64 << 20
RECENT_S = 60
NO_LINK = os.O_NOFOLLOW | os.O_CLOEXEC
STRANGE = {
    errno.ELOOP: "a link",
    errno.EMLINK: "a link",
    errno.ENOTDIR: "something else",
    errno.EISDIR: "a folder",
    errno.ENXIO: "a pipe",
}
"""By the errno with which opening a path fails, what lies there in place of a regular file, or of a
folder on the way to the file.
"""
CURE = (
    "a run has regular files only: look at what is there, and take it out if you did not put it"
    " there"
)


@contextmanager
def folder_below(run: Path, names: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """A context manager that opens the folder that is reached from the folder ``run`` by ``names``,
    one name for each level, and yields a descriptor of it; no names give ``run`` itself. ``make``
    creates missing folders. Raises OSError, or RunError for a link or anything else that is not a
    folder.
    """
    at = os.open(run, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for number, name in enumerate(names, 1):
            place = Path(run, *names[:number])
            _check_name(name, place)
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=at)
            inner = _open(name, os.O_RDONLY | os.O_DIRECTORY, at, place, "a folder")
            os.close(at)
            at = inner
        yield at
    finally:
        os.close(at)


def has_folder(run: Path, name: str) -> bool:
    """Whether there is a folder at the path ``name`` below the folder ``run``, with no link on the
    way; False, too, if that cannot be found out.
    """
    try:
        with folder_below(run, name.split("/")):
            return True
    except (OSError, RunError):
        return False


def open_regular(run: Path, name: str, flags: int = os.O_RDONLY) -> int:
    """Opens the regular file at the path ``name`` below the folder ``run`` and returns its
    descriptor. O_CREAT in ``flags`` creates missing folders, too.

    Does not block if a pipe or a device lies at the path. Raises RunError for anything that is not
    a regular file below the run's folder, and for a file to write that has a second name (a hard
    link); OSError as `os.open` does.
    """
    *folders, last = name.split("/")
    path = run / name
    with folder_below(run, folders, make=bool(flags & os.O_CREAT)) as at:
        _check_name(last, path)
        descriptor = _open(last, flags | os.O_NONBLOCK, at, path, "a regular file")
    status = os.fstat(descriptor)
    is_written = flags & os.O_ACCMODE != os.O_RDONLY
    if stat.S_ISREG(status.st_mode) and not (is_written and status.st_nlink > 1):
        return descriptor
    os.close(descriptor)
    got = "a file that has another name, too" if stat.S_ISREG(status.st_mode) else "something else"
    raise RunError(f"expected a regular file in {path}, got {got}", CURE)


def read_regular(run: Path, name: str, most: int = MAX_BYTES) -> bytes:
    """The content of the regular file at the path ``name`` below the folder ``run``. Raises
    OSError, or RunError as `open_regular` does, or if the file has more than ``most`` bytes.
    """
    with os.fdopen(open_regular(run, name), "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise RunError(f"{run / name}: expected at most {most >> 20} MiB, got more")
    return data


def write_durably(path: Path, data: bytes, run: Path | None = None) -> None:
    """Replaces the content of the file at ``path`` by ``data`` in one step: readers see the old
    bytes or the new ones, and so does the arena after a crash. With a ``run``, ``path`` lies below
    that folder: missing folders are created, and links are refused. Raises RunError.
    """
    with durable_file(path, run) as file:
        file.write(data)


@contextmanager
def durable_file(path: Path, run: Path | None = None) -> Iterator[BinaryIO]:
    """A context manager that yields a new file to write, which replaces the file at ``path`` in one
    step when the block ends; if the block raises, the old file stays. Raises RunError if it cannot
    be written, and whatever the block raises; an OSError of the block becomes a RunError.

    With a ``run``, ``path`` lies below the folder ``run``: missing folders are created, and links
    are refused.
    """
    names = path.relative_to(run).parts[:-1] if run else ()
    # Arenas in two containers may share a folder, and both may be process 1.
    temporary = f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}"
    try:
        with folder_below(run or path.parent, names, make=True) as at:
            _remove_left_over(at, f".{path.name}.")
            try:
                with os.fdopen(
                    os.open(
                        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK, 0o644, dir_fd=at
                    ),
                    "wb",
                ) as file:
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                os.rename(temporary, path.name, src_dir_fd=at, dst_dir_fd=at)
                os.fsync(at)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=at)
                raise
    except OSError as error:
        raise cannot_write(path, error, kind=RunError) from error


def _remove_left_over(at: int, prefix: str) -> None:
    """Removes temporary files that killed arenas left in the folder with the descriptor ``at``;
    their names begin with ``prefix``. Files younger than a minute stay: in a shared folder, their
    process may live on another machine, or in another container.
    """
    for name in os.listdir(at):
        number = name.removeprefix(prefix).partition("-")[0]
        if not name.startswith(prefix) or not number.isdecimal():
            continue
        if int(number) == os.getpid() or not Path("/proc", number).exists():
            with suppress(OSError):
                written = os.stat(name, dir_fd=at, follow_symlinks=False).st_mtime
                if time.time() - written > RECENT_S:
                    os.unlink(name, dir_fd=at)


def _open(name: str, flags: int, at: int, path: Path, wanted: str) -> int:
    """Opens ``name`` in the folder with the descriptor ``at``, without following a link. Raises
    RunError if a link or anything but ``wanted`` (a text for the message) lies there; ``path`` is
    its path for the message.
    """
    try:
        return os.open(name, flags | NO_LINK, 0o644, dir_fd=at)
    except OSError as error:
        if error.errno not in STRANGE:
            raise
        got = "a link" if stat.S_ISLNK(os.lstat(name, dir_fd=at).st_mode) else STRANGE[error.errno]
        raise RunError(f"expected {wanted} in {path}, got {got}", CURE) from None


def _check_name(name: str, path: Path) -> None:
    """Raises RunError if ``name`` leads out of its folder, or no file can have that name. ``path``
    is for the message.
    """
    try:
        leads_away = name in ("", ".", "..") or b"\0" in os.fsencode(name)
    except UnicodeEncodeError:
        leads_away = True
    if leads_away:
        raise RunError(f"expected a file below the run's folder, got {str(path)!r}", CURE)


log = logging.getLogger(__name__)

Cut = Callable[[bytes], None]
BLOCK = 1 << 16
MAX_KEPT = 1 << 20
"""The most bytes of a torn line that are passed on before the line is cut off."""


class FullError(RunError):
    """The disk is full, or appending failed for another reason; everything appended before is
    safe.
    """


class BusyError(RunError):
    """Another arena has the file or the folder locked."""


@contextmanager
def lock_run(folder: Path) -> Iterator[None]:
    """A context manager that locks a run's folder during the block, in which this arena opens or
    closes the files of the run. Raises BusyError if another arena holds the lock, or OSError. Where
    a file system cannot lock folders, nothing is locked.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"another arena is playing {folder}") from None
        except OSError as error:
            # Some network file systems cannot lock folders; the files in the folder have locks of
            # their own.
            log.info("no lock on %s: %s", folder, error)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """A context manager that locks the file of a run at ``path`` during the block, so that no other
    arena writes it. Raises BusyError if another arena has it open for writing, or OSError.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise BusyError(f"another arena is writing {path}") from None
    finally:
        os.close(descriptor)


class LineFile:
    """The file ``name`` in the run's folder, open for appending lines; use it as a context manager.

    ``path``        the path of the file
    ``descriptor``  its descriptor
    ``repaired``    the number of bytes of an incomplete last line that were cut off its end

    ``what`` says what the lines hold, for messages. ``cut`` is called with the bytes (at most
    `MAX_KEPT`) that are cut off. If another arena has the file open, the constructor waits for that
    arena if ``waits``, else raises BusyError with the hint ``busy``. It raises RunError if the file
    cannot be opened for writing.
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
            raise cannot_write(self.path, error, kind=RunError) from error
        try:
            self._lock(busy, waits=waits)
            self.repaired = self._cut_torn_tail(cut)
        except BaseException:
            os.close(self.descriptor)
            raise

    def append(self, data: bytes) -> None:
        """Writes ``data``, one or more whole lines, and returns when they are on disk. If writing
        fails, raises FullError, and the file is as before.
        """
        # If a write fails half-way, all of it is removed, so that the next line does not begin in
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
                f"cannot append to {self.path}: {error}",
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
        """Locks the file. If another arena has locked it, waits for that arena if ``waits``, else
        raises BusyError with the hint ``busy``.
        """
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            raise BusyError(f"another arena is writing {self.path}", busy) from None

    def _cut_torn_tail(self, cut: Cut | None) -> int:
        """Cuts off everything after the last newline, such as part of a line or zeros left by a
        crashed machine, and returns the number of bytes cut off. ``cut``, if given, gets these
        bytes, at most `MAX_KEPT`.
        """
        size = os.fstat(self.descriptor).st_size
        keep = _whole_length(self.descriptor, size)
        if keep == size:
            return 0
        if cut:
            cut(os.pread(self.descriptor, min(size - keep, MAX_KEPT), keep))
        os.ftruncate(self.descriptor, keep)
        os.fsync(self.descriptor)
        return size - keep


def _whole_length(descriptor: int, size: int) -> int:
    """The number of bytes up to and including the last newline in the first ``size`` bytes of the
    file; 0 if there is none.
    """
    end = size
    while end > 0:
        start = max(0, end - BLOCK)
        at = os.pread(descriptor, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0
