"""The lists of the bots of a home, for pages."""

import os
import time
from collections.abc import Callable, Hashable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from arena.commands.bots import registry_of
from arena.commands.runs import Rated, latest_ratings, ratings_in
from arena.errors import BotFolderError
from arena.players import player
from arena.players.folder import IGNORED, MAX_FILES
from arena.players.registry import Registry
from arena.records.record import name_of
from arena.records.runfile import RUN_FILE
from arena.tournament.run import STANDINGS_FILE
from arena.web.places import run_name, without_folders
from arena.web.run_list import words_of

MAX_BOTS = 300
"""The most bots that a page lists."""
PLACES = ("yours", "built in", "ladder")
"""The words for where a bot comes from, in the order of the list."""
RATED_IN = 30
"""Ratings of bots are taken from this many runs, those that were played last."""
SETTLED_NS = 2_000_000_000
"""What was read from a file is kept if the file was last changed this long before it was read, in
ns. A file that was changed twice in a moment may have the same times after both changes.
"""
BotRow = dict[str, Any]
"""A row of a list of bots, see `BotList.row`."""
FileState = tuple[Hashable, ...]
"""The path, inode, size, mode, and the times of the last change, of a file or a folder."""
Kept = TypeVar("Kept")


class BotList:
    """The bots of a home. A bot whose files have not changed since they were read is not read and
    hashed again, and neither are the ratings in runs.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._kept: dict[Hashable, tuple[Sequence[FileState], Any]] = {}

    def rows(self, runs: Sequence[Path]) -> tuple[list[BotRow], int]:
        """The rows of the newest versions of all bots (see `row`), at most `MAX_BOTS` of them, and
        the number of bots that are left out. ``runs`` are the folders of the home's runs, the one
        that was played last first. The further key ``rated`` of a row has the name of the run with
        the bot's latest rating and that rating as text, or None.
        """
        registry = registry_of(self._home)
        labels = [label for label in registry.labels() if "@" not in label]
        ratings = self._ratings(runs[:RATED_IN][::-1])
        rated_ones = {name for name, _ in ratings if player.NAME.fullmatch(name)}
        labels += sorted({*player.NAMES, *rated_ones} - {*labels})
        folders = registry.folders()
        rows = [self._row(registry, label, folders) for label in labels[:MAX_BOTS]]
        rows.sort(key=lambda row: PLACES.index(row.get("place", PLACES[0])))
        for row in rows:
            rated = ratings.get((row["bot"], row.get("hash", "")))
            row["rated"] = (rated.run, words_of(rated)) if rated else None
        return rows, max(len(labels) - MAX_BOTS, 0)

    def row(self, label: str) -> BotRow:
        """The row of a list of bots for the bot with this label, by key: ``bot``, the label;
        ``place``, one of `PLACES`; ``version``, ``language``, ``author``, ``description``;
        ``hash``, the sha256 of its files; and ``options``, each with its name, default and help.
        ``problem`` is empty, or says why the bot cannot be read: then the row has only this key and
        ``bot``.
        """
        registry = registry_of(self._home)
        return self._row(registry, label, registry.folders())

    def results_of(self, name: str, runs: Sequence[Path]) -> list[Rated]:
        """The results in ``runs`` of all versions of the bot called ``name``, as rows of the runs'
        standings. ``runs`` are folders, the run that was played last first; only the first
        `RATED_IN` count.
        """
        results = []
        for folder in runs[:RATED_IN]:
            for rated in ratings_in(folder):
                if name_of(rated.bot) == name:
                    with_run = rated._replace(run=run_name(folder))
                    results.append(with_run)
        return results

    def _row(self, registry: Registry, label: str, folders: dict[str, Path]) -> BotRow:
        """The row of the bot with this label; ``folders`` has the folder of each bot of the
        registry.
        """
        folder = folders.get(label)
        if folder is None:
            return row_of(registry, label, self._home, is_registered=False)
        states = states_below(folder)
        row: BotRow = self._known(
            (label, folder), states, lambda: row_of(registry, label, self._home, is_registered=True)
        )
        return dict(row)

    def _ratings(self, runs: Sequence[Path]) -> dict[tuple[str, str], Rated]:
        """The result of `latest_ratings` for these runs, which are given oldest first."""
        files = [folder / name for folder, name in product(runs, (STANDINGS_FILE, RUN_FILE))]
        states = [state_of_file(file) for file in files]
        return self._known("ratings", states, lambda: latest_ratings(list(runs), run_name))

    def _known(
        self, key: Hashable, states: Sequence[FileState] | None, read: Callable[[], Kept]
    ) -> Kept:
        """What ``read`` returned in the last call with this ``key``, if the files that it reads are
        still in these ``states``; else what it returns now. That is not kept if the states are
        None, or if a file was changed in the last `SETTLED_NS`.
        """
        before = self._kept.get(key)
        if before and states is not None and before[0] == states:
            value: Kept = before[1]
            return value
        value = read()
        self._kept.pop(key, None)
        latest_ns = max((_changed_ns(state) for state in states or ()), default=0)
        if states is not None and time.time_ns() - latest_ns > SETTLED_NS:
            self._kept[key] = (states, value)
        return value


def row_of(registry: Registry, label: str, home: Path, *, is_registered: bool) -> BotRow:
    """The row of the bot with this label, see `BotList.row`, read from its files; if they cannot be
    used, the row has the label and the problem only. A bot that is not registered may be built in.
    """
    try:
        if not is_registered and player.NAME.fullmatch(label):
            playable = player.built_in_bot(label)
            place = "built in"
        else:
            place = "ladder" if registry.is_of_ladder(label) else "yours"
            playable = registry.get(label)
    except BotFolderError as error:
        return {"bot": label, "problem": without_folders(str(error), home)}
    own = playable.manifest
    options = playable.manifest.options.items()
    return {
        "bot": label,
        "problem": "",
        "version": str(own.version),
        "place": place,
        "language": own.language,
        "author": own.author,
        "description": own.description,
        "hash": playable.sha256,
        "options": [(name, str(option.default), option.help) for name, option in options],
    }


def state_of_file(path: str | Path) -> FileState:
    """The state of a file or a folder. It changes whenever the file does, also if the file is
    replaced by another one; a file that does not exist has a state, too.
    """
    try:
        file = os.stat(path)  # noqa: PTH116 - thousands of files, and pathlib is slow
    except OSError:
        return (str(path), 0, 0, 0, 0, 0)
    changed = (file.st_mtime_ns, file.st_ctime_ns)
    return (str(path), file.st_ino, file.st_size, file.st_mode, *changed)


def _changed_ns(state: FileState) -> int:
    """When the file with this state was last changed, in ns since 1970."""
    modified_ns, changed_ns = state[-2:]
    assert isinstance(modified_ns, int)
    assert isinstance(changed_ns, int)
    return max(modified_ns, changed_ns)


def states_below(folder: Path) -> list[FileState] | None:
    """The states of a bot's folder and of all files and folders below it that belong to the bot.
    None if there are more than a bot may have, or if one cannot be read.
    """
    states = [state_of_file(folder)]
    waiting = [str(folder)]
    try:
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.name in IGNORED:
                        continue
                    states.append(state_of_file(entry.path))
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
            if len(states) > MAX_FILES:
                return None
    except OSError:
        return None
    return sorted(states, key=lambda state: str(state[0]))
