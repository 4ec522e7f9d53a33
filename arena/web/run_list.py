"""The list of the runs of a home, for pages."""

import asyncio
import os
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from arena.commands.home import results_folder
from arena.commands.runs import NOTHING, JournalCount, Rated, count_games, glance
from arena.errors import ArenaError
from arena.exports.moments import title_of
from arena.records.journal import journal_of
from arena.records.runfile import RUN_FILE
from arena.tournament.run import Run
from arena.web.live import Fingerprint, state_of
from arena.web.places import run_name, without_folders

MAX_RUNS = 100
"""The most runs that are listed: the newest ones."""
MAX_OWN = 12
"""The most games of a person that are listed, after the runs."""
MAX_FOLDERS = 1000
"""The most folders that are read to find the newest runs."""
COUNTING = "counting"
"""The state of a run whose games have not all been counted."""
LIST_S = 3.0
"""The pause in seconds between two lists in a stream."""
SURROGATE = re.compile("[\ud800-\udfff]")
"""Matches what Python puts in place of a byte that is not UTF-8 in the name of a file."""


class RunList:
    """The list of the runs of a home.

    Games of a journal that have been counted are not counted again. All readers share one list,
    which is made anew when it is older than half of `LIST_S`.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._known: dict[Path, tuple[Fingerprint, JournalCount, dict[str, Any]]] = {}
        self._looking = asyncio.Lock()
        self._rows: list[dict[str, Any]] = []
        self._folders: list[Path] = []
        self._until_s = 0.0

    async def rows(self) -> list[dict[str, Any]]:
        """The rows of the list, as `_row_of` makes them: of at most `MAX_RUNS` runs, the one that
        was played last first, then of at most `MAX_OWN` games that a person played.
        """
        async with self._looking:
            if time.monotonic() >= self._until_s:
                self._rows = await run_in_threadpool(self._look)
                self._until_s = time.monotonic() + LIST_S / 2
        return [dict(row) for row in self._rows]

    def folders(self) -> list[Path]:
        """The folders of all runs, the one that was played last first, as they were when the list
        was made. If the list is older than half of `LIST_S`, the folders are looked up now.
        """
        if time.monotonic() < self._until_s:
            return self._folders
        return run_folders(results_folder(self._home))

    def _look(self) -> list[dict[str, Any]]:
        """Makes the list anew, and returns its rows."""
        # Each game that a person played is a run of its own. Without a limit of their own, such
        # games could fill the list.
        before = self._known
        self._known = {}
        runs = list[dict[str, Any]]()
        own = list[dict[str, Any]]()
        self._folders = run_folders(results_folder(self._home))
        for folder in self._folders[:MAX_FOLDERS]:
            state = state_of(folder)
            seen, counted, row = before.get(folder, ((), NOTHING, {}))
            if seen != state or not counted.is_whole:
                counted, row = _row_of(folder, counted)
            self._known[folder] = state, counted, row
            (own if row["is_game"] else runs).append(row)
            if len(runs) == MAX_RUNS:
                break
        return [*runs, *own[:MAX_OWN]]


def _row_of(folder: Path, counted: JournalCount) -> tuple[JournalCount, dict[str, Any]]:
    """Counts the games in the journal of the run in ``folder``, and makes the run's row in the
    list. ``counted`` is the count of the last time; counting continues from there. Returns the new
    count and the row. ``problem`` in a row says why the run cannot be read; then most other keys
    are missing.
    """
    row = {"run": run_name(folder), "folder": folder, "is_game": False, "leader": None}
    try:
        counted = count_games(folder, counted)
        run = Run(folder)
        look = glance(run, counted)
        played = run.person_game()
        title = title_of(*played) if played else ""
    except ArenaError as error:
        return counted, {**row, "problem": without_folders(str(error), folder.parent)}
    return counted, {
        **row,
        "problem": "",
        "when": when(look.info.started),
        "is_game": look.info.is_one_game,
        "title": title,
        "turns": played.record.turns if played else 0,
        "state": (look.state or "") if counted.is_whole else COUNTING,
        "leader": (look.leader.bot, words_of(look.leader)) if look.leader else None,
        "games": look.games,
        "planned": look.planned,
        "bots": len(look.info.bots),
        "boards": ", ".join(look.info.boards),
        "players": look.info.counting.players,
    }


def run_folders(results: Path) -> list[Path]:
    """The folders of the runs in ``results`` and in its collections, the run that was played last
    first. A collection is a folder that is no run, such as that of a league with a run for each
    number of players.

    Symbolic links are left out, and names that are not UTF-8. Empty if ``results`` cannot be read.
    """
    by_time = list[tuple[float, Path]]()
    for folder in _folders_in(results):
        played = played_at(folder)
        if played:
            by_time.append((played, folder))
        else:
            by_time += [(played_at(inside), inside) for inside in _folders_in(folder)]
    return [folder for at, folder in sorted(by_time, reverse=True) if at]


def _folders_in(folder: Path) -> list[Path]:
    """The folders in a folder, without symbolic links and names that are not UTF-8; empty if it
    cannot be read.
    """
    try:
        with os.scandir(folder) as entries:
            folders = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    # A page is UTF-8, so a name that is not cannot be shown.
    return [Path(path) for path in folders if not SURROGATE.search(Path(path).name)]


def played_at(folder: Path) -> float:
    """The time, in seconds since 1970, at which the journal of the run in ``folder`` was last
    changed or, if that is later or there is no journal, its run.json. 0 for a folder that is not a
    run.
    """
    try:
        begun = (folder / RUN_FILE).lstat().st_mtime
    except OSError:
        return 0.0
    try:
        return max(begun, journal_of(folder).lstat().st_mtime)
    except OSError:
        return begun


def words_of(rated: Rated) -> str:
    """A rating with its error bar, in the characters that pages use: ± and a real minus."""
    return rated.text.replace("+/-", "±").replace("-", "\N{MINUS SIGN}")


def when(moment: str) -> str:
    """A moment in the local time, such as "3 Nov 14:05", or "3 Nov 2024" if it is in another year.

    ``moment`` is in ISO form; any other text is returned as it is.
    """
    try:
        here = datetime.fromisoformat(moment).astimezone()
    except (ValueError, OverflowError):
        return moment
    is_recent = here.year == datetime.now(UTC).astimezone().year
    return f"{here.day} {here:%b %H:%M}" if is_recent else f"{here.day} {here:%b %Y}"
