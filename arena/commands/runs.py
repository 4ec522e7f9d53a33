"""The runs of a home: finds them by name, sums each up in one row, and rates them.

A summary computes no ratings, and does not disturb a run that is being played. The files of a run
may come from anybody, so they are read with care.
"""

import csv
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from io import StringIO
from itertools import filterfalse
from math import isfinite, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from arena.commands.home import results_folder
from arena.errors import ConfigError, RunError
from arena.exports.grid import number
from arena.players.folder import labels_of
from arena.players.temporary import remove_tree
from arena.ratings.cells import text_of
from arena.ratings.column import column_named, in_whole_elo
from arena.ratings.columns import STANDINGS
from arena.records.journal import COMPRESSED, journal_of
from arena.records.regular import BusyError, lock_file, lock_run, open_regular, read_regular
from arena.records.runfile import RUN_FILE, RunInfo, read_run
from arena.tournament.run import MAX_STANDINGS, STANDINGS_FILE, Run
from arena.tournament.runs import (
    Completeness,
    FoundRun,
    Request,
    completeness,
    find_runs,
    list_runs,
)

if TYPE_CHECKING:
    import pandas as pd

    from arena.commands.playing import Contest
    from arena.ratings.estimates import Estimate
    from arena.ratings.tables import Tables

MAX_NAMED = 10
"""The most runs that an error names."""
OUTGOING = ".outgoing-"
"""How the temporary folder is called into which a run is moved while it is removed."""
MAX_RUNS = 100
"""At most this many of the newest runs are searched for a bot's latest rating."""
QUIET_S = 60.0
"""If a run's journal has not changed for this many seconds, the run counts as stopped."""
AT_ONCE = 1 << 20
"""The number of bytes that are read at once of a journal whose games are counted."""
MAX_COUNTED = 256 << 20
"""The most bytes of a journal that are counted in one call. A file with holes takes no space on
disk and may be endless.
"""
RunState = Literal["finished", "playing", "stopped"]
"""The states of a run: all games played, games being played, or neither."""
_ELO = in_whole_elo(column_named("elo", STANDINGS))
_ERROR = in_whole_elo(column_named("error", STANDINGS))


def every_run(results: Path) -> dict[str, FoundRun]:
    """All runs in ``results``, by the names that commands accept: first the runs in ``results``
    itself, the oldest first, then those in its collections. A collection is a folder
    that is no run, such as that of a league with a run for each number of players; its runs are
    called ``league-2/2-players``.
    """
    runs = {found.folder.name: found for found in find_runs(results)}
    inside = sorted(results.iterdir()) if results.is_dir() else []
    for collection in inside:
        if collection.name not in runs and not collection.is_symlink():
            for found in find_runs(collection):
                runs[f"{collection.name}/{found.folder.name}"] = found
    return runs


def run_folder(home: Path, run: str | None) -> Path:
    """The folder of the run with this name or path. None stands for the newest run; games that a
    person played are passed over if there is any other run. Raises RunError.
    """
    results = results_folder(home)
    if run is None:
        runs = list_runs(results)
        if not runs:
            raise RunError(
                f"there is no run in {results} yet",
                "start one with 'arena run', or name a run's folder",
            )
        return next(filterfalse(_is_one_game, reversed(runs)), runs[-1])
    folders = [results / run]
    # With an absolute path, and inside of the results, both are the same folder.
    if Path(run).resolve() != folders[0].resolve():
        folders.append(Path(run))
    for folder in folders:
        if (folder / RUN_FILE).is_file():
            return folder
    files: list[Path] = []
    for folder in folders:
        files += folder.glob(f"*/{RUN_FILE}")
    inner = sorted(str(file.parent) for file in files)
    if inner:
        more = f" and {len(inner) - MAX_NAMED} more" if len(inner) > MAX_NAMED else ""
        raise RunError(
            f"{run!r} is a folder of runs, not a run",
            f"name one of them: {', '.join(inner[:MAX_NAMED])}{more}",
        )
    names = [folder.name for folder in list_runs(results)]
    known = ", ".join(names) or "none"
    raise RunError(f"expected a run's name or folder, got {run!r}", f"runs in {results}: {known}")


def named_run(home: Path, name: str | None) -> Run:
    """The run with this name or path, None for the newest one, opened; see `run_folder`. Raises
    RunError.
    """
    return Run(run_folder(home, name))


def remove_run(folder: Path) -> None:
    """Removes the folder of a run. Raises RunError if it is a symbolic link, if a command is
    playing or reviewing the run, or if it cannot be removed.
    """
    if folder.is_symlink():
        raise RunError(
            f"{folder} is a link, not the folder of a run",
            f"remove the link, or name the folder that it leads to: {folder.resolve()}",
        )
    place = folder.resolve()  # so that the folder has a name even if the user typed "."
    try:
        with ExitStack() as stack:
            stack.enter_context(lock_run(folder))
            for path in folder.glob("*.jsonl"):
                stack.enter_context(lock_file(path))
            for left in place.parent.glob(f"{OUTGOING}*"):  # left by an interrupted removal
                remove_tree(str(left))
            # The folder is renamed first, so that an interruption leaves no half of a run.
            outgoing = tempfile.mkdtemp(prefix=OUTGOING, dir=place.parent)
            place.rename(Path(outgoing, place.name))
            remove_tree(outgoing)
    except BusyError as error:
        error.hint = "stop the command that plays or reviews it, then remove it"
        raise
    except OSError as error:
        raise RunError(f"cannot remove {folder}: {error}") from error


def _is_one_game(run: Path) -> bool:
    """Whether the folder of a run holds a single game that a person played; False if its run.json
    cannot be read.
    """
    try:
        return read_run(run).is_one_game
    except RunError:
        return False


RATED_COLUMNS = frozenset(
    ("rank", "bot", "elo", "elo_low", "elo_high", "mark", "games", "forfeits")
)
"""The columns of standings.csv that a `Rated` is made of."""


class Rated(NamedTuple):
    """A bot's row in the standings of a run. A missing figure is NaN, and so is the open side of a
    bound ("weaker than" or "stronger than").
    """

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
        """The rating with its error bar as tables show it: ``210 +/- 31``, or ``< -1285`` for a
        bound.
        """
        row = self._asdict()
        elo = _ELO.written(row, number)
        error = _ERROR.written(row, number)
        return elo if error == number(nan, 0) else f"{elo} +/- {error}"

    @property
    def is_settled(self) -> bool:
        """Whether the rating has an interval with two ends, and no mark that calls it a bound or a
        guess from few games.
        """
        return not self.mark and isfinite(self.elo_low) and isfinite(self.elo_high)

    def object(self) -> dict[str, Any]:
        """The rating as an object for JSON, with None in place of NaN."""
        row = self._asdict()
        for key, value in row.items():
            if isinstance(value, float) and isnan(value):
                row[key] = None
        return row


def ratings_in(folder: Path) -> list[Rated]:
    """The bots in the standings.csv of the run in ``folder``, the best first. Empty if there is no
    such file, if this user may not read it, or if it is not a file that this arena writes. Raises
    OSError if reading fails for another reason.
    """
    try:
        data = read_regular(folder, STANDINGS_FILE, MAX_STANDINGS)
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
    """The first bot in the standings.csv of a run, of whose ``planned`` games ``played`` have been
    played. None if there is no such file, or if it does not cover all of these games. A comparison
    may have played more games than planned; its file counts only the planned ones.
    """
    rated_bots = ratings_in(run.folder)
    seats = sum(rated.games for rated in rated_bots)
    rounds = len(run.info.counting.match) or 1
    players = run.info.counting.players
    is_whole = seats * rounds in {players * played, players * min(played, planned)}
    return rated_bots[0] if rated_bots and is_whole else None


def latest_ratings(
    folders: list[Path], name_of_run: Callable[[Path], str] = lambda folder: folder.name
) -> dict[tuple[str, str], Rated]:
    """The latest rating of each bot in the runs ``folders``, which are given oldest first, by the
    bot's name and the sha256 of its files. Only the last `MAX_RUNS` folders are read. A later
    rating that is not settled does not replace a settled one. ``name_of_run`` takes the folder of a
    run and returns the name that its ratings have (``run``).
    """
    latest = dict[tuple[str, str], Rated]()
    for folder in folders[-MAX_RUNS:]:
        rows = {rated.bot: rated for rated in ratings_in(folder)}
        with suppress(RunError):
            for bot in read_run(folder).bots if rows else ():
                rated = rows.get(bot.name)
                before = latest.get((bot.name, bot.sha256))
                if rated and not (before and before.is_settled > rated.is_settled):
                    latest[bot.name, bot.sha256] = rated._replace(run=name_of_run(folder))
    return latest


def _rated(run: str, row: dict[str, str]) -> Rated:
    """The `Rated` in a row of the standings.csv of ``run``. Raises ValueError if a cell that should
    be a number is not.
    """
    return Rated(
        run=run,
        bot=text_of(row["bot"]),
        rank=int(row["rank"]),
        elo=float(row["elo"] or nan),
        elo_low=float(row["elo_low"] or nan),
        elo_high=float(row["elo_high"] or nan),
        mark=row["mark"],
        games=int(row["games"]),
        forfeits=int(row["forfeits"]),
    )


class JournalCount(NamedTuple):
    """The number of games in the first ``offset`` bytes of a journal. ``is_whole`` says whether the
    journal ended there.
    """

    offset: int = 0
    games: int = 0
    is_whole: bool = True


NOTHING = JournalCount()
"""The count of a journal of which nothing has been read."""


class Glance(NamedTuple):
    """The summary of a run. ``games`` is the number of games that have been played. ``state`` and
    ``planned``, the number of games in its plan, are None if this version cannot read the plan.
    ``leader`` is the first bot of its standings, None without any.
    """

    info: RunInfo
    state: RunState | None
    games: int
    planned: int | None
    leader: Rated | None


def glance(run: Run, counted: JournalCount) -> Glance:
    """The summary of a run. ``counted`` is the count of the games in its journal, see
    `count_games`.
    """
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
    """The state of the run in ``folder``, of whose ``planned`` games ``games`` have been played. An
    unfinished run counts as stopped if its journal has not changed for `QUIET_S` seconds.
    """
    # A process that writes a journal holds its lock. The lock is not tried here, because a try
    # holds it for a moment, in which a run that just begins would be refused.
    if games >= planned:
        return "finished"
    return "stopped" if is_quiet(folder) else "playing"


def is_quiet(folder: Path) -> bool:
    """Whether the journal of the run in ``folder`` was last changed more than `QUIET_S` seconds
    ago. True also if the run has no journal yet, and for a finished run.
    """
    try:
        return time.time() - journal_of(folder).lstat().st_mtime > QUIET_S
    except OSError:
        return True


def count_games(
    folder: Path, before: JournalCount = NOTHING, most: int = MAX_COUNTED
) -> JournalCount:
    """Counts the games in a run's journal, continuing after those of the count ``before`` and
    reading at most ``most`` bytes; if the file has become shorter, it counts from the start. A
    compressed journal is not counted: ``before`` is returned. If the file cannot be read, `NOTHING`
    is returned. Raises RunError if it is not a regular file.
    """
    path = journal_of(folder)
    offset = before.offset
    games = before.games
    if path.suffix == COMPRESSED:
        return before
    try:
        with os.fdopen(open_regular(folder, path.name), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            if size < offset:
                offset = games = 0
            file.seek(offset)
            end = offset + most
            while offset < end:
                part = file.read(min(AT_ONCE, end - offset))
                if not part:
                    break
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
    """The tables of a run, and how much of its plan has been played; None if this version cannot
    read the plan. ``prior``, ``anchors`` (fixed ratings in Elo by bot), ``match`` and ``without``
    (labels to leave out) are options of the rating, see `run_tables`. The tables' notes mention
    games that are missing. Raises RunError, NoAnswerError, and UserError for names that the run
    does not have.
    """
    # This loads pandas, which is not needed to list runs.
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
    """The tables of rated games, not rounded. ``arena standings --json`` has the same, except for
    ``covariance``; it has ``pairs`` only with --pairs, and ``missing`` as a part of ``plan``.

    ``standings``   one row per bot, best first: rank, bot, elo, elo_low, elo_high (95 %), games ...
    ``pairs``       one row for each bot and opponent
    ``seats``       one row for each number of players and seat
    ``covariance``  the covariance of the ratings in Elo squared, by the bots' names
    ``games``       the number of counted games, or matches
    ``deals``       the number of deals
    ``notes``, ``sentences``  the text under the table
    ``missing``     the number of planned games that have not been played; None without a plan
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
    """The tables of a run in the form that programs get. ``plan`` says how many planned games are
    missing; None for games without a plan.
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

    ``path``     the folder of its run
    ``verdict``  ``better``, ``not better`` or ``undecided``
    ``new``, ``old``  the labels of the two bots
    ``blocks``, ``games``  how many blocks and games the answer is based on
    ``llr``      the log likelihood ratio of the test; above 0 speaks for better
    ``elo``      the median-unbiased difference with its 95 % interval; infinite ends are open
    ``plain``    the difference as if the number of blocks had been fixed in advance
    ``looks``    one row for each evaluation of the test: blocks, llr, lower, upper, elo, error
                 (half of the 95 % interval), verdict
    ``identical`` whether the two bots played the same moves in every game; then ``elo`` and
                 ``plain`` are NaN with open ends
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
    identical: bool = False


def comparison_of(folder: Path, request: Request, contest: "Contest") -> ComparisonResult:
    """The answer of the comparison whose run is in ``folder``, in the form that programs get. The
    ``contest`` must have been made with ``keeps_looks``.
    """
    # This loads pandas and scipy, which commands do not need.
    import pandas as pd  # noqa: PLC0415

    from arena.ratings import estimates  # noqa: PLC0415

    test = contest.test
    new, old = labels_of(request.bots[:2])
    looks = pd.DataFrame(contest.looks, columns=pd.Index(estimates.Look._fields))
    looks["verdict"] = looks["verdict"].astype(str)
    looks.insert(2, "lower", test.question.lower)
    looks.insert(3, "upper", test.question.upper)
    return ComparisonResult(
        folder, str(test.verdict), new, old, test.blocks, contest.games, test.llr,
        estimates.UNKNOWN if contest.is_same else estimates.unbiased_estimate(test),
        estimates.UNKNOWN if contest.is_same else estimates.plain_estimate(test),
        looks, contest.is_same,
    )  # fmt: skip
