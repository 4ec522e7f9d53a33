"""Bots' files on their way to other machines, where each is unpacked, checked and built once, under the hash of its content."""

import fcntl
import io
import os
import platform
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from arena.errors import BotFolderError
from arena.players.folder import Bot, bot_files, content_hash, stage
from arena.players.sandbox.tiers import Sandbox

LOCK = ".lock"


def pack(bot: Bot) -> bytes:
    """A bot's files as they are hashed, as a tar archive; of their modes only whether they can be executed. Raises BotFolderError."""
    base, data = bot.folder.parent if bot.folder.is_file() else bot.folder, io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz", compresslevel=1) as archive:
        for file in bot_files(bot.folder):
            entry = tarfile.TarInfo(file.as_posix())
            content = (base / file).read_bytes()
            entry.size, entry.mode = len(content), 0o755 if os.access(base / file, os.X_OK) else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return data.getvalue()


def provide(bot: Bot, archive: bytes | None, sandbox: Sandbox) -> Bot | None:
    """The bot on this machine, unpacked and built if it is not there yet; None when that takes an archive.

    Raises BotFolderError when the archive holds other files than were hashed, a program is missing or a build step fails; OSError.
    """
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{bot.manifest.name}-{bot.sha256}"
    with _locked(folder / LOCK):
        if target.exists():
            return msgspec.structs.replace(bot, folder=target)
        if archive is None:
            return None
        with tempfile.TemporaryDirectory(prefix=".incoming-", dir=folder) as temporary:
            source = Path(temporary)
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                files.extractall(source, filter="data")
            if content_hash(source, bot.manifest) != bot.sha256:
                raise BotFolderError(f"{bot.label}: expected the files that the run began with, got others", "leave them as they are")
            return stage(msgspec.structs.replace(bot, folder=source), target, sandbox)


def cache_folder() -> Path:
    """Where this machine keeps bots of clusters; a home may be shared by machines for which a build differs."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root, "qin-arena", platform.node() or "host", "bots")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
