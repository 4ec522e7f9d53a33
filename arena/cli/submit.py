"""arena submit: checks a bot and copies it into the registry."""

import shlex
from pathlib import Path

import click

from arena.cli import DONE, FAILED
from arena.cli.check import run_checks
from arena.cli.options import move_ms_option, sandbox_options, split_words
from arena.cli.placing import find_place
from arena.cli.terminal import say, tell
from arena.commands.allowing import SandboxChoice
from arena.commands.bots import bot_in
from arena.commands.folders import registry_of
from arena.commands.founding import league_folder, refuse_other_files, versions_in_leagues
from arena.commands.members import member_label
from arena.errors import BotFolderError
from arena.players.folder import Bot, home_of_script, near_paths, script_command
from arena.players.registry import Registry

OPPONENT = "greedy-python"
"""The opponent suggested for a first game."""
NO_HOME = (
    "the bot's own folder now holds bots/ and results/; 'arena init' in a folder above it makes a"
    " home for all your bots"
)


@click.command()
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
    type=click.IntRange(1),
    help="With --league: once it is placed, play so many games with the version before it.",
)
@click.option("--no-check", is_flag=True, help="Register it without checking it.")
@move_ms_option
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
    **extent: int | None,
) -> int:
    """Check a bot and copy it into bots/. PATH is a folder with a bot.toml, or a single script.

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
    arena submit ./engine --name engine --command './engine --fast'
    """  # noqa: D301 - \b is click's mark for lines to keep
    _expect_to_exist(path)
    _expect_a_way_to_start(path, command)
    bot = bot_in(path, say, name=name, command=command)
    registry = registry_of(home)
    folder = None if league is None else league_folder(home, league)
    if extent["games"] and folder is None:
        raise click.UsageError("expected --league NAME with --games, got none")
    if not no_check and not run_checks(bot, move_ms, choice.sandbox_for([bot]), only_failures=True):
        say(f"error: {bot.label} is not registered: it fails the check above")
        say(
            f"hint: see every step with 'arena check {path}', or register it without the check:"
            " --no-check"
        )
        return FAILED
    registered, changed = registry.register(bot, versions_in_leagues(home, folder))
    version = registered.manifest.version
    if changed:
        tell(f"{registered.label} is registered as version {version} in {registered.folder}")
        if registry.root.resolve().parent == bot.folder.resolve():
            say(f"note: {NO_HOME}")
    else:
        tell(
            f"{registered.label} is registered already, with the same content, as version {version}"
        )
    if folder is None:
        say(f"next: {_next_command(registry, registered)}")
        return DONE
    label = member_label(registered)
    refuse_other_files(folder, label, registered)
    return find_place(home, folder, label, choice, **extent)


def _expect_to_exist(path: Path) -> None:
    """Raises BadParameter, with the path the user may have meant."""
    if not path.exists():
        near = near_paths(path).removeprefix("did")
        message = f"Path '{path}' does not exist." + (f" Did{near}" if near else "")
        raise click.BadParameter(message, param_hint="'PATH'")


def _expect_a_way_to_start(path: Path, command: list[str] | None) -> None:
    """Raises BotFolderError for a script if nothing says how to start it."""
    if command or not path.is_file() or home_of_script(path):
        return
    try:
        script_command(path)
    except BotFolderError as error:
        error.hint = f"say how to start it with --command 'INTERPRETER {path.name}'"
        raise


def _next_command(registry: Registry, bot: Bot) -> str:
    """What to type once a bot is registered: a comparison with its last version, or a first run."""
    name = bot.manifest.name
    older = registry.versions(name)[1:]
    if older:
        return f"arena compare {name} {older[0]}"
    opponent = next(
        (
            label
            for label in (OPPONENT, *registry.labels())
            if label in registry.labels() and label != name
        ),
        None,
    )
    return (
        shlex.join(["arena", "run", name, opponent])
        if opponent
        else "arena new another-bot, to have someone to play against"
    )
