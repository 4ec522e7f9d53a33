"""A bot: its label with options such as ``:depth=3``, and its folder: found, hashed, copied; and
passing folders, made for a bot or a build and owned by the process that made them.

The process that makes a passing folder holds a lock on it; the kernel releases it when the process
ends, however it ends. So a folder that can be locked belongs to nobody any more. A process id in
its name would not tell, because another process may have been given the same number.
"""

import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, NoReturn

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena.errors import BotFolderError, ConfigError, UserError, did_you_mean
from arena.players.manifest import (
    ARENA_OPTIONS,
    FILE,
    FLOAT,
    OPTION_NAME,
    Manifest,
    Option,
    Value,
    check_file,
    check_name,
    comments,
    read_manifest,
    value_text,
)
from arena.records.record import name_of
from arena.records.regular import has_folder
from arena.records.runfile import FILE as RUN_FILE
from arena.records.runfile import BotInfo

IGNORED = {
    *(".git", ".hg", ".venv", ".DS_Store"),
    *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
}
HOLDINGS = {"bots": f"*/{FILE}", "results": f"*/{RUN_FILE}"}
"""The folders of a home, and what is found in them."""
MAX_BYTES = 64 * 1024 * 1024
MAX_FILES = 5000
MAX_DEPTH = 32
MOST_TEXT = 160
"""Signs in the options of one name."""
LABELS = 1024
INTERPRETERS = {
    ".py": "python3",
    ".js": "node",
    ".mjs": "node",
    ".rb": "ruby",
    ".pl": "perl",
    ".lua": "lua",
    ".sh": "sh",
}
PREFIX, UNFINISHED = "qin-arena-", ".qin-arena-new-"
PATIENCE_S = 60
"""How long the making of a folder takes at most, on a machine that stalls."""

_held: dict[str, int] = {}


class Bot(Struct, frozen=True):
    """A bot as the arena plays it.

    ``label`` is its name in a run: the name in the registry, with ``@version`` for an old version,
    and with ``:depth=3`` for the options in ``settings``, which differ from their defaults.
    ``folder`` holds its files; ``sha256`` covers their content, without the version.
    """

    label: str
    manifest: Manifest
    folder: Path
    sha256: str
    settings: dict[str, Value] = {}

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
        """The label without options, which do not change what is trusted, copied and built."""
        return split_options(self.label)[0]

    @property
    def options(self) -> dict[str, Value]:
        """What the bot is told: the value of each option that its manifest declares."""
        declared = self.manifest.options.items()
        values = {name: self.settings.get(name, option.usual) for name, option in declared}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def limits(self) -> dict[str, Value]:
        """Those of the arena's options that are set: its own time and memory."""
        return {name: self.settings[name] for name in ARENA_OPTIONS if name in self.settings}

    def plays_as(self, other: "Bot") -> bool:
        """Whether the other one is the same program with the same options."""
        return (self.sha256, self.settings) == (other.sha256, other.settings)


# its label


def with_options(bot: Bot, text: str) -> Bot:
    """The bot with options such as ``depth=3,c=1.4``. Raises ConfigError."""
    settings = read_settings(text, bot.manifest.options, bot.base)
    return renamed(replace(bot, settings=settings), bot.base)


def renamed(bot: Bot, base: str) -> Bot:
    """The bot under another name, with its options."""
    said = settings_text(bot.settings)
    return replace(bot, label=f"{base}:{said}" if said else base)


def split_options(text: str) -> tuple[str, str | None]:
    """``my-bot:depth=3`` as a name or path and the text of the options; None without a ``:``."""
    folder, slash, last = text.rpartition("/")
    name, colon, options = last.partition(":")
    return f"{folder}{slash}{name}", options if colon else None


def split_bots(text: str) -> list[str]:
    """Names of bots separated by commas, as are their options: those have a ``=``."""
    names: list[str] = []
    for part in map(str.strip, text.split(",")):
        name, equals, _ = part.partition("=")
        if names and equals and ":" in names[-1] and OPTION_NAME.fullmatch(name):
            names[-1] += f",{part}"
        elif part:
            names.append(part)
    return names


def read_settings(text: str, declared: Mapping[str, Option], bot: str) -> dict[str, Value]:
    """What ``depth=3,c=1.4`` sets, in the manifest's order, no defaults. Raises ConfigError."""
    if len(text) > MOST_TEXT:
        raise ConfigError(
            f"{bot}: expected options of at most {MOST_TEXT} signs, got {len(text)}",
            "leave out those that have their default",
        )
    said: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not name:
            example = next((each for each in declared if declared[each].type != "bool"), "move_ms")
            usual = (declared[example].usual if example in declared else None) or 50
            raise ConfigError(
                f"{bot}: expected options such as {example}={value_text(usual)}, got {part!r:.80}",
                _listed(declared, bot),
            )
        if name in said:
            raise ConfigError(f"{bot}: expected each option once, got {name} twice")
        said[name] = value
    return chosen(said, declared, bot)


def chosen(said: Mapping[str, str], declared: Mapping[str, Option], bot: str) -> dict[str, Value]:
    """The values that these texts stand for, as in `read_settings`. Raises ConfigError."""
    known = {**declared, **ARENA_OPTIONS}
    for name in said:
        if name not in known:
            raise ConfigError(
                f"{bot}: expected one of its options, got {name!r:.80}",
                f"{did_you_mean(name, known)}{_listed(declared, bot)}",
            )
    settings: dict[str, Value] = {}
    for name, option in known.items():
        value = option.value_of(said[name]) if name in said else option.usual
        if value is None and name in said:
            text = f"{bot}: expected {name} to be {option.wanted}, got {said[name]!r:.200}"
            raise ConfigError(text, option.help)
        if value is not None and value != option.usual:
            settings[name] = value
    return settings


def _listed(declared: Mapping[str, Option], bot: str) -> str:
    """Which options the bot has, in a hint."""
    own = f"has {', '.join(declared)}" if declared else "declares none in its bot.toml"
    return f"{bot} {own}; every bot has {', '.join(ARENA_OPTIONS)}"


def settings_text(settings: Mapping[str, Value]) -> str:
    """The settings as they stand in a bot's name: ``depth=3,c=1.4``."""
    return ",".join(f"{name}={value_text(value)}" for name, value in settings.items())


def nearest_label(text: str, labels: Iterable[str]) -> str:
    """The label that says the same, with options in any order or form; else the text."""
    labels = list(labels)
    if text in labels:
        return text
    wanted = _parts(text)
    return next((label for label in labels if _parts(label) == wanted), text)


def label_among(labels: Sequence[str], text: str) -> str:
    """The nearest label of those of a run. Raises UserError if there is none."""
    label = nearest_label(text, labels)
    if label not in labels:
        known = f"{did_you_mean(text, labels)}there are {', '.join(labels)}"
        raise UserError(f"expected a bot of the run, got {text!r}", known)
    return label


def _parts(label: str) -> tuple[str, frozenset[tuple[str, str | float]]]:
    name, options = split_options(label)
    pairs = [part.strip().partition("=") for part in (options or "").split(",") if part.strip()]
    return name, frozenset(
        (key, float(value) if FLOAT.fullmatch(value) else value) for key, _, value in pairs
    )


class Odds(NamedTuple):
    """The limits that a label names; None where that of the run counts, or of bot.toml."""

    move_ms: int | None = None
    game_ms: int | None = None
    increment_ms: int | None = None
    memory_mb: int | None = None


@lru_cache(maxsize=LABELS)
def odds_of(label: str) -> Odds:
    """The odds in a label. Raises ConfigError for no such limit, as a run.json may have."""
    limits: dict[str, int] = {}
    for key, _, text in (part.partition("=") for part in label.partition(":")[2].split(",")):
        if key in ARENA_OPTIONS:
            value, wanted = ARENA_OPTIONS[key].value_of(text), ARENA_OPTIONS[key].wanted
            if not isinstance(value, int):
                raise ConfigError(f"{label}: expected {key} to be {wanted}, got {text!r}")
            limits[key] = value
    return Odds(**limits)


def has_odds(label: str) -> bool:
    """Whether a label names limits of its own. Raises ConfigError, as `odds_of` does."""
    return any(limit is not None for limit in odds_of(label))


# its folder


def bot_at(path: Path, *, name: str | None = None, command: Sequence[str] | None = None) -> Bot:
    """The bot in a folder with a bot.toml, or a single script. Raises BotFolderError."""
    words = list(command or ())
    if path.is_dir() and (os.path.lexists(path / FILE) or command is None):
        said = read_manifest(path)
        changes = {"name": name or said.name, "command": words or said.command}
        manifest = replace(said, **changes)
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
    """What to write for a bot, by its name, in whose folder the user is; else empty."""
    with suppress(BotFolderError, OSError):
        here, name = Path.cwd(), Path(text).name
        if (here / FILE).is_file() and name in (here.name, read_manifest(here).name):
            return f"you are in the folder of {name}: write . for it"
    return ""


def near_paths(path: Path) -> str:
    """A question that names what lies beside a missing path, if a name is near; else empty."""
    try:
        beside = os.listdir(path.parent)  # noqa: PTH208 - only names
    except OSError:  # no folder, or a path that is too long
        return ""
    return did_you_mean(path.name, beside).rstrip()


def home_of_script(path: Path) -> Path | None:
    """The folder of the bot that a file is a part of, by its bot.toml; None for one alone."""
    if not path.is_file() or not (path.parent / FILE).is_file():
        return None
    manifest = read_manifest(path.parent)
    words = {Path(word).name for step in (manifest.command, *manifest.build) for word in step}
    return path.parent if path.name in {*words, FILE} else None


def script_command(path: Path) -> list[str]:
    """How to run a single script: by the interpreter for its ending, or as an executable."""
    if interpreter := INTERPRETERS.get(path.suffix):
        return [interpreter, path.name]
    if os.access(path, os.X_OK):
        return [f"./{path.name}"]
    raise BotFolderError(
        f"{path}: expected an executable file or one that ends in {' '.join(INTERPRETERS)}",
        f"make it executable with 'chmod +x {path.name}', or write a {FILE} beside it that says how"
        " to start it",
    )


def bot_files(path: Path) -> list[Path]:
    """The files of a bot, sorted; refuses links out of its folder and special files."""
    if path.is_file():
        return [Path(path.name)]
    root = path.resolve()
    found, size = [], 0
    for folder, folders, names in os.walk(root, onerror=_refuse_unreadable):
        # Bots and runs that the arena keeps in a bot's folder when that is its home too.
        patterns = HOLDINGS.items() if folder == str(root) else ()
        arenas = {name for name, pattern in patterns if any(root.glob(f"{name}/{pattern}"))}
        folders[:] = sorted(set(folders) - IGNORED - arenas)
        if len(Path(folder).parts) > len(root.parts) + MAX_DEPTH:
            deep = f"expected folders at most {MAX_DEPTH} levels deep, got deeper ones"
            raise BotFolderError(f"{path}: {deep}")
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
    said = {name: value_text(value) for name, value in info.options.items()}
    try:
        settings = chosen(said, bot.manifest.options, bot.label)
    except ConfigError as error:
        raise BotFolderError(f"{folder}: {error}", error.hint) from None
    return replace(bot, label=info.name, settings=settings)


def content_hash(path: Path, manifest: Manifest) -> str:
    """sha256 over the manifest without its version, each file's name, executable bit and bytes, and
    the comments in bot.toml, which the bot can read.
    """
    unversioned = replace(manifest, version="1")
    digest = hashlib.sha256(msgspec.json.encode(unversioned))
    base = path.parent if path.is_file() else path
    for file in bot_files(path):
        if file != Path(FILE):
            executable = os.access(base / file, os.X_OK)
            digest.update(b"\0%s\0%d\0" % (os.fsencode(file), executable))
            try:
                digest.update(hashlib.sha256((base / file).read_bytes()).digest())
            except OSError as error:
                _refuse_unreadable(error)
    said = comments(manifest_text(path / FILE)) if os.path.lexists(path / FILE) else []
    if not said:
        return digest.hexdigest()
    return hashlib.sha256("\n".join([digest.hexdigest(), *said]).encode()).hexdigest()


def manifest_text(file: Path) -> str:
    """The text of a bot.toml. Raises BotFolderError."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BotFolderError(f"{file}: {error}") from None


def copy_files(path: Path, target: Path) -> None:
    """Copies a bot's files into a new folder; of the file modes only the executable bit is kept."""
    base = path.parent if path.is_file() else path
    for file in bot_files(path):
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(base / file, target / file)
        (target / file).chmod(0o755 if os.access(base / file, os.X_OK) else 0o644)


# passing folders


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
    found, places = [], Path(tempfile.gettempdir())
    for place in sorted([*places.glob(f"{PREFIX}*"), *places.glob(f"{UNFINISHED}*")]):
        with suppress(OSError):  # it is gone, or somebody has its lock
            status = place.lstat()
            # whoever makes it may be about to lock it
            is_new = place.name.startswith(UNFINISHED) and age_s(place) <= PATIENCE_S
            if is_new or not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
                continue
            handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(str(place))
                found.append(place)
            finally:
                os.close(handle)
    return found


def age_s(place: Path) -> float:
    """How many seconds ago a folder was last changed, by the dates of the file system."""
    return datetime.now(UTC).timestamp() - place.lstat().st_mtime


def remove_tree(folder: str) -> None:
    """Remove a folder that a bot may have written to, with all that is in it; of a link to a folder
    only the link. Files that cannot be removed are left.

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
            run_tool("chmod", "-R", "u+rwX", folder)
            run_tool("rm", "-rf", folder)


def run_tool(*command: str) -> None:
    """Runs a program of the system on a folder."""
    *words, place = command
    # The system's own programs, also where the user's PATH does not lead to them.
    system = {"PATH": os.defpath}
    subprocess.run([*words, "--", place], stderr=subprocess.DEVNULL, check=False, env=system)  # noqa: S603
