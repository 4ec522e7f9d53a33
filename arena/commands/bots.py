"""Finds the bots that a user names: by label, by path, or built in, each with options."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from arena.commands.home import bots_folder
from arena.errors import BotFolderError, ConfigError, did_you_mean, printable
from arena.players.folder import Bot, bot_at, from_inside, home_of_script, with_options
from arena.players.labels import split_options
from arena.players.manifest import MANIFEST_FILE
from arena.players.player import NAME, NAMES, built_in_bot
from arena.players.registry import Registry, ladder

Tell = Callable[[str], object]
"""A callback that takes a sentence for the user."""


def registry_of(home: Path) -> Registry:
    """The registry of a home: the bots in its bots/, then the bundled bots. If the environment
    variable ``ARENA_LADDER`` is ``off``, there are no bundled bots.
    """
    return Registry(bots_folder(home), {} if os.environ.get("ARENA_LADDER") == "off" else ladder())


def note_same_files(registry: Registry, bot: Bot, tell: Tell) -> None:
    """Tells the user if another bot of the registry has the same files as this bot."""
    other = registry.same_files(bot)
    if other:
        tell(
            f"note: {printable(bot.label)} has the same files as {printable(other)}: they are one"
            " program with two names"
        )


def bot_finder(home: Path, tell: Tell, *, in_process: bool = False) -> Callable[[str], Bot]:
    """A function that takes the text with which a user names a bot, and returns the bot. It raises
    UserError if there is none. The name of a built-in bot always means the built-in bot; other
    texts are for `find_bot`. With ``in_process``, only built-in bots are found.
    """
    registry = registry_of(home)

    def find(text: str) -> Bot:
        """The bot that the text names. Raises UserError."""
        name, options = _split(text)
        if in_process or NAME.fullmatch(name):
            bot = built_in_bot(name)
            if not in_process:
                _tell_of_namesake(registry, name, tell)
            if options is not None:
                raise ConfigError(
                    f"{name} is built in and takes no options, got {options!r}",
                    "greedy-N and careful-N are the built-in bots that look at N moves",
                )
            return bot
        try:
            return find_bot(registry, text, tell)
        except BotFolderError as error:
            is_there = Path(name).is_file() or (Path(name) / MANIFEST_FILE).is_file()
            if name not in registry and not is_there:
                error.hint = _hint_for(name, error.hint, registry.labels())
            raise

    return find


def _tell_of_namesake(registry: Registry, name: str, tell: Tell) -> None:
    """Tells the user that ``name`` means the built-in bot, if the registry or the current folder
    also has a bot of that name, and what to type for the latter: its label with a version, or its
    path.
    """
    here = Path(name)
    if name in registry:
        folder = registry.root / name
        try:
            other = f"{name}@{registry.get(name).manifest.version}"
        except BotFolderError:
            other = str(folder)
    elif here.is_file() or (here / MANIFEST_FILE).is_file():
        folder = here
        other = f"./{name}"
    else:
        return
    tell(f"note: {name} means the built-in bot; write {other} for the one in {folder}")


def _split(text: str) -> tuple[str, str | None]:
    """Splits ``text`` into a bot's name or path and the text of its options, which is None without
    options. A text that is an existing path has no options, even if it contains a ``:``.
    """
    # False, too, for what is too long for a path.
    return (text, None) if os.path.exists(text) else split_options(text)  # noqa: PTH110


def _hint_for(text: str, hint: str, labels: Sequence[str]) -> str:
    """The hint for a bot that was not found under the name or path ``text``. It names the labels
    nearest to that name, or keeps ``hint`` for a path, and adds the built-in bots. If ``text`` is
    inside a bot's folder, or a folder without bot.toml, the hint says only that.
    """
    inside = from_inside(text)
    if inside:
        return inside
    if Path(text).is_dir():
        return (
            f"the folder {text} has no {MANIFEST_FILE}: name the bot's script in it, or write one"
        )
    if not (hint and "/" in text):
        name = Path(text).name
        near = did_you_mean(name, [*labels, *NAMES]) if name else ""
        hint = f"{near}'arena bots --all' lists what there is" if near else hint
    built_in = f"built in are {', '.join(NAMES)}, greedy-N and careful-N"
    if not hint:
        return built_in
    return f"{hint}{' ' if hint.endswith('?') else '; '}{built_in}"


def find_bot(registry: Registry, text: str, tell: Tell) -> Bot:
    """The bot that ``text`` names by label or by path, with the options that the text sets. A label
    of the registry comes before a path; the user is told if the path has a bot with other files.
    Raises BotFolderError, ConfigError.
    """
    name, options = _split(text)
    bot = registry.find(name)
    here = Path(name)
    if name not in registry:
        _tell_of_folder(here, bot, tell)
    elif here.exists() and not here.samefile(bot.folder):
        try:
            differs = bot_at(here, name=bot.manifest.name).sha256 != bot.sha256
        except BotFolderError:
            differs = True
        if differs:
            tell(
                f"note: {name} means the registered bot, version {bot.manifest.version} in"
                f" {bot.folder}; the folder here has other content: write ./{name} for that one"
            )
    return bot if options is None else with_options(bot, options)


def bot_in(
    path: Path, tell: Tell, *, name: str | None = None, command: list[str] | None = None
) -> Bot:
    """The bot in a folder or script at ``path``. A script in a folder with a bot.toml stands for
    the bot of that folder, unless ``command`` says how to start it. ``name`` is the bot's name,
    None for the one in its bot.toml or the name of its file. Raises BotFolderError.
    """
    folder = None if command else home_of_script(path)
    bot = bot_at(folder or path, name=name, command=command)
    _tell_of_folder(path, bot, tell)
    return bot


def bot_to_check(home: Path, text: str, tell: Tell) -> Bot:
    """The bot at the path ``text`` if that exists, else the bot with the label ``text`` in the
    home's bots/ or among the bundled bots. Raises BotFolderError, ConfigError.
    """
    path = Path(text)
    return bot_in(path, tell) if path.exists() else find_bot(registry_of(home), text, tell)


def _tell_of_folder(path: Path, bot: Bot, tell: Tell) -> None:
    """Tells the user, if ``path`` is a file in the bot's folder, that the whole
    folder is the bot.
    """
    if path.is_file() and bot.folder != path:
        whole = f"using the whole folder {bot.folder}"
        tell(f"note: {path} is part of the bot {bot.manifest.name}: {whole}")
