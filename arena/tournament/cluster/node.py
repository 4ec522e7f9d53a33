"""What runs inside a Dask worker: it answers probes, receives the bots, and makes its child
processes play.
"""

import os
import platform
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from arena.errors import ArenaError
from arena.match.referee import GamePlan
from arena.players.builtin import is_built_in
from arena.players.folder import Bot
from arena.tournament.cluster.child import Child
from arena.tournament.cluster.shipping import bots_folder, provide
from arena.tournament.cluster.terms import Admitted, Lacking, Refused, Terms, best_sandbox, speed
from arena.tournament.workers import Batch, Setup

IDLE_S = 3.0
"""A child that gets no requests for this long ends with its bots, because the tournament's process
may be gone.
"""


class ForgottenError(BrokenExecutor):
    """A worker is asked for games of a session that it does not know, or no longer knows."""


class Node:
    """A session in this Dask worker; ``cores`` are the processors that no child of any session is
    pinned to.
    """

    def __init__(self, setup: Setup, cores: list[int]) -> None:
        self._setup = setup
        self._cores = cores
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._busy: list[Child] = []
        self._timer: threading.Timer | None = None
        self._is_stopping = False

    def play(self, plans: Sequence[GamePlan], host: str, is_wanted: Callable[[], bool]) -> Batch:
        """Plays games in a child process. Raises BrokenExecutor."""
        if self._is_stopping:
            return Batch([None] * len(plans), 0.0)
        child = self._take(host)
        try:
            batch = child.play(plans, is_wanted)
        except BaseException:
            child.kill()
            self._drop(child)
            raise
        with self._lock:
            self._busy.remove(child)
            self._idle.append(child)
        self._watch()
        return batch

    def stop_beginning(self) -> None:
        """Lets running games finish and starts no others."""
        self._is_stopping = True
        with self._lock:
            for child in self._busy:
                child.stop_beginning()

    def end(self) -> None:
        """Ends the idle children; the others end once they are idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.end()
            self._drop(child)

    def _take(self, host: str) -> Child:
        with self._lock:
            if self._idle:
                child = self._idle.pop()
            else:
                try:
                    cores = [self._cores.pop()]
                # as many children as processors, or another session has just taken it
                except IndexError:
                    cores = []
                child = Child(msgspec.structs.replace(self._setup, host=host, cores=cores))
            self._busy.append(child)
        return child

    def _drop(self, child: Child) -> None:
        with self._lock:
            if child in self._busy:
                self._busy.remove(child)
            if child.core is not None:
                self._cores.append(child.core)

    def _watch(self) -> None:
        """Ends idle children after a while."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(IDLE_S, self.end)
            self._timer.daemon = True
            self._timer.start()


@cache
def free_cores(threads: int) -> list[int]:
    """The processors to pin children to, if only this Dask worker is to keep them all busy; else
    none. All sessions share one list.
    """
    if not hasattr(os, "sched_getaffinity"):
        return []
    cores = sorted(os.sched_getaffinity(0), reverse=True)
    return cores if threads == len(cores) else []


_nodes: dict[str, Node] = {}


def admit(terms: Terms, archives: Mapping[str, bytes]) -> Refused | Lacking | Admitted:
    """Decides whether this worker may play under these terms; ``archives`` are the packed files of
    bots that it lacked before.

    Without a sandbox, a bot could write into a folder that later runs take it from. So each session
    then has its own folder, which Dask removes.
    """
    host = platform.node()
    try:
        sandbox, reason = best_sandbox(terms.setup.sandbox.tier)
        granted = terms.setup.sandbox.grants
        reason = reason or next(
            (
                f"{base} is allowed {lack}"
                for base, each in granted.items()
                if (lack := each.lack())
            ),
            "",
        )
        if reason:
            return Refused(host, reason)
        sandbox = msgspec.structs.replace(sandbox, grants=granted)
        bots: dict[str, Bot | None] = {**terms.setup.bots}
        processes = [bot for bot in terms.setup.bots.values() if not is_built_in(bot)]
        if processes:
            folder = (
                bots_folder()
                if sandbox.tier != "none"
                else Path(_dask_worker().local_directory, f"bots-{terms.token}")
            )
            bots |= {
                bot.label: provide(bot, archives.get(bot.label), sandbox, folder)
                for bot in processes
            }
    except ArenaError as error:
        return Refused(host, f"{error}: {error.hint}" if error.hint else str(error))
    except OSError as error:
        return Refused(
            host,
            f"expected to keep bots in its cache, got {error}: free some space there, or set"
            " XDG_CACHE_HOME",
        )
    lacking = [label for label, bot in bots.items() if bot is None]
    if lacking:
        return Lacking(lacking)
    cores = free_cores(_dask_worker().state.nthreads)
    _nodes[terms.token] = Node(
        msgspec.structs.replace(terms.setup, bots=bots, sandbox=sandbox), cores
    )
    return Admitted(host, speed(), sandbox.tier)


def play(token: str, plans: Sequence[GamePlan], host: str) -> Batch:
    """Plays games of a session here. Raises BrokenExecutor."""
    if token not in _nodes:
        raise ForgottenError("the worker was restarted")
    worker, key = _dask_worker(), _dask_worker().get_current_task()

    def is_wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    return _nodes[token].play(plans, host, is_wanted)


async def stop_beginning(token: str) -> None:
    """Lets the running games of a session finish and starts no others; a coroutine, so that nobody
    has to wait for it.
    """
    if token in _nodes:
        _nodes[token].stop_beginning()


def release(token: str) -> None:
    """Forgets a session."""
    if token in _nodes:
        _nodes.pop(token).end()


def _dask_worker() -> Any:
    # An extra, and slow to load.
    from distributed import get_worker  # noqa: PLC0415

    return get_worker()
