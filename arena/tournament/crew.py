"""Starts processes for workers on this machine, without touching the program that starts them.

A worker is a fresh Python process. It shares nothing with the program except what is passed to it,
does not import the program, and ignores the program's start method. So the program may be a
notebook, a script without ``if __name__ == "__main__"``, or one that Python reads from stdin.
"""

import io
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from multiprocessing import popen_spawn_posix, process, reduction, resource_tracker, spawn, util
from multiprocessing.context import SpawnContext, SpawnProcess, set_spawning_popen
from pathlib import Path
from typing import Any

from arena.players.process import open_pipe

START_METHOD = "spawn"
"""The method of `multiprocessing` by which workers start processes themselves."""
TERMINAL_SIGNALS = (signal.SIGINT, signal.SIGHUP)
"""Signals that a terminal sends to workers, too. Workers ignore them, because the main process
decides what to do with running games.
"""
PATIENCE_S = 10.0
"""For how many seconds processes may end by themselves before `Crew.end` kills them."""


class _SpawnedProcess(popen_spawn_posix.Popen):
    """Starts a process as Python's own spawn method does, but passes it `_preparation`."""

    _fds: list[int]

    def _launch(self, process_obj: process.BaseProcess) -> None:
        tracker = resource_tracker.getfd()
        assert tracker is not None, "it has just been started"
        self._fds.append(tracker)
        message = io.BytesIO()
        set_spawning_popen(self)
        try:
            reduction.dump(_preparation(process_obj.name), message)
            reduction.dump(process_obj, message)
        finally:
            set_spawning_popen(None)
        # The ends of this process stay open: each process learns from them when the other one ends.
        ours = ExitStack()
        self.finalizer = util.Finalize(self, ours.close)
        with ExitStack() as theirs:
            self.sentinel, child_writes = open_pipe(ours, theirs)
            child_reads, parent_writes = open_pipe(theirs, ours)
            command = spawn.get_command_line(tracker_fd=tracker, pipe_handle=child_reads)
            self._fds += [child_reads, child_writes]
            self.pid = util.spawnv_passfds(os.fsencode(spawn.get_executable()), command, self._fds)
        with open(parent_writes, "wb", closefd=False) as pipe:
            pipe.write(message.getbuffer())


def _preparation(name: str) -> dict[str, Any]:
    """What a new process, called ``name``, takes over from this one. Python's own spawn method
    would add the program's main module, which the process would import, and the program's start
    method, which could then not be set any more.
    """
    here = str(Path.cwd())
    return {
        "name": name,
        "authkey": process.current_process().authkey,
        "sys_path": [place or here for place in sys.path],
        "sys_argv": sys.argv,
        "dir": here,
        "start_method": START_METHOD,
    }


class WorkerProcess(SpawnProcess):
    """A process that takes over nothing from the program that started it, except `_preparation`."""

    @staticmethod
    def _Popen(  # noqa: N802 - multiprocessing's name
        process_obj: process.BaseProcess,
    ) -> _SpawnedProcess:
        return _SpawnedProcess(process_obj)


class WorkerContext(SpawnContext):
    """A context of `multiprocessing` for workers: it makes their processes, and the queues and
    values that are passed to them.
    """

    Process = WorkerProcess


WORKERS = WorkerContext()
"""The one context that is used for all workers."""


class Crew(ProcessPoolExecutor):
    """A pool of ``jobs`` worker processes on this machine, which, unlike its base class, ignore
    signals while they start, and can be killed (`kill`) or ended within a time limit (`end`). Each
    process calls ``initializer`` with ``initargs`` when it starts.
    """

    def __init__(
        self, jobs: int, initializer: Callable[..., object], initargs: tuple[Any, ...]
    ) -> None:
        super().__init__(jobs, mp_context=WORKERS, initializer=initializer, initargs=initargs)
        self._jobs = jobs
        self._hired = dict[int, Any]()

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        """Hands out work to a worker process, the call of ``work`` with the other arguments, and
        returns its future. Starts a process if that is necessary. Raises BrokenProcessPool if a
        worker has died.
        """
        with _held_signals() if len(self._hired) < self._jobs else nullcontext():
            future = super().submit(work, *given, **named)
            self._hired |= self._processes or {}
        return future

    def end(self) -> None:
        """Ends the pool; work that has not begun is cancelled. Processes that have not ended after
        `PATIENCE_S` seconds are killed. Without that, a worker that was killed while it returned
        results could block the others for ever.
        """
        self.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + PATIENCE_S
        while (left := self._alive()) and time.monotonic() < deadline:
            time.sleep(0.005)
        for running in left:
            running.kill()
            running.join()

    def kill(self) -> None:
        """Kills the processes that still run, and does not wait for them. The keepers, the
        processes that watch over bots, then end the bots.
        """
        for running in self._alive():
            running.kill()

    def _alive(self) -> list[Any]:
        """The processes of the pool that have not ended."""
        # `active_children` also reaps the processes that have ended. `is_alive` alone could fail to
        # when two threads call it.
        running = multiprocessing.active_children()
        return [hired for hired in self._hired.values() if hired in running]


@contextmanager
def _held_signals() -> Iterator[None]:
    """A context manager that blocks Ctrl-C and SIGHUP for this thread and for a worker that it
    starts. The worker ignores these signals later; without the block, a signal during its start
    would make it print a traceback, and so would an end of this process before the worker has been
    told what to do. A signal that comes meanwhile is handled afterwards.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, TERMINAL_SIGNALS)
    handlers = dict[int, Any]()
    held = list[int]()
    # Another thread may get the signal, and the main thread then calls the handler all the same.
    if threading.current_thread() is threading.main_thread():
        for number in TERMINAL_SIGNALS:
            handlers[number] = signal.signal(number, lambda number, _: held.append(number))
    try:
        yield
    finally:
        for each, handler in handlers.items():
            # None stands for a handler that was not set by Python, and cannot be set again.
            signal.signal(each, handler if handler is not None else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for late in held:
            signal.raise_signal(late)
