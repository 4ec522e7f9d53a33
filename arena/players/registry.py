"""The registry: a folder ``bots/`` with ``name/`` for each bot's newest version and
``name@version/`` for older ones. Behind it stands the ladder: the bots that come with the arena,
to play against from the first minute.
"""

import errno
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

import arena
from arena.errors import BotFolderError, UserError, did_you_mean
from arena.players.folder import Bot, bot_at, copy_files, home_of_script
from arena.players.manifest import EXAMPLE, FILE, Manifest, check_name, read_manifest
from arena.players.passing import age_s, remove_tree
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
"""From weak to strong. Only these: in a checkout ``arena/ladder`` is a link to ``bots/``, where a
developer's own bots lie too.
"""
LADDER_FOLDER = Path(arena.__file__).parent / "ladder"
INCOMING, ABANDONED_S = ".incoming-", 3600


def ladder() -> dict[str, Path]:
    """The folder of each bot of the ladder by its name."""
    return {
        name: LADDER_FOLDER / name for name in LADDER if (LADDER_FOLDER / name / FILE).is_file()
    }


SHOWN = 40
"""How much of a text that is too long for a name is shown."""


class Registry:
    """The bots in a folder, which need not exist yet, and behind them a ladder, whose bots are
    found unless one here has the same name.
    """

    def __init__(self, root: Path, ladder: Mapping[str, Path] | None = None) -> None:
        self.root = root
        self._ladder = dict(ladder or {})

    def labels(self) -> list[str]:
        """The labels of all bots, old versions included: the registered ones, sorted, then the
        ladder's.
        """
        own = self._own_labels()
        return own + [name for name in self._ladder if name not in own]

    def is_of_ladder(self, label: str) -> bool:
        """Whether that bot comes with the arena: in a checkout of it, also one that is registered
        here.
        """
        name = label.partition("@")[0]
        if name not in self._ladder:
            return False
        folder = self.get(label).folder
        return folder.resolve() == self._ladder[name].resolve()

    def newest(self, leave_out: Callable[[str, BotFolderError], object]) -> list[Bot]:
        """The newest version of each bot: the registered ones by name, then the ladder's.

        ``leave_out`` is told of those that cannot be used, and why.
        """
        found = []
        for label in self.labels():
            try:
                found += [] if "@" in label else [self.get(label)]
            except BotFolderError as error:
                leave_out(label, error)
        return found

    def get(self, label: str) -> Bot:
        """The bot with this label: ``name`` is the newest version, ``name@version`` that one.
        Raises BotFolderError.
        """
        folder = self._folder_of(label)
        if folder is None:
            raise self._unknown(label)
        bot = bot_at(folder)
        if bot.manifest.name != label.partition("@")[0]:
            raise BotFolderError(
                f"{folder / FILE}: expected the name {label.partition('@')[0]!r} as its folder, got"
                f" {bot.manifest.name!r}"
            )
        return msgspec.structs.replace(bot, label=label)

    def find(self, text: str) -> Bot:
        """A bot by label, or by the path of its folder or script. Raises BotFolderError."""
        if text in self.labels():
            return self.get(text)
        path = Path(text)
        try:
            if os.sep in text or path.is_file() or (path / FILE).is_file():
                return bot_at(home_of_script(path) or path)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            raise BotFolderError(
                f"expected the name or path of a bot, got one of {len(text)} characters:"
                f" {text[:SHOWN]}..."
            ) from None
        return self.get(text)

    def register(self, bot: Bot, taken: Iterable[str] = ()) -> tuple[Bot, bool]:
        """Copies a bot into the registry as the next version of its name, none of those that are
        ``taken``, as ``name@version``. Returns the registered bot, and whether anything changed.
        """
        name = bot.manifest.name
        check_name(name, str(bot.folder))
        known = self.get(name) if name in self.labels() else None
        if known and known.sha256 == bot.sha256:
            return known, False
        self._refuse_other_case(name)
        version = self._next_version(bot, known, taken)
        manifest = msgspec.structs.replace(bot.manifest, version=version)
        try:
            self._install(bot, manifest, known if name in self._own_labels() else None)
        except OSError as error:
            raise UserError(f"expected to write into {self.root}, got {error}") from error
        return self.get(name), True

    def versions(self, name: str) -> list[str]:
        """The labels of all registered versions of a bot, the newest first; broken ones too."""
        own = self._own_labels()
        older = sorted(
            (label for label in own if label.startswith(f"{name}@")), key=version_key, reverse=True
        )
        return [name, *older] if name in own else older

    def every_version(self) -> list[str]:
        """``name@version`` of all versions that are registered here, those of a bot from the oldest
        on; without what cannot be read.
        """
        names = {label.partition("@")[0]: None for label in self._own_labels()}
        found = []
        for label in (label for name in names for label in reversed(self.versions(name))):
            with suppress(BotFolderError):
                version = "" if "@" in label else f"@{read_manifest(self.root / label).version}"
                found.append(f"{label}{version}")
        return found

    def of_ladder(self) -> list[str]:
        """``name@version`` of the bots of the ladder, from weak to strong."""
        return [f"{name}@{bot_at(self._ladder[name]).manifest.version}" for name in self._ladder]

    def refuse_to_remove(self, label: str) -> None:
        """Raises BotFolderError when there is no such bot, or it comes with the arena."""
        if self._folder_of(label) is None:
            raise self._unknown(label)
        name = label.partition("@")[0]
        folder = self._own_folder(label)
        if folder is None or folder.resolve() == self._ladder.get(name, self.root).resolve():
            raise BotFolderError(
                f"expected a bot of your own, got {label!r}, which comes with the arena and stays",
                "a run plays without it when you name the bots that shall play, as in 'arena run"
                " my-bot greedy-python'",
            )

    def remove(self, label: str) -> None:
        """Removes one registered version; of the newest one, the next older takes the place. Raises
        BotFolderError, UserError.
        """
        self.refuse_to_remove(label)
        folder, name = self._own_folder(label), label.partition("@")[0]
        assert folder is not None, "what is not registered is refused"
        older = self.versions(name)[1:]
        try:
            self._discard(folder)
            if folder.name == name and older:
                (self.root / older[0]).rename(folder)
        except OSError as error:
            raise UserError(f"expected to remove {folder}, got {error}") from error

    def _discard(self, folder: Path) -> None:
        """Removes a bot's folder, which is out of sight first: what is interrupted leaves no half
        of a bot.
        """
        if folder.is_symlink():
            folder.unlink()
            return
        with tempfile.TemporaryDirectory(prefix=".outgoing-", dir=self.root) as temporary:
            folder.rename(Path(temporary, "bot"))
            remove_tree(str(Path(temporary, "bot")))

    def _own_labels(self) -> list[str]:
        if not self.root.is_dir():
            return []
        folders = [path for path in self.root.iterdir() if not path.name.startswith(".")]
        # False, too, where it may not look.
        return sorted(path.name for path in folders if os.path.isfile(path / FILE))  # noqa: PTH113

    def _folder_of(self, label: str) -> Path | None:
        """Where the bot with this label lies: registered, else in the ladder, whose bots have one
        version each.
        """
        own = self._own_folder(label)
        if own is not None:
            return own
        name, _, version = label.partition("@")
        folder = self._ladder.get(name)
        return (
            folder
            if folder and (not version or str(bot_at(folder).manifest.version) == version)
            else None
        )

    def _own_folder(self, label: str) -> Path | None:
        own = self._own_labels()
        if label in own:
            return self.root / label
        name, _, version = label.partition("@")
        is_newest = (
            version and name in own and str(bot_at(self.root / name).manifest.version) == version
        )
        return self.root / name if is_newest else None

    def _unknown(self, label: str) -> BotFolderError:
        own, name = self._own_labels(), label.partition("@")[0]
        near = did_you_mean(label, self.labels()) or did_you_mean(name, self.labels())
        behind = ", ".join(step for step in self._ladder if step not in own)
        ladder = f"; the ladder: {behind}" if behind else ""
        known = (
            f"registered in {self.root}: {', '.join(own) or 'none'}{ladder}; a path has a '/' or"
            " names a file"
        )
        hint = f"{near}'arena bots --all' lists what there is" if near else known
        return BotFolderError(f"expected a registered bot or a path, got {label!r}", hint)

    def _install(self, bot: Bot, manifest: Manifest, known: Bot | None) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        # What a killed 'arena submit' left; one that still copies is younger.
        for left in self.root.glob(f"{INCOMING}*"):
            if age_s(left) > ABANDONED_S:
                remove_tree(str(left))
        with tempfile.TemporaryDirectory(prefix=INCOMING, dir=self.root) as temporary:
            work = Path(temporary, "bot")
            work.mkdir()
            copy_files(bot.folder, work)
            write_manifest(work / FILE, manifest)
            target = self.root / manifest.name
            if known:
                target.rename(self.root / f"{manifest.name}@{known.manifest.version}")
            work.rename(target)

    def _next_version(self, bot: Bot, known: Bot | None, used: Iterable[str]) -> str | int:
        """The author's version if it is new under this name, else the next whole number."""
        name = bot.manifest.name
        taken = {
            label.partition("@")[2]
            for label in (*self._own_labels(), *used)
            if label.startswith(f"{name}@")
        }
        if name in self._ladder:
            taken.add(str(bot_at(self._ladder[name]).manifest.version))
        if known:
            taken.add(str(known.manifest.version))
        if str(bot.manifest.version) not in taken:
            return bot.manifest.version
        return str(
            1 + max([int(version) for version in taken if version.isdecimal()], default=len(taken))
        )

    def _refuse_other_case(self, name: str) -> None:
        for label in self.labels():
            if label != name and label.lower() == name.lower():
                raise BotFolderError(
                    f"expected a name that differs from {label!r} by more than upper and lower"
                    f" case, got {name!r}"
                )


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Writes a bot.toml; keeps the comments and the order of an existing one."""
    # Slow to load, and only writing needs it.
    import tomlkit  # noqa: PLC0415

    try:
        document = (
            tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
        )
    except (tomlkit.exceptions.TOMLKitError, ValueError, RecursionError) as error:
        raise BotFolderError(f"{path.name}: {error}", f"a smallest {FILE} is\n{EXAMPLE}") from None
    values = msgspec.to_builtins(manifest)
    for key in ("name", "version", "command"):
        document[key] = getattr(manifest, key)
    for key, value in values.items():
        if key not in document:
            document[key] = value
    path.write_text(tomlkit.dumps(document), encoding="utf-8")
