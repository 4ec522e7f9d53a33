"""The registry: a folder ``bots/`` with ``name/`` for each bot's newest version and
``name@version/`` for older ones. If a bot is not there, it is looked for on the ladder, which is
the set of bots that come with the arena.
"""

import errno
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

import arena
from arena.errors import OTHER_HOME, BotFolderError, UserError, cannot_write, did_you_mean
from arena.players.folder import Bot, bot_at, content_hash, copy_files, from_inside, home_of_script
from arena.players.manifest import (
    EXAMPLE,
    MANIFEST_FILE,
    VERSION,
    Manifest,
    check_name,
    read_manifest,
)
from arena.players.temporary import age_s, remove_tree
from arena.records.record import version_key

LADDER = (
    "random-python",
    "first-js",
    "greedy-python",
    "careful-python",
    "lookahead-python",
    "flatmc-python",
    "learner-python",
    "ismcts-python",
    "engine-cpp",
)
"""The names of the bots of the ladder, from weak to strong. In a checkout ``arena/ladder`` is a
link to ``bots/``, which may also hold a developer's own bots.
"""
LADDER_FOLDER = Path(arena.__file__).parent / "ladder"
INCOMING = ".incoming-"
ABANDONED_S = 3600
STAYS = (
    "a run plays without it when you name the bots that shall play, as in 'arena run my-bot"
    " greedy-python'"
)


def _highest(versions: Iterable[str], default: int) -> int:
    """The highest of those ``versions`` that are whole numbers; ``default`` if none is. What no
    bot.toml can have as a version, such as thousands of digits, is left out.
    """
    numbers = []
    for version in versions:
        if version.isdecimal() and VERSION.fullmatch(version):
            numbers.append(int(version))
    return max(numbers, default=default)


def ladder() -> dict[str, Path]:
    """The folder of each bot of the ladder by its name, from weak to strong, without those that are
    missing in this installation.
    """
    folders = {}
    for name in LADDER:
        folder = LADDER_FOLDER / name
        if (folder / MANIFEST_FILE).is_file():
            folders[name] = folder
    return folders


class Registry:
    """The bots in the folder ``root``, which need not exist, followed by those of the ladder, given
    as the folder of each by its name.
    """

    def __init__(self, root: Path, ladder: Mapping[str, Path] | None = None) -> None:
        self.root = root
        self._ladder = dict(ladder or {})

    def labels(self) -> list[str]:
        """The labels of all bots, including old versions: the registered ones, sorted, then those
        bots of the ladder that are not registered.
        """
        return list(dict.fromkeys([*self._own_labels(), *self._ladder]))

    def __contains__(self, label: str) -> bool:
        """Whether there is a bot with this label: one of `labels`, found without listing them."""
        return self._is_own(label) or label in self._ladder

    def is_of_ladder(self, label: str) -> bool:
        """Whether the bot with this label comes with the arena. In a checkout of the arena, such a
        bot may be in bots/, too. False for a name that is not on the ladder; raises BotFolderError
        for a version of a bot of the ladder that does not exist.
        """
        name = label.partition("@")[0]
        if name not in self._ladder:
            return False
        folder = self._folder_of(label)
        if folder is None:
            raise self._unknown(label)
        return folder.resolve() == self._ladder[name].resolve()

    def folders(self) -> dict[str, Path]:
        """The folder of each bot by its label, in the order of `labels`."""
        folders = {label: self.root / label for label in self._own_labels()}
        for name, folder in self._ladder.items():
            folders.setdefault(name, folder)
        return folders

    def newest(self, leave_out: Callable[[str, BotFolderError], object]) -> list[Bot]:
        """The newest version of each bot: the registered ones by name, then those of the ladder.

        A bot that cannot be used is left out: ``leave_out`` is called with its label and the
        reason.
        """
        bots = []
        for label in self.labels():
            try:
                bots += [] if "@" in label else [self.get(label)]
            except BotFolderError as error:
                leave_out(label, error)
        return bots

    def get(self, label: str) -> Bot:
        """The bot with this label: ``name`` is the newest version, ``name@version`` a certain one.
        Raises BotFolderError if there is none or its files are wrong.
        """
        folder = self._folder_of(label)
        if folder is None:
            raise self._unknown(label)
        bot = bot_at(folder)
        name = label.partition("@")[0]
        if bot.manifest.name != name:
            wanted = f"the name {name!r} as its folder, got {bot.manifest.name!r}"
            raise BotFolderError(f"{folder / MANIFEST_FILE}: expected {wanted}")
        return msgspec.structs.replace(bot, label=label)

    def find(self, text: str) -> Bot:
        """The bot that ``text`` names: by its label, or by the path of its folder, of its script or
        of a file of the bot. Options are no part of the text. Raises BotFolderError.
        """
        if text in self:
            return self.get(text)
        path = Path(text)
        try:
            if os.sep in text or path.is_file() or (path / MANIFEST_FILE).is_file():
                return bot_at(home_of_script(path) or path)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            got = f"one of {len(text)} characters: {text[:40]}..."
            raise BotFolderError(f"expected the name or path of a bot, got {got}") from None
        return self.get(text)

    def register(self, bot: Bot, taken: Iterable[str] = ()) -> tuple[Bot, bool]:
        """Copies a bot into the registry as the next version of its name. Its version is none of
        the ``taken`` ones, given as ``name@version``. Returns the registered bot, and whether
        anything changed: nothing does if the newest version has the same hash. Raises
        BotFolderError if the name or the files are wrong, UserError if the folder cannot be
        written.
        """
        name = bot.manifest.name
        check_name(name, str(bot.folder))
        known = self.get(name) if name in self else None
        if known and known.sha256 == bot.sha256:
            return known, False
        for label in self.labels():
            if label != name and label.lower() == name.lower():
                wanted = f"a name that differs from {label!r} by more than upper and lower case"
                raise BotFolderError(f"expected {wanted}, got {name!r}")
        version = self._next_version(bot, known, taken)
        manifest = msgspec.structs.replace(bot.manifest, version=version)
        try:
            self._install(bot, manifest, known if self._is_own(name) else None)
        except OSError as error:
            raise cannot_write(f"into {self.root}", error, OTHER_HOME) from error
        return self.get(name), True

    def expect_to_write(self, bot: Bot) -> None:
        """Raises UserError unless this bot is registered already, or can be written there."""
        name = bot.manifest.name
        if name in self and self.get(name).sha256 == bot.sha256:
            return
        places = [place for place in (self.root, *self.root.parents) if os.path.lexists(place)]
        expect_to_write(places[0], OTHER_HOME)

    def owned(self, bot: Bot, author: str, taken: Iterable[str] = ()) -> Bot:
        """A copy of the bot as this author's, with the next version number, whatever its bot.toml
        says; nothing is written. ``taken`` are further versions that are used up, given as
        ``name@version``. Raises BotFolderError if the name belongs to another author.
        """
        check_name(author, "--author")
        name = bot.manifest.name
        owners = {self.get(label).manifest.author or "nobody" for label in self.versions(name)}
        owners |= {"the ladder"} if name in self._ladder else set()
        others = owners - {author}
        if others:
            cure = "choose another name, in bot.toml and for the folder"
            raise BotFolderError(f"the name {name!r} belongs to {min(others)}", cure)
        known = self.get(name) if owners else None
        used = self._taken(name, known, taken)
        version = str(1 + _highest(used, 0))
        manifest = msgspec.structs.replace(bot.manifest, author=author, version=version)
        hashed = content_hash(bot.folder, manifest)
        return msgspec.structs.replace(bot, manifest=manifest, sha256=hashed)

    def same_files(self, bot: Bot) -> str:
        """The label of a registered bot with another name but the same files, commands and options;
        empty if there is none.
        """
        wanted = _nameless_hash(bot)
        for label in self.labels():
            with suppress(BotFolderError):
                there = self.get(label)
                if there.manifest.name != bot.manifest.name and _nameless_hash(there) == wanted:
                    return label
        return ""

    def versions(self, name: str) -> list[str]:
        """The labels of all registered versions of the bot called ``name``, the newest first,
        including versions that cannot be read.
        """
        return self._newest_first().get(name, [])

    def every_version(self) -> list[str]:
        """``name@version`` of all registered versions that can be read, a bot's oldest
        version first.
        """
        versions = []
        for labels in self._newest_first().values():
            for label in reversed(labels):
                with suppress(BotFolderError):
                    version = read_manifest(self.root / label).version
                    versions.append(label if "@" in label else f"{label}@{version}")
        return versions

    def of_ladder(self) -> list[str]:
        """``name@version`` of all bots of the ladder, the weakest first. Raises BotFolderError."""
        return [f"{name}@{_version_in(folder)}" for name, folder in self._ladder.items()]

    def refuse_to_remove(self, label: str) -> None:
        """Raises BotFolderError if there is no bot with this ``label``, or it comes with the
        arena.
        """
        if self._folder_of(label) is None:
            raise self._unknown(label)
        name = label.partition("@")[0]
        folder = self._own_folder(label)
        if folder is None or folder.resolve() == self._ladder.get(name, self.root).resolve():
            got = f"{label!r}, which comes with the arena and stays"
            raise BotFolderError(f"expected a bot of your own, got {got}", STAYS)

    def remove(self, label: str) -> None:
        """Removes the version of a bot with this ``label``. If it is the newest version, the one
        before takes its place. Raises BotFolderError if there is no such bot or it comes with the
        arena, UserError if it cannot be removed.
        """
        self.refuse_to_remove(label)
        folder = self._own_folder(label)
        name = label.partition("@")[0]
        assert folder is not None, "what is not registered is refused"
        older = self.versions(name)[1:]
        try:
            # The folder is renamed first, so that an interruption leaves no half of a bot.
            with tempfile.TemporaryDirectory(prefix=".outgoing-", dir=self.root) as temporary:
                gone = Path(temporary, "bot")
                folder.rename(gone)
                remove_tree(str(gone))
            if folder.name == name and older:
                (self.root / older[0]).rename(folder)
        except OSError as error:
            raise UserError(f"{folder} cannot be removed: {error}") from error

    def _newest_first(self) -> dict[str, list[str]]:
        """For each name, sorted, the labels of all registered versions, the newest first."""
        by_name: dict[str, list[str]] = {}
        for label in self._own_labels():
            by_name.setdefault(label.partition("@")[0], []).append(label)
        for name, labels in by_name.items():
            # A label without a version is that of the newest one.
            labels.sort(key=lambda label: (label == name, version_key(label)), reverse=True)
        return by_name

    def _is_own(self, label: str) -> bool:
        """Whether a bot is registered with this label."""
        if not label or label.startswith(".") or os.sep in label:
            return False
        # Path.is_file would raise an error for a folder that this user may not look into.
        return os.path.isfile(self.root / label / MANIFEST_FILE)  # noqa: PTH113

    def _own_labels(self) -> list[str]:
        """The labels of the registered bots, sorted."""
        if not self.root.is_dir():
            return []
        labels = [path.name for path in self.root.iterdir()]
        return sorted(label for label in labels if self._is_own(label))

    def _folder_of(self, label: str) -> Path | None:
        """The folder of a bot: in the registry, or else on the ladder, where each bot has one
        version. None if there is no such bot.
        """
        registered = self._own_folder(label)
        if registered:
            return registered
        name, _, version = label.partition("@")
        folder = self._ladder.get(name)
        return folder if folder and version in ("", _version_in(folder)) else None

    def _own_folder(self, label: str) -> Path | None:
        """The folder of a registered bot, None if there is no such bot."""
        if self._is_own(label):
            return self.root / label
        name, _, version = label.partition("@")
        is_newest = version and self._is_own(name) and _version_in(self.root / name) == version
        return self.root / name if is_newest else None

    def _unknown(self, label: str) -> BotFolderError:
        """The error for a label that no bot has."""
        registered = self._own_labels()
        name = label.partition("@")[0]
        near = did_you_mean(label, self.labels()) or did_you_mean(name, self.labels())
        behind = ", ".join(step for step in self._ladder if step not in registered)
        known = f"registered in {self.root}: {', '.join(registered) or 'none'}"
        known += f"; the ladder: {behind}" if behind else ""
        hint = f"{known}; a path has a '/' or names a file"
        hint = f"{near}'arena bots --all' lists what there is" if near else hint
        message = f"expected a registered bot or a path, got {label!r}"
        return BotFolderError(message, from_inside(label) or hint)

    def _install(self, bot: Bot, manifest: Manifest, known: Bot | None) -> None:
        """Copies the bot's folder into the registry, and renames the folder of the
        version before.
        """
        with (
            made_if_filled(self.root),
            tempfile.TemporaryDirectory(prefix=INCOMING, dir=self.root) as temporary,
        ):
            # Left by a killed 'arena submit'; the folder of a running one is younger.
            for left in self.root.glob(f"{INCOMING}*"):
                if age_s(left) > ABANDONED_S:
                    remove_tree(str(left))
            work = Path(temporary, "bot")
            work.mkdir()
            copy_files(bot.folder, work)
            write_manifest(work / MANIFEST_FILE, manifest)
            target = self.root / manifest.name
            if known:
                older = self.root / f"{manifest.name}@{known.manifest.version}"
                target.rename(older)
            try:
                work.rename(target)
            except OSError:
                if known:
                    older.rename(target)
                raise

    def _next_version(self, bot: Bot, known: Bot | None, used: Iterable[str]) -> str | int:
        """The version in the bot's bot.toml, if it is new under this name, else the next whole
        number.
        """
        taken = self._taken(bot.manifest.name, known, used)
        if str(bot.manifest.version) not in taken:
            return bot.manifest.version
        return str(1 + _highest(taken, len(taken)))

    def _taken(self, name: str, known: Bot | None, used: Iterable[str]) -> set[str]:
        """The versions that a bot of this name has or had."""
        older = [label for label in (*self._own_labels(), *used) if label.startswith(f"{name}@")]
        taken = {label.partition("@")[2] for label in older}
        taken |= {_version_in(self._ladder[name])} if name in self._ladder else set()
        return taken | ({str(known.manifest.version)} if known else set())


def expect_to_write(folder: Path, cure: str = "") -> None:
    """Raises UserError, with ``cure`` as its hint, unless something can be written into
    the folder.
    """
    try:
        with tempfile.TemporaryDirectory(prefix=INCOMING, dir=folder):
            pass
    except OSError as error:
        raise cannot_write(f"into {folder}", error, cure) from error


@contextmanager
def made_if_filled(folder: Path) -> Iterator[None]:
    """A context manager that makes a folder and its parents for the files that the block writes
    into it. If the block fails, the new folders that are empty are removed. Raises OSError.
    """
    missing = [place for place in (folder, *folder.parents) if not os.path.lexists(place)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        with suppress(OSError):
            for place in missing:
                place.rmdir()
        raise


def _nameless_hash(bot: Bot) -> str:
    """A hash of a bot's content without its name and other parts that only describe it."""
    nameless = msgspec.structs.replace(
        bot.manifest, name="", author="", language="", description=""
    )
    return content_hash(bot.folder, nameless)


def _version_in(folder: Path) -> str:
    """The version in a folder's bot.toml. Raises BotFolderError."""
    return str(bot_at(folder).manifest.version)


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Writes ``manifest`` to the bot.toml at ``path``; comments, order and further values of an
    existing one are kept, and of its values only the name, version, command and author are
    replaced. Raises BotFolderError if the existing one is no TOML, OSError.
    """
    # Imported here because it is slow to load, and only writing needs it.
    import tomlkit  # noqa: PLC0415

    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8-sig") if path.exists() else "")
    except (tomlkit.exceptions.TOMLKitError, ValueError, RecursionError) as error:
        raise BotFolderError(
            f"{path.name}: {error}", f"a smallest {MANIFEST_FILE} is\n{EXAMPLE}"
        ) from None
    values = msgspec.to_builtins(manifest)
    for key in ("name", "version", "command", *(["author"] if manifest.author else [])):
        document[key] = getattr(manifest, key)
    for key, value in values.items():
        if key not in document:
            document[key] = value
    path.write_text(tomlkit.dumps(document), encoding="utf-8")
