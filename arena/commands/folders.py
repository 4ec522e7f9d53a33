"""What a home holds: the bots, and the runs."""

import os
from itertools import filterfalse
from pathlib import Path

from arena.errors import RunError
from arena.players.registry import Registry, ladder
from arena.records.runfile import read_run
from arena.tournament.session import list_runs

MOST_NAMED = 10


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
    folders = (results / run, Path(run))
    for folder in folders:
        if (folder / "run.json").is_file():
            return folder
    for folder in folders:
        if inner := _runs_named(folder):
            raise RunError(
                f"expected a run's name or folder, got {run!r}, a folder of runs",
                f"name one of them: {inner}",
            )
    known = ", ".join(folder.name for folder in list_runs(results)) or "none"
    raise RunError(f"expected a run's name or folder, got {run!r}", f"runs in {results}: {known}")


def _runs_named(folder: Path) -> str:
    """The folders of the runs in a folder, as words; empty if there are none to be seen."""
    try:
        runs = sorted(str(path.parent) for path in folder.glob("*/run.json"))
    except OSError:
        return ""
    more = f" and {len(runs) - MOST_NAMED} more" if len(runs) > MOST_NAMED else ""
    return ", ".join(runs[:MOST_NAMED]) + more


def _is_one_game(run: Path) -> bool:
    try:
        return bool(read_run(run).config.get("game"))
    except RunError:
        return False
