"""The workers of a Dask cluster as a pool. Only this side writes anything that lasts, so a game that was played twice is kept once."""

import logging
import time
import uuid
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Future, InvalidStateError, wait
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import arena
from arena.errors import ClusterError
from arena.match.referee import GamePlan
from arena.players.folder import Bot
from arena.records.host import host_text, unlike
from arena.tournament.cluster import node, terms
from arena.tournament.cluster.shipping import pack
from arena.tournament.cluster.terms import Admitted, Lacking, Refused, Terms, Versions, disagreement, versions
from arena.tournament.events import Event, MachineChanged, MachinesDiffer, NoWorkers, WorkerRefused
from arena.tournament.pool import Pace, Pending
from arena.tournament.workers import Batch, Setup

CONNECT_S = 5.0
ANSWER_S = 30.0
LOOK_S = 0.5
LEAVE_S = 3.0
BATCH_S = 2.0
AHEAD = 2
"""Batches handed out for each game that a worker plays at once, so that none waits for the network; one where games are slow."""
NOTICE_S, PATIENCE_S = 3.0, 60.0
"""While there is no worker that may play: after how long to say so, and to give up."""

VERSIONS = f"tuple(__import__({terms.__name__!r}, fromlist=['versions']).versions())"
"""Asked of a worker first, as text: one that lacks what a message speaks of breaks when it unpacks it, and is started again for ever."""
REACH = (
    "start one with 'dask scheduler' and workers with 'dask worker ADDRESS'; "
    "one that wants TLS has an address tls://..., and needs --tls-ca-file, --tls-cert and --tls-key"
)
GO_ON = "all finished games are in the journal: start the scheduler and its workers again, then run the same command"


class Tls(NamedTuple):
    """The files for an encrypted and authenticated connection, as Dask's own commands take them; None without one."""

    ca_file: str | None = None
    cert: str | None = None
    key: str | None = None


class Cluster:
    """A connection to a Dask scheduler: ``address`` is one, or a scheduler file. Raises ClusterError."""

    def __init__(self, address: str, tls: Tls) -> None:
        self.address = address
        try:
            from distributed import Client, Security  # noqa: PLC0415 - an extra, and slow to load
        except ImportError as error:
            raise ClusterError(f"expected Dask to reach {address}, got {error}", "pip install 'qin-arena[cluster]'") from None
        _quieten()
        is_file = Path(address).is_file()
        if address.endswith(".json") and not is_file:
            raise ClusterError(
                f"expected the scheduler file {address}, found none", f"'dask scheduler --scheduler-file {address}' writes it"
            )
        files = {"tls_ca_file": tls.ca_file, "tls_client_cert": tls.cert, "tls_client_key": tls.key, "require_encryption": True}
        with self._expected("a Dask scheduler", REACH):
            self.client: Any = Client(
                scheduler_file=address if is_file else None,
                address=None if is_file else address,
                security=Security(**files) if any(tls) else None,
                timeout=CONNECT_S,
                set_as_default=False,
            )

    @contextmanager
    def _expected(self, what: str, cure: str) -> Iterator[None]:
        """Dask fails in as many ways as a network can."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            raise ClusterError(f"expected {what} at {self.address}, got {type(error).__name__}: {error}", cure) from None

    def threads(self) -> dict[str, int]:
        """The workers' addresses, and how many threads each has. Raises ClusterError when the scheduler is gone."""
        self.check()
        with self._expected("an answer from the Dask scheduler", GO_ON):
            return dict(self.client.sync(self.client.scheduler.ncores, callback_timeout=ANSWER_S))

    def check(self) -> None:
        """Raises ClusterError when the connection is lost."""
        if self.client.status != "running":
            raise ClusterError(f"expected the Dask scheduler at {self.address} to stay, got a lost connection", GO_ON)

    def close(self) -> None:
        """Leaves the cluster, which goes on."""
        self.client.close(timeout=LEAVE_S)


def _quieten() -> None:
    """Dask tells the terminal of every lost connection: it shall tell the log, and we what matters."""
    for name in [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in ("distributed", "tornado")]:
        logging.getLogger(name).handlers[:] = [logging.NullHandler()]
        logging.getLogger(name).propagate = True
    warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)


class _Seat:
    """A worker that may play: so many games at once, as ``name`` in records; ``pending`` are our futures of batches and Dask's."""

    def __init__(self, executor: Any, places: int, host: str, name: str) -> None:
        self.executor = executor
        self.places = places
        self.host = host
        self.name = name
        self.pending: dict[Future[Batch], Future[Batch]] = {}
        self.alone: Future[Batch] | None = None

    def room(self, ahead: int) -> int:
        """How many more batches it may be given, of ``ahead`` for each place; none beside one that has to be alone."""
        self.pending = {ours: theirs for ours, theirs in self.pending.items() if not ours.done()}
        return 0 if self.alone in self.pending else self.places * ahead - len(self.pending)


class ClusterPool:
    """The workers that may play for a session. ``bots`` are those of the run as they lie where they were found, not as they were built.

    Raises BotFolderError.
    """

    def __init__(self, cluster: Cluster, setup: Setup, bots: Mapping[str, Bot], listen: Callable[[Event], None]) -> None:
        self._cluster = cluster
        self._terms = Terms(uuid.uuid4().hex, setup)
        self._versions = versions()
        self._archives = {} if setup.in_process else {label: pack(bot) for label, bot in bots.items()}
        self._listen = listen
        self._seats: dict[str, _Seat] = {}
        self._asked: dict[str, tuple[Any, Future[Any]]] = {}
        self._refused: dict[str, Refused] = {}
        self._forgotten: set[str] = set()
        self._machines: dict[str, MachineChanged] = {}
        self._told: set[object] = set()
        self._ratio = 0.0
        self._pace = Pace(BATCH_S)
        self._is_stopping = False
        self._looked = self._last_seated = time.monotonic() - LOOK_S

    @property
    def places(self) -> int:
        """How many games are played at once."""
        return sum(seat.places for seat in self._seats.values())

    def look(self) -> None:
        """Finds out who came and who went. Raises ClusterError without the scheduler, or without workers for a while."""
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        threads = self._cluster.threads()
        for address in (self._seats.keys() | self._asked.keys() | self._refused.keys()) - threads.keys() | self._forgotten:
            self._lose(address)
        self._forgotten.clear()
        for address in threads.keys() - self._seats.keys() - self._asked.keys() - self._refused.keys():
            executor = self._cluster.client.get_executor(workers=[address], allow_other_workers=False, pure=False, retries=0)
            self._asked[address] = executor, executor.submit(eval, VERSIONS)
        for address in [address for address, (_, answer) in self._asked.items() if answer.done()]:
            self._hear(address, threads[address])
        if not self._asked:
            self._tell_of_machines()
        self._looked = time.monotonic()
        self._wait_for_workers()

    def _hear(self, address: str, threads: int) -> None:
        """Takes the answer of a worker that was asked to play along."""
        executor, future = self._asked.pop(address)
        if future.cancelled():
            return
        match _answer(future):
            case Versions() as there if reason := disagreement(self._versions, there):
                self._refuse(address, Refused(there.host, reason))
            case Versions():
                self._asked[address] = executor, executor.submit(node.admit, self._terms, {})
            case Lacking(labels):
                lacked = {label: self._archives[label] for label in labels}
                self._asked[address] = executor, executor.submit(node.admit, self._terms, lacked)
            case Admitted() as answer:
                machine = self._machines.setdefault(answer.host, MachineChanged(answer.host, 0, answer.speed, answer.sandbox))
                self._seats[address] = _Seat(executor, threads, answer.host, host_text(answer.host, machine.speed))
            case Refused() as answer:
                self._refuse(address, answer)

    def _refuse(self, address: str, answer: Refused) -> None:
        self._refused[address] = answer
        self._tell_once((answer.host, answer.reason), WorkerRefused(address, answer.host, answer.reason))

    def _tell_of_machines(self) -> None:
        """Tells what has changed, and when machines differ more in speed than was told. The first worker of a machine measures it."""
        for host, known in self._machines.items():
            places = sum(seat.places for seat in self._seats.values() if seat.host == host)
            if places != known.places:
                self._machines[host] = known._replace(places=places)
                self._listen(self._machines[host])
        differ = difference([machine for machine in self._machines.values() if machine.places])
        if differ and differ.ratio > self._ratio:
            self._ratio = differ.ratio
            self._listen(differ)

    def _tell_once(self, key: object, event: Event) -> None:
        if key not in self._told:
            self._told.add(key)
            self._listen(event)

    def _lose(self, address: str) -> None:
        """A worker is gone, and what it was to play with it."""
        self._refused.pop(address, None)
        self._asked.pop(address, None)
        seat = self._seats.pop(address, None)
        for ours, theirs in seat.pending.items() if seat else ():
            _finish(ours, error=BrokenExecutor(f"the worker {address} is gone"))
            theirs.cancel()

    def _wait_for_workers(self) -> None:
        if self._seats or self._asked:
            self._last_seated = time.monotonic()
            return
        waited = time.monotonic() - self._last_seated
        if waited > PATIENCE_S:
            reasons = "".join(f"\n  {address}: {refused.reason}" for address, refused in sorted(self._refused.items()))
            raise ClusterError(
                f"expected a worker that may play at {self._cluster.address}, got none for {PATIENCE_S:g} s{reasons}",
                "start some with 'dask worker ADDRESS', then run the same command: all finished games are in the journal",
            )
        if waited > NOTICE_S and not self._refused:
            self._tell_once("none", NoWorkers(self._cluster.address, PATIENCE_S))

    def room(self) -> int:
        """The size of a batch, unless all workers have enough."""
        return self._pace.games if any(seat.room(self._ahead) > 0 for seat in self._seats.values()) else 0

    @property
    def _ahead(self) -> int:
        return 1 if self._pace.is_slow else AHEAD

    def submit(self, plans: list[GamePlan], *, alone: bool = False) -> Future[Batch] | None:
        """Hands a batch to the worker with most room; None when none has any."""
        rooms = {address: seat.room(self._ahead) for address, seat in self._seats.items()}
        free = [address for address, room in rooms.items() if room > 0 and not (alone and self._seats[address].pending)]
        if not free:
            return None
        address = max(free, key=lambda address: rooms[address] / self._seats[address].places)
        seat, ours = self._seats[address], Future[Batch]()
        theirs = seat.executor.submit(node.play, self._terms.token, plans, seat.name)
        seat.pending[ours] = theirs
        seat.alone = ours if alone else None
        theirs.add_done_callback(partial(self._hand_on, address, ours))
        return ours

    def _hand_on(self, address: str, ours: Future[Batch], theirs: Future[Batch]) -> None:
        """Gives the end of Dask's future to ours, in a thread of Dask's."""
        if theirs.cancelled():
            _finish(ours, error=BrokenExecutor("the scheduler dropped the game"))
        elif error := theirs.exception():
            if isinstance(error, node.ForgottenError):
                self._forgotten.add(address)
            _finish(ours, error=error)
        else:
            self._pace.add(theirs.result())
            _finish(ours, result=theirs.result())

    def fallen(self, done: set[Future[Batch]], pending: Pending) -> set[Future[Batch]]:  # noqa: ARG002 - each worker falls alone
        """Only those that are done: workers die one by one."""
        return done

    def renew(self) -> None:
        """Nothing but a look whether all are lost: whoever started the workers starts them again."""
        self._cluster.check()

    def stop_beginning(self) -> None:
        """Tells all workers, once; where that fails, the next look says why."""
        if self._is_stopping or not self._seats:
            return
        self._is_stopping = True
        with suppress(OSError):
            self._cluster.client.run(node.stop_beginning, self._terms.token, workers=list(self._seats), wait=False)

    def close(self, *, kill: bool) -> None:
        """Leaves the workers to others, without a process or a bot of ours."""
        if self._cluster.client.status == "running":
            for seat in self._seats.values() if kill else ():
                for theirs in seat.pending.values():
                    theirs.cancel()
            wait([seat.executor.submit(node.release, self._terms.token) for seat in self._seats.values()], LEAVE_S)


def difference(machines: Collection[MachineChanged]) -> MachinesDiffer | None:
    """The slowest and the fastest machine, where bots would not get the same out of the same time."""
    found = unlike(host_text(machine.host, machine.speed) for machine in machines)
    return MachinesDiffer(*found) if found else None


def _answer(future: Future[Any]) -> Any:
    """What a worker answered; a refusal where it could not."""
    error = future.exception()
    if isinstance(error, ImportError | AttributeError):
        return Refused(
            "", f"expected qin-arena {arena.__version__}, got {error}: pip install 'qin-arena[cluster]=={arena.__version__}' there"
        )
    answer = Refused("", f"it could not be asked: {error!r}") if error else future.result()
    return Versions(*answer) if isinstance(answer, tuple) else answer


def _finish(future: Future[Batch], *, result: Batch | None = None, error: BaseException | None = None) -> None:
    """Ends a future unless it has ended: a worker may be given up and answer after all."""
    with suppress(InvalidStateError):
        if error is not None:
            future.set_exception(error)
        elif result is not None:
            future.set_result(result)
