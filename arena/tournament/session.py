"""A run on disk: finding it, starting it, comparing it with the wanted settings, continuing it."""

import logging
import os
import platform
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from arena.errors import ConfigError, RunError
from arena.players.builtin import is_built_in
from arena.players.folder import Bot
from arena.players.options import split_options
from arena.players.passing import remove_abandoned, remove_tree
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import stage
from arena.records.ids import Ids
from arena.records.journal import FILE as JOURNAL
from arena.records.journal import Journal, journal_of, read_ids
from arena.records.league import FILE as LEAGUE
from arena.records.origin import FILE as MARK
from arena.records.origin import is_made_here, mark_run
from arena.records.regular import folder_below, has_folder
from arena.records.runfile import FILE as RUN_FILE
from arena.records.runfile import RunInfo, read_run, write_run
from arena.tournament.allotment import fix_allotment
from arena.tournament.config import RunConfig, describe_run, extended, info_of, make_config
from arena.tournament.differences import differences, has_grown, refuse_differences
from arena.tournament.lineups import fix_line_ups
from arena.tournament.request import Request
from arena.tournament.schedule import Schedule
from arena.tournament.workers import Setup

SEED_BYTES = 16
QUESTIONS = ("compare", "tune", "league")
"""The settings of runs that their own command goes on with."""

log = logging.getLogger(__name__)


class Session(Struct):
    """A run that is open for playing.

    ``is_new`` if it was just started. ``known`` games of the schedule were already in the journal.
    ``repaired`` bytes of a torn record were cut off the journal. ``unmarked`` says why the run
    could not be marked as made here, so that continuing it will take --adopt.
    """

    folder: Path
    info: RunInfo
    config: RunConfig
    schedule: Schedule
    journal: Journal
    setup: Setup
    is_new: bool
    known: int
    repaired: int
    unmarked: str = ""

    def change(self, **changes: Any) -> None:
        """Continues with new settings, after writing them to run.json."""
        config = msgspec.structs.replace(self.config, **changes)
        if config != self.config:
            info = msgspec.structs.replace(self.info, config=msgspec.to_builtins(config))
            write_run(self.folder, info)
            self.info, self.config, self.schedule = info, config, Schedule(config)


class Means(Struct, frozen=True):
    """Where and how this session plays, without any effect on the games: processors to pin workers
    to, sandbox.
    """

    cores: list[int]
    sandbox: Sandbox
    log_level: int


class Completeness(NamedTuple):
    """The number of games in a run's plan, how many are missing, and how many blocks have only some
    of their games.
    """

    games: int
    missing: int
    incomplete_blocks: int


@contextmanager
def open_session(
    folder: Path, request: Request, means: Means, *, adopt: bool = False
) -> Iterator[Session]:
    """Opens the run in a folder, new or continued, and locks it for this process; its bots are
    copied there and built.

    A run made elsewhere continues only if the user says to ``adopt`` it. Raises ConfigError if the
    run exists and differs, RunError, BotFolderError.
    """
    _make_folder(folder)
    # Before the journal is opened, which would repair a stranger's; what counts is read again
    # below, once no other arena can write it.
    is_own = _is_own(folder, adopt=adopt)
    remove_abandoned()
    with Journal(folder) as journal:
        known = read_run(folder) if os.path.lexists(folder / RUN_FILE) else None
        if known is None and journal.ids:
            raise RunError(
                f"expected {folder / RUN_FILE} beside a journal, found none",
                "restore it, or choose another --out",
            )
        config, info = _plan(folder, known, request, means.sandbox)
        schedule = Schedule(config)
        played = schedule.played(journal.ids)
        if config.league and played < len(journal.ids):
            raise RunError(
                f"expected only games that {folder / LEAGUE} has drawn, got"
                f" {len(journal.ids) - played} others in the journal",
                "restore that file: it has lost lines, and their deals would be drawn again",
            )
        try:
            if not is_own and not any(bot.folder.is_relative_to(folder) for bot in request.bots):
                _drop_copies(folder)
            staged = {
                bot.label: bot if is_built_in(bot) else _staged(folder, bot, known, means.sandbox)
                for bot in request.bots
            }
            unmarked = "" if is_own else mark_run(folder, info)
            if info != known:
                write_run(folder, info)
        except BaseException:
            if known is None:
                _discard(folder)
            raise
        yield Session(
            folder=folder,
            info=info,
            config=config,
            schedule=schedule,
            journal=journal,
            setup=_setup(config, request, staged, means),
            is_new=known is None,
            known=played,
            repaired=journal.repaired,
            unmarked=unmarked,
        )


def _setup(config: RunConfig, request: Request, staged: dict[str, Bot], means: Means) -> Setup:
    """What each worker is told of the run."""
    return Setup(
        bots=staged,
        boards={name: board.rows for name, board in request.boards.items()},
        timing=config.timing,
        sandbox=means.sandbox,
        cores=means.cores,
        log_level=means.log_level,
        host=platform.node(),
        in_process=config.in_process,
        heard=frozenset(filter(config.keeps_stderr, staged)),
    )


def _plan(
    folder: Path, known: RunInfo | None, request: Request, sandbox: Sandbox
) -> tuple[RunConfig, RunInfo]:
    """The configuration and run.json of a run, new or extended. Raises ConfigError."""
    before = make_config(known.config) if known else None
    config = request.config_for(known.seed if known else new_seed())
    info = describe_run(
        config,
        request.boards,
        request.bots,
        sandbox=sandbox.tier,
        started=now(),
        known=known,
        grants={base: grants.words for base, grants in sandbox.grants.items()},
    )
    if known:
        refuse_differences(folder, known, info)
    config = fix_allotment(fix_line_ups(config, before), before)
    if before:
        kept = before.settled if config.compare else config.settled
        config = msgspec.structs.replace(config, settled=kept, drawn=before.drawn)
    info = msgspec.structs.replace(info, config=msgspec.to_builtins(config))
    return config, extended(known, info) if known else info


def _is_own(folder: Path, *, adopt: bool) -> bool:
    """Whether the run in a folder was made here; a new one is not yet. Raises RunError for one from
    elsewhere, unless it is adopted.
    """
    if not os.path.lexists(folder / RUN_FILE):
        return False
    if is_made_here(folder, read_run(folder)):
        return True
    if adopt:
        return False
    raise RunError(
        "expected a run that you started on this machine, got one from elsewhere, or from an"
        f" earlier version of the arena: {folder}",
        "if you trust it, add --adopt once; or start another run with --out NAME",
    )


def _staged(folder: Path, bot: Bot, known: RunInfo | None, sandbox: Sandbox) -> Bot:
    """A bot's copy in a run's folder, which is no link to another one. Raises RunError,
    BotFolderError.
    """
    copy = info_of(bot, known).copy
    with folder_below(folder, copy.split("/")[:-1], make=True):
        if os.path.lexists(folder / copy) and not has_folder(folder, copy):
            raise RunError(
                f"expected a copy of {bot.label} in {folder / copy}, got a link or a file",
                "remove it: it is copied anew",
            )
        return stage(bot, folder / copy, sandbox)


def _drop_copies(folder: Path) -> None:
    """Removes copies of bots that this user's arena did not make, so that they are made anew."""
    place = folder / "bots"
    if os.path.lexists(place):
        remove_tree(str(place))


def new_seed() -> str:
    """A seed that nobody can guess."""
    return secrets.token_hex(SEED_BYTES)


def now() -> str:
    """UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def list_runs(results: Path) -> list[Path]:
    """The folders of all runs, oldest first; two of one second by when run.json was written."""
    if not results.is_dir():
        return []
    found = [
        (read_started(folder), (folder / RUN_FILE).stat().st_mtime_ns, folder.name, folder)
        for folder in results.iterdir()
        if (folder / RUN_FILE).is_file()
    ]
    return [folder for *_, folder in sorted(found)]


def read_started(folder: Path) -> str:
    """When a run was started; an unreadable run.json sorts first."""
    try:
        return read_run(folder).started
    except RunError:
        return ""


def games_of(folder: Path, info: RunInfo) -> tuple[int, int]:
    """The number of played games of a run, and of all its games. Raises RunError, ConfigError for
    settings of another version.
    """
    schedule, seen = schedule_of(info), Ids()
    ids = read_ids(journal) if os.path.lexists(journal := journal_of(folder)) else ()
    return sum(seen.add(name) and schedule.has_game(name) for name in ids), schedule.planned


def schedule_of(info: RunInfo) -> Schedule:
    """The games of a run. Raises ConfigError for settings from another version."""
    return Schedule(make_config(info.config))


def completeness(
    schedule: Schedule, blocks: Iterable[tuple[str, Sequence[int], Sequence[int]]]
) -> Completeness:
    """How much of a run's plan has been played.

    ``blocks`` are those with games: for each ``board/line-up``, its deals and the number of games
    of each.
    """
    played, incomplete = 0, 0
    for place, deals, counts in blocks:
        for deal, games in zip(deals, counts, strict=True):
            if schedule.needs_block(place, deal):
                played += games
                incomplete += games < schedule.block_size
    return Completeness(schedule.planned, schedule.planned - played, incomplete)


class Chosen(NamedTuple):
    """A folder to play in; ``passed_over`` is the newest unfinished
    run, if it has other settings.
    """

    folder: Path
    passed_over: Path | None = None


def choose_folder(
    results: Path, request: Request, *, finished: bool = False, prefix: str = ""
) -> Chosen:
    """The newest unfinished run (or also ``finished``) with exactly these settings; else a folder
    for a new one, named by date after a ``prefix``.
    """
    passed_over = None
    for folder in reversed(list_runs(results)):
        try:
            info = read_run(folder)
            is_this = _is_just_this(info, request)
            # Counting reads a whole journal: only where the answer depends on it.
            may_be_told = passed_over is None and not (
                any(map(info.config.get, QUESTIONS))
                or request.config.compare
                or request.config.tune
            )
            if is_this and finished:
                return Chosen(folder)
            played, planned = games_of(folder, info) if is_this or may_be_told else (0, 0)
        except (ConfigError, RunError):
            continue
        if is_this and played != planned:
            return Chosen(folder)
        if may_be_told and played != planned:
            passed_over = folder
    day = datetime.now(UTC).strftime(f"{prefix}%Y-%m-%d")
    number = 1
    while (results / f"{day}-{number}").exists():
        number += 1
    return Chosen(results / f"{day}-{number}", passed_over)


def _is_just_this(info: RunInfo, request: Request) -> bool:
    """Whether a run has exactly the settings asked for, so that nothing of it would grow."""
    wanted = describe_run(
        request.config_for(info.seed),
        request.boards,
        request.bots,
        sandbox=info.sandbox,
        started=info.started,
        known=info,
        # What bots may do is compared when the run is opened, and then said.
        grants={split_options(bot.name)[0]: bot.grants for bot in info.bots},
    )
    return not has_grown(info, wanted) and not differences(info, wanted)


def _discard(folder: Path) -> None:
    """Removes what is left of a run that could not start."""
    _drop_copies(folder)
    for name in (JOURNAL, MARK):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / RUN_FILE).exists() and any(
            path.name not in (JOURNAL, MARK, LEAGUE, "bots", "logs") for path in folder.iterdir()
        ):
            raise RunError(
                f"expected {folder} to be a run or empty, got a folder with other files",
                "choose another --out",
            )
    except OSError as error:
        raise RunError(
            f"expected to make the run's folder {folder}, got {error}", "choose another --out"
        ) from error
