"""Which bots of a command get which grants: those of ``--allow``, and else those of the user's own
configuration.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from msgspec.structs import replace

from arena.commands.bots import Tell
from arena.commands.folders import bots_folder, results_folder
from arena.errors import ConfigError, SandboxError, did_you_mean, printable
from arena.players.builtin import is_built_in
from arena.players.folder import Bot
from arena.players.kept import cache_folder
from arena.players.sandbox.grants import Grants, make_grants, read_allowed
from arena.players.sandbox.tiers import OPEN, Mode, Sandbox, choose
from arena.records.origin import state_folder
from arena.tournament.own import FILE as OWN_FILE
from arena.tournament.own import OwnConfig, own_folder, read_own_config


class SandboxChoice(NamedTuple):
    """What the user says about the sandbox. Without options, ``mode`` is None, and ``trusted`` and
    ``allowed`` are empty. ``home`` is where the arena keeps bots and results; ``tell`` hears what
    the user should know.
    """

    mode: Mode | None
    trusted: tuple[str, ...]
    unsafe: bool
    allowed: tuple[str, ...] = ()
    home: Path = Path()
    tell: Tell = lambda _: None

    def with_default(self, mode: Mode | None) -> Self:
        """The same, with a configuration file's mode where the user gave none."""
        return self._replace(mode=self.mode or mode)

    def sandbox_for(self, bots: Sequence[Bot], run: Path | None = None) -> Sandbox:
        """The sandbox for these bots, with what they are allowed beyond it; warns if it is not the
        best one. Built-in bots need none. ``run`` is the folder of the run that they play.

        Where there are no options, the user's own configuration decides. Raises SandboxError,
        ConfigError.
        """
        own = read_own_config()
        kept = [bots_folder(self.home), results_folder(self.home), *([run] if run else [])]
        grants = granted(bots, self.allowed, own, kept, self.tell)
        bots = [bot for bot in bots if not is_built_in(bot)]
        if not bots:
            if self.mode == "require":
                raise SandboxError(
                    "expected bots to put into a sandbox, got built-in ones",
                    "leave out --sandbox: built-in bots are part of the arena",
                )
            return OPEN
        choice = choose(
            self.mode or own.sandbox or "auto",
            accept_none=self.unsafe or all(is_trusted(bot, self.trusted, own) for bot in bots),
        )
        if choice.warning:
            self.tell(f"warning: {choice.warning}")
        return replace(choice.sandbox, grants=grants)


def granted(
    bots: Sequence[Bot], said: Sequence[str], own: OwnConfig, closed: Iterable[Path], tell: Tell
) -> dict[str, Grants]:
    """What each of these bots may do beyond its sandbox, by its label without options; tells of
    it.

    Nobody may read what is ``closed``, nor the bots' own folders. Raises ConfigError.
    """
    if not said and not own.allow:
        return {}
    sources = [bot.folder for bot in bots if not is_built_in(bot)]
    folders = [*closed, cache_folder(), state_folder(), *sources]
    words: defaultdict[str, list[str]] = defaultdict(list)
    for text in said:
        name, more = read_allowed(text)
        for base in _named(name, bots):
            words[base] += more
    found = {base: make_grants(each, Path(), folders) for base, each in words.items()}
    for bot in bots:
        more = own_words(own, bot) if bot.base not in words else []
        if more:
            found[bot.base] = make_grants(more, own_folder(), folders)
    found = {base: grants for base, grants in found.items() if grants.words}
    for base, grants in found.items():
        _tell_of(base, grants, _folder_of(base, bots), tell)
    return found


def own_words(own: OwnConfig, bot: Bot) -> list[str]:
    """What the user's own configuration allows a bot. Raises ConfigError."""
    words = []
    for text in () if is_built_in(bot) else own.allow or ():
        try:
            name, more = read_allowed(text)
        except ConfigError as error:
            raise ConfigError(f"{own_folder() / OWN_FILE}: {error}", error.hint) from None
        if not _is_path(name):
            raise ConfigError(
                f"{own_folder() / OWN_FILE}: expected the path of a bot's folder in allow,"
                f" got {name!r}",
                "any bot could take that name: write its folder, as in"
                f' "~/bots/{name}={",".join(more)}"',
            )
        words += more if _is_at(bot, own_folder(), name) else []
    return words


def is_trusted(bot: Bot, said: Sequence[str], own: OwnConfig) -> bool:
    """Whether a bot, with whatever options, is among those that the user trusts, by name or path:
    those of the command line, and else of the user's own configuration.
    """
    base = Path() if said or not own.trust else own_folder()
    return any(
        _is_at(bot, base, name) if _is_path(name) else name in (bot.label, bot.base)
        for name in said or own.trust or ()
    )


def _named(name: str, bots: Sequence[Bot]) -> list[str]:
    """The label, without options, of the bot that a name or path on the command line means; several
    where one program plays under several. Raises ConfigError.
    """
    found = [
        bot for bot in bots if (_is_at(bot, Path(), name) if _is_path(name) else bot.base == name)
    ]
    if not found:
        names = list(dict.fromkeys(bot.base for bot in bots))
        hint = f"{did_you_mean(name, names)}there are {', '.join(names)}"
        raise ConfigError(f"expected a bot that plays here in --allow, got {name!r}", hint)
    if any(map(is_built_in, found)):
        raise ConfigError(
            f"expected a bot with a process in --allow, got {name}, which is built in",
            "built-in bots are part of the arena: leave it out",
        )
    return list(dict.fromkeys(bot.base for bot in found))


def _folder_of(base: str, bots: Sequence[Bot]) -> Path:
    """Where the program is that bots with this label are, whatever their options. Raises
    ConfigError if there are two.
    """
    folders = {bot.folder.resolve(): bot.folder for bot in bots if bot.base == base}
    if len(folders) > 1:
        raise ConfigError(
            f"expected one program named {base} to allow it something, got"
            f" {' and '.join(map(str, folders.values()))}",
            "leave one out, or give it another name",
        )
    return next(iter(folders.values()))


def _is_path(name: str) -> bool:
    return os.sep in name


def _is_at(bot: Bot, base: Path, path: str) -> bool:
    try:
        return (base / Path(path).expanduser()).resolve() == bot.folder.resolve()
    except (OSError, ValueError, RuntimeError):
        return False


def _tell_of(base: str, grants: Grants, folder: Path, tell: Tell) -> None:
    """Says which program gets what: a bot's folder shows what its name may not."""
    words = ", ".join(grants.words)
    tell(printable(f"note: {base} in {folder} is allowed {words}"))
