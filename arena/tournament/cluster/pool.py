"""The workers of a Dask cluster as a pool. Only this side writes permanent files, so a game that
was played twice is stored once.
"""

import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import BrokenExecutor, Future, InvalidStateError, wait
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import arena
from arena.errors import ClusterError, Void
from arena.match.referee import GamePlan
from arena.players.builtin import is_built_in
from arena.players.folder import Bot
from arena.records.record import host_text, unlike
from arena.tournament.cluster import node, terms
from arena.tournament.cluster.connection import LEAVE_S, Cluster
from arena.tournament.cluster.shipping import pack
from arena.tournament.cluster.terms import (
    Admitted,
    Lacking,
    Refused,
    Terms,
    Versions,
    disagreement,
    versions,
)
from arena.tournament.events import (
    Event,
    MachineChanged,
    MachinesDiffer,
    NoWorkers,
    WorkerBusy,
    WorkerRefused,
)
from arena.tournament.pool import Pace, Pending
from arena.tournament.workers import Batch, Setup

LOOK_S = 0.5
BATCH_S = 2.0
AHEAD = 2
"""Batches handed out for each game a worker plays at a time, so that no worker waits for the
network; one if games are slow.
"""
NOTICE_S, REFUSED_S, PATIENCE_S = 3.0, 10.0, 60.0
"""While no worker may play: how long to wait before saying so, and before giving up if all are
refused or there are none.
"""
SICK = 3
"""A worker that breaks off batches with this many different games in a row gets no more."""

VERSIONS = f"__import__({terms.__name__!r}, fromlist=['versions']).versions()._asdict()"
"""The first question to a worker, as text: a worker without the code a message refers to would
crash unpacking it, again and again.
"""


class _Asked(NamedTuple):
    """A worker that was asked something: the question, the pending
    answer, and the time of asking.
    """

    executor: Any
    answer: Future[Any]
    since: float


class _Seat:
    """A worker that may play: ``places`` games at a time, named ``name`` in records.

    ``pending`` maps our futures of batches to Dask's. ``broken`` holds the first games of the
    batches it broke off since it last finished a game.
    """

    def __init__(self, executor: Any, places: int, host: str, name: str) -> None:
        self.executor = executor
        self.places = places
        self.host = host
        self.name = name
        self.pending: dict[Future[Batch], Future[Batch]] = {}
        self.alone: Future[Batch] | None = None
        self.broken: dict[str, str] = {}

    def room(self, ahead: int) -> int:
        """How many more batches it may get, with ``ahead`` for each place; none while it plays a
        batch that has to be alone.
        """
        self.pending = {ours: theirs for ours, theirs in self.pending.items() if not ours.done()}
        return 0 if self.alone in self.pending else self.places * ahead - len(self.pending)

    def note(self, plans: list[GamePlan], reason: str) -> None:
        """Takes the end of a batch into account; without a reason, the batch ended well."""
        if reason:
            self.broken[plans[0].id] = reason
        else:
            self.broken.clear()


class ClusterPool:
    """The workers that may play for a session. ``bots`` are the run's bots in their original
    folders, not the built copies.

    Raises BotFolderError.
    """

    def __init__(
        self,
        cluster: Cluster,
        setup: Setup,
        bots: Mapping[str, Bot],
        listen: Callable[[Event], None],
    ) -> None:
        self._cluster = cluster
        self._terms = Terms(uuid.uuid4().hex, setup)
        self._versions = versions()
        self._archives = {label: pack(bot) for label, bot in bots.items() if not is_built_in(bot)}
        self._listen = listen
        self._seats: dict[str, _Seat] = {}
        self._asked: dict[str, _Asked] = {}
        self._refused: dict[str, Refused] = {}
        self._forgotten: set[str] = set()
        self._failed_at: defaultdict[str, set[str]] = defaultdict(set)
        self._names: dict[tuple[str, str], str] = {}
        self._machines: dict[str, MachineChanged] = {}
        self._told: set[object] = set()
        self._ratio = 0.0
        self._pace = Pace(BATCH_S)
        self._is_stopping = False
        self._looked = self._last_seated = time.monotonic() - LOOK_S

    @property
    def places(self) -> int:
        """How many games are played at the same time."""
        return sum(seat.places for seat in self._seats.values())

    def look(self) -> None:
        """Finds out which workers came and went. Raises ClusterError without a scheduler, or after
        a while without workers.
        """
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        threads = self._cluster.threads()
        if threads is None:
            return
        self._part_from(threads)
        for address in (
            threads.keys() - self._seats.keys() - self._asked.keys() - self._refused.keys()
        ):
            executor = self._cluster.client.get_executor(
                workers=[address], allow_other_workers=False, pure=False, retries=0
            )
            self._ask(address, executor, eval, VERSIONS)
        for address in [address for address, asked in self._asked.items() if asked.answer.done()]:
            self._hear(address, threads[address])
        late = [address for address, asked in self._asked.items() if now > asked.since + NOTICE_S]
        for address in late:
            self._tell_once(("busy", address), WorkerBusy(address))
        if len(late) == len(self._asked):
            self._tell_of_machines()
        self._looked = time.monotonic()
        self._wait_for_workers()

    def _part_from(self, here: Mapping[str, int]) -> None:
        """Drops workers that are gone, that forgot the session, or that break off one game after
        another.
        """
        for address in (
            self._seats.keys() | self._asked.keys() | self._refused.keys()
        ) - here.keys() | self._forgotten:
            self._lose(address)
        self._forgotten.clear()
        for address, seat in list(self._seats.items()):
            if len(seat.broken) >= SICK:
                self._lose(address)
                self._refuse(
                    address,
                    Refused(
                        seat.host,
                        f"its games fail one after another: {list(seat.broken.values())[-1]}",
                    ),
                )

    def _ask(self, address: str, executor: Any, *question: Any) -> None:
        self._asked[address] = _Asked(executor, executor.submit(*question), time.monotonic())

    def _hear(self, address: str, threads: int) -> None:
        """Takes the answer of a worker that was asked to join."""
        executor, future, _ = self._asked.pop(address)
        if future.cancelled():
            return
        match _answer(future):
            case Versions() as there if reason := disagreement(self._versions, there):
                self._refuse(address, Refused(there.host, reason))
            case Versions():
                self._ask(address, executor, node.admit, self._terms, {})
            case Lacking(labels):
                self._ask(
                    address,
                    executor,
                    node.admit,
                    self._terms,
                    {label: self._archives[label] for label in labels},
                )
            case Admitted() as answer:
                host = self._name(answer.host, address)
                machine = self._machines.setdefault(
                    host, MachineChanged(host, 0, answer.speed, answer.sandbox)
                )
                self._seats[address] = _Seat(
                    executor, threads, host, host_text(host, machine.speed)
                )
            case Refused() as answer:
                self._refuse(address, answer)

    def _name(self, host: str, address: str) -> str:
        """The name of a machine; a second one of the same name, at
        another address, gets a number.
        """
        key = host, urlsplit(address).hostname or ""
        if key not in self._names:
            twins = sum(name == host for name, _ in self._names)
            self._names[key] = f"{host}#{twins + 1}" if twins else host
        return self._names[key]

    def _refuse(self, address: str, answer: Refused) -> None:
        self._refused[address] = answer
        self._tell_once(
            (answer.host, answer.reason), WorkerRefused(address, answer.host, answer.reason)
        )

    def _tell_of_machines(self) -> None:
        """Announces what has changed, and when speeds differ more than announced. A machine's first
        worker measures its speed.
        """
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
        """Handles the loss of a worker, and of the games it was to play."""
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
        waited, patience = (
            time.monotonic() - self._last_seated,
            REFUSED_S if self._refused else PATIENCE_S,
        )
        if waited > patience:
            reasons = "".join(
                f"\n  {address}: {refused.reason}"
                for address, refused in sorted(self._refused.items())
            )
            raise ClusterError(
                f"expected a worker that may play at {self._cluster.address}, got none in"
                f" {patience:g} s{reasons}",
                "start workers with 'dask worker ADDRESS', fix what refused ones report, then run"
                " the same command: all finished games are in the journal",
            )
        if waited > NOTICE_S and not self._refused:
            self._tell_once("none", NoWorkers(self._cluster.address, PATIENCE_S))

    def room(self) -> int:
        """The size of a batch, unless all workers have enough."""
        return (
            self._pace.games
            if any(seat.room(self._ahead) > 0 for seat in self._seats.values())
            else 0
        )

    @property
    def _ahead(self) -> int:
        return 1 if self._pace.is_slow else AHEAD

    def submit(self, plans: list[GamePlan], *, alone: bool = False) -> Future[Batch] | None:
        """Gives a batch to the worker with the most room; None if none has any."""
        avoided = {address for plan in plans for address in self._failed_at.get(plan.id, ())}
        rooms = {
            address: seat.room(self._ahead)
            for address, seat in self._seats.items()
            if address not in avoided
        }
        if not rooms:
            rooms = {address: seat.room(self._ahead) for address, seat in self._seats.items()}
        free = [
            address
            for address, room in rooms.items()
            if room > 0 and not (alone and self._seats[address].pending)
        ]
        if not free:
            return None
        address = max(free, key=lambda address: rooms[address] / self._seats[address].places)
        seat, ours = self._seats[address], Future[Batch]()
        theirs = seat.executor.submit(node.play, self._terms.token, plans, seat.name)
        seat.pending[ours] = theirs
        seat.alone = ours if alone else None
        theirs.add_done_callback(partial(self._hand_on, address, seat, plans, ours))
        return ours

    def _hand_on(
        self,
        address: str,
        seat: _Seat,
        plans: list[GamePlan],
        ours: Future[Batch],
        theirs: Future[Batch],
    ) -> None:
        """Passes the end of Dask's future on to ours, in one of Dask's threads, and remembers which
        games failed on which worker.
        """
        if theirs.cancelled():
            _finish(ours, error=BrokenExecutor("the scheduler dropped the game"))
            return
        error = theirs.exception()
        if error is None:
            batch = theirs.result()
            self._pace.add(batch)
            voids = [
                (plan, result)
                for plan, result in zip(plans, batch.results, strict=True)
                if isinstance(result, Void)
            ]
            for plan, _ in voids:
                self._failed_at[plan.id].add(address)
            seat.note(plans, str(voids[-1][1]) if len(voids) == len(plans) else "")
            _finish(ours, result=batch)
            return
        if isinstance(error, node.ForgottenError):
            self._forgotten.add(address)
        else:
            for plan in plans:
                self._failed_at[plan.id].add(address)
            seat.note(plans, str(error) or repr(error))
        _finish(ours, error=error)

    def fallen(self, done: set[Future[Batch]], pending: Pending) -> set[Future[Batch]]:
        """Only those that are done: workers die one by one."""
        return done

    def renew(self) -> None:
        """Only checks whether all are lost: the user who started the workers restarts them."""
        self._cluster.check()

    def stop_beginning(self) -> None:
        """Tells all workers to stop, once."""
        if self._seats and not self._is_stopping:
            self._is_stopping = True
            self._cluster.tell(node.stop_beginning, self._terms.token, list(self._seats))

    def close(self, *, kill: bool) -> None:
        """Leaves the workers to others, with none of our processes or bots left there."""
        if self._cluster.client.status != "running":
            return
        for asked in self._asked.values():
            asked.answer.cancel()
        for seat in self._seats.values() if kill else ():
            for theirs in seat.pending.values():
                theirs.cancel()
        executors = [seat.executor for seat in self._seats.values()] + [
            asked.executor for asked in self._asked.values()
        ]
        wait([executor.submit(node.release, self._terms.token) for executor in executors], LEAVE_S)


def difference(machines: Collection[MachineChanged]) -> MachinesDiffer | None:
    """The slowest and the fastest machine, where bots would not get
    the same out of the same time.
    """
    found = unlike((machine.host, machine.speed) for machine in machines)
    return MachinesDiffer(*found) if found else None


def _answer(future: Future[Any]) -> Any:
    """What a worker answered; a refusal where it could not."""
    error = future.exception()
    if isinstance(error, ImportError | AttributeError):
        return Refused(
            "",
            f"expected qin-arena {arena.__version__}, got {error}: pip install"
            f" 'qin-arena[cluster]=={arena.__version__}' there",
        )
    answer = Refused("", f"it could not be asked: {error!r}") if error else future.result()
    if not isinstance(answer, dict):
        return answer
    if answer.keys() != set(Versions._fields):
        return Refused(
            str(answer.get("host", "")),
            f"expected qin-arena {arena.__version__}, got {answer.get('arena', 'another version')}",
        )
    return Versions(**answer)


def _finish(
    future: Future[Batch], *, result: Batch | None = None, error: BaseException | None = None
) -> None:
    """Ends a future unless it has ended: a worker may be given up and answer after all."""
    with suppress(InvalidStateError):
        if error is not None:
            future.set_exception(error)
        elif result is not None:
            future.set_result(result)
