"""The runs of a home: found by their names, at a glance, and rated.

A glance rates nothing, and the run that is being played does not notice. The files may be
anybody's.
"""

import csv
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from io import StringIO
from itertools import filterfalse
from math import isfinite, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from arena.commands.home import results_folder
from arena.errors import ConfigError, RunError
from arena.exports.grid import number
from arena.players.passing import remove_tree
from arena.ratings.columns import STANDINGS, in_whole_elo, text_of
from arena.records.journal import COMPRESSED, journal_of
from arena.records.regular import BusyError, open_regular, read_regular, turn_in, unused
from arena.records.runfile import RUN_FILE, RunInfo, read_run
from arena.tournament.run import Run
from arena.tournament.runs import Completeness, Request, completeness, list_runs

if TYPE_CHECKING:
    import pandas as pd

    from arena.commands.playing import Contest
    from arena.ratings.estimates import Estimate
    from arena.ratings.tables import Tables

MOST_NAMED = 10
OUTGOING = ".outgoing-"
STANDINGS_FILE = "standings.csv"
MOST_BYTES = 4 << 20
MOST_RUNS = 100
"""So many of the newest runs are looked through for ratings."""
QUIET_S = 60.0
"""A run of which no game has ended for so long is not being played."""
AT_ONCE = 1 << 20
MOST_COUNTED = 256 << 20
"""So much is counted at once: a file with a hole in it costs its maker nothing, and has no end."""
RunState = Literal["finished", "playing", "stopped"]
_ELO, _ERROR = (in_whole_elo(column) for column in STANDINGS if column.name in {"elo", "error"})


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
        if (folder / RUN_FILE).is_file():
            return folder
    inner = sorted(str(path.parent) for folder in folders for path in folder.glob(f"*/{RUN_FILE}"))
    if inner:
        more = f" and {len(inner) - MOST_NAMED} more" if len(inner) > MOST_NAMED else ""
        raise RunError(
            f"expected a run's name or folder, got {run!r}, a folder of runs",
            f"name one of them: {', '.join(inner[:MOST_NAMED])}{more}",
        )
    known = ", ".join(folder.name for folder in list_runs(results)) or "none"
    raise RunError(f"expected a run's name or folder, got {run!r}", f"runs in {results}: {known}")


def named_run(home: Path, name: str | None) -> Run:
    """The run that `run_folder` finds, opened. Raises RunError."""
    return Run(run_folder(home, name))


def remove_run(folder: Path) -> None:
    """Remove the folder of a run in a results folder. Raises RunError if it is a link, or being
    played or reviewed.
    """
    if folder.is_symlink():
        raise RunError(
            f"expected the folder of a run, got a link: {folder}",
            f"remove the link, or name the folder that it leads to: {folder.resolve()}",
        )
    place = folder.resolve()  # which has a name, also where the user says "."
    try:
        with ExitStack() as stack:
            stack.enter_context(turn_in(folder))
            for path in folder.glob("*.jsonl"):
                stack.enter_context(unused(path))
            for left in place.parent.glob(f"{OUTGOING}*"):  # of a removal that was interrupted
                remove_tree(str(left))
            # First out of sight, so that no interruption leaves half a run.
            outgoing = tempfile.mkdtemp(prefix=OUTGOING, dir=place.parent)
            place.rename(Path(outgoing, place.name))
            remove_tree(outgoing)
    except BusyError as error:
        error.hint = "stop the command that plays or reviews it, then remove it"
        raise
    except OSError as error:
        raise RunError(f"expected to remove {folder}, got {error}") from error


def _is_one_game(run: Path) -> bool:
    try:
        return read_run(run).is_one_game
    except RunError:
        return False


RATED_COLUMNS = frozenset(
    ("rank", "bot", "elo", "elo_low", "elo_high", "mark", "games", "forfeits")
)
"""The columns of standings.csv that `Rated` is made of."""


class Rated(NamedTuple):
    """A bot's row in the standings of a run; NaN where there is no figure or end."""

    run: str
    bot: str
    rank: int
    elo: float
    elo_low: float
    elo_high: float
    mark: str
    games: int
    forfeits: int

    @property
    def text(self) -> str:
        """The rating with its error bar, as tables have it: ``210 +/- 31``, ``< -1285``."""
        row = self._asdict()
        elo, error = (column.written(row, number) for column in (_ELO, _ERROR))
        return elo if error == number(nan, 0) else f"{elo} +/- {error}"

    @property
    def is_settled(self) -> bool:
        """Whether it is a rating with two ends, not a bound or a guess of a few games."""
        return not self.mark and isfinite(self.elo_low) and isfinite(self.elo_high)

    def object(self) -> dict[str, Any]:
        """The rating as an object for JSON, with None where a figure is unknown."""
        row = self._asdict()
        missing = {key for key, value in row.items() if isinstance(value, float) and isnan(value)}
        return {key: None if key in missing else value for key, value in row.items()}


def ratings_in(folder: Path) -> list[Rated]:
    """The bots in the standings of a run, the best first; none if the run has no tables yet, or if
    the file is not one that this arena writes and this user may read. Raises OSError where this
    machine fails.
    """
    try:
        data = read_regular(folder, STANDINGS_FILE, MOST_BYTES)
    except (FileNotFoundError, PermissionError, RunError):
        return []
    try:
        rows = csv.DictReader(StringIO(data.decode()), restval="")
        if not RATED_COLUMNS.issubset(rows.fieldnames or ()):
            return []
        return [_rated(folder.name, row) for row in rows]
    except (ValueError, csv.Error):  # not UTF-8, no number where one should be, or no CSV at all
        return []


def leader_of(run: Run, played: int, planned: int) -> Rated | None:
    """The first bot in the tables of a run with ``played`` of ``planned`` games; None if the tables
    have fewer games. A comparison may have played more games than it counts.
    """
    found = ratings_in(run.folder)
    seats = sum(rated.games for rated in found)
    rounds = len(run.info.counting.match) or 1
    players = run.info.counting.players
    is_whole = seats * rounds in {players * played, players * min(played, planned)}
    return found[0] if found and is_whole else None


def latest_ratings(folders: list[Path]) -> dict[tuple[str, str], Rated]:
    """The latest rating of each bot by its name and the sha256 of its files, given the folders of
    runs, the oldest first. One that is open does not take the place of one that is settled.
    """
    found = dict[tuple[str, str], Rated]()
    for folder in folders[-MOST_RUNS:]:
        rows = {rated.bot: rated for rated in ratings_in(folder)}
        with suppress(RunError):
            for bot in read_run(folder).bots if rows else ():
                rated = rows.get(bot.name)
                before = found.get((bot.name, bot.sha256))
                if rated and not (before and before.is_settled > rated.is_settled):
                    found[bot.name, bot.sha256] = rated
    return found


def _rated(run: str, row: dict[str, str]) -> Rated:
    """A row of standings.csv. Raises ValueError if a cell is not the number it should be."""
    elo, low, high = (float(row[name] or nan) for name in ("elo", "elo_low", "elo_high"))
    bot = text_of(row["bot"])
    rank, games, forfeits = (int(row[name]) for name in ("rank", "games", "forfeits"))
    return Rated(run, bot, rank, elo, low, high, row["mark"], games, forfeits)


class JournalCount(NamedTuple):
    """How many games a journal has up to a byte of it; ``is_whole`` if that is its end."""

    offset: int = 0
    games: int = 0
    is_whole: bool = True


NOTHING = JournalCount()


class Glance(NamedTuple):
    """``state`` and ``planned`` are None if this version cannot read the plan."""

    info: RunInfo
    state: RunState | None
    games: int
    planned: int | None
    leader: Rated | None


def glance(run: Run, counted: JournalCount) -> Glance:
    """A run at a glance, whose games are counted."""
    schedule = run.known_schedule
    if schedule is None:
        return Glance(run.info, None, counted.games, None, None)
    planned = schedule.planned
    # Only finished runs are compressed, and counting would decompress them.
    games = planned if run.journal.suffix == COMPRESSED else counted.games
    state = run_state(run.folder, games, planned)
    leader = leader_of(run, games, planned)
    return Glance(run.info, state, min(games, planned), planned, leader)


def run_state(folder: Path, games: int, planned: int) -> RunState:
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


def count_games(
    folder: Path, before: JournalCount = NOTHING, most: int = MOST_COUNTED
) -> JournalCount:
    """Count the games of a journal from where the last count ended, reading at most ``most`` bytes.
    Raises RunError.
    """
    path, (offset, games, _) = journal_of(folder), before
    if path.suffix == COMPRESSED:
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
    return JournalCount(offset, games, offset >= size)


def rated_run(
    run: Run,
    prior: float | None = None,
    anchors: Mapping[str, float] | None = None,
    match: Sequence[str] | None = None,
    without: Sequence[str] = (),
) -> tuple["Tables", Completeness | None]:
    """The tables of a run, and how complete it is (None if this version cannot read the plan). The
    notes mention both.
    """
    # Pandas: whoever looks at runs without rating them never loads it.
    from arena.ratings.tables import run_tables  # noqa: PLC0415

    tables = run_tables(run.folder, run.info, prior, anchors, match, without)
    try:
        plan = completeness(run.schedule, tables.blocks)
    except ConfigError as error:
        unknown = f"it is not known whether games are missing: {error}"
        return tables._replace(notes=[unknown, *tables.notes]), None
    if not plan.missing:
        return tables, plan
    note = f"{plan.missing} of the {plan.games} planned games are missing"
    if not tables.match:
        count = f"with the games played so far: {plan.incomplete_blocks}"
        note += f"; incomplete blocks, which count {count}"
    return tables._replace(notes=[note, *tables.notes]), plan


class Standings(NamedTuple):
    """The tables of games, as ``arena standings --json`` has them, with all their digits.

    ``standings``   one row a bot, best first: rank, bot, elo, elo_low, elo_high (95 %), games ...
    ``pairs``       one row for each bot and opponent
    ``seats``       one row for each table size and seat
    ``covariance``  of the ratings in Elo squared, by the bots' names
    ``notes``, ``sentences``  what the text under the table says
    ``missing``     how many planned games are not played; None if there is no plan
    """

    standings: "pd.DataFrame"
    pairs: "pd.DataFrame"
    seats: "pd.DataFrame"
    covariance: "pd.DataFrame"
    games: int
    deals: int
    notes: list[str]
    sentences: list[str]
    missing: int | None = None

    def _repr_html_(self) -> str:
        return self.standings.to_html(index=False)


def standings_of(tables: "Tables", plan: Completeness | None = None) -> Standings:
    """The tables of games as programs get them. ``plan`` says how many planned games are missing;
    None for games without a plan.
    """
    return Standings(
        standings=tables.standings,
        pairs=tables.pairs,
        seats=tables.seats,
        covariance=tables.covariance,
        games=tables.games,
        deals=tables.clusters,
        notes=list(tables.notes),
        sentences=list(tables.sentences),
        missing=None if plan is None else plan.missing,
    )


class ComparisonResult(NamedTuple):
    """The answer of a comparison, as in ``arena compare --json``.

    ``verdict``  ``better``, ``not better`` or ``undecided``
    ``elo``      the difference, median-unbiased, with its 95 % interval; infinite ends are open
    ``plain``    the difference as if the number of blocks had been fixed in advance
    ``looks``    one row for each look at the test: blocks, llr, lower, upper, elo, error (half of
                 the 95 % interval), verdict
    """

    path: Path
    verdict: str
    new: str
    old: str
    blocks: int
    games: int
    llr: float
    elo: "Estimate"
    plain: "Estimate"
    looks: "pd.DataFrame"


def comparison_of(folder: Path, request: Request, contest: "Contest") -> ComparisonResult:
    """What programs get of a comparison whose looks were kept."""
    # Pandas and scipy: commands do without.
    import pandas as pd  # noqa: PLC0415

    from arena.ratings.estimates import Look, plain_estimate, unbiased_estimate  # noqa: PLC0415

    test, (new, old) = contest.test, (bot.label for bot in request.bots[:2])
    looks = pd.DataFrame(contest.looks, columns=pd.Index(Look._fields))
    looks["verdict"] = looks["verdict"].astype(str)
    looks.insert(2, "lower", test.question.lower)
    looks.insert(3, "upper", test.question.upper)
    return ComparisonResult(
        folder, str(test.verdict), new, old, test.blocks, contest.games, test.llr,
        unbiased_estimate(test), plain_estimate(test), looks,
    )  # fmt: skip
