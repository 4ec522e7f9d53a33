"""Pages that take long to make. The last few are kept, all who ask for one wait for the same, and
only so many may wait.
"""

import asyncio
import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException

from arena.commands.glance import is_quiet
from arena.web.desk import Desk
from arena.web.live import State

MOST_KEPT = 8
MOST_WAITING = 32
"""Readers. A reader who has gone still waits here, and each takes one of the server's places."""
MOST_FILES = 200


class Printed(NamedTuple):
    """A page, and how the run's files were when it was asked for."""

    state: State
    making: asyncio.Task[str]

    def is_good(self, state: State) -> bool:
        """Whether a reader may have this page; one that is still being made always."""
        if not self.making.done():
            return True
        has_failed = self.making.cancelled() or self.making.exception() is not None
        return self.state == state and not has_failed


class Press:
    """Makes pages of runs at a desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._kept = dict[tuple[object, ...], Printed]()
        self._waiting = 0

    async def page(self, work: Callable[..., str], folder: Path, *given: Any) -> str:
        """What the function, which is one of a module, makes of a run's folder. Raises ArenaErrors
        that it raises, and HTTPException if too many wait.
        """
        if self._waiting >= MOST_WAITING:
            raise HTTPException(503, "too many pages are being made: come back in a minute")
        self._waiting += 1
        try:
            state = await asyncio.to_thread(state_of_all, folder)
            return await asyncio.shield(self._made((work, str(folder), *given), state))
        finally:
            self._waiting -= 1

    def _made(self, key: tuple[Any, ...], state: State) -> asyncio.Task[str]:
        kept = self._kept.pop(key, None)
        if kept is None or not kept.is_good(state):
            kept = Printed(state, asyncio.ensure_future(self._desk.ask(*key)))
            # Nobody may be there any more to hear of it.
            kept.making.add_done_callback(lambda made: made.cancelled() or made.exception())
        self._kept[key] = kept
        for old in list(self._kept)[:-MOST_KEPT]:
            if self._kept[old].making.done():
                del self._kept[old]
        return kept.making


def state_of_all(folder: Path) -> State:
    """What is different when a file of a run is: a page also has what was found out later."""
    found: list[tuple[object, ...]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, MOST_FILES):
                file = entry.stat(follow_symlinks=False)
                found.append((entry.name, file.st_ino, file.st_size, file.st_mtime_ns))
    except OSError:
        found.append((None,))
    return is_quiet(folder), *sorted(found, key=str)
