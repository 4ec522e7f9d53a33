"""arena submit: checks a bot and copies it into bots/."""

import shlex
from pathlib import Path
from typing import Any

import click

from arena.cli import DONE, FAILED
from arena.cli.check import run_checks
from arena.cli.mistakes import MistakeError
from arena.cli.numbers import WholeNumber
from arena.cli.options import default_option, split_words
from arena.cli.progress import LONG_S
from arena.cli.run import sandbox_options
from arena.cli.sections import BriefCommand
from arena.cli.terminal import say, tell
from arena.commands.bots import bot_in, note_same_files, registry_of
from arena.commands.checks import passed_s_ago
from arena.commands.members import (
    expect_room,
    league_folder,
    member_label,
    refuse_other_files,
    versions_in_leagues,
)
from arena.commands.playing import SandboxChoice
from arena.errors import BotFolderError
from arena.exports.grid import duration_text
from arena.players.folder import Bot, from_inside, home_of_script, near_paths, script_command
from arena.players.player import refuse_built_in_name
from arena.players.registry import Registry, expect_to_write

OPPONENT = "greedy-python"
"""The bot of the ladder that is suggested as the first opponent."""


@click.command(cls=BriefCommand)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", help="Its name in bots/.  [default: from bot.toml, or the script's name]")
@click.option(
    "--command",
    callback=split_words,
    metavar="'PROGRAM ARG...'",
    help="How to start it.  [default: from bot.toml, or by the file's extension]",
)
@click.option(
    "--league",
    metavar="NAME",
    help="Then find its place in this league. The exit status says whether it is better than the"
    " version before it.",
)
@click.option(
    "--games",
    type=WholeNumber(1),
    help="With --league: once it is placed, play this many games with the version before it.",
)
@click.option(
    "--author",
    metavar="NAME",
    help="Register it as this author's: its name is its folder's and nobody else's, its version the"
    " next number.",
)
@click.option("--no-check", is_flag=True, help="Register it without checking it.")
@default_option("move_ms")
@sandbox_options
@click.pass_obj
def submit(
    home: Path,
    /,
    path: Path,
    name: str | None,
    command: list[str] | None,
    league: str | None,
    move_ms: int,
    *,
    no_check: bool,
    choice: SandboxChoice,
    **more: Any,
) -> int:
    """Check a bot and copy it into bots/. PATH is a folder with a bot.toml, or a single script.

    The check is left out if these files passed one within the last hour, with the same settings.

    If a bot of that name is there already, the new content becomes its next version. You can still
    play the old one as NAME@VERSION.

    With --league, it then plays in that league until it is placed, or waits while another arena
    plays the league. The exit status is 0 if it is better than the version before it, or the first
    one, 4 if it is worse, 5 if that is not clear, and 1 if it was set aside.

    \b
    arena submit my-bot
    arena submit .
    arena submit ideas/best.py --name second-try
    arena submit my-bot --league ladder --games 400
    arena submit submissions/ann/my-bot --league ladder --author ann
    arena submit ./engine --name engine --command './engine --fast'
    """  # noqa: D301 - \b is click's mark for lines to keep
    if not path.exists():
        near = from_inside(path.name) or near_paths(path)
        raise MistakeError(
            f"PATH: path '{path}' does not exist", near.rstrip() or "name a bot's folder or script"
        )
    _expect_a_way_to_start(path, command)
    bot = bot_in(path, say, name=name, command=command)
    again = shlex.join(["arena", "submit", str(path), "--name", f"my-{bot.manifest.name}"])
    refuse_built_in_name(bot.manifest.name, f"choose another one: {again}")
    registry = registry_of(home)
    note_same_files(registry, bot, say)
    folder = None if league is None else league_folder(home, league)
    if more["games"] and folder is None:
        raise click.UsageError("--games needs --league NAME")
    taken = versions_in_leagues(home, folder)
    if author := more["author"]:
        _expect_same_name(path, bot)
        bot = registry.owned(bot, author, taken)
        if folder:
            expect_room(registry, folder, bot)
    registry.expect_to_write(bot)
    if folder:
        expect_to_write(folder)
    if not no_check and not _passes(home, bot, move_ms, choice):
        cure = f"see every step with 'arena check {path}', or register it without the check"
        say(f"error: {bot.label} is not registered: it fails the check above")
        say(f"hint: {cure}: --no-check")
        return FAILED
    registered = _register(registry, bot, taken)
    if folder is None:
        say(f"next: {_next_command(registry, registered)}")
        return DONE
    # Imported here, because only --league needs the modules that play a run.
    from arena.cli.league import find_place  # noqa: PLC0415

    label = member_label(registered)
    refuse_other_files(folder, label, registered)
    return find_place(home, folder, label, choice, more["games"])


def _expect_same_name(path: Path, bot: Bot) -> None:
    """Raises BotFolderError unless the folder ``path`` of a bot with an author has the bot's
    name.
    """
    folder_name = path.resolve().name
    if folder_name != bot.manifest.name:
        wanted = f"the folder is named {folder_name!r} and the bot {bot.manifest.name!r}"
        cure = "with --author both names must be the same: change one of them"
        raise BotFolderError(f"{path}: {wanted}", cure)


def _register(registry: Registry, bot: Bot, taken: set[str]) -> Bot:
    """Registers the bot, and prints under which version; ``taken`` are the versions that leagues
    have. Returns the bot as it is registered.
    """
    registered, changed = registry.register(bot, taken)
    version = registered.manifest.version
    label = registered.label
    how = "already, with the same content, as" if not changed else "as"
    where = f" in {registered.folder}" if changed else ""
    tell(f"{label} is registered {how} version {version}{where}")
    return registered


def _passes(home: Path, bot: Bot, move_ms: int, choice: SandboxChoice) -> bool:
    """Whether a bot passes a check, or has passed one within the last hour. Steps that fail are
    printed.
    """
    sandbox = choice.sandbox_for([bot])
    ago_s = passed_s_ago(home, bot, move_ms, sandbox)
    if ago_s is None:
        return run_checks(home, bot, move_ms, sandbox, only_failures=True)
    when = duration_text(ago_s) if ago_s > LONG_S else "less than a minute"
    say(f"{bot.label} is not checked again: these files passed 'arena check' {when} ago")
    return True


def _expect_a_way_to_start(path: Path, command: list[str] | None) -> None:
    """Raises BotFolderError for a script that the arena does not know how to start: without a
    ``command``, without a bot.toml beside it that names it, with no extension of a known
    interpreter, and not executable.
    """
    if command or not path.is_file() or home_of_script(path):
        return
    try:
        script_command(path)
    except BotFolderError as error:
        error.hint = f"say how to start it with --command 'INTERPRETER {path.name}'"
        raise


def _next_command(registry: Registry, bot: Bot) -> str:
    """The command to suggest after a bot was registered: a comparison with the version before it;
    for a first version, a run against another bot; or, without another bot, 'arena new'.
    """
    name = bot.manifest.name
    older = registry.versions(name)[1:]
    if older:
        return f"arena compare {name} {older[0]}"
    others = [label for label in registry.labels() if label != name]
    if not others:
        return "arena new another-bot, to have someone to play against"
    return shlex.join(["arena", "run", name, OPPONENT if OPPONENT in others else others[0]])
