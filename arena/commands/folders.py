"""What a home holds: the bots, and the runs."""

import os
from itertools import filterfalse
from pathlib import Path

from arena.errors import RunError
from arena.players.registry import Registry, ladder
from arena.records.runfile import read_run
from arena.tournament.session import list_runs


def bots_folder(home: Path) -> Path:
    """The folder of the registry."""
    return home / "bots"


def registry_of(home: Path) -> Registry:
    """The bots of a home, and then the ladder, unless ``ARENA_LADDER=off``."""
    return Registry(bots_folder(home), {} if os.environ.get("ARENA_LADDER") == "off" else ladder())


def results_folder(home: Path) -> Path:
    """The folder of the runs."""
    return home / "results"


def run_folder(home: Path, run: str | None) -> Path:
    """The folder of a run given by name or path; None is the newest one that is not just a game a
    person played, if there is such a run. Raises RunError.
    """
    results = results_folder(home)
    if run is None:
        runs = list_runs(results)
        if not runs:
            raise RunError(
                f"expected a run in {results}, found none",
                "start one with 'arena run', or name a run's folder",
            )
        return next(filterfalse(_is_one_game, reversed(runs)), runs[-1])
    for folder in (results / run, Path(run)):
        if (folder / "run.json").is_file():
            return folder
        if inner := list_runs(folder):
            raise RunError(
                f"expected a run's name or folder, got {run!r}, a folder of {len(inner)} runs",
                f"name one of them: {', '.join(sorted(map(str, inner)))}",
            )
    known = ", ".join(folder.name for folder in list_runs(results)) or "none"
    raise RunError(f"expected a run's name or folder, got {run!r}", f"runs in {results}: {known}")


def _is_one_game(run: Path) -> bool:
    try:
        return bool(read_run(run).config.get("game"))
    except RunError:
        return False
