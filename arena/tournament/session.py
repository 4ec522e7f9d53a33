"""A run on disk: found, started, compared with what is asked for, continued."""

import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from arena.errors import ConfigError, RunError
from arena.match.referee import GamePlan
from arena.players.folder import Bot, stage
from arena.records.journal import FILE as JOURNAL
from arena.records.journal import Journal
from arena.records.runfile import FILE as RUN_FILE
from arena.records.runfile import RunInfo, read_run, write_run
from arena.rules.boards import Board
from arena.tournament.config import RunConfig, describe_run, differences, make_config
from arena.tournament.schedule import Schedule
from arena.tournament.workers import Setup

SANDBOX = "none"
SEED_BYTES = 16

log = logging.getLogger(__name__)


class Session(Struct):
    """A run that is open for playing.

    ``is_new`` when it was started just now; ``known`` games of the schedule are in the journal already; ``repaired`` bytes of a torn
    record were cut off the journal.
    """

    folder: Path
    config: RunConfig
    schedule: Any
    journal: Any
    setup: Setup
    is_new: bool
    known: int
    repaired: int

    def missing(self) -> Iterator[GamePlan]:
        """The games that are not in the journal, in playing order."""
        ids = set(self.journal.ids)
        return (plan for plan in self.schedule if plan.id not in ids)


class Completeness(NamedTuple):
    """How many games a run's plan has, how many of them are missing, and how many blocks have some of their games but not all."""

    games: int
    missing: int
    incomplete_blocks: int


@contextmanager
def open_session(
    folder: Path, settings: Mapping[str, Any], boards: Mapping[str, Board], bots: Sequence[Bot], cores: list[int], log_level: int
) -> Iterator[Session]:
    """The run in a folder, new or continued, locked for this process; its bots are copied there and built.

    Without a ``seed`` in the settings a new run gets a secret one, and a known run keeps its own. Raises ConfigError when the run
    exists and differs, RunError, BotFolderError.
    """
    make_config({"seed": "", **settings})
    _make_folder(folder)
    with Journal(folder) as journal:
        known = read_run(folder) if (folder / RUN_FILE).exists() else None
        if known is None and journal.ids:
            raise RunError(f"expected {folder / RUN_FILE} beside a journal, found none", "restore it, or choose another --out")
        config = make_config({**settings, "seed": settings.get("seed") or (known.seed if known else new_seed())})
        info = describe_run(config, boards, bots, sandbox=SANDBOX, started=known.started if known else now())
        if known:
            refuse_differences(folder, known, info)
        staged = {bot.label: stage(bot, folder / "bots" / f"{bot.label}-{bot.sha256[:12]}") for bot in bots}
        if known is None or known.config != info.config or known.bots != info.bots:
            write_run(folder, info)
        schedule = Schedule(config)
        setup = Setup(
            bots=staged,
            boards={name: board.rows for name, board in boards.items()},
            timing=config.timing,
            sandbox=SANDBOX,
            cores=cores,
            log_level=log_level,
        )
        count = sum(plan.id in journal.ids for plan in schedule) if journal.ids else 0
        yield Session(folder, config, schedule, journal, setup, known is None, count, journal.repaired)


def refuse_differences(folder: Path, known: RunInfo, wanted: RunInfo) -> None:
    """Raises ConfigError with every difference that keeps a run from going on."""
    found = differences(known, wanted)
    if found:
        raise ConfigError(
            f"expected the settings of the run in {folder}, got others:\n  " + "\n  ".join(found),
            "run the command that started it, or start another run with --out NAME",
        )


def new_seed() -> str:
    """A seed that nobody can guess."""
    return secrets.token_hex(SEED_BYTES)


def now() -> str:
    """UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def list_runs(results: Path) -> list[Path]:
    """The folders of all runs, oldest first."""
    if not results.is_dir():
        return []
    found = [(read_started(folder), folder.name, folder) for folder in results.iterdir() if (folder / RUN_FILE).is_file()]
    return [folder for _, _, folder in sorted(found)]


def read_started(folder: Path) -> str:
    """When a run was started; an unreadable run.json sorts first."""
    try:
        return read_run(folder).started
    except RunError:
        return ""


def planned_games(info: RunInfo) -> int:
    """How many games a run has when it is finished. Raises ConfigError for settings of another version."""
    return len(Schedule(make_config(info.config)))


def completeness(info: RunInfo, blocks: Mapping[str, int]) -> Completeness:
    """How much of a run's plan has been played, by the games of each block. Raises ConfigError for settings of another version."""
    schedule = Schedule(make_config(info.config))
    played = [games for block, games in blocks.items() if schedule.has_block(block)]
    return Completeness(len(schedule), len(schedule) - sum(played), sum(games < len(schedule.seatings) for games in played))


def played_games(folder: Path) -> int:
    """How many records a run's journal has."""
    try:
        with (folder / JOURNAL).open("rb") as file:
            return sum(line.endswith(b"\n") for line in file)
    except FileNotFoundError:
        return 0


def choose_folder(results: Path, settings: Mapping[str, Any], boards: Mapping[str, Board], bots: Sequence[Bot]) -> Path:
    """The newest unfinished run that these settings fit, or the folder for a new one named by date."""
    for folder in reversed(list_runs(results)):
        try:
            info = read_run(folder)
            config = make_config({**settings, "seed": settings.get("seed") or info.seed})
            wanted = describe_run(config, boards, bots, sandbox=info.sandbox, started=info.started)
            if not differences(info, wanted) and played_games(folder) < len(Schedule(config)):
                return folder
        except (ConfigError, RunError, msgspec.ValidationError):
            continue
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    number = 1
    while (results / f"{day}-{number}").exists():
        number += 1
    return results / f"{day}-{number}"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / RUN_FILE).exists() and any(path.name not in (JOURNAL, "bots", "logs") for path in folder.iterdir()):
            raise RunError(f"expected {folder} to be a run or empty, got a folder with other files", "choose another --out")
    except OSError as error:
        raise RunError(f"expected to make the run's folder {folder}, got {error}", "choose another --out") from error
