"""The arena's own folders: passing ones, made for a bot or a build and owned by the process that
made them for as long as it lives, and those that keep what was made once, such as built bots.

The process that makes a passing folder holds a lock on it; the kernel releases it when the process
ends, however it ends. So a folder that can be locked belongs to nobody any more. A process id in
its name would not tell, because another process may have been given the same number.
"""

import fcntl
import os
import shutil
import stat
import subprocess
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

PREFIX, UNFINISHED = "qin-arena-", ".qin-arena-new-"
PATIENCE_S = 60
"""How long the making of a folder takes at most, on a machine that stalls."""
INCOMING, MOST_KEPT = ".incoming-", 50

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


def remove_abandoned() -> list[Path]:
    """Removes the folders of this user that no living process owns; returns them."""
    found = []
    for place in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
        found += [place] if _remove_if_abandoned(place) else []
    for place in sorted(Path(tempfile.gettempdir()).glob(f"{UNFINISHED}*")):
        with suppress(FileNotFoundError):  # whoever makes it may be about to lock it
            found += [place] if age_s(place) > PATIENCE_S and _remove_if_abandoned(place) else []
    return found


def _remove_if_abandoned(place: Path) -> bool:
    handle = _locked(place)
    if handle is None:
        return False
    remove_tree(str(place))
    os.close(handle)
    return True


def age_s(place: Path) -> float:
    """How many seconds ago a folder was last changed, by the dates of the file system."""
    return datetime.now(UTC).timestamp() - place.lstat().st_mtime


def _locked(place: Path) -> int | None:
    """A lock on a folder of this user, None when somebody has it or it is none."""
    try:
        found = place.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return None
        handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


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
        _run("chmod", "-R", "u+rwX", folder)
        _run("rm", "-rf", folder)


def make_readable(folder: Path) -> None:
    """Lets everybody read what a build has made: the kernel ends its count of processor time at a
    program that may be run but not read.
    """
    _run("chmod", "-R", "a+rX", str(folder))


def _run(*command: str) -> None:
    *words, place = command
    # The system's own programs, also where the user's PATH does not lead to them.
    system = {"PATH": os.defpath}
    subprocess.run([*words, "--", place], stderr=subprocess.DEVNULL, check=False, env=system)  # noqa: S603


class Kept:
    """Trees in a folder by key. All methods raise OSError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def is_ours(self) -> bool:
        """Whether nobody but this user can write into the folder, or could once it is there."""
        places = [place for place in (self.folder, self.folder.parent) if os.path.lexists(place)]
        found = [place.lstat() for place in places]
        return all(
            stat.S_ISDIR(status.st_mode)
            and status.st_uid == os.getuid()
            and not status.st_mode & 0o022
            for status in found
        )

    def fetch(self, key: str, target: Path) -> bool:
        """Copies a tree to a new place; False if there is none."""
        if not (self.folder / key).is_dir():
            return False
        os.utime(self.folder / key)
        shutil.copytree(self.folder / key, target, symlinks=True)
        return True

    def keep(self, key: str, source: Path) -> None:
        """Keeps a copy of a tree, and the `MOST_KEPT` used last."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=INCOMING, dir=self.folder) as temporary:
            made = shutil.copytree(source, Path(temporary, "tree"), symlinks=True)
            made.rename(self.folder / key)  # whole or not at all; fails if another was quicker
        kept = sorted(self.folder.iterdir(), key=lambda place: place.lstat().st_mtime)
        for old in kept[:-MOST_KEPT]:
            remove_tree(str(old))

    def size(self) -> tuple[int, int]:
        """How many trees there are, and their bytes."""
        files = [path.lstat().st_size for path in self.folder.rglob("*")]
        return len(list(self.folder.glob("[!.]*"))), sum(files)


def cache_folder(*names: str) -> Path:
    """A folder in this user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "qin-arena", *names)
