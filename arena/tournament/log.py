"""logs/arena.log of a run, which gets the log of the main process and of its workers."""

import logging
import multiprocessing
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from multiprocessing_logging import MultiProcessingHandler

from arena.errors import RunError
from arena.records.regular import open_regular
from arena.tournament.workers import START_METHOD

LOG = "logs/arena.log"
FORMAT = "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"
_changing_start_method = threading.Lock()


@contextmanager
def run_log(folder: Path, level: int) -> Iterator[Any]:
    """Writes all log records of at least ``level`` to the run's log; yields the queue to which
    workers on this machine log. Raises RunError if the log cannot be written.
    """
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        file = os.fdopen(open_regular(folder, LOG, flags), "a", encoding="utf-8")
    except OSError as error:
        raise RunError(f"expected to write the log {folder / LOG}, got {error}") from error
    to_file = logging.StreamHandler(file)
    to_file.setFormatter(logging.Formatter(FORMAT))
    # The handler's queue has to be made with the start method of our workers. After that, the
    # program that plays gets its own start method back.
    with _changing_start_method:
        before = multiprocessing.get_start_method(allow_none=True)
        multiprocessing.set_start_method(START_METHOD, force=True)
        try:
            handler = MultiProcessingHandler("log-writer", sub_handler=to_file)
        finally:
            multiprocessing.set_start_method(before, force=True)
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
