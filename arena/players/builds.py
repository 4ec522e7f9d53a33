"""The cache of builds: the results of finished builds, kept for later runs of this user, each with
a seal.

A seal is the hash of all files, links and modes of a build, made when it was stored. If a build was
changed, replaced or damaged since then, it no longer fits its seal: it is removed, and the bot is
built again. So nothing plays under a bot's name that its build steps did not make.
"""

import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.players.temporary import remove_tree

INCOMING = ".incoming-"
LOCK = ".lock"
MAX_BYTES = 2 << 30
"""The size of the cache in bytes; beyond it, the least recently used builds are removed."""
MAX_DEPTH = 100
"""The most levels of folders in a build. Functions that copy and hash folders call themselves for
each level, and Python ends a program that does so some 300 times.
"""
SEAL = ".seal"


def _is_private(place: Path) -> bool:
    """Whether a place is a folder of this user into which nobody else can write."""
    status = place.lstat()
    is_own_folder = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return is_own_folder and not status.st_mode & 0o022


class BuildCache:
    """Built bots in a folder, each under a key, which is a text that can be a file's name. All
    methods may raise OSError.

    A build is copied out of the cache before it plays, so removing a build from the cache disturbs
    no bot that plays.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def is_ours(self) -> bool:
        """Whether only this user can write into the folder and its parent, as far as they exist."""
        places = [place for place in (self.folder, self.folder.parent) if os.path.lexists(place)]
        return all(map(_is_private, places))

    def fetch(self, key: str, target: Path) -> bool:
        """Copies the build under ``key`` to ``target``, which must not exist. Returns False, and
        leaves no target, if there is no such build or it does not fit its seal.
        """
        seal = self._seal(key)
        kept = self.folder / key
        if not seal.exists():
            return False
        with self._locked():
            if seal.exists() and kept.is_dir():
                # The copy is checked: the original could change between a check and the copy.
                shutil.copytree(kept, target, symlinks=True)
                if tree_hash(target) == seal.read_text(encoding="ascii", errors="replace"):
                    os.utime(seal)
                    return True
            self._remove(key)
        if target.exists():
            remove_tree(str(target))
        return False

    def keep(self, key: str, source: Path) -> None:
        """Stores a copy of the build in the folder ``source`` under ``key``, in place of an earlier
        one, and removes the builds that were used longest ago if the cache gets larger than
        `MAX_BYTES`.
        """
        with self._locked():
            self._remove(key)
            for left_over in self.folder.glob(f"{INCOMING}*"):
                remove_tree(str(left_over))
            with tempfile.TemporaryDirectory(prefix=INCOMING, dir=self.folder) as temporary:
                made = shutil.copytree(source, Path(temporary, "tree"), symlinks=True)
                seal = tree_hash(made)
                made.rename(self.folder / key)
            # The seal is written last, because a build without a seal is not used.
            self._seal(key).write_text(seal, encoding="ascii")
            self._make_room()

    def size(self) -> tuple[int, int]:
        """The number of builds in the cache, and the bytes of all their files."""
        return len(list(self.folder.glob(f"*{SEAL}"))), extent(self.folder)[0]

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """A context manager that keeps other processes from changing the cache during the block.
        The folder is made if it does not exist.
        """
        # With ``parents=True`` alone, the mode would hold for the inner folder only.
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        with (self.folder / LOCK).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _seal(self, key: str) -> Path:
        """The path of the seal of a build."""
        return self.folder / f"{key}{SEAL}"

    def _remove(self, key: str) -> None:
        """Removes a build and its seal."""
        self._seal(key).unlink(missing_ok=True)
        if os.path.lexists(self.folder / key):
            remove_tree(str(self.folder / key))

    def _make_room(self) -> None:
        """Removes all builds except the most recently used ones that fit together into
        `MAX_BYTES`.
        """
        seals = self.folder.glob(f"*{SEAL}")
        sealed = {seal.name.removesuffix(SEAL): seal for seal in seals}
        for place in self.folder.iterdir():
            if place.name not in sealed and place.is_dir():  # left by an arena that was killed
                remove_tree(str(place))
        used_last = sorted(sealed, key=lambda key: sealed[key].stat().st_mtime_ns, reverse=True)
        size = 0
        for key in used_last:
            size += extent(self.folder / key)[0]
            if size > MAX_BYTES:
                self._remove(key)


def cache_folder(*names: str) -> Path:
    """The path of the folder with these ``names``, one below the other, in this user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "qin-arena", *names)


def tree_hash(folder: Path) -> str:
    """The sha256 of everything below a folder: paths, modes, contents of files,
    targets of links.
    """
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = hashlib.sha256()
        if stat.S_ISLNK(status.st_mode):
            content.update(os.fsencode(path.readlink()))
        elif stat.S_ISREG(status.st_mode):
            with path.open("rb") as file:  # piece by piece: a file may be larger than the memory
                content = hashlib.file_digest(file, hashlib.sha256)
        name = os.fsencode(path.relative_to(folder))
        parts = name, b"%o" % status.st_mode, content.digest()
        whole.update(b"\0".join(parts))
    return whole.hexdigest()


def extent(folder: Path) -> tuple[int, int]:
    """The number of bytes in all files below a folder, where holes in files count like bytes, and
    the number of levels of its folders. If there are more than `MAX_DEPTH` levels, that number is
    one more than `MAX_DEPTH`, and not all bytes are counted. Files that another process removes
    meanwhile, or that this user may not see, are left out. Raises OSError.
    """
    size = depth = 0
    waiting = [(str(folder), 0)]
    while waiting and depth <= MAX_DEPTH:
        place, level = waiting.pop()
        depth = max(depth, level)
        with suppress(FileNotFoundError, PermissionError), os.scandir(place) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, level + 1))
                    continue
                with suppress(FileNotFoundError):
                    size += entry.stat(follow_symlinks=False).st_size
    return size, depth
