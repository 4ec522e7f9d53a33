"""A worker process of the arena below a Dask worker, and the Dask worker's handle for it.

Games do not run in the Dask worker itself: its other threads would delay answers, and it may have
children that are not ours.
"""

import contextlib
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from logging.handlers import QueueHandler
from multiprocessing.connection import Connection
from queue import SimpleQueue

from arena.match.referee import GamePlan
from arena.tournament.workers import Batch, Setup, make_worker, play_games

LOOK_S = 0.2
PATIENCE_S = 5.0
STOP = "stop"


class Child:
    """A started process. It ends when the Dask worker ends, for whatever reason."""

    def __init__(self, setup: Setup) -> None:
        self._connection, theirs = multiprocessing.Pipe()
        # A worker of the arena.
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        self._lock = threading.Lock()
        self.core = setup.cores[0] if setup.cores else None
        self._send(setup)

    def play(self, plans: Sequence[GamePlan], is_wanted: Callable[[], bool]) -> Batch:
        """Plays games in the process. Raises BrokenExecutor if it dies, or is ended because nobody
        wants the games any more.
        """
        self._send(plans)
        try:
            while not self._connection.poll(LOOK_S):
                if not is_wanted():
                    raise BrokenExecutor("nobody waits for these games any more")
            batch: Batch = self._connection.recv()
        except (EOFError, OSError):
            raise BrokenExecutor("its worker died") from None
        return batch

    def stop_beginning(self) -> None:
        """Lets the running game finish and starts no other."""
        self._send(STOP)

    def end(self) -> None:
        """Ends an idle process together with its bots; calling it again does nothing."""
        self._send(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE_S)
        self.kill()

    def kill(self) -> None:
        """Ends the process at once; the keepers then end its bots."""
        self._process.kill()
        self._process.wait()
        self._connection.close()

    def _send(self, message: object) -> None:
        """A dead process is noticed when it should answer."""
        with self._lock, contextlib.suppress(OSError):
            self._connection.send(message)


def main(descriptor: int) -> None:
    """The process's main loop: it plays the games that arrive on the connection, until the
    connection ends.
    """
    connection = Connection(descriptor)
    setup: Setup = connection.recv()
    multiprocessing.current_process().name = f"{setup.host.split()[0]}:{os.getpid()}"
    logged: SimpleQueue[logging.LogRecord] = SimpleQueue()
    worker = make_worker(setup, QueueHandler(logged), 0)
    requests: SimpleQueue[Sequence[GamePlan] | None] = SimpleQueue()
    stopping = threading.Event()
    threading.Thread(target=_listen, args=(connection, requests, stopping), daemon=True).start()
    while (plans := requests.get()) is not None:
        batch = play_games(worker, plans, stopping.is_set)
        connection.send(batch._replace(logged=list(_drained(logged))))
    worker.stable.stop()


def _listen(
    connection: Connection,
    requests: "SimpleQueue[Sequence[GamePlan] | None]",
    stopping: threading.Event,
) -> None:
    """Passes on what arrives. When the Dask worker is gone, it ends this process at once, and the
    keepers end the bots.
    """
    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            os._exit(1)
        if message == STOP:
            stopping.set()
        else:
            requests.put(message)


def _drained(logged: "SimpleQueue[logging.LogRecord]") -> Iterator[logging.LogRecord]:
    while not logged.empty():
        yield logged.get()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main(int(sys.argv[1]))
