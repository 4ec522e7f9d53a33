"""The process in which pages of runs are made, beside the server's own."""

import asyncio
import logging
import threading
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from importlib import import_module
from typing import Any

from arena.errors import ArenaError, RunError
from arena.tournament.crew import Crew
from arena.tournament.workers import yield_to_games

PATIENCE_S = 60.0
NICENESS = 3
"""The niceness of the process that works for pages. With a higher one it would starve if every core
plays, and a page would wait for a minute.
"""

log = logging.getLogger(__name__)


class Desk:
    """One process that calls functions of `arena.web.views`, which take long to load.

    The process is started by the first call. It has a low priority, so that games come first.
    """

    def __init__(self) -> None:
        self._crew: Crew | None = None
        self._turn = asyncio.Lock()
        self._is_ended = False

    async def ask(self, work: str, *given: Any) -> Any:
        """Call the function of `arena.web.views` with the name ``work``; return what it returns.

        Raises the ArenaErrors that the function raises, and RunError if the function takes longer
        than `PATIENCE_S`, its process dies, or it raises anything else.
        """
        async with self._turn:
            if self._is_ended:
                raise RunError("the server has stopped")
            crew = self._crew = self._crew or Crew(1, yield_to_games, (NICENESS,))
            try:
                asked = crew.submit(_done, work, *given)
                return await asyncio.wait_for(asyncio.wrap_future(asked), PATIENCE_S)
            except (BrokenExecutor, TimeoutError):
                self.close()
                raise RunError(
                    f"reading the run took longer than {PATIENCE_S:.0f} s",
                    "the run may be too large for a page",
                ) from None
            except ArenaError:
                raise
            # What strangers wrote can be wrong in more ways than anybody has thought of.
            except Exception as error:
                log.exception("a page of a run")
                got = type(error).__name__
                raise RunError(f"cannot read the run: {got}") from error

    async def prepare(self) -> None:
        """Start the process and load `arena.web.views`, so that the next call is quick."""
        if self._crew is None:
            with suppress(RunError):
                await self.ask("nothing")

    def end(self) -> None:
        """End the process for good: every later call raises RunError."""
        self._is_ended = True
        self.close()

    def close(self) -> None:
        """End the process; the next call starts another one."""
        crew = self._crew
        self._crew = None
        if crew:
            crew.kill()
            # In a thread: `end` waits for the process, and the server must not wait.
            threading.Thread(target=crew.end, daemon=True).start()


def _done(work: str, *given: Any) -> Any:
    """Call a function of `arena.web.views` by its name, in the process of the desk."""
    return getattr(import_module("arena.web.views"), work)(*given)
