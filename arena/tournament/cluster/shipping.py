"""Sends bots' files to other machines, where each bot is unpacked, checked and built once, under
the hash of its content.
"""

import io
import os
import platform
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

import msgspec

from arena.errors import BotFolderError
from arena.players.folder import Bot, bot_files, content_hash
from arena.players.kept import Kept, cache_folder
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import stage


def pack(bot: Bot) -> bytes:
    """A tar archive of a bot's files, as they are hashed; of the file modes only the executable bit
    is kept. Raises BotFolderError.
    """
    base, data = bot.folder.parent if bot.folder.is_file() else bot.folder, io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz", compresslevel=1) as archive:
        for file in bot_files(bot.folder):
            entry = tarfile.TarInfo(file.as_posix())
            content = (base / file).read_bytes()
            entry.size, entry.mode = (
                len(content),
                0o755 if os.access(base / file, os.X_OK) else 0o644,
            )
            archive.addfile(entry, io.BytesIO(content))
    return data.getvalue()


def provide(bot: Bot, archive: bytes | None, sandbox: Sandbox, folder: Path) -> Bot | None:
    """The bot in a folder that keeps bots; unpacks and builds it unless it is still there
    unchanged. None if an archive is needed for that.

    Raises BotFolderError if the archive has other files than were hashed, a program is missing or a
    build step fails; OSError.
    """
    kept, key = Kept(folder), f"{bot.manifest.name}-{bot.sha256}"
    with kept.locked():
        if found := kept.find(key):
            return msgspec.structs.replace(bot, folder=found)
        if archive is None:
            return None
        kept.drop(key)
        with tempfile.TemporaryDirectory(prefix=".incoming-", dir=folder) as temporary:
            source = Path(temporary)
            _unpack(archive, source)
            if content_hash(source, bot.manifest) != bot.sha256:
                raise BotFolderError(
                    f"{bot.label}: expected the files from the start of the run, got others",
                    "do not change them",
                )
            there = stage(msgspec.structs.replace(bot, folder=source), kept.path(key), sandbox)
        kept.seal(key)
        return there


def _unpack(archive: bytes, folder: Path) -> None:
    """Writes the plain files of an archive below a folder. Raises BotFolderError for any other."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for entry in files:
            path, content = PurePosixPath(entry.name), files.extractfile(entry)
            if not entry.isreg() or content is None or path.is_absolute() or ".." in path.parts:
                raise BotFolderError(f"expected plain files in a bot's archive, got {entry.name!r}")
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content.read())
            (folder / path).chmod(entry.mode & 0o755)


def bots_folder() -> Path:
    """Where this machine keeps bots that play in a sandbox. Machines that need different builds may
    share a home.
    """
    return cache_folder(platform.node() or "host", "bots")
