"""Writes logs/arena.log in the folder of a run: the log of the main process and of its workers."""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from logging.handlers import QueueHandler
from pathlib import Path
from typing import Any

from arena.errors import RunError
from arena.records.regular import open_regular
from arena.tournament.crew import WORKERS

LOG = "logs/arena.log"
"""The path of the log in the folder of a run."""
FORMAT = "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"
"""The format of a line of the log."""
PATIENCE_S = 5.0
"""For how many seconds the end of a session waits for the records in the queue."""


class RunLogHandler(QueueHandler):
    """A log handler that has a thread of its own write records with ``to_file``, also those that
    worker processes on this machine put into its ``queue``.
    """

    def __init__(self, to_file: logging.Handler) -> None:
        self._records = WORKERS.Queue(-1)
        super().__init__(self._records)
        self._to_file = to_file
        self._is_closed = False
        self._writer = threading.Thread(target=self._write, name="log-writer", daemon=True)
        self._writer.start()

    def _write(self) -> None:
        """Writes records until None comes."""
        with suppress(EOFError, OSError):
            for record in iter(self._records.get, None):
                self._to_file.handle(record)

    def close(self) -> None:
        """Writes the records in the queue, and ends the thread. This takes at most `PATIENCE_S`
        seconds, because a worker that was killed while it logged blocks the queue for ever.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._records.put(None)
        self._writer.join(PATIENCE_S)
        if self._writer.is_alive():
            self._records.cancel_join_thread()  # else Python would wait for it at its exit
        else:
            self._records.close()
        super().close()


@contextmanager
def run_log(folder: Path, level: int) -> Iterator[Any]:
    """A context manager that writes log records of at least ``level`` to the log of the run in
    ``folder``. It yields the queue to which workers on this machine log. Raises RunError if the log
    cannot be written.
    """
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        file = os.fdopen(open_regular(folder, LOG, flags), "a", encoding="utf-8")
    except OSError as error:
        raise RunError(f"cannot write the log {folder / LOG}: {error}") from error
    to_file = logging.StreamHandler(file)
    to_file.setFormatter(logging.Formatter(FORMAT))
    handler = RunLogHandler(to_file)
    root = logging.getLogger()
    level_before = root.level
    root.addHandler(handler)
    root.setLevel(level)
    try:
        yield handler.queue
    finally:
        root.removeHandler(handler)
        root.setLevel(level_before)
        handler.close()
        file.close()
