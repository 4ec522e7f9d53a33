"""The workers of a Dask cluster as a pool, and what runs on their machines: each says whether it
may play, gets the bots, and lets processes below it play. How the scheduler is reached is Dask's
own configuration: TLS, time-outs, retries.

Only this side writes permanent files, so a game that was played twice is stored once.
"""

import multiprocessing
import platform
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, InvalidStateError, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

import arena
from arena.errors import ArenaError, ClusterError, counted
from arena.match.referee import GamePlan
from arena.players.folder import Bot
from arena.players.passing import remove_tree
from arena.players.player import is_built_in
from arena.players.sandbox.tiers import Tier, at_least
from arena.players.staging import Packed, pack, unpack
from arena.records.record import host_text
from arena.rules import pure
from arena.rules.boards import built_in
from arena.rules.notation import parse_deck
from arena.tournament.batches import Batch, Pace
from arena.tournament.events import RunnerEvent, WorkersChanged
from arena.tournament.schedule import deck_of
from arena.tournament.workers import (
    LocalPool,
    Setup,
    available_cores,
    disagreement,
    versions,
    worker_cores,
)

LOOK_S, ANSWER_S, LEAVE_S = 0.5, 30.0, 3.0
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
VERSIONS = f"__import__({versions.__module__!r}, fromlist=['versions']).versions()"
"""The first question to a worker, as text: a worker without the code a message refers to would
crash unpacking it, again and again.
"""
GO_ON = (
    "all finished games are in the journal: start the scheduler and its workers again, then run the"
    " same command"
)

ROUNDS, GAMES = 5, 20
WANTED_S = 0.2
IDLE_S = 3.0
"""Processes that get no games for so long end, because the tournament's process may be gone."""


class Admission(Struct, frozen=True):
    """Whether a worker may play: a ``reason`` why not, with the cure, or else how fast its machine
    is, as measured by `speed`, and its sandbox.
    """

    host: str
    reason: str = ""
    speed: int = 0
    sandbox: Tier = "none"


class ForgottenError(BrokenExecutor):
    """A worker is asked for games of a session that it does not know."""


class _Seat(Struct, eq=False):
    """A worker of the cluster: still to ``answer`` a question; or refused for a ``reason``; or
    playing ``slots`` games at a time, by the ``name`` of its machine in records. ``pending`` maps
    our futures of batches to Dask's; ``broken`` says for the first games of those that it broke off
    since it last finished one, why.
    """

    executor: Any
    answer: Any
    since: float
    reason: str = ""
    slots: int = 0
    host: str = ""
    name: str = ""
    pending: dict[Any, Any] = {}
    alone: Any = None
    broken: dict[str, str] = {}
    is_forgotten: bool = False

    def capacity(self, ahead: int) -> int:
        """How many more batches the worker may get, with ``ahead`` of them for each slot."""
        self.pending = {ours: theirs for ours, theirs in self.pending.items() if not ours.done()}
        return 0 if self.alone in self.pending else self.slots * ahead - len(self.pending)


class ClusterPool:
    """The workers that may play for a session. ``bots`` are the run's in their original folders,
    not the built copies. Raises BotFolderError.
    """

    as_one = False

    def __init__(
        self,
        client: Any,
        address: str,
        setup: Setup,
        bots: Sequence[Bot],
        listen: Callable[[RunnerEvent], None],
    ) -> None:
        self._client = client
        self._address = address
        self._setup = setup
        self._listen = listen
        self._token = uuid.uuid4().hex
        self._versions = versions()
        self._packed = {bot.label: pack(bot) for bot in bots if not is_built_in(bot)}
        self._workers: dict[str, _Seat] = {}
        self._failed_at: defaultdict[str, set[str]] = defaultdict(set)
        self._machines: dict[str, Admission] = {}
        self._shown = Counter[str]()
        self._told: set[object] = set()
        self._pace = Pace.of(in_process=setup.in_process)
        self._looked = self._last_seated = time.monotonic() - LOOK_S

    @property
    def slots(self) -> int:
        """How many games are played at the same time."""
        return sum(worker.slots for worker in self._workers.values())

    def look(self) -> None:
        """Finds out which workers came and went. Raises ClusterError without any for a while."""
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        threads = self._threads()
        for address, worker in list(self._workers.items()):
            if worker.is_forgotten or address not in threads:
                self._lose(address)
        for address in threads.keys() - self._workers.keys():
            executor = self._client.get_executor(
                workers=[address], allow_other_workers=False, pure=False, retries=0
            )
            self._workers[address] = _Seat(executor, executor.submit(eval, VERSIONS), now)
        for address, worker in list(self._workers.items()):
            if worker.answer and worker.answer.done():
                self._hear(address, worker, threads[address])
            if worker.slots and len(worker.broken) >= SICK * worker.slots:
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

    def _threads(self) -> dict[str, int]:
        """The workers' addresses and numbers of threads. Raises ClusterError."""
        self._check()
        try:
            return dict(self._client.sync(self._client.scheduler.ncores, callback_timeout=ANSWER_S))
        except TimeoutError:
            raise self._lost(f"no answer in {ANSWER_S:g} s") from None
        except OSError:
            raise self._lost() from None

    def _check(self) -> None:
        if self._client.status != "running":
            raise self._lost()

    def _lost(self, what: str = "a lost connection") -> ClusterError:
        expected = f"expected the Dask scheduler at {self._address} to stay connected"
        return ClusterError(f"{expected}, got {what}", GO_ON)

    def _lose(self, address: str) -> None:
        """Handles the loss of a worker, and of the games it was to play."""
        for ours, theirs in self._workers.pop(address).pending.items():
            _finish(ours, BrokenExecutor(f"the worker {address} is gone"))
            theirs.cancel()

    def _hear(self, address: str, worker: _Seat, threads: int) -> None:
        """Takes the answer of a worker that was asked to join."""
        asked = worker.answer
        worker.answer = None
        if asked.cancelled():
            self._lose(address)
            return
        error = asked.exception()
        if isinstance(error, ImportError | AttributeError):
            cure = f"pip install 'qin-arena[cluster]=={arena.__version__}' there"
            answer: Any = Admission(
                "", f"expected qin-arena {arena.__version__}, got {error}: {cure}"
            )
        else:
            answer = Admission("", f"it could not be asked: {error!r}") if error else asked.result()
        if isinstance(answer, dict):
            reason = disagreement(self._versions, answer)
            if not reason:
                question = (admit, self._token, self._setup, self._packed)
                worker.answer = worker.executor.submit(*question)
                worker.since = time.monotonic()
                return
            answer = Admission(str(answer.get("host", "")), reason)
        worker.host = answer.host
        if answer.reason:
            self._refuse(address, worker, answer.reason)
            return
        # A machine's first worker measures its speed.
        speed = self._machines.setdefault(answer.host, answer).speed
        worker.name = host_text(answer.host, speed)
        worker.slots = threads

    def _refuse(self, address: str, worker: _Seat, reason: str) -> None:
        self._workers[address] = _Seat(worker.executor, None, worker.since, reason)
        on = f" on {worker.host}" if worker.host else ""
        told = f"warning: the worker {address}{on} may not play: {reason}"
        self._say(told, (worker.host, reason))

    def _tell_of_machines(self) -> None:
        """Announces what has changed."""
        for host, machine in self._machines.items():
            slots = sum(each.slots for each in self._workers.values() if each.host == host)
            if slots != self._shown[host]:
                how = f"speed {machine.speed}/s, sandbox {machine.sandbox}"
                is_playing = f"{host}: {counted(slots, 'game')} at once, {how}"
                self._say(is_playing if slots else f"warning: {host} has stopped playing")
                self._shown[host] = slots

    def _say(self, text: str, once: object = None) -> None:
        """Tells the listener; what is of a kind to be told ``once`` is not repeated."""
        if once is None or once not in self._told:
            self._told.add(once)
            self._listen(WorkersChanged(text))

    def _wait_for_workers(self, *, is_asking: bool) -> None:
        if self.slots or is_asking:
            self._last_seated = time.monotonic()
            return
        waited = time.monotonic() - self._last_seated
        refused = sorted(self._workers.items())
        patience = REFUSED_S if refused else PATIENCE_S
        if waited > patience:
            reasons = "".join(f"\n  {address}: {worker.reason}" for address, worker in refused)
            raise ClusterError(
                f"expected a worker that may play at {self._address}, got none in"
                f" {patience:g} s{reasons}",
                "start workers with 'dask worker ADDRESS', fix what refused ones report, then run"
                " the same command: all finished games are in the journal",
            )
        if waited > NOTICE_S and not refused:
            at = self._address
            start = f"start some with 'dask worker {at}'"
            self._say(f"waiting {PATIENCE_S:g} s for workers at {at}: {start}", "none")

    def capacity(self) -> int:
        """The size of a batch, unless all workers have enough."""
        has_capacity = any(each.capacity(self._ahead) > 0 for each in self._workers.values())
        return self._pace.games if has_capacity else 0

    @property
    def _ahead(self) -> int:
        return 1 if self._pace.is_slow else AHEAD

    def submit(self, plans: list[GamePlan], *, alone: bool = False) -> Future[Batch] | None:
        """Gives a batch to the worker with the most free capacity; returns None if none has any.

        A worker on which one of the games has failed gets the batch only if all others have failed
        too.
        """
        failed_at = {address for plan in plans for address in self._failed_at.get(plan.id, ())}
        playing = {address: worker for address, worker in self._workers.items() if worker.slots}
        has_untried = any(address not in failed_at for address in playing)
        free = dict[str, float]()
        for address, worker in playing.items():
            capacity = worker.capacity(self._ahead)
            is_suspect = address in failed_at and has_untried
            is_busy = bool(worker.pending)
            if capacity > 0 and not is_suspect and not (alone and is_busy):
                free[address] = capacity / worker.slots
        if not free:
            return None
        address = max(free, key=free.__getitem__)
        worker = self._workers[address]
        ours = Future[Batch]()
        theirs = worker.executor.submit(play, self._token, plans, worker.name)
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
        worker.is_forgotten |= isinstance(end, ForgottenError)
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
        self._check()

    def stop_beginning(self) -> None:
        """Lets the batches end that are out: they take a few seconds, or are single games."""

    def close(self, *, kill: bool) -> None:
        """Leaves the workers to others, with none of our processes or bots left there."""
        if self._client.status != "running":
            return
        here = [worker for worker in self._workers.values() if worker.slots or worker.answer]
        for worker in here:
            for future in (worker.answer, *(worker.pending.values() if kill else ())):
                if future:
                    future.cancel()
        wait([worker.executor.submit(release, self._token) for worker in here], LEAVE_S)


def _finish(future: Future[Batch], end: Batch | BaseException) -> None:
    """Ends a future unless it has: a worker may be given up and answer after all."""
    with suppress(InvalidStateError):
        if isinstance(end, BaseException):
            future.set_exception(end)
        else:
            future.set_result(end)


def speed() -> int:
    """Random 2-player games that the pure core plays here per second of CPU time, to two
    digits: the same work on every machine.
    """
    board = built_in("bird")
    deck = parse_deck(deck_of("speed", "bird", 0))
    times = []
    for _ in range(ROUNDS):
        began_ns = time.thread_time_ns()
        for seed in range(GAMES):
            pure.State(board, 2, deck).playout(seed)
        times.append(time.thread_time_ns() - began_ns)
    return int(float(f"{GAMES * 1e9 / min(times):.1e}"))


class Node:
    """A session in this Dask worker, with its bots in a ``folder``. Games are played by processes
    below it: its other threads would delay answers, and it may have children that are not ours.
    """

    def __init__(self, setup: Setup, slots: int, folder: Path) -> None:
        self._setup = setup
        self._slots = slots
        self.folder = folder
        self._lock = threading.Lock()
        self._pool: LocalPool | None = None
        self._playing = 0
        self._timer = threading.Timer(IDLE_S, self.end)

    def play(self, plans: list[GamePlan], host: str) -> Batch:
        """Plays games. Raises BrokenExecutor if a process dies, or nobody wants them any more."""
        worker = _dask_worker()
        key = _dask_worker().get_current_task()
        with self._lock:
            setup = msgspec.structs.replace(self._setup, host=host)
            pool = self._pool = self._pool or LocalPool(setup, self._slots)
            future = pool.submit(plans)
            self._playing += 1
        why = ""
        while future and not (why or wait([future], WANTED_S).done):
            task = worker.state.tasks.get(key)
            if task is None or task.state == "cancelled":
                why = "nobody waits for these games any more"
        if not why and (future is None or isinstance(future.exception(), BrokenExecutor)):
            why = "its worker died"
        if why:
            self.end(pool, kill=True)
        with self._lock:
            self._playing -= 1
            self._timer.cancel()
            self._timer = threading.Timer(IDLE_S, self.end, [pool], {"if_idle": True})
            self._timer.daemon = True
            self._timer.start()
        if why or future is None:
            raise BrokenExecutor(why)
        return future.result()

    def end(
        self, pool: LocalPool | None = None, *, kill: bool = False, if_idle: bool = False
    ) -> None:
        """Ends the processes, if they are still those of this pool; the next game starts others."""
        with self._lock:
            ended = self._pool
            if pool not in (None, ended) or (if_idle and self._playing):
                return
            self._pool = None
        if ended:
            ended.close(kill=kill)


_nodes: dict[str, Node] = {}
"""The sessions in this Dask worker, by token."""


def admit(token: str, setup: Setup, packed: Mapping[str, Packed]) -> Admission:
    """Decides whether this worker may play in a session, and unpacks its bots: into the session's
    own folder, because without a sandbox a bot could write into one that later sessions use.
    """
    host = platform.node()
    worker = _dask_worker()
    wanted = setup.sandbox
    folder = Path(worker.local_directory, f"bots-{token}")
    for base, grants in wanted.grants.items():
        if lack := grants.lack():
            return Admission(host, f"{base} is allowed {lack}")
    try:
        sandbox = msgspec.structs.replace(
            at_least(wanted.tier, strangers=wanted.strangers), grants=wanted.grants
        )
        bots = {
            label: bot if is_built_in(bot) else unpack(bot, packed[label], sandbox, folder)
            for label, bot in setup.bots.items()
        }
    except ArenaError as error:
        return Admission(host, f"{error}: {error.hint}" if error.hint else str(error))
    except OSError as error:
        reason = f"expected to keep bots in {folder}, got {error}: free some space there"
        return Admission(host, reason)
    slots = worker.state.nthreads
    others = [each for each in _nodes if each != token]
    # Pinned if this Dask worker alone is to keep all processors busy, with games of one session.
    is_alone = slots == available_cores() and not others
    cores = worker_cores(slots) if is_alone else []
    setup = msgspec.structs.replace(setup, bots=bots, sandbox=sandbox, cores=cores)
    # A Dask worker is a daemon, to which Python gives no children. Ours end with it by themselves.
    multiprocessing.current_process().daemon = False
    _nodes[token] = Node(setup, slots, folder)
    return Admission(host, "", speed(), sandbox.tier)


def play(token: str, plans: list[GamePlan], host: str) -> Batch:
    """Plays games of a session here. Raises BrokenExecutor."""
    if token not in _nodes:
        raise ForgottenError("the worker was restarted")
    return _nodes[token].play(plans, host)


def release(token: str) -> None:
    """Forgets a session."""
    if node := _nodes.pop(token, None):
        node.end()
        remove_tree(str(node.folder))


def _dask_worker() -> Any:
    # An extra, and slow to load.
    from distributed import get_worker  # noqa: PLC0415

    return get_worker()
