"""Where a home is served, if it is: a small file in it, which its server holds locked.

The lock says whether the server is up, whatever became of it. Nothing is taken from a file that is
not this user's.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from arena.commands.folders import results_folder

EVERYWHERE = "0.0.0.0"  # noqa: S104 - what --public means

FILE = ".arena-serve"
MOST_BYTES = 300
TRIES, PAUSE_S = 5, 0.02


@contextmanager
def announced(home: Path, url: str) -> Iterator[str]:
    """Meanwhile the home says that it is served at this address. Gives the address of another
    server if there is one already, which then stays the one that is told. Raises OSError.
    """
    path = home / FILE
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if not _lock(file):
            yield os.pread(file, MOST_BYTES, 0).decode(errors="replace").strip()
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
    """The address at which a home is served now; empty if it is not."""
    try:
        file = os.open(home / FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        if os.fstat(file).st_uid != os.geteuid() or _is_free(file):
            return ""
        return os.pread(file, MOST_BYTES, 0).decode(errors="replace").strip()
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
    """Locks the file; those who look whether it is locked hold it for a moment."""
    for _ in range(TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(PAUSE_S)
        else:
            return True
    return False


def _is_free(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
