"""What the user's own configuration and command line allow single bots: trust, and grants beyond
the sandbox.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from arena.errors import ConfigError
from arena.players.folder import Bot
from arena.players.player import is_built_in
from arena.players.sandbox.grants import read_allowed
from arena.tournament.settings import SETTINGS_FILE, OwnConfig, own_folder


def own_words(own: OwnConfig, bot: Bot) -> list[str]:
    """The grants that the user's own configuration gives to a bot, in the words of the
    configuration file. A built-in bot gets none. Raises ConfigError.
    """
    words = []
    for text in () if is_built_in(bot) else own.allow or ():
        folder = own_folder()
        try:
            name, more = read_allowed(text)
        except ConfigError as error:
            raise ConfigError(f"{folder / SETTINGS_FILE}: {error}", error.hint) from None
        if os.sep not in name:
            raise ConfigError(
                f"{folder / SETTINGS_FILE}: expected the path of a bot's folder in allow, got"
                f" {name!r}",
                f'any bot could take that name: write its folder, as in "~/bots/{name}=..."',
            )
        words += more if is_meant(bot, name, folder) else []
    return words


def is_trusted(bot: Bot, trusted: Sequence[str], own: OwnConfig) -> bool:
    """Whether the user trusts a bot. ``trusted`` has the names and paths from the command line; if
    it is empty, the user's own configuration decides. See `is_meant` for what such a name means.
    """
    base = Path() if trusted or not own.trust else own_folder()
    return any(is_meant(bot, name, base) for name in trusted or own.trust or ())


def is_meant(bot: Bot, name: str, base: Path) -> bool:
    """Whether ``name`` means this bot: it is the bot's label, with or without options, or, if it
    has a slash, the path of its folder. A relative path begins at ``base``.
    """
    if os.sep not in name:
        return name in (bot.label, bot.base)
    try:
        return (base / Path(name).expanduser()).resolve() == bot.folder.resolve()
    except (OSError, ValueError, RuntimeError):
        return False
