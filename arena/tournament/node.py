"""The code that runs on the machines of a Dask cluster: each Dask worker says whether it may play,
receives the bots, and plays games in processes of its own.
"""

import multiprocessing
import platform
import threading
import time
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor, wait
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.errors import ArenaError
from arena.match.referee import GamePlan
from arena.players.player import is_built_in
from arena.players.sandbox.tiers import Tier, at_least
from arena.players.staging import Packed, unpack
from arena.players.temporary import remove_tree
from arena.rules import pure
from arena.rules.boards import built_in
from arena.rules.notation import parse_deck
from arena.tournament.batches import Batch
from arena.tournament.schedule import deck_of
from arena.tournament.workers import LocalPool, Setup, available_cores, worker_cores

ROUNDS, GAMES = 5, 20
WANTED_S = 0.2
"""The pause in seconds between two checks whether games that are being played are still wanted."""
IDLE_S = 3.0
"""Processes that get no games for this many seconds end, because the main process may be gone."""


class Admission(Struct, frozen=True):
    """Whether a worker may play. ``host`` is the name of its machine. ``reason`` says why it may
    not, and what to do about that; empty if it may. If it may, ``sandbox`` is its sandbox, and
    ``speed`` the result of `speed` on its machine.
    """

    host: str
    reason: str = ""
    speed: int = 0
    sandbox: Tier = "none"


class ForgottenError(BrokenExecutor):
    """A worker was asked for games of a session that it does not know, because it was restarted."""


def speed() -> int:
    """How fast this machine is: the number of random 2-player games that the rules in Python play
    in a second of CPU time, rounded to two significant digits. It is the same work on every
    machine.
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
    """A session in this Dask worker, with its bots in ``folder`` and ``slots`` games at the same
    time. Games are played by processes that belong to the session: other threads of the Dask worker
    would delay answers, and the Dask worker may have child processes that are not ours.
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
        """Plays games on the session's processes. ``host`` is the name of this machine in records.
        Raises BrokenExecutor, and kills the processes, if one of them dies or if the games are no
        longer wanted.
        """
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
        """Ends the session's processes; later games start new ones. Does nothing if the processes
        are not those of ``pool`` any more (None stands for any), or, with ``if_idle``, if games are
        being played. ``kill`` breaks off running games.
        """
        with self._lock:
            ended = self._pool
            if pool not in (None, ended) or (if_idle and self._playing):
                return
            self._pool = None
        if ended:
            ended.close(kill=kill)


_nodes: dict[str, Node] = {}
"""The sessions in this Dask worker, by the token that the main process gave them."""


def admit(token: str, setup: Setup, packed: Mapping[str, Packed]) -> Admission:
    """Decides whether this worker may play in the session ``token``, and returns the decision; a
    refusal is no exception. The worker is refused if this machine cannot give bots what they are
    allowed, cannot make a sandbox at least as strong as that of ``setup``, or cannot store or build
    the bots.

    Otherwise the bots, of which ``packed`` has the files by label, are unpacked into a folder of
    that session, and the worker can `play` in it until `release`. Each session has its own folder:
    without a sandbox, a bot could write into a folder that other sessions use later.
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
        bots = dict(setup.bots)
        for label, bot in setup.bots.items():
            if not is_built_in(bot):
                bots[label] = unpack(bot, packed[label], sandbox, folder)
    except ArenaError as error:
        return Admission(host, f"{error}: {error.hint}" if error.hint else str(error))
    except OSError as error:
        reason = f"cannot store bots in {folder}: {error}: free some space there"
        return Admission(host, reason)
    slots = worker.state.nthreads
    others = [each for each in _nodes if each != token]
    # Processes are pinned only if this Dask worker has a slot for each processor and plays for no
    # other session.
    is_alone = slots == available_cores() and not others
    cores = worker_cores(slots) if is_alone else []
    setup = msgspec.structs.replace(setup, bots=bots, sandbox=sandbox, cores=cores)
    # A Dask worker is a daemon process, which Python does not let start processes of its own. Our
    # processes end with it by themselves.
    multiprocessing.current_process().daemon = False
    _nodes[token] = Node(setup, slots, folder)
    return Admission(host, "", speed(), sandbox.tier)


def play(token: str, plans: list[GamePlan], host: str) -> Batch:
    """Plays games of the session ``token`` on this worker; ``host`` is the name of this machine in
    records. Raises BrokenExecutor if a process dies or the games are no longer wanted, and
    ForgottenError if this worker has not been admitted to the session since it started.
    """
    if token not in _nodes:
        raise ForgottenError("the worker was restarted")
    return _nodes[token].play(plans, host)


def release(token: str) -> None:
    """Ends the session ``token`` on this worker, and removes its bots. Does nothing if the worker
    does not know the session.
    """
    if node := _nodes.pop(token, None):
        node.end()
        remove_tree(str(node.folder))


def _dask_worker() -> Any:
    """The Dask worker in which this code runs."""
    # Dask is an optional dependency, and slow to load.
    from distributed import get_worker  # noqa: PLC0415

    return get_worker()
