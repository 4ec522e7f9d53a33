"""A run that is open for playing: started, or compared with the wanted settings and continued; the
workers that play it, here or on a cluster; and its log.
"""

import logging
import multiprocessing
import os
import platform
import secrets
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
from msgspec import Struct
from multiprocessing_logging import MultiProcessingHandler

from arena.errors import (
    BotFolderError,
    ClusterError,
    ConfigError,
    RunError,
    Void,
    cannot_write,
    counted,
)
from arena.players.bot import failed_start, last_lines
from arena.players.folder import Bot, remove_abandoned, remove_tree
from arena.players.player import is_built_in
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import stage
from arena.records.journal import FILE as JOURNAL
from arena.records.journal import Journal
from arena.records.league import FILE as LEAGUE
from arena.records.regular import folder_below, has_folder, open_regular
from arena.records.runfile import FILE as RUN_FILE
from arena.records.runfile import MARK, RunInfo, is_made_here, mark_run, read_run, write_run
from arena.tournament.config import RunConfig, make_config
from arena.tournament.lineups import fix_allotment, fix_line_ups
from arena.tournament.runner import Event, Pool
from arena.tournament.runs import Request, describe_run, info_of, refuse_differences
from arena.tournament.schedule import Schedule
from arena.tournament.settings import OwnConfig, read_own_config
from arena.tournament.workers import START_METHOD, LocalPool, Setup, available_cores, worker_cores

SEED_BYTES = 16
LOG = "logs/arena.log"
CONNECT = {"distributed": {"comm": {"timeouts": {"connect": "5s"}}}}
"""Where Dask's configuration says nothing: its own patience with a wrong address is 30 s."""
START = (
    "start one with 'dask scheduler', which prints its address, such as tcp://10.0.0.1:8786, and"
    " workers with 'dask worker ADDRESS'; for tls:// Dask's configuration names the certificates"
)
FORMAT = "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"
_setting = threading.Lock()


class Place(NamedTuple):
    """Where games are to be played: ``jobs`` workers here, None for one per core, or on the
    ``cluster`` at an address.
    """

    jobs: int | None = None
    cluster: str | None = None

    def with_defaults(self, config: OwnConfig) -> Self:
        """The same with a configuration file's values where nothing was said; who asks for --jobs
        plays here.
        """
        if self.jobs is not None and self.cluster is None:
            return self
        return self._replace(jobs=self.jobs or config.jobs, cluster=self.cluster or config.cluster)


class LocalWorkers:
    """Workers on this machine: where games are played, as ``text``, and how many at once."""

    def __init__(self, jobs: int | None) -> None:
        self.places = jobs or available_cores()
        self.text = counted(self.places, "worker")

    def setup(self, sandbox: Sandbox, level: int) -> Setup:
        """How a session plays here."""
        return Setup(sandbox, level, worker_cores(self.places), platform.node())

    def pool(
        self, setup: Setup, _: Sequence[Bot], log_queue: Any, __: Callable[[Event], None]
    ) -> Pool:
        """The pool for a session, whose workers log to a queue."""
        return LocalPool(setup, self.places, log_queue)


class ClusterWorkers:
    """The workers of a Dask scheduler at an address or in a file of it. Raises ClusterError."""

    places = 0

    def __init__(self, address: str) -> None:
        self.address, self.text = address, f"cluster {address}"
        is_file = Path(address).is_file()
        if address.endswith(".json") and not is_file:  # Dask would wait for it
            cure = f"'dask scheduler --scheduler-file {address}' writes it"
            raise ClusterError(f"expected a scheduler file {address}, found none", cure)
        try:
            # An extra, and slow to load.
            import dask  # noqa: PLC0415
            from distributed import Client  # noqa: PLC0415
        except ImportError as error:
            cure = "pip install 'qin-arena[cluster]'"
            raise ClusterError(f"expected Dask to reach {address}, got {error}", cure) from None
        _quieten()
        dask.config.update_defaults(CONNECT)
        where = {"scheduler_file": address} if is_file else {"address": address}
        try:
            self.client: Any = Client(**where, set_as_default=False)
        # Dask fails in as many ways as a network can.
        except Exception as error:  # noqa: BLE001
            got = f"{type(error).__name__}: {error}"
            raise ClusterError(
                f"expected a Dask scheduler at {address}, got {got}", START
            ) from None

    def setup(self, sandbox: Sandbox, level: int) -> Setup:
        """How a session plays there, in a sandbox at least as good as here. Raises ConfigError."""
        has_tls = str(self.client.scheduler.address).startswith("tls://")
        if any(grants.network for grants in sandbox.grants.values()) and not has_tls:
            raise ConfigError(
                "expected a cluster with TLS for a bot that may use the network, got one without",
                "without TLS that bot could give the scheduler orders: configure Dask for TLS, or"
                " play without --cluster",
            )
        return Setup(sandbox, level)

    def pool(
        self, setup: Setup, bots: Sequence[Bot], _: Any, listen: Callable[[Event], None]
    ) -> Pool:
        """The pool for a session."""
        # Only a run on a cluster loads it.
        from arena.tournament.cluster import ClusterPool  # noqa: PLC0415

        return ClusterPool(self.client, self.address, setup, bots, listen)

    def close(self) -> None:
        """Leaves the cluster, which keeps running."""
        with suppress(Exception):  # it may already be gone
            self.client.close(timeout=3.0)


def _quieten() -> None:
    """Dask prints every lost connection to the terminal. This sends them to the log."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).handlers[:] = [logging.NullHandler()]
            logging.getLogger(name).propagate = True
    warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)


Workers = LocalWorkers | ClusterWorkers


@contextmanager
def workers_at(place: Place) -> Iterator[Workers]:
    """The workers at a place, else where the user's own configuration says; a cluster is left at
    the end. Raises UserError.
    """
    place = place.with_defaults(read_own_config())
    if place.cluster is None:
        yield LocalWorkers(place.jobs)
        return
    if place.jobs is not None:
        raise ConfigError(
            "expected --jobs or --cluster, got both",
            "leave out --jobs: each worker of the cluster plays as many games as it has threads",
        )
    cluster = ClusterWorkers(place.cluster)
    try:
        yield cluster
    finally:
        cluster.close()


class Session(Struct):
    """A run that is open for playing; ``known`` games of the schedule were in the journal before,
    and ``repaired`` bytes of a torn record were cut off it. ``unmarked`` says why the run could not
    be marked as made here, so that continuing it will take --adopt.
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


@contextmanager
def open_session(
    folder: Path, request: Request, setup: Setup, *, adopt: bool = False
) -> Iterator[Session]:
    """Opens the run in a folder, new or continued, and locks it for this process; its bots are
    copied there and built. Workers get the setup, with what is played filled in. A run made
    elsewhere continues only if the user says to ``adopt`` it. Raises ConfigError if the run exists
    and differs, RunError, BotFolderError.
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
        config, info = _plan(folder, known, request, setup.sandbox)
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
            staged = {bot.label: _staged(folder, bot, setup.sandbox) for bot in request.bots}
            # A league lets the others play on, and so does a run that has begun.
            if setup.host and not (played or config.league):
                _try_starts(staged.values(), config, setup.sandbox)
            unmarked = "" if is_own else mark_run(folder, info)
            if info != known:
                write_run(folder, info)
        except BaseException:
            if known is None:
                _discard(folder)
            raise
        setup = msgspec.structs.replace(
            setup,
            bots=staged,
            boards={name: board.rows for name, board in request.boards.items()},
            timing=config.timing,
            in_process=config.in_process,
        )
        is_new, repaired = known is None, journal.repaired
        yield Session(
            folder, info, config, schedule, journal, setup, is_new, played, repaired, unmarked
        )


def _make_folder(folder: Path) -> None:
    own = {JOURNAL, MARK, LEAGUE, "bots", "logs"}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_run = (folder / RUN_FILE).exists() or {path.name for path in folder.iterdir()} <= own
    except OSError as error:
        text, hint = cannot_write(f"the run's folder {folder}", error, "choose another --out")
        raise RunError(text, hint) from error
    if not is_run:
        raise RunError(
            f"expected {folder} to be a run or empty, got a folder with other files",
            "choose another --out",
        )


def _is_own(folder: Path, *, adopt: bool) -> bool:
    """Whether the run in a folder was made here; a new one is not yet. Raises RunError for one from
    elsewhere, unless it is adopted.
    """
    if not os.path.lexists(folder / RUN_FILE):
        return False
    is_own = is_made_here(folder, read_run(folder))
    if not (is_own or adopt):
        raise RunError(
            f"expected a run that you started on this machine, got one from elsewhere: {folder}",
            "if you trust it, add --adopt once; or start another run with --out NAME",
        )
    return is_own


def _plan(
    folder: Path, known: RunInfo | None, request: Request, sandbox: Sandbox
) -> tuple[RunConfig, RunInfo]:
    """The configuration and run.json of a run; one that continues keeps what is there, and may get
    more deals, bots and line-ups. Raises ConfigError.
    """
    before = make_config(known.config) if known else None
    config = request.config_for(known.seed if known else new_seed())
    info = describe_run(
        config,
        request.boards,
        request.bots,
        sandbox=sandbox.tier,
        started=now(),
        grants={base: grants.words for base, grants in sandbox.grants.items()},
    )
    if known:
        refuse_differences(folder, known, info)
    config = fix_allotment(fix_line_ups(config, before), before)
    if known and before:
        kept = before.settled if config.compare else config.settled
        config = msgspec.structs.replace(config, settled=kept, drawn=before.drawn)
        there = {bot.name: bot for bot in known.bots}
        bots = [there.get(bot.name, bot) for bot in info.bots]
        info = msgspec.structs.replace(known, bots=bots)
    return config, msgspec.structs.replace(info, config=msgspec.to_builtins(config))


def _staged(folder: Path, bot: Bot, sandbox: Sandbox) -> Bot:
    """A bot's copy in a run's folder, which is no link to another one. Raises RunError,
    BotFolderError.
    """
    if is_built_in(bot):
        return bot
    copy = info_of(bot).copy
    with folder_below(folder, copy.split("/")[:-1], make=True):
        if os.path.lexists(folder / copy) and not has_folder(folder, copy):
            raise RunError(
                f"expected a copy of {bot.label} in {folder / copy}, got a link or a file",
                "remove it: it is copied anew",
            )
        return stage(bot, folder / copy, sandbox)


def _try_starts(bots: Iterable[Bot], config: RunConfig, sandbox: Sandbox) -> None:
    """Starts each bot once, so that one that cannot is found before its first forfeit. Raises
    BotFolderError.
    """
    lines = list[str]()
    for bot in {bot.base: bot for bot in bots if not is_built_in(bot)}.values():
        with suppress(Void):  # of the machine the games will tell
            found = failed_start(bot, config.timing.startup_ms, sandbox, config.timing.clock)
            if found:
                fault, stderr = found
                lines += [f"expected {bot.base} to start, got: {fault}"]
                lines += last_lines(bot.base, stderr, fault.detail)
    if lines:
        raise BotFolderError(
            "\n".join(lines),
            "no game has been played: fix it ('arena check' tells more), or name bots without it",
        )


def _drop_copies(folder: Path) -> None:
    """Removes copies of bots that this user's arena did not make, so that they are made anew."""
    if os.path.lexists(folder / "bots"):
        remove_tree(str(folder / "bots"))


def _discard(folder: Path) -> None:
    """Removes what is left of a run that could not start."""
    _drop_copies(folder)
    for name in (JOURNAL, MARK):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def new_seed() -> str:
    """A seed that nobody can guess."""
    return secrets.token_hex(SEED_BYTES)


def now() -> str:
    """UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextmanager
def run_log(folder: Path, level: int) -> Iterator[Any]:
    """Logs everything at ``level`` and above to logs/arena.log; yields the queue that workers on
    this machine log to.
    """
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        file = os.fdopen(open_regular(folder, LOG, flags), "a", encoding="utf-8")
    except OSError as error:
        raise RunError(f"expected to write the log {folder / LOG}, got {error}") from error
    lines, root = logging.StreamHandler(file), logging.getLogger()
    lines.setFormatter(logging.Formatter(FORMAT))
    # Its queue must be for our workers, who cannot be given one of another start method; then the
    # method of the program that plays is its own again.
    with _setting:
        before = multiprocessing.get_start_method(allow_none=True)
        multiprocessing.set_start_method(START_METHOD, force=True)
        try:
            handler = MultiProcessingHandler("log-writer", sub_handler=lines)
        finally:
            multiprocessing.set_start_method(before, force=True)
    level_before = root.level
    root.addHandler(handler)
    root.setLevel(level)
    try:
        yield handler.queue
    finally:
        root.removeHandler(handler)
        root.setLevel(level_before)
        handler.close()
        file.close()
