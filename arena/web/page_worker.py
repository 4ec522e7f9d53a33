"""The process that makes pages of runs, so that the server's own process stays quick."""

import asyncio
import logging
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from importlib import import_module
from typing import Any

from arena.errors import ArenaError, RunError
from arena.web.work_process import WorkProcess

PATIENCE_S = 60.0
"""The most seconds that a page may take."""
NICENESS = 3
"""The niceness of the process that makes pages. A process with a higher niceness would get no CPU
time while every core plays games, and a page would take a minute.
"""

log = logging.getLogger(__name__)


class PageWorker:
    """One process that calls functions of `arena.web.rendering`, a module that takes long to load.

    The first call starts the process. It has a low priority, so that games come first.
    """

    def __init__(self) -> None:
        self._process = WorkProcess(NICENESS)
        self._turn = asyncio.Lock()

    async def ask(self, work: str, *given: Any) -> Any:
        """Call the function ``work`` of `arena.web.rendering` with the arguments ``given``, in the
        worker's process, and return its result. Calls wait for each other.

        Raises the ArenaErrors that the function raises; and RunError if the function takes longer
        than `PATIENCE_S`, its process dies, it raises anything else, or the server has stopped.
        """
        async with self._turn:
            if self._process.is_ended:
                raise RunError("the server has stopped")
            try:
                future = self._process.submit(_call, work, *given)
                return await asyncio.wait_for(asyncio.wrap_future(future), PATIENCE_S)
            except (BrokenExecutor, TimeoutError):
                self._process.stop()
                raise RunError(
                    f"reading the run took longer than {PATIENCE_S:.0f} s",
                    "the run may be too large for a page",
                ) from None
            except ArenaError:
                raise
            # A run may come from anybody, so its files can be wrong in ways that no code expects.
            except Exception as error:
                log.exception("a page of a run")
                got = type(error).__name__
                raise RunError(f"cannot read the run: {got}") from error

    async def prepare(self) -> None:
        """Start the process and load `arena.web.rendering`, so that the first page is quick. Does
        nothing if the process runs.
        """
        if not self._process.is_started:
            with suppress(RunError):
                await self.ask("nothing")

    def end(self) -> None:
        """End the process for good: later calls raise RunError. The server does not wait for it."""
        self._process.end()


def _call(work: str, *given: Any) -> Any:
    """Call the function of `arena.web.rendering` called ``work`` with the arguments ``given``, and
    return its result. Runs in the worker's process.
    """
    return getattr(import_module("arena.web.rendering"), work)(*given)
