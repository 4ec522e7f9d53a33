"""A bot's folder: found by path, its files listed, hashed by content, and copied."""

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import msgspec
from msgspec import Struct

from arena.errors import BotFolderError, ConfigError, did_you_mean
from arena.players.manifest import FILE, Manifest, check_file, check_name, comments, read_manifest
from arena.players.odds import odds_of
from arena.players.options import (
    ARENA_OPTIONS,
    Value,
    chosen,
    read_settings,
    resolved,
    settings_text,
    split_options,
    value_text,
)
from arena.records.record import name_of
from arena.records.regular import has_folder
from arena.records.runfile import FILE as RUN_FILE
from arena.records.runfile import BotInfo

IGNORED = {
    ".git",
    ".hg",
    ".venv",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".DS_Store",
}
HOLDINGS = {"bots": f"*/{FILE}", "results": f"*/{RUN_FILE}"}
"""The folders of a home, and what is found in them."""
MAX_BYTES = 64 * 1024 * 1024
MAX_FILES = 5000
MAX_DEPTH = 32

INTERPRETERS = {
    ".py": "python3",
    ".js": "node",
    ".mjs": "node",
    ".rb": "ruby",
    ".pl": "perl",
    ".lua": "lua",
    ".sh": "sh",
}


class Bot(Struct, frozen=True):
    """A bot as the arena plays it.

    ``label`` is its name in a run: the name in the registry, with ``@version`` for an old version,
    and with ``:depth=3`` for the options in ``settings``, which differ from their defaults.
    ``folder`` holds its files; ``sha256`` covers their content, without the version;
    ``plain_sha256`` leaves out the comments in bot.toml too, as earlier versions did.
    """

    label: str
    manifest: Manifest
    folder: Path
    sha256: str
    plain_sha256: str = ""
    settings: dict[str, Value] = {}

    def has_hash(self, sha256: str) -> bool:
        """Whether a hash is of this bot's content."""
        return sha256 in (self.sha256, self.plain_sha256)

    @property
    def command(self) -> list[str]:
        """The command line, started in the folder."""
        return self.manifest.command

    @property
    def memory_mb(self) -> int:
        """The memory that all its processes may use: what its label names, else its bot.toml."""
        return odds_of(self.label).memory_mb or self.manifest.memory_mb

    @property
    def base(self) -> str:
        """The label without options: what is trusted, copied and built is the same for all of
        them.
        """
        return split_options(self.label)[0]

    @property
    def options(self) -> dict[str, Value]:
        """What the bot is told: the value of each option that its manifest declares."""
        return resolved(self.manifest.options, self.settings)

    @property
    def limits(self) -> dict[str, Value]:
        """Those of the arena's options that are set: its own time and memory."""
        return {name: self.settings[name] for name in ARENA_OPTIONS if name in self.settings}

    def plays_as(self, other: "Bot") -> bool:
        """Whether the other one is the same program with the same options."""
        return (self.sha256, self.settings) == (other.sha256, other.settings)


def with_options(bot: Bot, text: str) -> Bot:
    """The bot with options such as ``depth=3,c=1.4``. Raises ConfigError."""
    return _with_settings(bot, read_settings(text, bot.manifest.options, bot.base))


def renamed(bot: Bot, base: str) -> Bot:
    """The bot under another name, with its options."""
    return _with_settings(msgspec.structs.replace(bot, label=base), bot.settings)


def _with_settings(bot: Bot, settings: dict[str, Value]) -> Bot:
    said = settings_text(settings)
    label = f"{bot.base}:{said}" if said else bot.base
    return msgspec.structs.replace(bot, label=label, settings=settings)


def bot_at(path: Path, *, name: str | None = None, command: Sequence[str] | None = None) -> Bot:
    """The bot in a folder with a bot.toml, or a single script. Raises BotFolderError."""
    if path.is_dir():
        if os.path.lexists(path / FILE) or command is None:
            manifest = read_manifest(path)
        else:
            manifest = Manifest(name=name or path.resolve().name, command=list(command))
        changes = {
            "name": name or manifest.name,
            "command": list(command) if command else manifest.command,
        }
        manifest = msgspec.structs.replace(manifest, **changes)
    elif path.is_file():
        manifest = Manifest(
            name=name or path.stem, command=list(command) if command else script_command(path)
        )
    else:
        raise BotFolderError(
            f"expected a bot's folder or script at {path}, found nothing", near_paths(path)
        )
    check_name(manifest.name, str(path))
    plain = plain_hash(path, manifest)
    return Bot(manifest.name, manifest, path, _with_comments(plain, path), plain)


def near_paths(path: Path) -> str:
    """A question that names what lies beside a path where nothing is, if its name is near; else
    empty.
    """
    if not path.parent.is_dir():
        return ""
    return did_you_mean(path.name, [place.name for place in path.parent.iterdir()]).rstrip()


def home_of_script(path: Path) -> Path | None:
    """The folder of the bot that a file is a part of, going by what the bot.toml beside it starts
    or builds; None when it stands alone.
    """
    if not path.is_file() or not (path.parent / FILE).is_file():
        return None
    manifest = read_manifest(path.parent)
    words = {Path(word).name for step in (manifest.command, *manifest.build) for word in step}
    return path.parent if path.name in {*words, FILE} else None


def script_command(path: Path) -> list[str]:
    """How to run a single script: with the interpreter for its file name ending, or directly if it
    is executable.
    """
    interpreter = INTERPRETERS.get(path.suffix)
    if interpreter:
        return [interpreter, path.name]
    if os.access(path, os.X_OK):
        return [f"./{path.name}"]
    raise BotFolderError(
        f"{path}: expected an executable file or one that ends in {' '.join(INTERPRETERS)}",
        f"make it executable with 'chmod +x {path.name}', or write a {FILE} beside it that says how"
        " to start it",
    )


def bot_files(path: Path) -> list[Path]:
    """The files of a bot, relative to its folder, sorted. Refuses links out of the folder and
    special files.
    """
    if path.is_file():
        return [Path(path.name)]
    root = path.resolve()
    found, size = [], 0
    for folder, folders, names in os.walk(root, onerror=_refuse_unreadable):
        folders[:] = sorted(
            set(folders) - (IGNORED if folder != str(root) else IGNORED | _arena_folders(root))
        )
        if len(Path(folder).parts) > len(root.parts) + MAX_DEPTH:
            raise BotFolderError(
                f"{path}: expected folders at most {MAX_DEPTH} levels deep, got deeper ones"
            )
        for name in sorted(set(names) - IGNORED):
            file = Path(folder, name)
            check_file(file, root)
            found.append(file.relative_to(root))
            size += file.stat().st_size
        if len(found) > MAX_FILES or size > MAX_BYTES:
            raise BotFolderError(
                f"{path}: expected at most {MAX_FILES} files and {MAX_BYTES >> 20} MiB, got"
                f" {len(found)} files and {size >> 20} MiB so far",
                "move build results and data that the bot does not need out of its folder",
            )
    return sorted(found)


def _arena_folders(root: Path) -> set[str]:
    """What the arena keeps in a bot's folder when that is its home too: registered bots and runs,
    which are no part of the bot.
    """
    return {name for name, pattern in HOLDINGS.items() if any(root.glob(f"{name}/{pattern}"))}


def _refuse_unreadable(error: OSError) -> NoReturn:
    raise BotFolderError(f"expected to read the bot's whole folder, got {error}") from error


def played_copy(run: Path, info: BotInfo) -> Bot:
    """The copy of a bot that a run played, without checking its hash. Raises BotFolderError."""
    folder = run / info.copy
    if not has_folder(run, info.copy):
        raise BotFolderError(
            f"expected the files of {info.name} in {folder}, got a link to another folder, or none"
        )
    name = name_of(info.name)
    has_manifest = (folder / FILE).exists()
    bot = bot_at(folder) if has_manifest else bot_at(folder, name=name, command=info.command)
    return msgspec.structs.replace(
        bot, label=info.name, settings=_settings_in(info.options, bot, folder)
    )


def _settings_in(told: Mapping[str, Value], bot: Bot, folder: Path) -> dict[str, Value]:
    """The options that run.json tells of a bot. Raises BotFolderError where its bot.toml knows
    none such.
    """
    said = {name: value_text(value) for name, value in told.items()}
    try:
        return chosen(said, bot.manifest.options, bot.label)
    except ConfigError as error:
        raise BotFolderError(f"{folder}: {error}", error.hint) from None


def content_hash(path: Path, manifest: Manifest) -> str:
    """sha256 over what `plain_hash` covers and the comments in bot.toml, which the bot can read;
    the same where there are none.
    """
    return _with_comments(plain_hash(path, manifest), path)


def _with_comments(plain: str, path: Path) -> str:
    said = comments(manifest_text(path / FILE)) if os.path.lexists(path / FILE) else []
    return hashlib.sha256("\n".join([plain, *said]).encode()).hexdigest() if said else plain


def manifest_text(file: Path) -> str:
    """The text of a bot.toml. Raises BotFolderError."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BotFolderError(f"{file}: {error}") from None


def plain_hash(path: Path, manifest: Manifest) -> str:
    """sha256 over the manifest without its version, and each file's name, executable bit and bytes:
    a bot's hash in earlier versions.
    """
    unversioned = msgspec.structs.replace(manifest, version="1")
    digest = hashlib.sha256(msgspec.json.encode(unversioned))
    base = path.parent if path.is_file() else path
    for file in bot_files(path):
        if file != Path(FILE):
            executable = os.access(base / file, os.X_OK)
            digest.update(b"\0%s\0%d\0" % (os.fsencode(file), executable))
            digest.update(_digest(base / file))
    return digest.hexdigest()


def _digest(file: Path) -> bytes:
    """sha256 of a file's bytes."""
    try:
        return hashlib.sha256(file.read_bytes()).digest()
    except OSError as error:
        _refuse_unreadable(error)


def copy_files(path: Path, target: Path) -> None:
    """Copies a bot's files into a new folder; of the file modes only the executable bit is kept."""
    base = path.parent if path.is_file() else path
    for file in bot_files(path):
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(base / file, target / file)
        (target / file).chmod(0o755 if os.access(base / file, os.X_OK) else 0o644)
