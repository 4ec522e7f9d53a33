"""One log file per run, shared by all its processes: workers log through the queue of
multiprocessing-logging's handler.
"""

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
from arena.tournament.crew import START_METHOD

_setting = threading.Lock()
FILE = "arena.log"
FORMAT = "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"


@contextmanager
def run_log(folder: Path, level: int) -> Iterator[Any]:
    """Logs everything at ``level`` and above to logs/arena.log; yields the queue that workers log
    to.
    """
    path = folder / "logs" / FILE
    try:
        file = os.fdopen(
            open_regular(folder, f"logs/{FILE}", os.O_WRONLY | os.O_CREAT | os.O_APPEND),
            "a",
            encoding="utf-8",
        )
    except OSError as error:
        raise RunError(f"expected to write the log {path}, got {error}") from error
    lines = logging.StreamHandler(file)
    lines.setFormatter(logging.Formatter(FORMAT))
    with _start_method():
        handler = MultiProcessingHandler("log-writer", sub_handler=lines)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(level)
    try:
        yield handler.queue
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
        handler.close()
        file.close()


@contextmanager
def _start_method() -> Iterator[None]:
    """Meanwhile queues are for our workers, who cannot be given one of another method. Afterwards
    the method of the program that plays is its own again.
    """
    with _setting:
        before = multiprocessing.get_start_method(allow_none=True)
        multiprocessing.set_start_method(START_METHOD, force=True)
        try:
            yield
        finally:
            multiprocessing.set_start_method(before, force=True)
