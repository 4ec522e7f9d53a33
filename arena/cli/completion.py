"""The names of bots and runs that a shell offers to complete a command line."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.commands.home import RUN_FILE, find_home, results_folder
from arena.errors import ArenaError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Offered = list[str] | list["CompletionItem"]
"""What a completion function returns."""


def complete_bots(context: click.Context, _: click.Parameter, incomplete: str) -> Offered:
    """The names of bots that begin with ``incomplete``: those in bots/, those of the ladder, and
    built-in ones; after a ``@``, also their versions. For a path, an answer that lets the shell
    itself complete the name of a file.
    """
    if _is_path(incomplete):
        return _files(incomplete, "file")
    # Imported here, because completing the name of a run or a command needs neither module.
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
    """The names of runs in results/ that begin with ``incomplete``, also of runs in collections
    such as league-2/2-players. For any other path, an answer that lets the shell itself complete
    the name of a folder.
    """
    names = _beginning(incomplete, _names_of_runs(results_folder(_home_of(context))))
    if _is_path(incomplete) and not names:
        return _files(incomplete, "dir")
    return names


def _names_of_runs(results: Path) -> list[str]:
    """The names of the runs in ``results``, as `arena runs` shows them. No file is read, because a
    shell asks at every press of a key.
    """
    names = []
    for folder in _folders_in(results):
        if (folder / RUN_FILE).is_file():
            names.append(folder.name)
        elif not folder.is_symlink():
            inner = [each for each in _folders_in(folder) if (each / RUN_FILE).is_file()]
            names += [f"{folder.name}/{each.name}" for each in inner]
    return names


def _folders_in(folder: Path) -> list[Path]:
    """The folders in ``folder``; none if it cannot be read."""
    try:
        return [each for each in folder.iterdir() if each.is_dir()]
    except OSError:
        return []


def _is_path(incomplete: str) -> bool:
    """Whether a text begins a path and not a name."""
    return "/" in incomplete or incomplete.startswith(".")


def _beginning(incomplete: str, names: list[str]) -> list[str]:
    """The names that begin with ``incomplete``, sorted, without duplicates."""
    return [name for name in sorted(set(names)) if name.startswith(incomplete)]


def _files(incomplete: str, kind: str) -> list["CompletionItem"]:
    """The answer that makes the shell itself complete a path; ``kind`` is ``file`` or ``dir``."""
    # Imported here, because only a shell that completes a line needs it.
    from click.shell_completion import CompletionItem  # noqa: PLC0415

    return [CompletionItem(incomplete, type=kind)]


def _home_of(context: click.Context) -> Path:
    """The home of the command line: the one that --home or $ARENA_HOME names, else
    the nearest one.
    """
    home = context.obj or context.find_root().params.get("home")
    return Path(home) if home else find_home()
