"""What a run tells at a glance: how far it is, and who leads, from the files that it left. Nothing
is rated for it. The files may be anybody's.
"""

import csv
import io
import math
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from arena.errors import ConfigError, RunError
from arena.records.journal import COMPRESSED, journal_of
from arena.records.regular import open_regular, read_regular
from arena.records.runfile import RunInfo, read_run
from arena.tournament.session import schedule_of

STANDINGS, MOST_BYTES = "standings.csv", 4 << 20
MOST_ROWS = 1000
QUIET_S = 60.0
"""A run of which no game has ended for so long is not being played."""
AT_ONCE = 1 << 20


class Place(NamedTuple):
    """A bot in the standings; ``mark`` says that ``elo`` is a bound, ``error`` is NaN if there is
    none.
    """

    rank: int
    bot: str
    mark: str
    elo: float
    error: float
    games: int

    @property
    def words(self) -> str:
        """The rating as it is written."""
        error = "" if math.isnan(self.error) else f" ± {self.error:.0f}"
        minus = f"{self.elo:.0f}".replace("-", "\N{MINUS SIGN}")
        return f"{self.mark and self.mark + ' '}{minus}{error}"


class Glance(NamedTuple):
    """``state`` is live, finished or interrupted, or empty if the plan cannot be read; ``games``
    is None for a compressed journal; ``places`` are those of standings that are not older than the
    last game, best first.
    """

    info: RunInfo
    state: str
    games: int | None
    planned: int | None
    places: list[Place]


def glance(folder: Path, counted: Mapping[Path, tuple[int, int]] | None = None) -> Glance:
    """A run at a glance. ``counted`` are games that were counted before, see `count_games`. Raises
    RunError.
    """
    info = read_run(folder)
    _, games = count_games(folder, (counted or {}).get(folder, (0, 0)))
    planned = _planned(info)
    is_packed = journal_of(folder).suffix in COMPRESSED
    if planned is None:
        state = ""
    elif is_packed or games >= planned:
        state = "finished"
    else:
        state = "interrupted" if is_quiet(folder) else "live"
    return Glance(info, state, None if is_packed else games, planned, list(places_of(folder)))


def is_quiet(folder: Path) -> bool:
    """Whether no game of a run has ended for a while."""
    try:
        return time.time() - journal_of(folder).lstat().st_mtime > QUIET_S
    except OSError:
        return True


def count_games(folder: Path, before: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """Up to which byte a journal has been counted, and its games, going on from what was counted
    before. Raises RunError.
    """
    path, (offset, games) = journal_of(folder), before
    if path.suffix in COMPRESSED:
        return before
    try:
        with os.fdopen(open_regular(folder, path.name), "rb") as file:
            if file.seek(0, os.SEEK_END) < offset:
                offset = games = 0
            file.seek(offset)
            while part := file.read(AT_ONCE):
                games += part.count(b"\n")
                offset += len(part)
    except OSError:
        return 0, 0
    return offset, games


def places_of(folder: Path) -> Iterator[Place]:
    """The rows of a run's standings.csv, unless games have ended since it was written."""
    try:
        written = (folder / STANDINGS).lstat().st_mtime_ns
        if journal_of(folder).lstat().st_mtime_ns > written:
            return
        text = read_regular(folder, STANDINGS, MOST_BYTES).decode("utf-8", "replace")
        for _, row in zip(range(MOST_ROWS), csv.DictReader(io.StringIO(text)), strict=False):
            yield _place(row)
    except (OSError, RunError, ValueError, KeyError, TypeError, csv.Error):
        return


def latest_ratings(folders: list[Path]) -> dict[str, tuple[Path, Place]]:
    """Each bot's place in the first of these runs that ranks it."""
    found: dict[str, tuple[Path, Place]] = {}
    for folder in folders:
        for place in places_of(folder):
            found.setdefault(place.bot, (folder, place))
    return found


def _place(row: Mapping[str, str]) -> Place:
    low, high = row["elo_low"], row["elo_high"]
    error = (float(high) - float(low)) / 2 if low and high else math.nan
    elo = float(row["elo"] or "nan")
    return Place(int(row["rank"]), row["bot"], row.get("mark") or "", elo, error, int(row["games"]))


def _planned(info: RunInfo) -> int | None:
    try:
        return schedule_of(info).planned
    except ConfigError:
        return None
