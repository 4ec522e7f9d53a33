"""arena remove: takes a bot out of the registry."""

import sys
from pathlib import Path

import click

from arena.cli.terminal import tell
from arena.commands.folders import registry_of
from arena.errors import UserError
from arena.players.registry import Registry


@click.command()
@click.argument("bot", metavar="BOT[@VERSION]")
@click.option("--all-versions", is_flag=True, help="Remove all versions of the bot.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def remove(home: Path, /, bot: str, *, all_versions: bool, yes: bool) -> None:
    """Remove a bot, or one version of it, from bots/.

    If you remove the newest version, the one before it takes its place. Runs are not affected: they
    have their own copies of the bots. The bots of the ladder come with the arena and cannot be
    removed.

    \b
    arena remove my-bot
    arena remove my-bot@2
    arena remove my-bot --all-versions --yes
    """  # noqa: D301 - \b is click's mark for lines to keep
    registry = registry_of(home)
    registry.refuse_to_remove(bot)
    doomed = _doomed(registry, bot, all_versions=all_versions)
    if not yes:
        _ask(registry, doomed)
    for label in doomed:
        registry.remove(label)
    tell(f"removed {', '.join(doomed)}; runs keep their own copies")
    _show_who_is_there(registry, bot.partition("@")[0])


def _doomed(registry: Registry, bot: str, *, all_versions: bool) -> list[str]:
    """The labels to remove, older versions first. Raises UserError if it is not clear which."""
    name, _, version = bot.partition("@")
    versions = registry.versions(name)
    if all_versions:
        if version:
            raise click.UsageError(
                f"expected a name without a version with --all-versions, got {bot}"
            )
        return versions[::-1]
    if not version and len(versions) > 1:
        raise UserError(
            f"expected one version of {name}, which has {len(versions)}: {', '.join(versions)}",
            f"name one, as in 'arena remove {versions[-1]}', or remove them all with"
            " --all-versions",
        )
    return [bot]


def _ask(registry: Registry, doomed: list[str]) -> None:
    """Asks the user to confirm. Raises UserError if there is nobody to ask, Abort if the answer is
    no.
    """
    if not sys.stdin.isatty():
        raise UserError(
            "expected a terminal to ask for confirmation, found none",
            "add --yes to remove it without being asked",
        )
    click.confirm(f"remove {', '.join(doomed)} from {registry.root}?", abort=True, err=True)


def _show_who_is_there(registry: Registry, name: str) -> None:
    """Says which bot has the name now, if any."""
    if name not in registry.labels():
        return
    bot = registry.get(name)
    whose = " of the ladder" if registry.is_of_ladder(name) else ""
    tell(f"{name} now means version {bot.manifest.version}{whose}, in {bot.folder}")
