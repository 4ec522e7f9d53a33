"""A run while it is played: its journal is read on from where the last look ended, and each look
gives the parts of its page. This runs at a desk.
"""

import os
import time
from collections import deque
from pathlib import Path
from typing import Any

import msgspec

from arena.commands.glance import is_quiet
from arena.errors import NoAnswerError, RunError
from arena.exports.report.choice import Field, Reasons, choose_games
from arena.exports.report.games import Album
from arena.exports.report.lead import lead_of
from arena.exports.report.make import facts_of
from arena.exports.report.material import Material, rated
from arena.exports.report.page import fragment, rules_named
from arena.exports.report.scan import Columns, ReportRow
from arena.exports.report.words import number, with_error
from arena.exports.text import seat_names
from arena.ratings.columns import half_width
from arena.ratings.convergence import convergence_table
from arena.ratings.matches import Score, scoring_of
from arena.ratings.tally import row_decoder
from arena.records.ids import Ids
from arena.records.journal import damaged_line, journal_of, read_lines
from arena.records.record import GameRecord
from arena.records.runfile import read_run
from arena.rules.boards import Board
from arena.web.pages import PARTS, SitePages, setting_of_pages

LATEST = 12
SPEED_S = FEATURED_S = 60.0
SETTLED = 1.1
"""How the ratings settled is worked out again when there are this many times as many games: it
takes most of the time of a look.
"""
MOST_FOLLOWED = 4

_decode = row_decoder(ReportRow)
_followed: dict[str, "Follower"] = {}


class Follower:
    """The games of a run that have been read so far."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.info = folder, read_run(folder)
        self._path = journal_of(folder)
        self._match = scoring_of(self.info)
        self._score = Score(self._match, own_decks=self.info.has_own_decks)
        self._columns, self._ids = Columns(), Ids()
        self._offset = self._lines = 0
        self._file = _identity(self._path)
        self._settled: Material | None = None
        self._paces = deque[tuple[float, int]]()
        self._featured: Reasons = {}
        self._featured_until = 0.0

    @property
    def is_valid(self) -> bool:
        """Whether what was read is still the beginning of the journal, and run.json as it was."""
        # A journal only grows. Another file, or a shorter one, is another story.
        try:
            size = self._path.stat().st_size
        except OSError:
            size = 0
        is_same = _identity(journal_of(self._folder)) == self._file
        is_packed = self._path.suffix != ".jsonl"
        return is_same and (is_packed or size >= self._offset)

    def material(self) -> Material:
        """The run with all games that have ended. Raises RunError, NoAnswerError."""
        self.info = read_run(self._folder)
        self._read_on()
        counts = self._score.counted.counts(bot.name for bot in self.info.bots)
        scan = self._columns.finished(self._path, self._score.games)
        found = rated(self._folder, self.info, self._match, self._score, scan, counts)
        games = len(found.is_open)
        if self._settled is None or games >= SETTLED * len(self._settled.is_open):
            self._settled = found._replace(convergence=convergence_table(counts))
        return found._replace(convergence=self._settled.convergence)

    def games_per_s(self, games: int) -> float:
        """How many games ended in a second, since the looks of a minute ago."""
        now = time.monotonic()
        self._paces.append((now, games))
        while self._paces[0][0] < now - SPEED_S:
            self._paces.popleft()
        since, before = self._paces[0]
        return (games - before) / (now - since) if now > since else 0.0

    def lead(self, material: Material) -> dict[str, Any]:
        """What the page begins with: for a minute the same game, which plays itself."""
        chosen = self._featured
        if time.monotonic() > self._featured_until:
            field = Field(material.scan, material.elo, ~material.is_open)
            is_over = material.secrecy.is_finished
            latest: Reasons = {int(game): ["just ended"] for game in field.clean[:1]}
            chosen = self._featured = choose_games(field, 1) if is_over else latest
            self._featured_until = time.monotonic() + FEATURED_S
        boards = {name: Board(name, tuple(rows)) for name, rows in self.info.boards.items()}
        return lead_of(material, chosen, Album([], boards, 0, []))

    def _read_on(self) -> None:
        if not os.path.lexists(self._path):
            return
        for line in read_lines(self._path, self._offset):
            self._lines += 1
            try:
                row = _decode(line)
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                raise damaged_line(self._path, self._lines, line, error) from None
            if self._ids.add(row.id):
                self._score.add(row)
                self._columns.add(row, self._offset)
            self._offset += len(line)


def parts_of(folder: str) -> tuple[dict[str, str], bool, tuple[str, str]]:
    """The parts of a run's page as they are now, whether no game is missing, and who leads with
    which rating. Raises RunError.
    """
    material = followed_run(folder)
    values = _values(material, _followed[folder])
    setting = setting_of_pages()
    parts = {name: fragment(f"{name}.html", values, setting).strip() for name in PARTS}
    return parts, material.secrecy.is_finished, _leader(material)


def followed_run(folder: str) -> Material:
    """A run with all games that have ended. Raises RunError."""
    try:
        return followed(folder).material()
    except NoAnswerError as error:
        raise RunError(str(error), error.hint) from None
    except BaseException:
        _followed.pop(folder, None)
        raise


def followed(folder: str) -> Follower:
    """Whoever follows the run already, or somebody new."""
    known = _followed.pop(folder, None)
    if known is None or not known.is_valid:
        known = Follower(Path(folder))
    _followed[folder] = known
    for name in list(_followed)[:-MOST_FOLLOWED]:
        del _followed[name]
    return known


def _values(material: Material, follower: Follower) -> dict[str, Any]:
    """What the templates of the parts show."""
    facts, games = facts_of(material), len(material.is_open)
    speed, missing = follower.games_per_s(games), material.secrecy.missing
    details = [fault["detail"] for row in facts["faults"]["rows"] for fault in row["shown"]]
    return {
        **facts,
        "addresses": SitePages(material.folder.name),
        "rules": rules_named(details),
        "lead": follower.lead(material),
        "is_live": missing != 0 and not is_quiet(material.folder),
        "speed": speed,
        "seconds": missing / speed if missing and speed else None,
        "ended": _latest(material),
    }


def _leader(material: Material) -> tuple[str, str]:
    """The bot that leads, and its rating."""
    row = material.tables.standings.iloc[0]
    elo = f"{row['mark']} {number(row['elo'])}".strip()
    return str(row["bot"]), with_error(elo, half_width(row))


def _latest(material: Material) -> list[dict[str, Any]]:
    """The games that ended last, the latest first."""
    games = range(len(material.is_open))[-LATEST:]
    records = material.scan.records(games)
    return [
        told_game(records[game], is_open=bool(material.is_open[game])) for game in reversed(games)
    ]


def told_game(record: GameRecord, *, is_open: bool) -> dict[str, Any]:
    """A game in a list: who won, against whom, by how many pagodas, and whether games of its deal
    are still to be played.
    """
    names = seat_names(record.bots)
    order = sorted(range(len(names)), key=lambda seat: record.ranks[seat])
    won = [names[seat] for seat in order if record.ranks[seat] == 1]
    lost = [seat for seat in order if record.ranks[seat] > 1]
    lead = record.left[lost[0]] - record.left[order[0]] if lost else 0
    return {
        "id": record.id,
        "won": won,
        "lost": [names[seat] for seat in lost],
        "by": "forfeit" if record.faults else f"+{lead}" if lost else "shared",
        "board": record.board,
        "turns": record.turns,
        "is_open": is_open,
    }


def _identity(path: Path) -> tuple[str, int]:
    """Which file is there, if any."""
    try:
        return path.name, path.stat().st_ino
    except OSError:
        return path.name, 0
