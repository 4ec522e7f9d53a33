"""Collects the data behind a report: a run's settings, games, tables, and which games may be shown.
One pass over the journal collects all of it, and while the run is played, a later pass continues
where the previous one ended.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from arena.exports.report.scan import Scan, ScanBuilder, decode_report_row
from arena.ratings.history import History, history_of
from arena.ratings.notes import conditions_notes
from arena.ratings.tables import Tables, make_tables
from arena.ratings.tally import Score, scoring_of
from arena.records.journal import COMPRESSED, Ids, damaged_line, read_lines
from arena.tournament.run import Run
from arena.tournament.secrecy import Secrecy


class Material(NamedTuple):
    """The data behind a report.

    ``run``      the run
    ``tables``   standings and other tables; they count matches if the run is scored by matches
    ``scan``     the games
    ``secrecy``  which deals are still being played, so that their tiles must not be shown
    ``is_open``  (G,) whether the deal of each game may have other games left to play
    ``history``  the versions of a league's bots; None for other runs
    """

    run: Run
    tables: Tables
    scan: Scan
    secrecy: Secrecy
    is_open: NDArray[np.bool_]
    history: History | None = None

    @property
    def elo(self) -> Mapping[str, float]:
        """The rating of each bot in Elo, by its name; NaN without a rating."""
        return dict(zip(self.tables.standings["bot"], self.tables.standings["elo"], strict=True))

    @property
    def bots(self) -> list[str]:
        """The names of the bots in the order of the standings, the best first."""
        return [str(name) for name in self.tables.standings["bot"]]


def gather(run: Run, prior: float | None = None, match: Sequence[str] | None = None) -> Material:
    """Reads the games of a run and rates them. ``prior`` is the weight of a prior that gives every
    bot a rating (None: no prior); ``match`` are the boards of the matches to score by (None: what
    run.json says; empty: single games). Raises RunError if the run cannot be read, NoAnswerError if
    no finite ratings fit, and UserError for boards that the run does not have.
    """
    return Follower(run, match).material(prior)


class Follower:
    """Reads the games of a run that may still be played: each call of `material` reads only what
    was added to the journal since the previous call.

    ``match`` are the boards of the matches to score by (None: what run.json says; empty: single
    games). Raises RunError, and UserError for boards that do not fit.
    """

    def __init__(self, run: Run, match: Sequence[str] | None = None) -> None:
        self.run = run
        self._path = run.journal
        self._match = scoring_of(run.info, match)
        self._score = Score(self._match, own_decks=run.info.has_own_decks)
        self._columns = ScanBuilder()
        self._file = _identity(self._path)
        self._ids = Ids()
        self._offset = 0
        self._lines = 0

    @property
    def is_valid(self) -> bool:
        """Whether the games read so far are still the beginning of the journal. A journal only
        grows, so a shorter file, or one with another name or inode, is a different journal.
        """
        if _identity(self.run.journal) != self._file:
            return False
        if self._path.suffix == COMPRESSED:
            return True
        try:
            size = self._path.stat().st_size
        except OSError:
            size = 0
        return size >= self._offset

    def material(self, prior: float | None = None) -> Material:
        """The data behind a report with all games that are in the journal now; ``prior`` is the
        weight of a prior that gives every bot a rating (None: none). Raises RunError,
        NoAnswerError.
        """
        # The run may have got more bots and deals since it was opened, so it is read again.
        self.run = run = Run(self.run.folder)
        self.read_on()
        counts = self._score.counted.counts(run.info.bot_names)
        blocks = self._score.games.blocks()
        tables = make_tables(counts, prior, blocks, match=self._match)
        notes = [*tables.notes, *conditions_notes(run.info, self._score.hosts)]
        scan = self._columns.scan(self._path, self._score.games)
        secrecy = run.secrecy(blocks)
        return Material(
            run=run,
            tables=tables._replace(notes=notes),
            scan=scan,
            secrecy=secrecy,
            is_open=_open_games(scan, secrecy),
            history=history_of(run.folder, counts, self._match) if run.info.is_league else None,
        )

    def read_on(self) -> None:
        """Reads the games added to the journal since the previous call. Raises RunError."""
        if not os.path.lexists(self._path):
            return
        for line in read_lines(self._path, self._offset):
            self._lines += 1
            try:
                row = decode_report_row(line)
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                raise damaged_line(self._path, self._lines, line, error) from None
            if self._ids.add(row.id):
                self._score.add(row)
                self._columns.add(row, self._offset)
            self._offset += len(line)


def _open_games(scan: Scan, secrecy: Secrecy) -> NDArray[np.bool_]:
    """(G,) whether the deal of each game of ``scan`` may have other games left to play, as
    ``secrecy`` says.
    """
    is_open = np.empty(len(scan.deal), dtype=np.bool_)
    for board in scan.boards():
        on_board = scan.by_game(name == board for name in scan.outcome_boards)
        games = np.flatnonzero(on_board)
        is_open[games] = secrecy.is_open(board, scan.deal[games])
    return is_open


def _identity(path: Path) -> tuple[str, int]:
    """The name and the inode number of the file at ``path``; the number is 0 if there is no such
    file.
    """
    try:
        return path.name, path.stat().st_ino
    except OSError:
        return path.name, 0
