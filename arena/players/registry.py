"""The registry: a folder ``bots/`` with ``name/`` for each bot's newest version and ``name@version/`` for older ones."""

import os
import tempfile
from pathlib import Path

import msgspec

from arena.errors import BotFolderError, UserError
from arena.players.folder import Bot, bot_at, copy_files
from arena.players.manifest import FILE, Manifest, check_name


class Registry:
    """The bots in a folder; the folder need not exist yet."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def labels(self) -> list[str]:
        """The labels of all registered bots, including old versions, sorted."""
        if not self.root.is_dir():
            return []
        return sorted(path.name for path in self.root.iterdir() if (path / FILE).is_file() and not path.name.startswith("."))

    def newest(self) -> list[Bot]:
        """The newest version of each bot, by name."""
        return [self.get(label) for label in self.labels() if "@" not in label]

    def get(self, label: str) -> Bot:
        """The bot with this label: ``name`` is the newest version, ``name@version`` that one. Raises BotFolderError."""
        folder = self.root / label
        if label not in self.labels():
            name, _, version = label.partition("@")
            if version and name in self.labels() and str(self.get(name).manifest.version) == version:
                return msgspec.structs.replace(self.get(name), label=label)
            raise BotFolderError(
                f"expected a registered bot or a path, got {label!r}",
                f"registered in {self.root}: {', '.join(self.labels()) or 'none'}; a path has a '/' or names a file",
            )
        bot = bot_at(folder)
        if bot.manifest.name != label.partition("@")[0]:
            raise BotFolderError(f"{folder / FILE}: expected the name {label.partition('@')[0]!r} as its folder, got {bot.manifest.name!r}")
        return msgspec.structs.replace(bot, label=label)

    def find(self, text: str) -> Bot:
        """A bot by label, or by the path of its folder or script. Raises BotFolderError."""
        if text in self.labels():
            return self.get(text)
        path = Path(text)
        if os.sep in text or path.is_file() or (path / FILE).is_file():
            return bot_at(path)
        return self.get(text)

    def register(self, bot: Bot) -> tuple[Bot, bool]:
        """Copies a bot into the registry as the next version of its name. Returns the registered bot, and whether anything changed."""
        name = bot.manifest.name
        check_name(name, str(bot.folder))
        known = self.get(name) if name in self.labels() else None
        if known and known.sha256 == bot.sha256:
            return known, False
        self._refuse_other_case(name)
        version = self._next_version(bot, known)
        manifest = msgspec.structs.replace(bot.manifest, version=version)
        try:
            self._install(bot, manifest, known)
        except OSError as error:
            raise UserError(f"expected to write into {self.root}, got {error}") from error
        return self.get(name), True

    def _install(self, bot: Bot, manifest: Manifest, known: Bot | None) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".incoming-", dir=self.root) as temporary:
            work = Path(temporary, "bot")
            work.mkdir()
            copy_files(bot.folder, work)
            write_manifest(work / FILE, manifest)
            target = self.root / manifest.name
            if known:
                target.rename(self.root / f"{manifest.name}@{known.manifest.version}")
            work.rename(target)

    def _next_version(self, bot: Bot, known: Bot | None) -> str | int:
        """The author's version if it is new under this name, else the next whole number."""
        taken = {label.partition("@")[2] for label in self.labels() if label.startswith(f"{bot.manifest.name}@")}
        if known:
            taken.add(str(known.manifest.version))
        if str(bot.manifest.version) not in taken:
            return bot.manifest.version
        return str(1 + max([int(version) for version in taken if version.isdecimal()], default=len(taken)))

    def _refuse_other_case(self, name: str) -> None:
        for label in self.labels():
            if label != name and label.lower() == name.lower():
                raise BotFolderError(f"expected a name that differs from {label!r} by more than upper and lower case, got {name!r}")


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Writes a bot.toml; keeps the comments and the order of an existing one."""
    import tomlkit  # noqa: PLC0415 - only submitting writes TOML

    document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
    values = msgspec.to_builtins(manifest)
    for key in ("name", "version", "command"):
        document[key] = getattr(manifest, key)
    for key, value in values.items():
        if key not in document:
            document[key] = value
    path.write_text(tomlkit.dumps(document), encoding="utf-8")
