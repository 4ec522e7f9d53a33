"""A bot and the folder with its files: how the arena finds, hashes and copies them."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import NoReturn

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena.errors import BotFolderError, ConfigError, did_you_mean
from arena.players.labels import odds_of, read_settings, settings_of, settings_text, split_options
from arena.players.manifest import (
    ARENA_OPTIONS,
    MANIFEST_FILE,
    Manifest,
    check_file,
    check_inside,
    check_name,
    comments,
    read_manifest,
)
from arena.records.record import name_of
from arena.records.regular import has_folder
from arena.records.runfile import RUN_FILE, BotInfo
from arena.values import Value, value_text

IGNORED = {
    *(".git", ".hg", ".venv", ".DS_Store"),
    *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
}
FOLDERS_OF_A_HOME = {"bots": f"*/{MANIFEST_FILE}", "results": f"*/{RUN_FILE}"}
"""The folders of a home, each with a pattern for the files that the arena keeps in it."""
MAX_BYTES = 64 * 1024 * 1024
"""The most bytes that all files of a bot may have together."""
MAX_FILES = 5000
MAX_FOLDERS = 10_000
"""The most files, and the most folders, that a bot may have."""
KEEP_OUT = "move build results and data that the bot does not need out of its folder"
MAX_DEPTH = 32
"""The most levels of folders in a bot's folder."""
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

    ``label``     its name in a run: the name in the registry, with ``@version`` for an old version,
                  and with ``:depth=3`` for the options in ``settings``
    ``folder``    the folder with its files, or the file of a bot that is a single script
    ``sha256``    a hash of the files and of what its bot.toml says, without the version
    ``settings``  the options whose values differ from the defaults
    """

    label: str
    manifest: Manifest
    folder: Path
    sha256: str
    settings: dict[str, Value] = {}

    @property
    def command(self) -> list[str]:
        """The command that starts the bot in its folder."""
        return self.manifest.command

    @property
    def memory_mb(self) -> int:
        """How many MB all processes of the bot may use together: the number in its label, or else
        the one in its bot.toml.
        """
        return odds_of(self.label).memory_mb or self.manifest.memory_mb

    @property
    def base(self) -> str:
        """The label without its options. Trust, copies and builds do not depend on the options."""
        return split_options(self.label)[0]

    @property
    def options(self) -> dict[str, Value]:
        """The value of each option that the manifest declares, by name, as the bot is told."""
        declared = self.manifest.options.items()
        values = {name: self.settings.get(name, option.usual) for name, option in declared}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def limits(self) -> dict[str, Value]:
        """The limits of time and memory that the bot's label sets, by the names of the options."""
        return {name: self.settings[name] for name in ARENA_OPTIONS if name in self.settings}

    def plays_as(self, other: "Bot") -> bool:
        """Whether the ``other`` bot has the same files and the same options, so that both play
        alike.
        """
        return (self.sha256, self.settings) == (other.sha256, other.settings)


def with_options(bot: Bot, text: str) -> Bot:
    """A copy of the bot with the options in ``text``, such as ``depth=3,c=1.4``, in place of its
    own. Raises ConfigError.
    """
    settings = read_settings(text, bot.manifest.options, bot.base)
    return renamed(replace(bot, settings=settings), bot.base)


def renamed(bot: Bot, base: str) -> Bot:
    """A copy of the bot with the same options, whose label begins with ``base`` in place of its
    name and version.
    """
    options = settings_text(bot.settings)
    return replace(bot, label=f"{base}:{options}" if options else base)


def bot_at(path: Path, *, name: str | None = None, command: Sequence[str] | None = None) -> Bot:
    """The bot in a folder with a bot.toml, or of a single script. ``name`` and ``command`` take the
    place of what bot.toml says or, for a script, of what follows from the file's name; with a
    ``command``, the folder need not have a bot.toml. Raises BotFolderError.
    """
    words = list(command or ())
    if path.is_dir() and (os.path.lexists(path / MANIFEST_FILE) or command is None):
        written = read_manifest(path)
        manifest = replace(written, name=name or written.name, command=words or written.command)
    elif path.is_dir():
        manifest = Manifest(name=name or path.resolve().name, command=words)
    elif path.is_file():
        manifest = Manifest(name=name or path.stem, command=words or script_command(path))
    else:
        raise BotFolderError(
            f"expected a bot's folder or script at {path}, found nothing",
            from_inside(path.name) or near_paths(path),
        )
    check_name(manifest.name, str(path))
    return Bot(manifest.name, manifest, path, content_hash(path, manifest))


def from_inside(text: str) -> str:
    """A hint for a user who is in the folder of a bot and names that bot by ``text``, its name or a
    path: it would be looked for elsewhere. Empty if the current folder is not that of such a bot.
    """
    with suppress(BotFolderError, OSError):
        here = Path.cwd()
        name = Path(text).name
        if (here / MANIFEST_FILE).is_file() and name in (here.name, read_manifest(here).name):
            return f"you are in the folder of {name}: write . for it"
    return ""


def near_paths(path: Path) -> str:
    """A question such as "did you mean 'my-bot'?" for a path at which nothing is, if there is a
    similar name in its folder; else an empty text.
    """
    try:
        beside = os.listdir(path.parent)  # noqa: PTH208 - only names
    except OSError:  # it is no folder, or the path is too long
        return ""
    return did_you_mean(path.name, beside).rstrip()


def home_of_script(path: Path) -> Path | None:
    """The folder of the bot to which a file belongs: the file is the folder's bot.toml, or the
    bot.toml's command or build names it. None for a script that stands alone, or a path that is no
    file. Raises BotFolderError for a broken bot.toml.
    """
    if not path.is_file() or not (path.parent / MANIFEST_FILE).is_file():
        return None
    manifest = read_manifest(path.parent)
    steps = [manifest.command, *manifest.build]
    words = {Path(word).name for word in chain.from_iterable(steps)}
    return path.parent if path.name in {*words, MANIFEST_FILE} else None


def labels_of(bots: Iterable[Bot]) -> list[str]:
    """The labels of these ``bots``, in their order."""
    return [bot.label for bot in bots]


def script_command(path: Path) -> list[str]:
    """The command that runs a single script: the interpreter for the ending of the file's name, or
    the script itself if it is executable. Raises BotFolderError.
    """
    interpreter = INTERPRETERS.get(path.suffix)
    if interpreter:
        return [interpreter, path.name]
    if os.access(path, os.X_OK):
        return [f"./{path.name}"]
    raise BotFolderError(
        f"{path}: expected an executable file or one that ends in {' '.join(INTERPRETERS)}",
        f"make it executable with 'chmod +x {path.name}', or write a {MANIFEST_FILE} beside it that"
        " says how to start it",
    )


def bot_files(path: Path) -> list[Path]:
    """The paths of a bot's files relative to its folder, sorted; for a single script, ``path`` is
    the file, and the list has its name alone. A link to another folder of the bot counts as a
    folder with the same files, see `_counted`. Raises BotFolderError for links that lead out of the
    bot's folder, special files, folders that cannot be read, and more folders, or more or larger
    files, than a bot may have.
    """
    if path.is_file():
        return [Path(path.name)]
    root = path.resolve()
    files = []
    size = 0
    # A bot's folder that is also a home has bots and runs that do not belong to the bot.
    patterns = FOLDERS_OF_A_HOME.items()
    homes = {name for name, pattern in patterns if any(root.glob(f"{name}/{pattern}"))}
    real = {root: root}
    walk = os.walk(root, onerror=_refuse_unreadable, followlinks=True)
    for number, (folder, folders, names) in enumerate(walk):
        folders[:] = _counted(Path(folder), sorted(folders), real, root, homes)
        if len(Path(folder).parts) > len(root.parts) + MAX_DEPTH:
            deep = f"expected folders at most {MAX_DEPTH} levels deep, got deeper ones"
            raise BotFolderError(f"{path}: {deep}")
        # A few links to folders with links in them make any number of paths.
        if number > MAX_FOLDERS:
            raise BotFolderError(
                f"{path}: expected at most {MAX_FOLDERS} folders, got more", KEEP_OUT
            )
        for name in sorted(set(names) - IGNORED):
            file = Path(folder, name)
            check_file(file, root)
            files.append(file.relative_to(root))
            size += file.stat().st_size
        if len(files) > MAX_FILES or size > MAX_BYTES:
            raise BotFolderError(
                f"{path}: expected at most {MAX_FILES} files and {MAX_BYTES >> 20} MiB, got"
                f" {len(files)} files and {size >> 20} MiB so far",
                KEEP_OUT,
            )
    return sorted(files)


def _counted(
    folder: Path, names: list[str], real: dict[Path, Path], root: Path, homes: set[str]
) -> list[str]:
    """Returns those ``names`` of folders in ``folder`` that belong to the bot in ``root``. The
    folders in `IGNORED` do not, nor do ``homes``, which are folders in ``root``, nor links into one
    of these, nor links to a folder that the link is in, which would never end. Raises
    BotFolderError for a link that leads out of ``root``. ``real`` maps the folders
    found so far to their resolved paths; the folders that are returned are added to it.
    """
    around = {real[each] for each in (folder, *folder.parents) if each in real}
    counted = []
    for name in names:
        # The path through the links that led here would take long to resolve.
        place = target = real[folder] / name
        if name in IGNORED or (folder == root and name in homes):
            continue
        if place.is_symlink():
            check_inside(place, root)
            target = place.resolve()
            inside = target.relative_to(root).parts if target.is_relative_to(root) else ()
            if target in around or IGNORED & set(inside) or homes & set(inside[:1]):
                continue
        real[folder / name] = target
        counted.append(name)
    return counted


def _refuse_unreadable(error: OSError) -> NoReturn:
    """Raises BotFolderError for a folder that cannot be read."""
    raise BotFolderError(f"the bot's folder cannot be read as a whole: {error}") from error


def played_copy(run: Path, info: BotInfo) -> Bot:
    """The copy of a bot that a run played, from the run's folder, with the label and options that
    it played with. Its hash is not checked. Raises BotFolderError, also if there is no such copy.
    """
    folder = run / info.copy
    if not has_folder(run, info.copy):
        raise BotFolderError(
            f"{folder}, which should hold the files of {info.name}, does not exist or is a link"
        )
    name = name_of(info.name)
    has_manifest = (folder / MANIFEST_FILE).exists()
    bot = bot_at(folder) if has_manifest else bot_at(folder, name=name, command=info.command)
    texts = {name: value_text(value) for name, value in info.options.items()}
    try:
        settings = settings_of(texts, bot.manifest.options, bot.label)
    except ConfigError as error:
        raise BotFolderError(f"{folder}: {error}", error.hint) from None
    return replace(bot, label=info.name, settings=settings)


def content_hash(path: Path, manifest: Manifest) -> str:
    """The sha256 of a bot: of its manifest without the version, of each file's name, executable bit
    and bytes, and of the comments in its bot.toml, which the bot can read. ``path`` is its folder,
    or the file of a single script. Raises BotFolderError.
    """
    unversioned = replace(manifest, version="1")
    digest = hashlib.sha256(msgspec.json.encode(unversioned))
    base = path.parent if path.is_file() else path
    for file in bot_files(path):
        if file != Path(MANIFEST_FILE):
            executable = os.access(base / file, os.X_OK)
            digest.update(b"\0%s\0%d\0" % (os.fsencode(file), executable))
            try:
                digest.update(hashlib.sha256((base / file).read_bytes()).digest())
            except OSError as error:
                _refuse_unreadable(error)
    remarks = (
        comments(manifest_text(path / MANIFEST_FILE))
        if os.path.lexists(path / MANIFEST_FILE)
        else []
    )
    if not remarks:
        return digest.hexdigest()
    return hashlib.sha256("\n".join([digest.hexdigest(), *remarks]).encode()).hexdigest()


def manifest_text(file: Path) -> str:
    """The text of a bot.toml. Raises BotFolderError."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BotFolderError(f"{file}: {error}") from None


def copy_files(path: Path, target: Path) -> None:
    """Copies a bot's files (see `bot_files`) into the folder ``target``. ``path`` is the bot's
    folder, or the file of a single script. Folders are made where they are missing; files of the
    same names are replaced, and others stay. Of the file modes, only the executable bit is kept.
    Raises BotFolderError, OSError.
    """
    base = path.parent if path.is_file() else path
    for file in bot_files(path):
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(base / file, target / file)
        (target / file).chmod(0o755 if os.access(base / file, os.X_OK) else 0o644)
