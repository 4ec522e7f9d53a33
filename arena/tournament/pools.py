"""Decides where the games of a run are played: by workers on this machine, or by those of a Dask
cluster.
"""

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from arena.errors import ConfigError, counted
from arena.players.folder import Bot
from arena.players.player import is_built_in
from arena.players.sandbox.tiers import Sandbox
from arena.tournament.events import RunnerEvent
from arena.tournament.log import run_log
from arena.tournament.runner import Pool
from arena.tournament.scheduler import connect
from arena.tournament.settings import OwnConfig, read_own_config
from arena.tournament.workers import LocalPool, Setup, available_cores, worker_cores


class Place(NamedTuple):
    """Where the user wants games to be played: by ``jobs`` workers on this machine (None for one
    worker per core), or on the Dask cluster whose scheduler has the address ``cluster`` (None for
    this machine).
    """

    jobs: int | None = None
    cluster: str | None = None

    def with_defaults(self, config: OwnConfig) -> Self:
        """A copy in which the user's configuration file fills in what is None. If the user gave
        --jobs and not --cluster, the games are played on this machine, even if the file names a
        cluster.
        """
        if self.jobs is not None and self.cluster is None:
            return self
        return self._replace(jobs=self.jobs or config.jobs, cluster=self.cluster or config.cluster)


class LocalWorkers:
    """Workers on this machine: ``jobs`` of them, or one per core if that is None. ``slots`` is
    their number, which is also the number of games at the same time; ``text`` describes them for
    people.
    """

    def __init__(self, jobs: int | None) -> None:
        self.slots = jobs or available_cores()
        self.text = counted(self.slots, "worker")

    def setup(self, sandbox: Sandbox, level: int) -> Setup:
        """The setup of workers with this sandbox and log level, before bots and boards are filled
        in.
        """
        return Setup(sandbox, level, worker_cores(self.slots), platform.node())

    def pool(
        self, setup: Setup, _: Sequence[Bot], log_queue: Any, __: Callable[[RunnerEvent], None]
    ) -> Pool:
        """A pool for this setup, whose workers log to ``log_queue``. The other arguments are for a
        cluster's pool.
        """
        return self.local_pool(setup, log_queue)

    def local_pool(self, setup: Setup, log_queue: Any) -> LocalPool:
        """A pool for this setup, whose workers log to ``log_queue``."""
        return LocalPool(setup, self.slots, log_queue)


class ClusterWorkers:
    """The workers of a Dask scheduler. ``address`` is that of the scheduler, or the path of a
    scheduler file. The constructor connects to it, and raises ClusterError. ``slots`` is 0, because
    the number of workers is not known yet; ``text`` describes them for people.
    """

    slots = 0

    def __init__(self, address: str) -> None:
        self.address = address
        self.text = f"cluster {address}"
        self.client = connect(address)

    def setup(self, sandbox: Sandbox, level: int) -> Setup:
        """The setup of workers with this sandbox and log level, before bots and boards are filled
        in. The workers' own sandboxes must be at least as strong. Raises ConfigError if a bot may
        use the network and the cluster has no TLS.
        """
        has_tls = str(self.client.scheduler.address).startswith("tls://")
        wants_network = any(grants.network for grants in sandbox.grants.values())
        if wants_network and not has_tls:
            raise ConfigError(
                "a bot may use the network on a cluster only with TLS, and this cluster has none",
                "configure Dask for TLS, or play without --cluster: without TLS the bot could send"
                " commands to the scheduler",
            )
        return Setup(sandbox, level)

    def pool(
        self, setup: Setup, bots: Sequence[Bot], _: Any, listen: Callable[[RunnerEvent], None]
    ) -> Pool:
        """A pool for this setup and these bots, which are in their original folders; ``listen`` is
        called when workers come and go. Raises BotFolderError.
        """
        # Importing Dask takes half a second, and only runs on a cluster need it.
        from arena.tournament.cluster import ClusterPool  # noqa: PLC0415

        return ClusterPool(self.client, self.address, setup, bots, listen)

    def close(self) -> None:
        """Closes the connection to the cluster, which keeps running."""
        with suppress(Exception):  # it may already be gone
            self.client.close(timeout=3.0)


Workers = LocalWorkers | ClusterWorkers


class Staff:
    """The pool of workers of one session, and the run's log. On this machine the pool may exist
    before the session is open: `try_starts` makes it, because the workers that are to play start
    the bots of a new run once.

    ``workers``  where games are played
    ``folder``   the folder of the run; its log is opened when it is needed
    ``level``    the lowest level of records in the log
    ``closing``  closes the log, and the pool if nobody else has
    """

    def __init__(self, workers: Workers, folder: Path, level: int, closing: ExitStack) -> None:
        self._workers = workers
        self._folder = folder
        self._level = level
        self._closing = closing
        self._pool: Pool | None = None
        self._log_queue: Any = None

    def open_log(self) -> None:
        """Opens the run's log, unless it is open. Raises RunError."""
        if self._log_queue is None:
            self._log_queue = self._closing.enter_context(run_log(self._folder, self._level))

    def try_starts(self, setup: Setup) -> list[str]:
        """Starts each bot of the setup once (not once for each of its options), on the workers of
        this machine that are to play the run. Returns the lines that tell a user which bots did not
        start, and why; none on a cluster, where bots start on other machines. Raises RunError if
        the log cannot be written, and BusyMachineError.
        """
        programs = [(bot.base, label) for label, bot in setup.bots.items() if not is_built_in(bot)]
        if not programs or not isinstance(self._workers, LocalWorkers):
            return []
        self.open_log()
        pool = self._workers.local_pool(setup, self._log_queue)
        self._closing.callback(pool.close, kill=True)
        self._pool = pool
        try:
            failures = pool.try_starts(list(dict(programs).values()))
        except BaseException:  # Ctrl-C, too
            # Now, because the caller is about to remove the folders in which these bots play and to
            # which the workers write.
            pool.close(kill=True)
            raise
        if failures:
            # The workers end the bots that did start, and remove their folders.
            pool.close(kill=False)
        return failures

    def pool(
        self, setup: Setup, bots: Sequence[Bot], listen: Callable[[RunnerEvent], None]
    ) -> Pool:
        """The pool that plays the session, a new one unless `try_starts` made it. ``bots`` are the
        run's bots in their original folders; ``listen`` is called when workers come and go. Raises
        RunError if the log cannot be written, and BotFolderError.
        """
        self.open_log()
        return self._pool or self._workers.pool(setup, bots, self._log_queue, listen)


@contextmanager
def workers_at(place: Place) -> Iterator[Workers]:
    """A context manager that yields the workers at a place; what the place leaves open, the user's
    own configuration decides. At its end, the connection to a cluster is closed; workers on this
    machine end with their pool. Raises ConfigError for a place with both jobs and a cluster, and
    UserError for a cluster that cannot be used.
    """
    place = place.with_defaults(read_own_config())
    if place.cluster is None:
        yield LocalWorkers(place.jobs)
        return
    if place.jobs is not None:
        raise ConfigError(
            "--jobs and --cluster cannot be combined",
            "leave out --jobs: each worker of the cluster plays as many games as it has threads",
        )
    cluster = ClusterWorkers(place.cluster)
    try:
        yield cluster
    finally:
        cluster.close()
