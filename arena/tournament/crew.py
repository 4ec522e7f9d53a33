"""The processes of one pool of workers: how they start, and how they, and no others, are ended. The
program that plays may be a notebook, which has children of its own.
"""

import multiprocessing
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

from arena.tournament.workers import MAIN_HEARS, Setup, start_worker

START_METHOD = "spawn"
PATIENCE_S = 10.0
_starting = threading.Lock()


class Hired(SpawnProcess):
    """A worker's process, which does not import the program that started it."""

    def start(self) -> None:
        """Starts it."""
        # A worker needs nothing of that program. If it imported it, a script without `if __name__
        # == "__main__"` would begin to play in every worker, and one on stdin cannot be imported.
        with _starting, _without_main():
            super().start()


class _Staff(SpawnContext):
    """Keeps what it starts in ``hired``."""

    def __init__(self) -> None:
        super().__init__()
        self.hired: list[Hired] = []
        self.Process = self._hire  # type: ignore[assignment, misc]

    def _hire(self, *arguments: Any, **options: Any) -> Hired:
        process = Hired(*arguments, **options)
        self.hired.append(process)
        return process


class Crew(ProcessPoolExecutor):
    """Processes on this machine, which ``initializer`` makes workers."""

    def __init__(
        self, jobs: int, initializer: Callable[..., object], initargs: tuple[Any, ...]
    ) -> None:
        self._staff = _Staff()
        super().__init__(jobs, mp_context=self._staff, initializer=initializer, initargs=initargs)

    def end(self) -> None:
        """Ends the pool within a time limit, because a worker killed while logging can block the
        others' last log lines for ever.
        """
        self.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + PATIENCE_S
        while (left := self._alive()) and time.monotonic() < deadline:
            time.sleep(0.005)
        for process in left:
            process.kill()
            process.join()

    def kill(self) -> None:
        """Ends what still runs but is no longer needed; the keepers then end the bots."""
        for process in self._alive():
            process.kill()

    def _alive(self) -> list[Hired]:
        # Also reaps those that have ended, as `is_alive` alone does for one of two threads.
        running = multiprocessing.active_children()
        return [process for process in self._staff.hired if process in running]


def plain_crew(setup: Setup, jobs: int) -> Crew:
    """Workers for functions that need no runner; they log nothing."""
    context = multiprocessing.get_context(START_METHOD)
    arguments = (setup, context.Queue(), context.Value("i", 0), context.Value("b", 0, lock=False))
    return Crew(jobs, start_worker, arguments)


@contextmanager
def starting_workers() -> Iterator[None]:
    """Around whatever may start workers: a Ctrl-C waits, for them until they ignore it, for this
    process until the block ends.

    A worker that is hit while Python starts in it would print a traceback.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, MAIN_HEARS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_main() -> Iterator[None]:
    """Meanwhile nothing tells where the main program came from, which is what a new process would
    import.
    """
    main = sys.modules["__main__"]
    held: dict[str, Any] = {
        name: vars(main)[name] for name in ("__file__", "__spec__") if name in vars(main)
    }
    vars(main).pop("__file__", None)
    main.__spec__ = None
    try:
        yield
    finally:
        vars(main).update(held)
