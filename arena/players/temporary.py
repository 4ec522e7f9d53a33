"""Temporary folders for bots and builds, each owned by the process that made it.

The owner holds a lock on its folder. The kernel releases the lock when the process ends, however it
ends, so a folder that can be locked has no owner any more and is removed. A process id in the
folder's name would not show that, because another process may have got the same id.
"""

import fcntl
import os
import shutil
import stat
import subprocess
import tempfile
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

PREFIX = "qin-arena-"
UNFINISHED = ".qin-arena-new-"
"""The prefix of the name of a folder that its process has not locked yet."""
DEVICE_FOLDER = "/dev"
"""The folder for temporary folders with devices in them. /tmp is often mounted with ``nodev``, and
then nobody can open a device there.
"""
PATIENCE_S = 60
"""How many seconds a process may take between making a folder and locking it."""

_locks: dict[str, int] = {}
"""For each folder of this process, the descriptor that holds its lock."""


def make_passing(kind: str, place: str | None = None) -> str:
    """Makes an empty temporary folder that this process owns, and returns its path; ``kind`` is any
    word, which becomes a part of its name. ``place`` is the folder to make it in: the usual one for
    temporary files, or `DEVICE_FOLDER`. Raises OSError, and then leaves no folder.
    """
    with ExitStack() as undo:
        made = tempfile.mkdtemp(prefix=UNFINISHED, dir=place)
        undo.callback(os.rmdir, made)
        handle = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
        undo.callback(os.close, handle)
        # On a file system without locks this fails, and no folder counts as abandoned.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The folder gets the name that other processes look for only now, so none of them sees it
        # without its lock.
        name = made.replace(UNFINISHED, f"{PREFIX}{kind}-")
        os.rename(made, name)  # noqa: PTH104 - every start of a bot waits for this call
        undo.pop_all()
    _locks[name] = handle
    return name


def remove_passing(folder: str) -> None:
    """Removes a temporary folder that this process owns. Files that cannot be removed stay, without
    an owner.
    """
    # The lock is closed first: without a free descriptor, nothing can be removed.
    handle = _locks.pop(folder, None)
    if handle is not None:
        os.close(handle)
    remove_tree(folder)


def remove_abandoned() -> list[Path]:
    """Removes the temporary folders of this user that no living process owns, and returns their
    paths.
    """
    removed = []
    places = [Path(tempfile.gettempdir()), Path(DEVICE_FOLDER)]
    found = [place.glob(f"{name}*") for place in places for name in (PREFIX, UNFINISHED)]
    for place in sorted(chain.from_iterable(found)):
        with suppress(OSError):  # the folder is gone, or its owner holds the lock
            status = place.lstat()
            # The process that made a new folder may be about to lock it.
            is_new = place.name.startswith(UNFINISHED) and age_s(place) <= PATIENCE_S
            if is_new or not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
                continue
            handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(str(place))
                removed.append(place)
            finally:
                os.close(handle)
    return removed


def age_s(place: Path) -> float:
    """How many seconds ago a folder was last changed, by the time that its file system notes for
    it.
    """
    return datetime.now(UTC).timestamp() - place.lstat().st_mtime


def remove_tree(folder: str) -> None:
    """Removes a folder to which a bot may have written, with everything in it. If the path is a
    link, only the link is removed. Does nothing if there is nothing at the path. Files that cannot
    be removed stay, without an error.

    Python removes nearly every folder. It fails for folders that are nested deeper than its stack,
    and for folders that their owner may not list; programs of the system remove those.
    """
    if os.path.islink(folder):  # noqa: PTH114 - chmod would follow it
        os.unlink(folder)  # noqa: PTH108
        return
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        if os.path.lexists(folder):
            with suppress(OSError):  # this machine cannot start another process
                run_tool("chmod", "-R", "u+rwX", folder)
                run_tool("rm", "-rf", folder)


def run_tool(*command: str) -> None:
    """Runs a program of the system on a path, which is the last word of ``command``. The program is
    found in the usual folders even if the user's PATH leaves them out. Its exit status and its
    stderr are ignored. Raises OSError if it cannot be started.
    """
    *words, place = command
    # The system's folders are searched even if the user's PATH leaves them out.
    system = {"PATH": os.defpath}
    words += ["--", place]
    subprocess.run(words, stderr=subprocess.DEVNULL, check=False, env=system)  # noqa: S603
