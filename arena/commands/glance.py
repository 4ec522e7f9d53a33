"""What a run tells at a glance: how far it is, and who leads by its latest tables. Nothing is rated
for it, and the run that is being played does not notice. The files may be anybody's.
"""

import os
import time
from pathlib import Path
from typing import NamedTuple

from arena.commands.rated import Rated, State, leader_of
from arena.errors import ConfigError
from arena.records.journal import COMPRESSED, journal_of
from arena.records.regular import open_regular
from arena.records.runfile import RunInfo, read_run
from arena.tournament.session import schedule_of

QUIET_S = 60.0
"""A run of which no game has ended for so long is not being played."""
AT_ONCE = 1 << 20
MOST_BYTES = 256 << 20
"""So much is counted at once: a file with a hole in it costs its maker nothing, and has no end."""


class Reach(NamedTuple):
    """How many games a journal has up to a byte of it; ``is_whole`` if that is its end."""

    offset: int = 0
    games: int = 0
    is_whole: bool = True


NOTHING = Reach()


class Glance(NamedTuple):
    """``state`` and ``planned`` are None if this version cannot read the plan."""

    info: RunInfo
    state: State | None
    games: int
    planned: int | None
    leader: Rated | None


def glance(folder: Path, counted: Reach) -> Glance:
    """A run at a glance, whose games are counted. Raises RunError."""
    info = read_run(folder)
    try:
        planned = schedule_of(info).planned
    except ConfigError:
        return Glance(info, None, counted.games, None, None)
    # Only finished runs are compressed, and counting would decompress them.
    games = planned if journal_of(folder).suffix in COMPRESSED else counted.games
    state, leader = run_state(folder, games, planned), leader_of(folder, info, games, planned)
    return Glance(info, state, min(games, planned), planned, leader)


def run_state(folder: Path, games: int, planned: int) -> State:
    """Whether a run is over, and if not, whether games of it have ended of late."""
    # Whoever is writing a journal holds it locked. Nobody tries that here: who tries holds it for
    # a moment, too, and then a run that just begins is refused.
    if games >= planned:
        return "finished"
    return "stopped" if is_quiet(folder) else "playing"


def is_quiet(folder: Path) -> bool:
    """Whether no game of a run has ended for a while."""
    try:
        return time.time() - journal_of(folder).lstat().st_mtime > QUIET_S
    except OSError:
        return True


def count_games(folder: Path, before: Reach = NOTHING, most: int = MOST_BYTES) -> Reach:
    """The games of a journal, going on from what was counted before, for so many bytes at most.
    Raises RunError.
    """
    path, (offset, games, _) = journal_of(folder), before
    if path.suffix in COMPRESSED:
        return before
    try:
        with os.fdopen(open_regular(folder, path.name), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            if size < offset:
                offset = games = 0
            file.seek(offset)
            end = offset + most
            while offset < end and (part := file.read(min(AT_ONCE, end - offset))):
                games += part.count(b"\n")
                offset += len(part)
    except OSError:
        return NOTHING
    return Reach(offset, games, offset >= size)
