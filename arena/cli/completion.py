"""The names of bots and runs that a shell offers for a command line that is not complete."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.commands.home import RUN_FILE, find_home, results_folder
from arena.errors import ArenaError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Offered = list[str] | list["CompletionItem"]


def complete_bots(context: click.Context, _: click.Parameter, incomplete: str) -> Offered:
    """The bots whose names begin so: those in bots/, on the ladder and the built-in ones; their
    versions after a ``@``, and files where a path begins.
    """
    if _is_path(incomplete):
        return _files(incomplete, "file")
    # Late: to complete the name of a run or a command, nobody waits for them.
    from arena.commands.bots import registry_of  # noqa: PLC0415
    from arena.players.player import NAMES  # noqa: PLC0415

    try:
        registry = registry_of(_home_of(context))
        versions = registry.every_version() if "@" in incomplete else []
        names = [label for label in registry.labels() if "@" not in label]
    except (ArenaError, OSError):
        return []
    return _beginning(incomplete, [*versions, *names, *NAMES])


def complete_runs(context: click.Context, _: click.Parameter, incomplete: str) -> Offered:
    """The runs in results/ whose names begin so, and folders where a path begins."""
    if _is_path(incomplete):
        return _files(incomplete, "dir")
    try:
        folders = list(results_folder(_home_of(context)).iterdir())
    except OSError:
        return []
    return _beginning(incomplete, [each.name for each in folders if (each / RUN_FILE).is_file()])


def _is_path(incomplete: str) -> bool:
    return "/" in incomplete or incomplete.startswith(".")


def _beginning(incomplete: str, names: list[str]) -> list[str]:
    """The names that begin so, sorted, each once."""
    return [name for name in sorted(set(names)) if name.startswith(incomplete)]


def _files(incomplete: str, kind: str) -> list["CompletionItem"]:
    """What makes the shell offer files or folders that begin so."""
    # Late: only a shell that completes a line needs it.
    from click.shell_completion import CompletionItem  # noqa: PLC0415

    return [CompletionItem(incomplete, type=kind)]


def _home_of(context: click.Context) -> Path:
    """The home of the line: that of --home before or behind the command, else the nearest one."""
    home = context.obj or context.find_root().params.get("home")
    return Path(home) if home else find_home()
