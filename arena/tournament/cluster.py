"""A pool of workers on a Dask cluster; `node` is the code that runs on their machines. Dask's own
configuration says how the scheduler is reached: TLS, timeouts, retries.

Only the main process writes permanent files, so a game that was played twice is stored once.
"""

import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, InvalidStateError, wait
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple

from msgspec import Struct

import arena
from arena.errors import ClusterError, counted
from arena.match.referee import GamePlan
from arena.players.folder import Bot
from arena.players.player import is_built_in
from arena.players.staging import pack
from arena.records.record import host_text
from arena.tournament.batches import Batch, Pace
from arena.tournament.events import RunnerEvent, WorkersChanged
from arena.tournament.node import Admission, ForgottenError, admit, play, release
from arena.tournament.workers import Setup, disagreement, versions

LOOK_S, ANSWER_S, LEAVE_S = 0.5, 30.0, 3.0
"""Seconds: the shortest pause between two looks at the workers; how long the scheduler may take to
answer; and how long workers may take to end a session.
"""
AHEAD = 2
"""The most batches that a worker has at a time for each of its slots, so that it does not wait for
the network; one if games are slow.
"""
NOTICE_S, REFUSED_S, PATIENCE_S = 3.0, 10.0, 60.0
"""Seconds without a worker that may play: after `NOTICE_S` a line says so; the run is given up
after `REFUSED_S` if all workers are refused, and after `PATIENCE_S` if there are none.
"""
SICK = 3
"""A worker gets no more games after this many batches in a row, for each of its slots, in which
every game failed. When one of its processes dies, the games of its other processes are lost, too,
so a smaller number would blame a worker for a single death.
"""
VERSIONS = f"__import__({versions.__module__!r}, fromlist=['versions']).versions()"
"""The first question to a worker, as Python text. If the question referred to the arena's code, a
worker without that code would crash again and again when it unpacks the question.
"""
GO_ON = (
    "all finished games are in the journal: start the scheduler and its workers again, then run the"
    " same command"
)
"""What the user can do if the scheduler or its workers are gone."""


class _Seat(Struct, eq=False):
    """A worker of the cluster, as this process knows it.

    ``executor``  gives tasks to this worker alone
    ``answer``    Dask's future of a question that the worker has not answered; None if there is
                  none
    ``since``     when that question was asked, by the monotonic clock
    ``reason``    why the worker is refused; empty if it is not
    ``slots``     how many games it plays at a time; 0 until it is admitted
    ``host``, ``name``  its machine, and its machine with its speed, as records name it
    ``pending``   maps the futures of its batches, which the runner has, to Dask's futures
    ``alone``     the future of a batch during which it gets no other; None without one
    ``broken``    the errors of the batches in which every game failed, by the id of the batch's
                  first game; emptied when a batch has a finished game
    ``is_forgotten``  whether it was restarted and does not know the session any more
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
        """How many more batches the worker may get, if it may have ``ahead`` batches per slot."""
        self.pending = {ours: theirs for ours, theirs in self.pending.items() if not ours.done()}
        return 0 if self.alone in self.pending else self.slots * ahead - len(self.pending)


class _Ended(NamedTuple):
    """A batch that has ended at a worker: the worker and its address, the games, and the results or
    the error.
    """

    address: str
    worker: _Seat
    plans: list[GamePlan]
    end: Batch | BaseException


class ClusterPool:
    """The workers of a Dask cluster that play for a session; see `runner.Pool`. ``client`` is
    Dask's client, ``address`` that of the scheduler for messages. ``bots`` are the run's bots in
    their original folders, not the built copies. ``listen`` is called when workers come and go.
    Raises BotFolderError if the files of a bot cannot be packed.
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
        self._once_told: set[object] = set()
        self._pace = Pace.of(in_process=setup.in_process)
        self._ended = SimpleQueue[_Ended]()
        self._looked = self._last_seated = time.monotonic() - LOOK_S

    @property
    def slots(self) -> int:
        """The number of games that the admitted workers can play at the same time."""
        return sum(worker.slots for worker in self._workers.values())

    def look(self) -> None:
        """Finds out, at most once in `LOOK_S` seconds, which workers came and went, and asks new
        ones whether they may play. Raises ClusterError if for too long no worker could play, or if
        the scheduler is lost.
        """
        self._count_ended()
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
                self._take_answer(address, worker, threads[address])
            if worker.slots and len(worker.broken) >= SICK * worker.slots:
                reason = list(worker.broken.values())[-1]
                self._lose(address)
                self._refuse(address, worker, f"its games fail one after another: {reason}")
        asked = {address: each.since for address, each in self._workers.items() if each.answer}
        late = [address for address, since in asked.items() if now > since + NOTICE_S]
        for address in late:
            message = f"the worker {address} has not answered yet: it builds a bot, or is busy"
            self._say(message, ("busy", address))
        if len(late) == len(asked):
            self._tell_of_machines()
        self._looked = time.monotonic()
        self._wait_for_workers(is_asking=bool(asked))

    def _threads(self) -> dict[str, int]:
        """The number of threads of each worker, by the worker's address. Raises ClusterError."""
        self._check()
        try:
            return dict(self._client.sync(self._client.scheduler.ncores, callback_timeout=ANSWER_S))
        except TimeoutError:
            raise self._lost(f"no answer in {ANSWER_S:g} s") from None
        except OSError:
            raise self._lost() from None

    def _check(self) -> None:
        """Raises ClusterError if the connection to the scheduler is lost."""
        if self._client.status != "running":
            raise self._lost()

    def _lost(self, what: str = "a lost connection") -> ClusterError:
        """The error for a lost connection to the scheduler; ``what`` says what was noticed."""
        return ClusterError(f"lost the Dask scheduler at {self._address}: {what}", GO_ON)

    def _lose(self, address: str) -> None:
        """Forgets the worker at this address, and ends the futures of its batches with
        BrokenExecutor.
        """
        for ours, theirs in self._workers.pop(address).pending.items():
            _finish(ours, BrokenExecutor(f"the worker {address} is gone"))
            theirs.cancel()

    def _take_answer(self, address: str, worker: _Seat, threads: int) -> None:
        """Handles a worker's answer: to the question about its versions, or to the question whether
        it may play. ``threads`` is the number of its threads.
        """
        asked = worker.answer
        worker.answer = None
        if asked.cancelled():
            self._lose(address)
            return
        error = asked.exception()
        if isinstance(error, ImportError | AttributeError):
            answer: Any = Admission(
                "", f"expected qin-arena {arena.__version__}, got {error}: {_install_there()}"
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
        """Notes that a worker may not play, and tells the listener the reason."""
        self._workers[address] = _Seat(worker.executor, None, worker.since, reason)
        on = f" on {worker.host}" if worker.host else ""
        message = f"warning: the worker {address}{on} may not play: {reason}"
        self._say(message, (worker.host, reason))

    def _tell_of_machines(self) -> None:
        """Tells the listener how many games each machine plays at once, for machines where that has
        changed.
        """
        for host, machine in self._machines.items():
            slots = 0
            for worker in self._workers.values():
                if worker.host == host:
                    slots += worker.slots
            if slots != self._shown[host]:
                how = f"speed {machine.speed}/s, sandbox {machine.sandbox}"
                is_playing = f"{host}: {counted(slots, 'game')} at once, {how}"
                self._say(is_playing if slots else f"warning: {host} has stopped playing")
                self._shown[host] = slots

    def _say(self, text: str, once: object = None) -> None:
        """Tells the listener a sentence. With ``once``, any value, the sentence is dropped if one
        with an equal value was told before.
        """
        if once is None or once not in self._once_told:
            self._once_told.add(once)
            self._listen(WorkersChanged(text))

    def _wait_for_workers(self, *, is_asking: bool) -> None:
        """Raises ClusterError if no worker could play for `REFUSED_S` seconds although there are
        workers, or for `PATIENCE_S` seconds without any. ``is_asking`` says that a worker still has
        to answer.
        """
        if self.slots or is_asking:
            self._last_seated = time.monotonic()
            return
        waited = time.monotonic() - self._last_seated
        refused = sorted(self._workers.items())
        patience = REFUSED_S if refused else PATIENCE_S
        if waited > patience:
            message = f"no worker at {self._address} could play within {patience:g} s"
            for address, worker in refused:
                message += f"\n  {address}: {worker.reason}"
            raise ClusterError(
                message,
                "start workers with 'dask worker ADDRESS', fix what refused ones report, then run"
                " the same command: all finished games are in the journal",
            )
        if waited > NOTICE_S and not refused:
            at = self._address
            start = f"start some with 'dask worker {at}'"
            self._say(f"waiting {PATIENCE_S:g} s for workers at {at}: {start}", "none")

    def capacity(self) -> int:
        """The number of games for the next batch; 0 if all workers have enough batches."""
        self._count_ended()
        has_capacity = any(each.capacity(self._ahead) > 0 for each in self._workers.values())
        return self._pace.games if has_capacity else 0

    @property
    def _ahead(self) -> int:
        """The number of unfinished batches that a worker may have for each of its slots, including
        those that it is playing.
        """
        return 1 if self._pace.is_slow else AHEAD

    def submit(self, plans: list[GamePlan], *, alone: bool = False) -> Future[Batch] | None:
        """Gives a batch to the worker with the most free capacity for its size; returns None if no
        worker has any. A batch submitted ``alone`` goes to a worker that has no other, and keeps
        others from it until it ends.

        A worker on which one of these games failed before gets the batch only if one of them has
        failed on every worker.
        """
        self._count_ended()
        failed_at = set[str]()
        for plan in plans:
            failed_at.update(self._failed_at.get(plan.id, ()))
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
        """Called in a thread of Dask's when a batch has ended: sets the result of the runner's
        future (``ours``) from Dask's (``theirs``), and queues the batch for `_count_ended`.
        """
        if theirs.cancelled():
            _finish(ours, BrokenExecutor("the scheduler dropped the game"))
            return
        end: object = theirs.exception() or theirs.result()
        if not isinstance(end, Batch | BaseException):
            end = ClusterError(
                f"expected games from the worker {address} ({worker.name}), got"
                f" {type(end).__name__}: another version may be installed there",
                f"{_install_there()}; then run the same command: all finished games are in the"
                " journal",
            )
        self._ended.put(_Ended(address, worker, plans, end))
        _finish(ours, end)

    def _count_ended(self) -> None:
        """Takes the batches that have ended since the last call into account."""
        while not self._ended.empty():
            self._count(self._ended.get())

    def _count(self, ended: _Ended) -> None:
        """Notes which games of a batch failed at its worker, and how long the batch took."""
        address, worker, plans, end = ended
        worker.is_forgotten |= isinstance(end, ForgottenError)
        results = end.results if isinstance(end, Batch) else [end] * len(plans)
        failed = {}
        for plan, result in zip(plans, results, strict=True):
            if isinstance(result, BaseException):
                failed[plan.id] = str(result) or repr(result)
                self._failed_at[plan.id].add(address)
        if len(failed) < len(plans):
            worker.broken.clear()
        else:
            worker.broken[plans[0].id] = failed[plans[-1].id]
        if isinstance(end, Batch):
            self._pace.add(end)

    def renew(self) -> None:
        """Raises ClusterError if the scheduler is lost. Does nothing else: lost workers are
        restarted by the user, who started them.
        """
        self._check()

    def stop_beginning(self) -> None:
        """Does nothing: batches that are handed out are played to their end, because they take a
        few seconds or are single games.
        """

    def close(self, *, kill: bool) -> None:
        """Ends this session on the workers, which keep running for other users; ``kill`` also
        cancels batches that are handed out. No processes or bots of this session stay there.
        """
        if self._client.status != "running":
            return
        here = [worker for worker in self._workers.values() if worker.slots or worker.answer]
        for worker in here:
            if worker.answer:
                worker.answer.cancel()
            if kill:
                for future in list(worker.pending.values()):
                    future.cancel()
        releases = [worker.executor.submit(release, self._token) for worker in here]
        wait(releases, LEAVE_S)


def _install_there() -> str:
    """The command that installs this version on the machine of a worker."""
    return f"pip install 'qin-arena[cluster]=={arena.__version__}' there"


def _finish(future: Future[Batch], end: Batch | BaseException) -> None:
    """Sets the result or the error of a future, unless it has one already: a worker may answer
    after its batch was given up.
    """
    with suppress(InvalidStateError):
        if isinstance(end, BaseException):
            future.set_exception(end)
        else:
            future.set_result(end)
