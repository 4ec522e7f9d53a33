"""The bots that a user names: by label, by path, built in, each with options."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from arena.commands.folders import registry_of
from arena.errors import BotFolderError, ConfigError, did_you_mean
from arena.players.builtin import NAME, NAMES, built_in_bot, is_built_in
from arena.players.folder import Bot, bot_at, home_of_script, with_options
from arena.players.manifest import FILE
from arena.players.options import split_options
from arena.players.registry import Registry

Tell = Callable[[str], object]
"""Hears a sentence for the user."""


def bot_finder(home: Path, tell: Tell, *, in_process: bool) -> Callable[[str], Bot]:
    """A function that finds a bot as `find_bot` does, or else a built-in one; with ``in_process``
    only those. It raises UserError.
    """
    registry = registry_of(home)

    def find(text: str) -> Bot:
        name, options = _split(text)
        if in_process:
            return _with_options(built_in_bot(name), options)
        try:
            bot = _find(registry, name, tell)
        except BotFolderError as error:
            if name in registry.labels() or Path(name).is_file() or (Path(name) / FILE).is_file():
                raise
            if not NAME.fullmatch(name):
                error.hint = _hint_for(name, error.hint, registry.labels())
                raise
            bot = built_in_bot(name)
        return _with_options(bot, options)

    return find


def _split(text: str) -> tuple[str, str | None]:
    """A bot's name or path, and the text of its options; a path may have a ``:`` of its own."""
    # False, too, for what is too long for a path.
    return (text, None) if os.path.exists(text) else split_options(text)  # noqa: PTH110


def _with_options(bot: Bot, options: str | None) -> Bot:
    """The bot with the options of its name, if there are any. Raises ConfigError."""
    if options is None:
        return bot
    if is_built_in(bot):
        raise ConfigError(
            f"expected no options for {bot.label}, which is built in, got {options!r}",
            "greedy-N and careful-N are the built-in bots that look at N moves",
        )
    return with_options(bot, options)


def _hint_for(text: str, hint: str, labels: Sequence[str]) -> str:
    """The hint for a bot that is not there: the one about its path, or else the labels near its
    name, and always the built-in bots.
    """
    if not (hint and "/" in text):
        name = Path(text).name
        near = did_you_mean(name, [*labels, *NAMES]) if name else ""
        hint = f"{near}'arena bots --all' lists what there is" if near else hint
    built_in = f"built in are {', '.join(NAMES)}, greedy-N and careful-N"
    if not hint:
        return built_in
    return f"{hint}{' ' if hint.endswith('?') else '; '}{built_in}"


def find_bot(registry: Registry, text: str, tell: Tell) -> Bot:
    """A bot by label or path, with the options that its name sets; tells if the text could mean
    another one too. Raises BotFolderError, ConfigError.
    """
    name, options = _split(text)
    return _with_options(_find(registry, name, tell), options)


def _find(registry: Registry, text: str, tell: Tell) -> Bot:
    bot = registry.find(text)
    here = Path(text)
    is_label = text in registry.labels()
    if not is_label and here.is_file():
        _tell_of_folder(here, bot, tell)
    if is_label and here.exists() and not here.samefile(bot.folder):
        try:
            differs = bot_at(here, name=bot.manifest.name).sha256 != bot.sha256
        except BotFolderError:
            differs = True
        if differs:
            tell(
                f"note: {text} means the registered bot, version {bot.manifest.version} in"
                f" {bot.folder}; the folder here has other content: write ./{text} for that one"
            )
    return bot


def bot_in(
    path: Path, tell: Tell, *, name: str | None = None, command: list[str] | None = None
) -> Bot:
    """The bot in a folder or script. A script in a folder with a bot.toml stands for that folder.
    Raises BotFolderError.
    """
    folder = None if command else home_of_script(path)
    bot = bot_at(folder or path, name=name, command=command)
    _tell_of_folder(path, bot, tell)
    return bot


def bot_to_check(home: Path, text: str, tell: Tell) -> Bot:
    """The bot at a path, else one in bots/ or on the ladder. Raises BotFolderError, ConfigError."""
    path = Path(text)
    return bot_in(path, tell) if path.exists() else find_bot(registry_of(home), text, tell)


def _tell_of_folder(path: Path, bot: Bot, tell: Tell) -> None:
    """Tells if a path names one file of a bot, because the bot is the whole folder."""
    if path.is_file() and bot.folder != path:
        tell(
            f"note: {path} is part of the bot {bot.manifest.name}: using the whole folder"
            f" {bot.folder}"
        )
