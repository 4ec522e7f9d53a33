"""The workers of a Dask cluster as a pool; `node` is what runs there. How the scheduler is reached
is Dask's own configuration: TLS, time-outs, retries.

Only this side writes permanent files, so a game that was played twice is stored once.
"""

import logging
import time
import uuid
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, InvalidStateError, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from arena import __version__
from arena.errors import ClusterError, ConfigError, counted
from arena.match.referee import GamePlan
from arena.players.folder import Bot
from arena.players.player import is_built_in
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import pack
from arena.records.record import host_text
from arena.tournament import node
from arena.tournament.node import Admission
from arena.tournament.runner import Event, Pool, WorkersChanged
from arena.tournament.workers import Batch, Pace, Setup

LOOK_S, ANSWER_S, LEAVE_S = 0.5, 30.0, 3.0
CONNECT = {"distributed": {"comm": {"timeouts": {"connect": "5s"}}}}
"""Where Dask's configuration says nothing: its own patience with a wrong address is 30 s."""
BATCH_S, AHEAD = 2.0, 2
"""Batches handed out for each game a worker plays at a time, so that no worker waits for the
network; one if games are slow.
"""
NOTICE_S, REFUSED_S, PATIENCE_S = 3.0, 10.0, 60.0
"""While no worker may play: how long to wait before saying so, and before giving up if all are
refused or there are none.
"""
SICK = 3
"""A worker that breaks off batches with this many different games in a row, for each that it plays
at a time, gets no more. When one of its processes dies, it loses what the others play too.
"""
VERSIONS = f"__import__({node.__name__!r}, fromlist=['versions']).versions()"
"""The first question to a worker, as text: a worker without the code a message refers to would
crash unpacking it, again and again.
"""
START = (
    "start one with 'dask scheduler', which prints its address, such as tcp://10.0.0.1:8786, and"
    " workers with 'dask worker ADDRESS'; for tls:// Dask's configuration names the certificates"
)
LOST = "a lost connection"
GO_ON = (
    "all finished games are in the journal: start the scheduler and its workers again, then run the"
    " same command"
)


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
            expected = (
                f"expected a Dask scheduler at {address}, got {type(error).__name__}: {error}"
            )
            raise ClusterError(expected, START) from None

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
        return ClusterPool(self, setup, bots, listen)

    def threads(self) -> dict[str, int]:
        """The workers' addresses and numbers of threads. Raises ClusterError."""
        self.check()
        try:
            return dict(self.client.sync(self.client.scheduler.ncores, callback_timeout=ANSWER_S))
        except OSError as error:
            what = f"no answer in {ANSWER_S:g} s" if isinstance(error, TimeoutError) else LOST
            raise self._lost(what) from None

    def check(self) -> None:
        """Raises ClusterError if the connection is lost."""
        if self.client.status != "running":
            raise self._lost(LOST)

    def _lost(self, what: str) -> ClusterError:
        expected = f"expected the Dask scheduler at {self.address} to stay connected"
        return ClusterError(f"{expected}, got {what}", GO_ON)

    def close(self) -> None:
        """Leaves the cluster, which keeps running."""
        with suppress(Exception):  # it may already be gone
            self.client.close(timeout=LEAVE_S)


def _quieten() -> None:
    """Dask prints every lost connection to the terminal. This sends them to the log."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).handlers[:] = [logging.NullHandler()]
            logging.getLogger(name).propagate = True
    warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)


class _Seat(Struct, eq=False):
    """A worker of the cluster: still to ``answer`` a question; or refused for a ``reason``; or
    playing ``places`` games at a time, by the ``name`` of its machine in records. ``pending`` maps
    our futures of batches to Dask's; ``broken`` says for the first games of those that it broke off
    since it last finished one, why.
    """

    executor: Any
    answer: Any
    since: float
    reason: str = ""
    places: int = 0
    host: str = ""
    name: str = ""
    pending: dict[Any, Any] = {}
    alone: Any = None
    broken: dict[str, str] = {}
    is_forgotten: bool = False

    def room(self, ahead: int) -> int:
        """How many more batches it may get, with ``ahead`` for each place."""
        self.pending = {ours: theirs for ours, theirs in self.pending.items() if not ours.done()}
        return 0 if self.alone in self.pending else self.places * ahead - len(self.pending)


class ClusterPool:
    """The workers that may play for a session. ``bots`` are the run's in their original folders,
    not the built copies. Raises BotFolderError.
    """

    as_one = False

    def __init__(
        self,
        cluster: ClusterWorkers,
        setup: Setup,
        bots: Sequence[Bot],
        listen: Callable[[Event], None],
    ) -> None:
        self._cluster, self._setup, self._listen = cluster, setup, listen
        self._token, self._versions = uuid.uuid4().hex, node.versions()
        self._packed = {bot.label: pack(bot) for bot in bots if not is_built_in(bot)}
        self._workers: dict[str, _Seat] = {}
        self._failed_at: defaultdict[str, set[str]] = defaultdict(set)
        self._machines: dict[str, Admission] = {}
        self._shown = Counter[str]()
        self._told: set[object] = set()
        self._pace = Pace(BATCH_S)
        self._looked = self._last_seated = time.monotonic() - LOOK_S

    @property
    def places(self) -> int:
        """How many games are played at the same time."""
        return sum(worker.places for worker in self._workers.values())

    def look(self) -> None:
        """Finds out which workers came and went. Raises ClusterError without any for a while."""
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        threads = self._cluster.threads()
        for address, worker in list(self._workers.items()):
            if worker.is_forgotten or address not in threads:
                self._lose(address)
        for address in threads.keys() - self._workers.keys():
            executor = self._cluster.client.get_executor(
                workers=[address], allow_other_workers=False, pure=False, retries=0
            )
            self._workers[address] = _Seat(executor, executor.submit(eval, VERSIONS), now)
        for address, worker in list(self._workers.items()):
            if worker.answer and worker.answer.done():
                self._hear(address, worker, threads[address])
            if worker.places and len(worker.broken) >= SICK * worker.places:
                reason = list(worker.broken.values())[-1]
                self._lose(address)
                self._refuse(address, worker, f"its games fail one after another: {reason}")
        asked = {address: each.since for address, each in self._workers.items() if each.answer}
        late = [address for address, since in asked.items() if now > since + NOTICE_S]
        for address in late:
            told = f"the worker {address} has not answered yet: it builds a bot, or is busy"
            self._say(told, ("busy", address))
        if len(late) == len(asked):
            self._tell_of_machines()
        self._looked = time.monotonic()
        self._wait_for_workers(is_asking=bool(asked))

    def _lose(self, address: str) -> None:
        """Handles the loss of a worker, and of the games it was to play."""
        for ours, theirs in self._workers.pop(address).pending.items():
            _finish(ours, BrokenExecutor(f"the worker {address} is gone"))
            theirs.cancel()

    def _hear(self, address: str, worker: _Seat, threads: int) -> None:
        """Takes the answer of a worker that was asked to join."""
        asked, worker.answer = worker.answer, None
        if asked.cancelled():
            self._lose(address)
            return
        error = asked.exception()
        if isinstance(error, ImportError | AttributeError):
            cure = f"pip install 'qin-arena[cluster]=={__version__}' there"
            answer: Any = Admission("", f"expected qin-arena {__version__}, got {error}: {cure}")
        else:
            answer = Admission("", f"it could not be asked: {error!r}") if error else asked.result()
        if isinstance(answer, dict):
            reason = node.disagreement(self._versions, answer)
            if not reason:
                question = (node.admit, self._token, self._setup, self._packed)
                worker.answer, worker.since = worker.executor.submit(*question), time.monotonic()
                return
            answer = Admission(str(answer.get("host", "")), reason)
        worker.host = answer.host
        if answer.reason:
            self._refuse(address, worker, answer.reason)
            return
        # A machine's first worker measures its speed.
        speed = self._machines.setdefault(answer.host, answer).speed
        worker.name, worker.places = host_text(answer.host, speed), threads

    def _refuse(self, address: str, worker: _Seat, reason: str) -> None:
        self._workers[address] = _Seat(worker.executor, None, worker.since, reason)
        on = f" on {worker.host}" if worker.host else ""
        told = f"warning: the worker {address}{on} may not play: {reason}"
        self._say(told, (worker.host, reason))

    def _tell_of_machines(self) -> None:
        """Announces what has changed."""
        for host, machine in self._machines.items():
            places = sum(each.places for each in self._workers.values() if each.host == host)
            if places != self._shown[host]:
                how = f"speed {machine.speed}/s, sandbox {machine.sandbox}"
                is_playing = f"{host}: {counted(places, 'game')} at once, {how}"
                self._say(is_playing if places else f"warning: {host} has stopped playing")
                self._shown[host] = places

    def _say(self, text: str, once: object = None) -> None:
        """Tells the listener; what is of a kind to be told ``once`` is not repeated."""
        if once is None or once not in self._told:
            self._told.add(once)
            self._listen(WorkersChanged(text))

    def _wait_for_workers(self, *, is_asking: bool) -> None:
        if self.places or is_asking:
            self._last_seated = time.monotonic()
            return
        waited, refused = time.monotonic() - self._last_seated, sorted(self._workers.items())
        patience = REFUSED_S if refused else PATIENCE_S
        if waited > patience:
            reasons = "".join(f"\n  {address}: {worker.reason}" for address, worker in refused)
            raise ClusterError(
                f"expected a worker that may play at {self._cluster.address}, got none in"
                f" {patience:g} s{reasons}",
                "start workers with 'dask worker ADDRESS', fix what refused ones report, then run"
                " the same command: all finished games are in the journal",
            )
        if waited > NOTICE_S and not refused:
            at = self._cluster.address
            start = f"start some with 'dask worker {at}'"
            self._say(f"waiting {PATIENCE_S:g} s for workers at {at}: {start}", "none")

    def room(self) -> int:
        """The size of a batch, unless all workers have enough."""
        has_room = any(each.room(self._ahead) > 0 for each in self._workers.values())
        return self._pace.games if has_room else 0

    @property
    def _ahead(self) -> int:
        return 1 if self._pace.is_slow else AHEAD

    def submit(self, plans: list[GamePlan], *, alone: bool = False) -> Future[Batch] | None:
        """Gives a batch to the worker with the most room, if others are there not to one on which a
        game of it has failed; None if none has any.
        """
        avoided = {address for plan in plans for address in self._failed_at.get(plan.id, ())}
        seated = {address: worker for address, worker in self._workers.items() if worker.places}
        rooms = {
            address: room / worker.places
            for address, worker in seated.items()
            if (room := worker.room(self._ahead)) > 0
            and (address not in avoided or seated.keys() <= avoided)
            and not (alone and worker.pending)
        }
        if not rooms:
            return None
        address = max(rooms, key=rooms.__getitem__)
        worker, ours = self._workers[address], Future[Batch]()
        theirs = worker.executor.submit(node.play, self._token, plans, worker.name)
        worker.pending[ours], worker.alone = theirs, ours if alone else None
        theirs.add_done_callback(partial(self._hand_on, address, worker, plans, ours))
        return ours

    def _hand_on(
        self, address: str, worker: _Seat, plans: list[GamePlan], ours: Future[Batch], theirs: Any
    ) -> None:
        """In a thread of Dask's: passes on how a batch ended, and remembers what failed where."""
        if theirs.cancelled():
            _finish(ours, BrokenExecutor("the scheduler dropped the game"))
            return
        end: Batch | BaseException = theirs.exception() or theirs.result()
        worker.is_forgotten |= isinstance(end, node.ForgottenError)
        results = end.results if isinstance(end, Batch) else [end] * len(plans)
        failed = {
            plan.id: str(why) or repr(why)
            for plan, why in zip(plans, results, strict=True)
            if isinstance(why, BaseException)
        }
        for name in failed:
            self._failed_at[name].add(address)
        if len(failed) < len(plans):
            worker.broken.clear()
        else:
            worker.broken[plans[0].id] = failed[plans[-1].id]
        if isinstance(end, Batch):
            self._pace.add(end)
        _finish(ours, end)

    def renew(self) -> None:
        """Only checks whether all are lost: the user who started the workers restarts them."""
        self._cluster.check()

    def stop_beginning(self) -> None:
        """Lets the batches end that are out: they take a few seconds, or are single games."""

    def close(self, *, kill: bool) -> None:
        """Leaves the workers to others, with none of our processes or bots left there."""
        if self._cluster.client.status != "running":
            return
        here = [worker for worker in self._workers.values() if worker.places or worker.answer]
        for worker in here:
            for future in (worker.answer, *(worker.pending.values() if kill else ())):
                if future:
                    future.cancel()
        wait([worker.executor.submit(node.release, self._token) for worker in here], LEAVE_S)


def _finish(future: Future[Batch], end: Batch | BaseException) -> None:
    """Ends a future unless it has: a worker may be given up and answer after all."""
    with suppress(InvalidStateError):
        if isinstance(end, BaseException):
            future.set_exception(end)
        else:
            future.set_result(end)
