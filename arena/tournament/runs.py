"""Requests for runs, and the runs that exist: what run.json says about a run, how much of it has
been played, which run a request continues, and the request that continues a run.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena import __version__
from arena.errors import ConfigError, RunError, UserError
from arena.players.folder import Bot, labels_of, played_copy
from arena.players.labels import split_options
from arena.players.manifest import Manifest, check_name
from arena.players.messages import PROTOCOL
from arena.players.player import IN_PROCESS, built_in_bot
from arena.records.config import Comparison, LeagueTerms, RunConfig, Tuning
from arena.records.record import name_of
from arena.records.runfile import RUN_FILE, BotInfo, RunInfo, read_run
from arena.records.timing import Timing
from arena.rules import CORE
from arena.rules.boards import BUILT_IN, Board, built_in, read_board
from arena.rules.terms import REVISION
from arena.tournament.consistency import make_config
from arena.tournament.differences import KINDS, differences, has_grown
from arena.tournament.run import Run
from arena.tournament.schedule import Schedule
from arena.tournament.settings import (
    DECLARED,
    OUTSIDE_CONFIG,
    UNTIL_DEALS,
    GivenOptions,
    Settings,
    default_of,
)

KEPT_BYTES = 1 << 20
"""The size in bytes of the largest run.json that is kept while other runs are read. A run of a
million line-ups has one of 100 MiB.
"""
NO_GRANTS: Mapping[str, list[str]] = {}


def timing_of(settings: Settings) -> Timing:
    """The time control in these settings, with the defaults of `Timing` for limits that are
    missing.
    """
    values: Mapping[str, Any] = settings
    return Timing(**{name: values[name] for name in Timing.__struct_fields__ if name in values})


def boards_of(settings: Settings) -> dict[str, Board]:
    """The boards in these settings, by name: the named ones and those of the files; if none are
    named, those of the match, or the default board if there is neither a match nor a file. Raises
    BoardError, ConfigError.
    """
    files = [Path(file) for file in settings.get("board_files", ())]
    names = [] if files else default_of("boards")
    if match := settings.get("match"):
        in_files = {file.stem for file in files}
        names = [name for name in match if name not in in_files]
    boards = {name: built_in(name) for name in settings.get("boards", names)}
    for path in files:
        board = read_board(path)
        check_name(board.name, str(path))
        if board.name in boards or board.name in BUILT_IN:
            taken = ", ".join(sorted({*boards, *BUILT_IN}))
            raise ConfigError(f"{path}: another board is already named {taken}", "rename the file")
        boards[board.name] = board
    return boards


class Request(Struct, frozen=True):
    """A checked request for a run: its settings, with the boards and the bots that they name.

    If the settings have no ``seed``, a new run gets a secret one, and a known run keeps its own.

    ``idle`` are the labels of those ``bots`` that play no games in this session of a league. They
    are neither copied nor built.
    """

    config: RunConfig
    boards: Mapping[str, Board]
    bots: Sequence[Bot]
    idle: frozenset[str] = frozenset()

    def config_for(self, seed: str) -> RunConfig:
        """The settings of the request; if they have no seed, they get this ``seed``."""
        return replace(self.config, seed=self.config.seed or seed)


def make_request(
    options: GivenOptions,
    boards: Mapping[str, Board],
    bots: Sequence[Bot],
    compare: Comparison | None = None,
    tune: Tuning | None = None,
    league: LeagueTerms | None = None,
) -> Request:
    """The checked request for a run with these options, boards and bots; ``boards`` and ``bots``
    count, not what the options say about them. For a tournament, ``compare``, ``tune`` and
    ``league`` are None; for a run of another kind, one of them says what it asks. Raises
    ConfigError.
    """
    # A setting that is in neither place ends in an error, and not without effect.
    settings = {name: value for name, value in options.items() if name in DECLARED}
    for name in OUTSIDE_CONFIG:
        settings.pop(name, None)
    if "until" in settings:
        settings.setdefault("deals", UNTIL_DEALS)
    settings |= {
        "seed": str(options.get("seed", "")),
        "boards": list(boards),
        "bots": labels_of(bots),
        "compare": compare,
        "tune": tune,
        "league": league,
    }
    return Request(make_config(settings), boards, bots)


def describe_run(
    config: RunConfig,
    boards: Mapping[str, Board],
    bots: Sequence[Bot],
    *,
    sandbox: str,
    started: str,
    grants: Mapping[str, list[str]] = NO_GRANTS,
) -> RunInfo:
    """The contents of run.json for a run with these settings. ``started`` is a time in UTC;
    ``grants`` are allowed to bots beyond the sandbox, by label without options.
    """
    return RunInfo(
        arena=__version__,
        protocol=PROTOCOL,
        rules_core=CORE,
        rules_revision=REVISION,
        config=config,
        boards={name: list(boards[name].rows) for name in config.boards},
        bots=[replace(info_of(bot), grants=grants.get(bot.base, [])) for bot in bots],
        seed=config.seed,
        sandbox=sandbox,
        started=started,
    )


def info_of(bot: Bot) -> BotInfo:
    """The entry of a bot in run.json, without grants."""
    options = {**bot.options, **bot.limits}
    return BotInfo(bot.label, str(bot.manifest.version), bot.sha256, bot.command, options)


class Completeness(NamedTuple):
    """How much of a run's plan has been played: the number of its ``games``, of ``missing`` games,
    and of blocks that have some of their games but not all (``incomplete_blocks``).
    """

    games: int
    missing: int
    incomplete_blocks: int


class FoundRun(NamedTuple):
    """A run in a folder of runs: the run's own folder, and the ``info`` that was read from its
    run.json to put the runs in order. ``info`` is None if the file cannot be read, or if it is too
    large to be kept for every run; whoever needs it then reads the file again.
    """

    folder: Path
    info: RunInfo | None


def find_runs(results: Path, *, keeps_info: bool = True) -> list[FoundRun]:
    """All runs in ``results``, by the time at which they started, the oldest first; runs whose
    run.json cannot be read come before all others. Empty if there is no such folder. Without
    ``keeps_info`` no run has its info: that of thousands of runs takes memory.
    """
    if not results.is_dir():
        return []
    keyed = []
    for folder in results.iterdir():
        try:
            status = (folder / RUN_FILE).stat()
        except OSError:
            continue
        if not S_ISREG(status.st_mode):
            continue
        started, kept = _read_started(folder, status.st_size)
        # No two folders have the same name, so the key never compares what comes after it.
        found = FoundRun(folder, kept if keeps_info else None)
        keyed.append((started, status.st_mtime_ns, folder.name, found))
    return [found for *_, found in sorted(keyed)]


def list_runs(results: Path) -> list[Path]:
    """The folders of all runs in ``results``, in the order of `find_runs`."""
    return [found.folder for found in find_runs(results, keeps_info=False)]


def _read_started(folder: Path, size: int) -> tuple[str, RunInfo | None]:
    """When the run in ``folder`` was started, as a text in UTC, and its run.json if it is small
    enough to be kept; ``size`` is the size of the file in bytes. The text is empty if the file
    cannot be read.
    """
    try:
        info = read_run(folder)
    except RunError:
        return "", None
    # A league's draws are in a file of their own, which has no limit.
    return info.started, None if size > KEPT_BYTES or info.is_league else info


def completeness(
    schedule: Schedule, blocks: Iterable[tuple[str, Sequence[int], Sequence[int]]]
) -> Completeness:
    """How much of a plan has been played. Each of the ``blocks`` has a text ``board/line-up``, the
    numbers of deals, and for each of these deals the number of games that were played.
    """
    played, incomplete = 0, 0
    for place, deals, counts in blocks:
        for deal, games in zip(deals, counts, strict=True):
            if schedule.needs_block(place, deal):
                played += games
                incomplete += games < schedule.block_size
    return Completeness(schedule.planned, schedule.planned - played, incomplete)


def choose_folder(
    results: Path, request: Request, *, finished: bool = False, prefix: str = ""
) -> tuple[Path, Path | None]:
    """The newest unfinished run in ``results`` with exactly the requested settings (``finished``
    also accepts a finished run), or else a path for a new run, named by ``prefix``, the date and a
    number. Runs that cannot be read are skipped.

    The second value is for a hint: if a path for a new tournament was chosen, the newest unfinished
    tournament with other settings; None if there is none, and in all other cases.
    """
    passed_over = None
    is_tournament = not (request.config.compare or request.config.tune)
    for folder, info in reversed(find_runs(results)):
        try:
            run = Run(folder, info)
            config = run.config
            matches_request = _is_just_this(run.info, request)
            if matches_request and finished:
                return folder, None
            is_other_kind = any(getattr(config, key) for key in KINDS)
            can_be_suggested = is_tournament and not (passed_over or is_other_kind)
            # Counting reads a whole journal: only where the answer depends on it.
            if matches_request:
                played, planned = run.progress()
                if played != planned:
                    return folder, None
            elif can_be_suggested and not run.is_finished():
                passed_over = folder
        except (ConfigError, RunError):
            continue
    day = datetime.now(UTC).strftime(f"{prefix}%Y-%m-%d")
    number = 1
    while (results / f"{day}-{number}").exists():
        number += 1
    return results / f"{day}-{number}", passed_over


def _is_just_this(info: RunInfo, request: Request) -> bool:
    """Whether a run has exactly the requested settings, deals and bots."""
    # What bots may do is compared when the run is opened, and then said.
    grants = {}
    for bot in info.bots:
        base, _ = split_options(bot.name)
        grants[base] = bot.grants
    wanted = describe_run(
        request.config_for(info.seed),
        request.boards,
        request.bots,
        sandbox=info.sandbox,
        started=info.started,
        grants=grants,
    )
    return not has_grown(info, wanted) and not differences(info, wanted)


CURE = "the command that started the run finishes it with the bots it names"
CURE_IN_LEAGUE = "restore the files that were played"


def tournament_request(run: Run) -> Request:
    """The request that continues a tournament as it was begun. Raises RunError, BotFolderError, and
    ConfigError for a run of another kind.
    """
    for setting, kind in KINDS.items():
        if getattr(run.config, setting):
            raise ConfigError(
                f"{run.folder} is no tournament but {kind}", "that command continues it"
            )
    return resume_request(run)


def resume_request(
    run: Run, leave_out: Callable[[str, UserError], object] | None = None
) -> Request:
    """The request that continues a run of any kind without changes, made from its run.json. Raises
    RunError, BotFolderError, and ConfigError, also for a game that a person played.

    With ``leave_out``, no error is raised for a bot whose copy is missing or has changed: such a
    bot is idle in the request, and ``leave_out`` is called with its label and the error.
    """
    config = run.config
    info = run.info
    if config.game:
        raise ConfigError(
            f"{run.folder} is a game that a person played, not a tournament",
            "it is finished; 'arena play --human' plays another",
        )
    for what, named, there in (
        ("boards", config.boards, list(info.boards)),
        ("bots", config.bots, info.bot_names),
    ):
        if sorted(named) != sorted(there):
            raise ConfigError(
                f"{run.folder / RUN_FILE}: expected the same {what} in its settings as beside them,"
                f" {', '.join(there) or 'none'}, got {', '.join(named) or 'none'}",
                "something else changed the file: restore it",
            )
    # What a run decides for itself it keeps: opening it again puts these back.
    open_again = msgspec.structs.replace(
        config, line_ups=None, allotted=None, settled=None, drawn=[]
    )
    bots = []
    idle = set()
    for entry in info.bots:
        try:
            bots.append(_bot(run, entry))
        except UserError as error:
            if leave_out is None:
                raise
            leave_out(entry.name, error)
            bots.append(_bot_without_files(run, entry))
            idle.add(entry.name)
    return Request(open_again, run.boards, bots, frozenset(idle))


def _bot(run: Run, bot: BotInfo) -> Bot:
    """A bot of a run, from its entry in run.json and its copy in the run's folder. It has the hash
    of the entry, because a copy that contains build results has another one.
    """
    if bot.command[:-1] == IN_PROCESS:
        return msgspec.structs.replace(built_in_bot(bot.command[-1]), label=bot.name)
    cure = CURE_IN_LEAGUE if run.info.is_league else CURE
    return msgspec.structs.replace(copy_of(run, bot, cure), sha256=bot.sha256)


def _bot_without_files(run: Run, bot: BotInfo) -> Bot:
    """A bot of a run, from its entry in run.json alone; it cannot be played."""
    manifest = Manifest(name=name_of(bot.name), version=bot.version, command=bot.command)
    return Bot(bot.name, manifest, run.folder / bot.copy, bot.sha256)


def copy_of(run: Run, bot: BotInfo, cure: str) -> Bot:
    """The copy, in a run's folder, of a bot that plays there. Raises RunError with the hint
    ``cure`` if the copy is gone or its files have changed, and BotFolderError if it is no bot any
    more.
    """
    if not (run.folder / bot.copy).is_dir():
        raise RunError(
            f"the copy of {bot.name} that was played is missing: {run.folder / bot.copy}", cure
        )
    copy = played_copy(run.folder, bot)
    if copy.sha256 != bot.sha256 and not (copy.manifest.build and run.info.may_hold_builds):
        raise RunError(
            f"the files of {bot.name} in {copy.folder} have changed since they were played", cure
        )
    return copy
