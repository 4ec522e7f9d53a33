"""Writes logs/arena.log in the folder of a run: the log of the main process and of its workers."""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from multiprocessing_logging import MultiProcessingHandler

from arena.errors import RunError
from arena.records.regular import open_regular
from arena.tournament.crew import WORKERS

LOG = "logs/arena.log"
"""The path of the log in the folder of a run."""
FORMAT = "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"
"""The format of a line of the log."""


class RunLogHandler(MultiProcessingHandler):  # type: ignore[misc] # the library has no types
    """A log handler that passes records to ``sub_handler``, also those that worker processes on
    this machine put into its ``queue``. ``name`` is that of the thread that reads the queue.
    """

    def __init__(self, name: str, sub_handler: logging.Handler) -> None:
        # The library's own constructor makes a queue of the program's start method, to which
        # workers could not log, and which settles that method for the program.
        self.sub_handler = sub_handler
        self.queue = WORKERS.Queue(-1)
        self._is_closed = False
        self._receive_thread = threading.Thread(target=self._receive, name=name, daemon=True)
        self._receive_thread.start()
        # From here on, the module logging closes this handler when the program ends. If Ctrl-C came
        # before the thread runs, that would print a traceback.
        logging.Handler.__init__(self, sub_handler.level)
        self.setFormatter(sub_handler.formatter)


@contextmanager
def run_log(folder: Path, level: int) -> Iterator[Any]:
    """A context manager that appends log records of at least ``level`` to the log of the run in
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
    handler = RunLogHandler("log-writer", to_file)
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
