"""One log file per run, shared by all its processes: workers log through the queue of multiprocessing-logging's handler."""

import logging
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from multiprocessing_logging import MultiProcessingHandler

from arena.errors import RunError
from arena.tournament.pool import START_METHOD

FILE = "arena.log"
FORMAT = "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"


@contextmanager
def run_log(folder: Path, level: int) -> Iterator[Any]:
    """Logs everything at ``level`` and above to logs/arena.log; yields the queue that workers log to.

    The start method is set before the handler makes its queue, because workers cannot be given a queue of another method.
    """
    multiprocessing.set_start_method(START_METHOD, force=True)
    path = folder / "logs" / FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        raise RunError(f"expected to write the log {path}, got {error}") from error
    file.setFormatter(logging.Formatter(FORMAT))
    handler = MultiProcessingHandler("log-writer", sub_handler=file)
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
