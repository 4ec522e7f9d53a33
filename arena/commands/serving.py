"""Lets commands find the running server of a home ('arena serve'): the server writes its address to
a file in the home.

The server keeps that file locked while it runs. So the lock shows whether a server is running, even
if a former server was killed and left its file. A file that does not belong to the current user is
ignored.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from arena.commands.home import results_folder

EVERYWHERE = "0.0.0.0"  # noqa: S104 - what --public means
"""The address on which 'arena serve --public' listens: all network interfaces."""

SERVER_FILE = ".arena-serve"
"""The name of the file in a home that has the address of the running server."""
MAX_BYTES = 300
"""The number of bytes that are read of a server file; the rest is ignored."""
TRIES = 5
"""How often a server tries to lock its file."""
PAUSE_S = 0.02
"""The pause between two tries to lock the file, in seconds."""


@contextmanager
def announced(home: Path, url: str) -> Iterator[str]:
    """A context manager that announces, for the duration of its block, that the home is served at
    ``url``; it yields an empty text. If another server serves this home already, nothing is
    announced, and the address of that server is yielded. Raises OSError.
    """
    path = home / SERVER_FILE
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if not _lock(file):
            yield os.pread(file, MAX_BYTES, 0).decode(errors="replace").strip()
            return
        os.truncate(file, 0)
        os.pwrite(file, f"{url}\n".encode(), 0)
        try:
            yield ""
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(file)


def served_at(home: Path) -> str:
    """The address (URL) at which a home is served now; empty if no server is running there."""
    try:
        file = os.open(
            home / SERVER_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        )
    except OSError:
        return ""
    try:
        if os.fstat(file).st_uid != os.geteuid() or _is_free(file):
            return ""
        return os.pread(file, MAX_BYTES, 0).decode(errors="replace").strip()
    except OSError:
        return ""
    finally:
        os.close(file)


def watched_at(home: Path, run: Path) -> str:
    """The address (URL) of the page of a ``run``, which is a folder; empty if the home is not
    served, or if the run is not in its results/.
    """
    if run.parent.resolve() != results_folder(home).resolve():
        return ""
    url = served_at(home)
    return f"{url}runs/{quote(run.name)}" if url else ""


def _lock(file: int) -> bool:
    """Locks the server file ``file``, a descriptor, for this process, and returns whether that
    worked. It tries up to `TRIES` times, because a command that tests the lock holds it for a
    moment.
    """
    for _ in range(TRIES):
        if _is_free(file, fcntl.LOCK_EX):
            return True
        time.sleep(PAUSE_S)
    return False


def _is_free(file: int, how: int = fcntl.LOCK_SH) -> bool:
    """Tries to lock the open file ``file``, a descriptor, without waiting. True if that worked, and
    then the file is locked; False if another process holds a lock. ``how`` is a lock of
    `fcntl.flock`.
    """
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
