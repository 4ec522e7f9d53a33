"""Passing folders: made for a bot or a build, and owned by the process that made them for as long
as that lives.

The process that makes one holds a lock on it; the kernel releases it when the process ends, however
it ends. So a folder that can be locked belongs to nobody any more. A process id in its name would
not tell, because another process may have been given the same number.
"""

import fcntl
import os
import stat
import subprocess
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

PREFIX, UNFINISHED = "qin-arena-", ".qin-arena-new-"
PATIENCE_S = 60
"""How long the making of a folder takes at most, on a machine that stalls."""

_held: dict[str, int] = {}


def make_passing(kind: str) -> str:
    """A new empty folder that is this process's."""
    made = tempfile.mkdtemp(prefix=UNFINISHED)
    handle = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
    # a file system without locks, where nothing is ever taken for abandoned
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    # Only now it gets a name that others look at: none of them can find it without its lock.
    name = made.replace(UNFINISHED, f"{PREFIX}{kind}-")
    # Every start of a bot waits for it.
    os.rename(made, name)  # noqa: PTH104
    _held[name] = handle
    return name


def remove_passing(folder: str) -> None:
    """Removes a folder of this process."""
    remove_tree(folder)
    handle = _held.pop(folder, None)
    if handle is not None:
        os.close(handle)


def abandoned() -> list[Path]:
    """The folders of this user that no living process owns."""
    found = []
    for place in sorted(Path(tempfile.gettempdir()).iterdir()):
        if place.name.startswith(PREFIX) and (handle := _locked(place)) is not None:
            os.close(handle)
            found.append(place)
        elif place.name.startswith(UNFINISHED) and _is_own_folder(place):
            found += [place] if age_s(place) > PATIENCE_S else []
    return found


def remove_abandoned() -> list[Path]:
    """Removes the folders that no living process owns; returns them."""
    found = abandoned()
    for place in found:
        handle = _locked(place)
        if handle is not None:
            remove_tree(str(place))
            os.close(handle)
    return found


def age_s(place: Path) -> float:
    """How many seconds ago a folder was last changed, by the dates of the file system."""
    return datetime.now(UTC).timestamp() - place.lstat().st_mtime


def _locked(place: Path) -> int | None:
    """A lock on a folder of this user, None when somebody has it."""
    if not _is_own_folder(place):
        return None
    try:
        handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _is_own_folder(place: Path) -> bool:
    try:
        found = place.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def remove_tree(folder: str) -> None:
    """Removes a folder that a bot has written to; of a link only the link.

    Python's own way would fail over folders nested deeper than its stack, and over those whose
    owner may not list them.
    """
    if os.path.islink(folder):  # noqa: PTH114 - chmod would follow it
        os.unlink(folder)  # noqa: PTH108
        return
    try:
        os.rmdir(folder)  # noqa: PTH106 - nearly always it is empty
    except OSError:
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            # The system's own programs, also where the user's PATH does not lead to them.
            system = {"PATH": os.defpath}
            subprocess.run(  # noqa: S603
                [*command, "--", folder], stderr=subprocess.DEVNULL, check=False, env=system
            )
