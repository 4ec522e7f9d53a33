"""arena remove: removes bots from bots/, and runs from results/."""

import sys
from pathlib import Path

import click

from arena.cli.completion import complete_bots, complete_runs
from arena.cli.terminal import tell
from arena.commands.bots import registry_of
from arena.commands.home import results_folder
from arena.commands.runs import remove_run, run_folder
from arena.errors import UserError, counted, printable
from arena.players.registry import Registry
from arena.tournament.run import Run


@click.command()
@click.argument("bot", metavar="[BOT[@VERSION]]", required=False, shell_complete=complete_bots)
@click.option("--all-versions", is_flag=True, help="Remove all versions of the bot.")
@click.option(
    "--run",
    metavar="NAME",
    shell_complete=complete_runs,
    help="Remove this run from results/, and no bot.",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def remove(
    home: Path, /, bot: str | None, *, all_versions: bool, run: str | None, yes: bool
) -> None:
    """Remove a bot, or one version of it, from bots/, or a run. A run is removed from results/.

    If you remove the newest version, the one before it takes its place. Runs are not affected: they
    have their own copies of the bots. The bots of the ladder come with the arena and cannot be
    removed. Nor can a run that is being played or reviewed.

    \b
    arena remove my-bot
    arena remove my-bot@2
    arena remove my-bot --all-versions --yes
    arena remove --run 2026-11-24-1
    """  # noqa: D301 - \b is click's mark for lines to keep
    if (bot is None) == (run is None):
        got = "neither" if bot is None else "both"
        raise click.UsageError(f"expected the name of a bot, or --run NAME, got {got}")
    if run is not None:
        if all_versions:
            raise click.UsageError("--all-versions is for bots and cannot be combined with --run")
        _remove_run(home, run, yes=yes)
    elif bot is not None:
        _remove_bot(home, bot, all_versions=all_versions, yes=yes)


def _remove_run(home: Path, name: str, *, yes: bool) -> None:
    """Removes the run called ``name`` after asking. Raises UserError."""
    folder = run_folder(home, name)
    results = results_folder(home)
    if folder.resolve().parent != results.resolve() and not folder.is_symlink():
        raise UserError(
            f"{folder.resolve()} is not a run in {results}",
            "remove that folder yourself, or name its home with --home",
        )
    try:
        played, _ = Run(folder).progress()
        what = f"the run {folder} with its {counted(played, 'game')}"
    except UserError:  # it is damaged, which may be why it has to go
        what = f"the run {folder}"
    _confirm(f"remove {what}?", yes=yes)
    remove_run(folder)
    tell(f"removed the run {folder}")


def _confirm(question: str, *, yes: bool) -> None:
    """Asks the question on the terminal unless ``yes``; returns if the user agrees. Raises
    UserError without a terminal, and Abort if the user does not agree.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise UserError(
            "cannot ask for confirmation: there is no terminal",
            "add --yes to remove it without being asked",
        )
    click.confirm(printable(question), abort=True, err=True)


def _remove_bot(home: Path, bot: str, *, all_versions: bool, yes: bool) -> None:
    """Removes versions of a bot after asking, and prints what its name means now.
    Raises UserError.
    """
    registry = registry_of(home)
    registry.refuse_to_remove(bot)
    doomed = _doomed(registry, bot, all_versions=all_versions)
    _confirm(f"remove {', '.join(doomed)} from {registry.root}?", yes=yes)
    for label in doomed:
        registry.remove(label)
    tell(f"removed {', '.join(doomed)}; runs keep their own copies")
    name = bot.partition("@")[0]
    if name in registry:
        now = registry.get(name)
        whose = " of the ladder" if registry.is_of_ladder(name) else ""
        tell(f"{name} now means version {now.manifest.version}{whose}, in {now.folder}")


def _doomed(registry: Registry, bot: str, *, all_versions: bool) -> list[str]:
    """The labels of the versions to remove, older ones first. Raises UserError if ``bot`` names
    several versions without ``all_versions``, and UsageError if it names one version with it.
    """
    name, _, version = bot.partition("@")
    versions = registry.versions(name)
    if all_versions:
        if version:
            raise click.UsageError(f"--all-versions takes a name without a version, not {bot}")
        return versions[::-1]
    if not version and len(versions) > 1:
        there = f"has {len(versions)} versions: {', '.join(versions)}"
        cure = f"name one, as in 'arena remove {versions[-1]}', or remove them all with"
        raise UserError(f"{name} {there}", f"{cure} --all-versions")
    return [bot]
