"""Work that takes long or reads what strangers wrote: a process of its own does it, one thing after
the other, so that the server always answers and no run in a folder can hurt it.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from typing import Any, TypeVar

from arena.errors import ArenaError, RunError
from arena.tournament.crew import Crew, starting_workers
from arena.tournament.workers import yield_to_games

PATIENCE_S = 60.0
MODEST = 3
"""More would starve it where every core plays: a page would wait for a minute."""
Answer = TypeVar("Answer")

log = logging.getLogger(__name__)


class Desk:
    """One process, started when there is something to do. What it does yields to games."""

    def __init__(self) -> None:
        self._crew: Crew | None = None
        self._turn = asyncio.Lock()
        self._is_ended = False

    async def ask(self, work: Callable[..., Answer], *given: Any) -> Answer:
        """What the function, which is one of a module, returns there. Raises ArenaErrors that it
        raises, and RunError if it takes too long, its process dies, or it fails otherwise.
        """
        async with self._turn:
            if self._is_ended:
                raise RunError("the server was ended")
            crew = self._crew = self._crew or Crew(1, yield_to_games, (MODEST,))
            try:
                with starting_workers():
                    asked = crew.submit(work, *given)
                return await asyncio.wait_for(asyncio.wrap_future(asked), PATIENCE_S)
            except (BrokenExecutor, TimeoutError):
                self.close()
                raise RunError(
                    f"expected to have read this in {PATIENCE_S:.0f} s, got no answer",
                    "the run may be too large for a page",
                ) from None
            except ArenaError:
                raise
            # What strangers wrote can be wrong in more ways than anybody has thought of.
            except Exception as error:
                log.exception("a page of a run")
                raise RunError(
                    f"expected a run that can be read, got {type(error).__name__}"
                ) from error

    async def prepare(self, work: Callable[[], object]) -> None:
        """Starts the process for what will be asked soon, and has it do this first."""
        if self._crew is None:
            with suppress(RunError):
                await self.ask(work)

    def end(self) -> None:
        """Ends the process; nothing more is done."""
        self._is_ended = True
        self.close()

    def close(self) -> None:
        """Ends the process. The next thing to do has another."""
        crew, self._crew = self._crew, None
        if crew:
            crew.kill()
            # It waits for the process, and the server must not.
            threading.Thread(target=crew.end, daemon=True).start()
