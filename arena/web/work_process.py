"""A process of the server that does long work, so that the server's own process stays quick."""

import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from typing import Any

from arena.tournament.crew import Crew
from arena.tournament.workers import yield_to_games


class WorkProcess:
    """One process that calls functions, one after the other, with this ``niceness``: its priority
    is lower than that of games.

    The first call starts the process. If it dies, the next call starts another one. All methods can
    be called from any thread.
    """

    def __init__(self, niceness: int) -> None:
        self._niceness = niceness
        self._crew: Crew | None = None
        self._lock = threading.Lock()
        self._is_ended = False

    @property
    def is_started(self) -> bool:
        """Whether the process was started and not stopped since."""
        return self._crew is not None

    @property
    def is_ended(self) -> bool:
        """Whether the process was ended for good."""
        return self._is_ended

    def submit(self, work: Callable[..., Any], /, *given: Any) -> Future[Any]:
        """Queue the call of ``work`` with the arguments ``given``. The future is cancelled if the
        process was ended for good, and has a BrokenExecutor if the process dies during the call.
        """
        with self._lock:
            if self._is_ended:
                cancelled = Future[Any]()
                cancelled.cancel()
                return cancelled
            if self._crew is None:
                self._crew = self._started()
            try:
                return self._crew.submit(work, *given)
            except BrokenExecutor:  # the process has died, and another one takes its place
                self._crew = self._started()
                return self._crew.submit(work, *given)

    def stop(self) -> threading.Thread | None:
        """End the process, whatever it does, without waiting; the next call starts another one. The
        thread that is returned ends when the process has ended; None if there is no process.
        """
        with self._lock:
            crew = self._crew
            self._crew = None
        if crew is None:
            return None
        crew.kill()
        ending = threading.Thread(target=crew.end, daemon=True)
        ending.start()
        return ending

    def end(self) -> threading.Thread | None:
        """End the process for good, like `stop`; what is still queued is cancelled, and so are
        later calls.
        """
        with self._lock:
            self._is_ended = True
        return self.stop()

    def _started(self) -> Crew:
        """A pool of one process, which starts with its first work."""
        return Crew(1, yield_to_games, (self._niceness,))
