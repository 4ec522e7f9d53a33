"""Requests for runs, and runs that exist: what run.json says about a run, how much of it has been
played, and whether it can be continued; if not, why, and what the user can do.
"""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena import __version__
from arena.errors import ConfigError, RunError
from arena.players.folder import Bot, played_copy
from arena.players.labels import split_options
from arena.players.manifest import check_name
from arena.players.messages import PROTOCOL
from arena.players.player import IN_PROCESS, built_in_bot
from arena.players.sandbox.grants import NOTHING
from arena.records.config import Comparison, LeagueTerms, Parameter, RunConfig, Tuning
from arena.records.runfile import RUN_FILE, BotInfo, RunInfo, read_run
from arena.records.timing import Timing
from arena.rules import CORE
from arena.rules.boards import BUILT_IN, Board, built_in, read_board
from arena.rules.terms import REVISION
from arena.tournament.consistency import make_config, shown
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

IntOrFloat = int | float
STATE = ("bots", "seed", "line_ups", "settled", "allotted", "drawn", "in_process", "luck")
"""Settings that a run decides by itself, or that are compared in another way than the others."""
CURES = {
    "match": "; use 'arena standings --match' to see a run under another scoring",
    "by": "; a test keeps to what it counts, so compare by the other in a run of its own",
}
KINDS = {
    "compare": "a comparison by 'arena compare'",
    "tune": "a search by 'arena tune'",
    "league": "a league by 'arena league run'",
}
TOURNAMENT = "a tournament by 'arena run'"
NO_GRANTS: Mapping[str, list[str]] = {}
OTHER_RUN = "start another run with --out NAME"


def timing_of(settings: Settings) -> Timing:
    """The time control in these settings, with usual values for limits that are missing."""
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
        names = [name for name in match if name not in {file.stem for file in files}]
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
    """

    config: RunConfig
    boards: Mapping[str, Board]
    bots: Sequence[Bot]

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
    """The checked request for a run with these options, boards and bots. Raises ConfigError."""
    values = dict(options)
    settings = {
        **({"deals": UNTIL_DEALS} if "until" in values else {}),
        # A setting that is in neither place ends in an error, and not without effect.
        **{
            name: value
            for name, value in values.items()
            if name in DECLARED and name not in OUTSIDE_CONFIG
        },
        "seed": str(values.get("seed", "")),
        "boards": list(boards),
        "bots": [bot.label for bot in bots],
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


def refuse_differences(folder: Path, known: RunInfo, wanted: RunInfo) -> None:
    """Raises ConfigError, with all differences, if the run in ``folder`` cannot continue as
    ``wanted``.
    """
    there = _kind_of(known)
    here = _kind_of(wanted)
    other = (
        OTHER_RUN if here != KINDS["league"] else "start another league: 'arena league run NAME'"
    )
    if there != here:
        raise ConfigError(f"{folder} is not {here}, but {there}", other)
    if lines := differences(known, wanted):
        raise ConfigError(
            f"the run in {folder} has other settings:\n  " + "\n  ".join(lines),
            _cure(shlex.quote(folder.name), known, wanted, other),
        )


def _kind_of(info: RunInfo) -> str:
    """The kind of a run in words, with the command that plays such runs."""
    config = _settings_of(info)
    return next((kind for key, kind in KINDS.items() if getattr(config, key)), TOURNAMENT)


def _settings_of(info: RunInfo) -> RunConfig:
    """The settings of a run whose settings have been read before, so that they are there."""
    assert info.config is not None, "settings that this version knows"
    return info.config


def _cure(run: str, known: RunInfo, wanted: RunInfo, other: str) -> str:
    """What to do about the differences: use the grants of the run, finish it with its copies of
    bots, use the command that started it, or ``other``.
    """
    there = {bot.name: bot for bot in known.bots}
    is_tournament = _kind_of(known) == TOURNAMENT
    as_then = [
        replace(bot, grants=there[bot.name].grants) if bot.name in there else bot
        for bot in wanted.bots
    ]
    if differences(known, replace(wanted, bots=as_then)):
        has_changed = any(
            bot.name in there and there[bot.name].sha256 != bot.sha256 for bot in wanted.bots
        )
        if is_tournament and has_changed:
            finish = f"'arena run --finish {run}' plays the rest with the bots as they were"
            return f"{finish}; for those of now, {OTHER_RUN}"
        return f"use the command that started the run, or {other}"
    tuning = _settings_of(known).tune
    needed = {
        split_options(tuning.bot if tuning else bot.name)[0]: bot.grants or [NOTHING]
        for bot, now in zip(as_then, wanted.bots, strict=True)
        if bot.grants or now.grants
    }
    words = " ".join(
        shlex.join(("--allow", f"{base}={','.join(grants)}")) for base, grants in needed.items()
    )
    if not is_tournament or has_grown(known, wanted):
        return f"repeat the command with just this --allow: {words}"
    return f"continue it with: arena run --finish {run} {words}"


def has_grown(known: RunInfo, wanted: RunInfo) -> bool:
    """Whether ``wanted`` has more deals, line-ups or bots, or a smaller ``until``."""
    if not {bot.name for bot in wanted.bots} <= {bot.name for bot in known.bots}:
        return True
    before = _settings_of(known)
    now = _settings_of(wanted)
    may_grow = [key for key, each in DECLARED.items() if each.change in ("more", "less")]
    return any(getattr(now, key) != getattr(before, key) for key in may_grow)


def differences(known: RunInfo, wanted: RunInfo) -> list[str]:
    """Why the run ``known`` cannot continue as the run ``wanted``, one reason a line; an empty list
    if it can. More deals, line-ups or bots are no reason.
    """
    lines = [
        f"{what}: the run has {there}, now it is {here}"
        for what, there, here in (
            ("protocol", known.protocol, wanted.protocol),
            ("rules revision", known.rules_revision, wanted.rules_revision),
            ("seed", known.seed, wanted.seed),
        )
        if there != here
    ]
    before = _settings_of(known)
    now = _settings_of(wanted)
    for key in RunConfig.__struct_fields__:
        there = getattr(before, key)
        here = getattr(now, key)
        if isinstance(there, Struct) and isinstance(here, Struct):
            for part in here.__struct_fields__:
                lines += _difference(part, getattr(there, part), getattr(here, part), str)
        else:
            lines += _difference(key, there or None, here or None, shown)
    if before.in_process != now.in_process:
        lines.append(
            "in_process: the run has bots that are processes; built-in ones alone would be a run of"
            " its own"
            if now.in_process
            else "in_process: all bots of the run are built in; with others among them it would be"
            " a run of its own"
        )
    further = sorted({bot.name for bot in wanted.bots} - {bot.name for bot in known.bots})
    if now.tune:
        further = [bot for bot in now.pool if bot not in before.pool]
    if (now.compare or now.tune) and further:
        what = "comparison" if now.compare else "search"
        lines.append(
            f"pool: {', '.join(further)} not in the run; the opponents of a {what} cannot change"
        )
    lines += [
        f"board {name}: its rows differ from those the run was played on"
        for name in known.boards.keys() & wanted.boards.keys()
        if known.boards[name] != wanted.boards[name]
    ]
    there_bots = known.bots
    here_bots = wanted.bots
    if before.tune and now.tune:
        # The sides of a search are two names of the bot that it tunes, which the user knows.
        there_bots = _with_sides_as(before.tune.bot, there_bots)
        here_bots = _with_sides_as(before.tune.bot, here_bots)
    return lines + _bot_differences(there_bots, {bot.name: bot for bot in here_bots})


def _with_sides_as(name: str, bots: Sequence[BotInfo]) -> list[BotInfo]:
    """The ``bots`` of a search, with the tuned bot under its ``name`` in place of the two sides."""
    return [replace(bots[0], name=name), *bots[2:]]


def _difference(key: str, there: Any, here: Any, text: Callable[[Any], str]) -> list[str]:
    """The difference in the setting ``key`` between the run (``there``) and the request (``here``),
    written by ``text``; an empty list if it does not stop the run from continuing.
    """
    change = DECLARED[key].change if key in DECLARED else "nothing"
    if (
        change in ("more", "less")
        and isinstance(there, IntOrFloat)
        and isinstance(here, IntOrFloat)
    ):
        if (here >= there) if change == "more" else (here <= there):
            return []
        before, now = (f"{x:g}" if isinstance(x, float) else x for x in (there, here))
        return [f"{key}: the run has {before}, asked for {now}; a run can only be extended"]
    if key in STATE or there == here:
        return []
    if key == "parameters":
        return [f"{key}: the run has {_ranges(there)}, asked for {_ranges(here)}"]
    before = text(msgspec.to_builtins(there))
    now = text(msgspec.to_builtins(here))
    return [f"{key}: the run has {before}, asked for {now}{CURES.get(key, '')}"]


def _ranges(parameters: Sequence[Parameter]) -> str:
    """The parameters of a search as a text, each with its range and its first value."""
    return ", ".join(
        f"{one.name}={one.text(one.low)}..{one.text(one.high)} from {one.text(one.start)}"
        for one in parameters
    )


def _bot_differences(known: Sequence[BotInfo], now: Mapping[str, BotInfo]) -> list[str]:
    """One line for each bot of a run (``known``) that is missing ``now`` or has other files or
    grants.
    """
    lines = []
    for bot in known:
        here = now.get(bot.name)
        if here is None:
            what = "in the run, but not asked for; a run can only be extended"
        elif here.sha256 != bot.sha256:
            what = (
                f"its content changed from {bot.version} ({bot.sha256[:12]}) to {here.version}"
                f" ({here.sha256[:12]})"
            )
        elif here.grants != bot.grants:
            what = f"the run allowed it {shown(bot.grants)}, now it is allowed {shown(here.grants)}"
        else:
            continue
        lines.append(f"bot {bot.name}: {what}")
    return lines


class Completeness(NamedTuple):
    """The number of games in a run's plan, of missing games, and of incomplete blocks."""

    games: int
    missing: int
    incomplete_blocks: int


def list_runs(results: Path) -> list[Path]:
    """The folders of all runs in ``results``, the oldest first; empty without such a folder."""
    if not results.is_dir():
        return []
    keyed = [
        (read_started(folder), (folder / RUN_FILE).stat().st_mtime_ns, folder.name, folder)
        for folder in results.iterdir()
        if (folder / RUN_FILE).is_file()
    ]
    return [folder for *_, folder in sorted(keyed)]


def read_started(folder: Path) -> str:
    """When the run in ``folder`` was started, as a text in UTC; empty if its run.json cannot be
    read.
    """
    try:
        return read_run(folder).started
    except RunError:
        return ""


def completeness(
    schedule: Schedule, blocks: Iterable[tuple[str, Sequence[int], Sequence[int]]]
) -> Completeness:
    """How much of a plan has been played. Each of the ``blocks`` is a text ``board/line-up``,
    deals, and the number of games on each deal.
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
    also accepts a finished run), or else a path for a new run, named by ``prefix`` and the date.
    The second value is the newest unfinished tournament with other settings; None if there is none,
    or if a run was chosen.
    """
    passed_over = None
    is_tournament = not (request.config.compare or request.config.tune)
    for folder in reversed(list_runs(results)):
        try:
            run = Run(folder)
            config = run.config
            matches_request = _is_just_this(run.info, request)
            if matches_request and finished:
                return folder, None
            is_other_kind = any(getattr(config, key) for key in KINDS)
            can_be_suggested = is_tournament and not (passed_over or is_other_kind)
            # Counting reads a whole journal: only where the answer depends on it.
            if matches_request or can_be_suggested:
                played, planned = run.progress()
                if played != planned and matches_request:
                    return folder, None
                passed_over = folder if played != planned else passed_over
        except (ConfigError, RunError):
            continue
    day = datetime.now(UTC).strftime(f"{prefix}%Y-%m-%d")
    names = (results / f"{day}-{number}" for number in count(1))
    return next(folder for folder in names if not folder.exists()), passed_over


def _is_just_this(info: RunInfo, request: Request) -> bool:
    """Whether a run has exactly the requested settings, deals and bots."""
    wanted = describe_run(
        request.config_for(info.seed),
        request.boards,
        request.bots,
        sandbox=info.sandbox,
        started=info.started,
        # What bots may do is compared when the run is opened, and then said.
        grants={split_options(bot.name)[0]: bot.grants for bot in info.bots},
    )
    return not has_grown(info, wanted) and not differences(info, wanted)


CURE = "the command that started the run finishes it with the bots it names"


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


def resume_request(run: Run) -> Request:
    """The request that continues a run of any kind without changes, made from its run.json. Raises
    RunError, BotFolderError, and ConfigError, also for a game that a person played.
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
        ("bots", config.bots, [bot.name for bot in info.bots]),
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
    return Request(open_again, run.boards, [_bot(run, bot) for bot in info.bots])


def _bot(run: Run, bot: BotInfo) -> Bot:
    """A bot of a run, from its entry in run.json and its copy in the run's folder. It has the hash
    of the entry, because a copy that contains build results has another one.
    """
    if bot.command[:-1] == IN_PROCESS:
        return msgspec.structs.replace(built_in_bot(bot.command[-1]), label=bot.name)
    return msgspec.structs.replace(copy_of(run, bot, CURE), sha256=bot.sha256)


def copy_of(run: Run, bot: BotInfo, cure: str) -> Bot:
    """The copy, in a run's folder, of a bot that plays there. Raises RunError with the hint
    ``cure`` if the copy is gone or its files have changed.
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
