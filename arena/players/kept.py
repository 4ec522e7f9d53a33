"""A folder of this user's that keeps what was made once, such as built bots: each tree under a key,
with a seal by which a change shows.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.players.passing import remove_tree

LOCK = ".lock"
INCOMING = ".incoming-"
SEAL = ".seal"
MOST_BYTES = 2 << 30
"""The oldest trees go when all together take more."""


class Kept:
    """Trees in a folder by key. One process at a time may use a tree: hold `locked` meanwhile. All
    methods raise OSError.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The folder for this process alone; it is made if need be."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.folder / LOCK).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @property
    def is_ours(self) -> bool:
        """Whether nobody but this user can write into the folder; one that is not there yet will be
        so.
        """
        places = [place for place in (self.folder, self.folder.parent) if os.path.lexists(place)]
        found = [place.lstat() for place in places]
        return all(
            status.st_uid == os.getuid() and not status.st_mode & 0o022 for status in found
        ) and not any(map(Path.is_symlink, places))

    def path(self, key: str) -> Path:
        """Where the tree of a key is, or would be."""
        return self.folder / key

    def find(self, key: str) -> Path | None:
        """The tree of a key, if it is as it was when it was sealed."""
        target, seal = self.path(key), self._seal(key)
        return (
            target
            if target.exists() and seal.exists() and seal.read_text() == tree_digest(target)
            else None
        )

    def drop(self, key: str) -> None:
        """Removes what is there of a tree."""
        self._seal(key).unlink(missing_ok=True)
        remove_tree(str(self.path(key)))

    def seal(self, key: str) -> None:
        """The tree is whole."""
        self._seal(key).write_text(tree_digest(self.path(key)))

    def _seal(self, key: str) -> Path:
        return self.folder / f"{key}{SEAL}"

    def fetch(self, key: str, target: Path) -> bool:
        """Copies a tree to ``target``, which must not exist. False, with nothing left there, if
        there is no such tree or it was changed.
        """
        with self.locked():
            seal = self._seal(key)
            if not seal.exists():
                return False
            # First copied, then checked: a change between a check and the copy would go unseen.
            shutil.copytree(self.path(key), target, symlinks=True)
            if tree_digest(target) == seal.read_text():
                os.utime(seal)
                return True
            self.drop(key)
        remove_tree(str(target))
        return False

    def keep(self, key: str, source: Path) -> None:
        """Keeps a copy of a tree."""
        with self.locked():
            self.drop(key)
            for left_over in self.folder.glob(f"{INCOMING}*"):
                remove_tree(str(left_over))
            incoming = Path(tempfile.mkdtemp(prefix=INCOMING, dir=self.folder), "tree")
            shutil.copytree(source, incoming, symlinks=True)
            incoming.rename(self.path(key))
            remove_tree(str(incoming.parent))
            self.seal(key)
            self._make_room()

    def _make_room(self) -> None:
        seals = sorted(
            self.folder.glob(f"*{SEAL}"), key=lambda seal: seal.stat().st_mtime, reverse=True
        )
        used = 0
        for seal in seals:
            key = seal.name.removesuffix(SEAL)
            used += tree_bytes(self.path(key))
            if used > MOST_BYTES:
                self.drop(key)

    def size(self) -> tuple[int, int]:
        """How many trees there are, and their bytes."""
        return (
            (len(list(self.folder.glob(f"*{SEAL}"))), tree_bytes(self.folder))
            if self.folder.is_dir()
            else (0, 0)
        )


def cache_folder(*names: str) -> Path:
    """A folder in this user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "qin-arena", *names)


def tree_digest(folder: Path) -> str:
    """sha256 over everything below a folder: names, modes, bytes, link targets."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = (
            os.fsencode(path.readlink())
            if path.is_symlink()
            else path.read_bytes()
            if path.is_file()
            else b""
        )
        digest.update(
            b"%s\0%o\0%s\0"
            % (
                os.fsencode(path.relative_to(folder)),
                status.st_mode,
                hashlib.sha256(content).digest(),
            )
        )
    return digest.hexdigest()


def tree_bytes(folder: Path) -> int:
    """The bytes of all files below a folder."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            size += path.lstat().st_size
    return size
