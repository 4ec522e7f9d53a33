"""One log file per run, shared by all its processes: workers log through the queue of
multiprocessing-logging's handler.
"""

import logging
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from multiprocessing_logging import MultiProcessingHandler

from arena.errors import RunError
from arena.records.regular import open_regular
from arena.tournament.crew import START_METHOD

FILE = "arena.log"
FORMAT = "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"


@contextmanager
def run_log(folder: Path, level: int) -> Iterator[Any]:
    """Logs everything at ``level`` and above to logs/arena.log; yields the queue that workers log
    to.

    The start method is set before the handler makes its queue, because workers cannot be given a
    queue of another method; at the end it is what it was.
    """
    method = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method(START_METHOD, force=True)
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
        multiprocessing.set_start_method(method, force=True)
