"""The server of a home: it announces its address in a file of the home, and commands look there.

The server keeps that file locked. The lock shows that the server is running, however a former
server ended. A file that does not belong to this user is never trusted.
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

SERVER_FILE = ".arena-serve"
MAX_BYTES = 300
TRIES = 5
PAUSE_S = 0.02


@contextmanager
def announced(home: Path, url: str) -> Iterator[str]:
    """Announces, for the duration of the block, that the home is served at ``url``, and yields an
    empty text. If another server serves the home already, its announcement stays, and its address
    is yielded. Raises OSError.
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
    """The address at which a home is served now; empty if it is not served."""
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
    """The address of a run's page; empty if the home is not served, or the run is not in it."""
    if run.parent.resolve() != results_folder(home).resolve():
        return ""
    url = served_at(home)
    return f"{url}runs/{quote(run.name)}" if url else ""


def _lock(file: int) -> bool:
    """Locks the file, and returns whether that worked. It tries repeatedly, because those who look
    whether the file is locked hold the lock for a moment.
    """
    for _ in range(TRIES):
        if _is_free(file, fcntl.LOCK_EX):
            return True
        time.sleep(PAUSE_S)
    return False


def _is_free(file: int, how: int = fcntl.LOCK_SH) -> bool:
    """Whether the file could be locked in this way; if so, it is locked now."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
