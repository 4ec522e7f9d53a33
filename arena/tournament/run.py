"""A run on disk, as an object: the files in its folder, and what can be computed from them."""

import csv
import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena.errors import ConfigError, RunError
from arena.players.player import YOU
from arena.records.blocks import PlayedBlocks, count_blocks
from arena.records.config import RunConfig
from arena.records.journal import Ids, find_record, journal_of, read_ids, read_records
from arena.records.record import GameRecord
from arena.records.regular import read_regular
from arena.records.runfile import RunInfo, read_run
from arena.records.voids import VoidGame, read_voids
from arena.rules.boards import Board
from arena.tournament.consistency import config_of
from arena.tournament.schedule import Schedule

if TYPE_CHECKING:
    from arena.tournament.secrecy import Secrecy

STANDINGS_FILE = "standings.csv"
"""The name of the file with the standings in a run's folder."""
MAX_STANDINGS = 4 << 20
"""The largest standings.csv, in bytes, that is read."""


class PlayedCount(NamedTuple):
    """How many games of a run's plan have been ``played``, and how many are ``planned``."""

    played: int
    planned: int


class PersonGame(NamedTuple):
    """The ``record`` of a game that a person played, and the person's ``seat``."""

    record: GameRecord
    seat: int


class Run:
    """A run: its folder, and what can be computed from the files in the folder. A command opens a
    run once and passes it on.

    run.json is read when the run is opened. Other files are read at each call that needs them, so
    the answer includes what has been played since; only `blocks` and `secrecy` remember their first
    answers.

    ``folder``  the folder of the run
    ``info``    the contents of run.json; None to read them from the folder

    Raises RunError if there is no run in the folder, or if its run.json is damaged.
    """

    def __init__(self, folder: Path, info: RunInfo | None = None) -> None:
        self.folder = folder
        self.info: RunInfo = info or read_run(folder)

    @property
    def name(self) -> str:
        """The name of the run, which is the name of its folder."""
        return self.folder.name

    @property
    def journal(self) -> Path:
        """The path of the journal. The file may be compressed, and may not exist yet."""
        return journal_of(self.folder)

    @cached_property
    def config(self) -> RunConfig:
        """The settings of the run, checked. Raises ConfigError, also for settings that another
        version wrote and this one cannot read.
        """
        return config_of(self.info)

    @cached_property
    def boards(self) -> dict[str, Board]:
        """The boards of the run, by name."""
        return {name: Board(name, tuple(rows)) for name, rows in self.info.boards.items()}

    @cached_property
    def schedule(self) -> Schedule:
        """The plan of the run: which games belong to it. Raises ConfigError, as `config` does."""
        return Schedule(self.config)

    @property
    def known_schedule(self) -> Schedule | None:
        """The plan of the run; None if this version cannot read the run's settings, or if they do
        not fit together.
        """
        try:
            return self.schedule
        except ConfigError:
            return None

    def records(self) -> Iterator[GameRecord]:
        """The records of the games that have ended, in the journal's order. Raises RunError."""
        return read_records(self.folder)

    def person_game(self) -> PersonGame | None:
        """The game that this run was kept for, if a person played it. None for any other run, also
        for a match, and if the journal has no such game. Raises RunError.
        """
        config = self.info.config
        if config is None or config.game is None or config.match:
            return None
        record = next(self.records(), None)
        if record is None or YOU not in record.bots:
            return None
        return PersonGame(record, record.bots.index(YOU))

    def record(self, game: str) -> GameRecord:
        """The record of the game with the id ``game``. Raises RunError if there is none; its hint
        names similar ids.
        """
        return find_record(self.folder, game)

    def voids(self) -> list[VoidGame]:
        """The attempts at games that failed for a reason outside the bots, in the order in which
        they did. Raises RunError.
        """
        return read_voids(self.folder)

    def progress(self) -> PlayedCount:
        """How many games of the plan have been played, and how many are planned. Reads the ids of
        the whole journal. Raises RunError, ConfigError.
        """
        schedule = self.schedule
        journal = self.journal
        seen = Ids()
        ids = read_ids(journal) if os.path.lexists(journal) else ()
        played = 0
        for name in ids:
            if seen.add(name) and schedule.has_game(name):
                played += 1
        return PlayedCount(played, schedule.planned)

    def is_finished(self) -> bool:
        """Whether all games of the plan have been played. If standings.csv is newer than the
        journal and counts as many games as planned, this reads no more than that; otherwise it
        reads the ids of the whole journal. Raises RunError, ConfigError.
        """
        if self._standings_count_all():
            return True
        played, planned = self.progress()
        return played == planned

    def _standings_count_all(self) -> bool:
        """Whether standings.csv was written after the last change of the journal and counts as many
        games as planned. False if that cannot be found out.
        """
        config = self.config
        if config.settled is not None:
            return False  # the journal, and so standings.csv, may have games that do not count
        try:
            written_ns = os.lstat(self.folder / STANDINGS_FILE).st_mtime_ns
            # Two files that changed in one tick of the system's clock have the same time.
            if written_ns <= os.lstat(self.journal).st_mtime_ns:
                return False
            text = read_regular(self.folder, STANDINGS_FILE, MAX_STANDINGS).decode()
            seats = sum(int(row["games"]) for row in csv.DictReader(StringIO(text)))
        except (OSError, RunError, ValueError, TypeError, KeyError, csv.Error):
            return False
        # Each game counts for all its players; in a run of matches, standings.csv counts matches.
        games_of_one = len(config.match) or 1
        return seats * games_of_one == config.players * self.schedule.planned

    def blocks(self) -> list[PlayedBlocks]:
        """The blocks (games of a line-up on a deal) that have at least one game. They are counted
        in the first call; later calls return the same list. Raises RunError.
        """
        return self._blocks

    def secrecy(self, blocks: Iterable[PlayedBlocks] | None = None) -> "Secrecy":
        """Which deals must stay secret, because games on them are still to be played. The answer
        follows from ``blocks``; if that is None, from `blocks()`, and is remembered. Raises
        RunError.
        """
        # NumPy: most commands never ask what is secret.
        from arena.tournament.secrecy import secrecy_from_blocks  # noqa: PLC0415

        if blocks is None:
            return self._secrecy
        return secrecy_from_blocks(self.known_schedule, blocks)

    @cached_property
    def _blocks(self) -> list[PlayedBlocks]:
        return count_blocks(self.journal)

    @cached_property
    def _secrecy(self) -> "Secrecy":
        return self.secrecy(self._blocks)
