"""Where games are played: on this machine, or on the workers of a cluster."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from arena.errors import ConfigError, counted
from arena.players.folder import Bot
from arena.players.sandbox.tiers import Sandbox
from arena.tournament.events import Event
from arena.tournament.own import OwnConfig, read_own_config
from arena.tournament.pool import LocalPool, Pool, available_cores, worker_cores
from arena.tournament.session import Means
from arena.tournament.workers import Setup

if TYPE_CHECKING:
    from arena.tournament.cluster.connection import Cluster


class Place(NamedTuple):
    """Where games are to be played: ``jobs`` workers here, None for one per core, or on the
    ``cluster`` at an address.
    """

    jobs: int | None = None
    cluster: str | None = None
    tls_ca_file: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None

    def with_defaults(self, config: OwnConfig) -> Self:
        """The same with a configuration file's values where nothing was said; who asks for --jobs
        plays here.
        """
        if self.jobs is not None and self.cluster is None:
            return self
        return self._replace(
            **{name: getattr(config, name) for name, said in self._asdict().items() if said is None}
        )


class LocalWorkers:
    """Workers on this machine. ``text`` says where games are
    played, ``places`` how many at once.
    """

    def __init__(self, jobs: int | None) -> None:
        self._cores = available_cores()
        self.places = jobs or self._cores
        self.text = counted(self.places, "worker")

    def means(self, sandbox: Sandbox, level: int) -> Means:
        """How a session plays here."""
        return Means(worker_cores(self.places), sandbox, level)

    def pool(
        self, setup: Setup, _: Sequence[Bot], log_queue: Any, __: Callable[[Event], None]
    ) -> Pool:
        """The pool for a session."""
        return LocalPool(setup, self.places, log_queue)


class ClusterWorkers:
    """The workers of a cluster."""

    places = 0

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self.text = f"cluster {cluster.address}"

    def means(self, sandbox: Sandbox, level: int) -> Means:
        """How a session plays there: workers manage their own processors, and their sandbox is at
        least as good as here. Raises ConfigError.
        """
        if any(grants.network for grants in sandbox.grants.values()) and not self._cluster.has_tls:
            raise ConfigError(
                "expected a cluster with TLS for a bot that may use the network, got one without",
                "without TLS that bot could give the scheduler orders: use the --tls-* options, or"
                " play without --cluster",
            )
        return Means([], sandbox, level)

    def pool(
        self, setup: Setup, bots: Sequence[Bot], _: Any, listen: Callable[[Event], None]
    ) -> Pool:
        """The pool for a session."""
        # Asyncio and Dask: only a run on a cluster loads them.
        from arena.tournament.cluster.pool import ClusterPool  # noqa: PLC0415

        return ClusterPool(self._cluster, setup, {bot.label: bot for bot in bots}, listen)


Workers = LocalWorkers | ClusterWorkers


@contextmanager
def workers_at(place: Place) -> Iterator[Workers]:
    """The workers at a place, else where the user's own configuration says; a cluster is left at
    the end. Raises UserError.
    """
    place = place.with_defaults(read_own_config())
    tls = (place.tls_ca_file, place.tls_cert, place.tls_key)
    if place.cluster is None:
        if any(tls):
            raise ConfigError(
                "expected --cluster with --tls-ca-file, --tls-cert and --tls-key, got none",
                "add it, or leave them out",
            )
        yield LocalWorkers(place.jobs)
        return
    if place.jobs is not None:
        raise ConfigError(
            "expected --jobs or --cluster, got both",
            "leave out --jobs: each worker of the cluster plays as many games as it has threads",
        )
    # Asyncio and Dask: only a run on a cluster loads them.
    from arena.tournament.cluster.connection import Cluster, Tls  # noqa: PLC0415

    cluster = Cluster(place.cluster, Tls(*tls))
    try:
        yield ClusterWorkers(cluster)
    finally:
        cluster.close()
