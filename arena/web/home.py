"""The first page: the runs of the home."""

import os
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena.commands.folders import results_folder
from arena.errors import RunError
from arena.records.journal import journal_of
from arena.records.runfile import FILE, read_run
from arena.web.pages import page

MOST_RUNS = 200
"""The newest ones are listed."""


def front(request: Request) -> Response:
    """All runs, the newest first."""
    site = request.app.state.site
    folders = run_folders(results_folder(site.home))
    return page(
        request,
        "home.html",
        {
            "name": site.home.resolve().name,
            "runs": [run_row(folder) for folder in folders[:MOST_RUNS]],
            "more": max(len(folders) - MOST_RUNS, 0),
        },
    )


def run_folders(results: Path) -> list[Path]:
    """The folders of runs, by when they were last played, the latest first. No link is followed."""
    try:
        entries = [entry for entry in os.scandir(results) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    found = [(played_at(Path(entry.path)), Path(entry.path)) for entry in entries]
    return [folder for at, folder in sorted(found, reverse=True) if at]


def played_at(folder: Path) -> float:
    """When the journal of a run last grew, or when the run was begun; 0 for another folder."""
    try:
        begun = (folder / FILE).lstat().st_mtime
    except OSError:
        return 0.0
    try:
        return max(begun, journal_of(folder).lstat().st_mtime)
    except OSError:
        return begun


def run_row(folder: Path) -> dict[str, Any]:
    """What is said of a run in a list."""
    try:
        info = read_run(folder)
    except RunError as error:
        return {"run": folder.name, "problem": str(error)}
    return {
        "run": folder.name,
        "problem": "",
        "started": info.started,
        "bots": [bot.name for bot in info.bots],
        "boards": list(info.boards),
        "players": info.config.get("players", 2),
    }


ROUTES = [Route("/", front)]
