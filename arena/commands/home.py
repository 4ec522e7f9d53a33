"""The home: the folder that holds bots/ and results/, and where it is served, if it is.

It is looked for from the current folder upward, as git looks for a repository. A server holds a
small file in it locked: the lock says whether the server is up, whatever became of it. Nothing is
taken from a file that is not this user's.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

MARK = ".arena-home"
"""This file marks a home, even one that holds no bot and no run yet."""
# Not from the modules that read these files: every command, and its help, would wait for those.
RUN_FILE, BOT_FILE = "run.json", "bot.toml"
EVIDENCE = (("bots", BOT_FILE), ("results", RUN_FILE))
"""A folder is also a home if one of these folders is in it, and this file in a folder of that."""


def find_home() -> Path:
    """The nearest home from the current folder upward, as a relative path. If there is none it is
    the current folder, or within a bot's folder the one above that, where 'arena new' was typed.
    """
    try:
        here = Path.cwd()
    except FileNotFoundError:  # the current folder has been removed
        return Path()
    folders = [here, *here.parents]
    for steps, folder in enumerate(folders):
        if is_home(folder):
            return Path(*[os.pardir] * steps)
    for steps, (folder, above) in enumerate(pairwise(folders), 1):
        if _is_mine(folder / BOT_FILE) and _is_mine(above):
            return Path(*[os.pardir] * steps)
    return Path()


def is_home(folder: Path) -> bool:
    """Whether a folder is a home that belongs to this user. A run is not one, although it has a
    bots/ of its own.
    """
    try:
        if not _is_mine(folder) or (folder / RUN_FILE).exists():
            return False
        return _is_mine(folder / MARK) or any(
            _is_mine(part) and _is_mine(part / file)
            for name, file in EVIDENCE
            if _is_mine(folder / name) and (folder / name).is_dir()
            for part in (folder / name).iterdir()
        )
    except OSError:
        return False


def _is_mine(path: Path) -> bool:
    """Whether this exists and belongs to this user: what a stranger leaves in /tmp must not decide
    what plays, not even through a link.
    """
    try:
        return {path.lstat().st_uid, path.stat().st_uid} == {os.geteuid()}
    except OSError:
        return False


def bots_folder(home: Path) -> Path:
    """The folder of the registry."""
    return home / "bots"


def results_folder(home: Path) -> Path:
    """The folder of the runs."""
    return home / "results"


EVERYWHERE = "0.0.0.0"  # noqa: S104 - what --public means

SERVER_FILE = ".arena-serve"
MOST_BYTES = 300
TRIES, PAUSE_S = 5, 0.02


@contextmanager
def announced(home: Path, url: str) -> Iterator[str]:
    """Meanwhile the home says that it is served at this address. Gives the address of another
    server if there is one already, which then stays the one that is told. Raises OSError.
    """
    path = home / SERVER_FILE
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
        file = os.open(
            home / SERVER_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        )
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
        if _is_free(file, fcntl.LOCK_EX):
            return True
        time.sleep(PAUSE_S)
    return False


def _is_free(file: int, how: int = fcntl.LOCK_SH) -> bool:
    """Whether the file could be locked this way, which it then is."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
