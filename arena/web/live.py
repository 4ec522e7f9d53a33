"""Runs that somebody looks at. All readers of a run share its looks, so many cost no more than one:
the next look is taken when the journal has grown, and after a pause of twenty times the processor
time that the last one took.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import msgspec

from arena.commands.glance import is_quiet
from arena.commands.rated import FILE as STANDINGS
from arena.errors import ArenaError
from arena.records.journal import journal_of
from arena.records.runfile import FILE as RUN_FILE
from arena.web.desk import Desk
from arena.web.work import Sight, look_at

LEAST_S = 2.0
PAUSES = 20
"""Looking takes at most a twentieth of the time of one core."""
TICK_S = 0.5
ALIVE_S = 15.0
"""A stream says something at least so often, so that readers who are gone are noticed."""
MOST_WATCHED, MOST_LED = 16, 4
ALIVE = ": nothing new\n\n"
State = tuple[object, ...]


class Watched:
    """A run that somebody looks at, and how its page was when it was last looked at.

    ``parts`` are the parts of the page, each with the number of the look that it last changed in.
    """

    def __init__(self, desk: Desk, folder: Path) -> None:
        self.parts: dict[str, tuple[int, str]] = {}
        self.number = 0
        self.is_over = False
        self.leader = ("", "")
        self._desk, self._folder = desk, folder
        self._state: State = ()
        self._next_s = 0.0
        self._looking = asyncio.Lock()

    async def look(self) -> None:
        """Takes a look if it is time to, and there is something new. Raises RunError."""
        async with self._looking:
            state = state_of(self._folder)
            if state == self._state or (self.parts and time.monotonic() < self._next_s):
                return
            found = await self._desk.ask(look_at, str(self._folder))
            self._next_s = time.monotonic() + max(LEAST_S, PAUSES * found.seconds)
            self._take(found)
            self._state = state

    def since(self, number: int) -> dict[str, str]:
        """The parts that have changed since the look with this number."""
        return {name: text for name, (changed, text) in self.parts.items() if changed > number}

    def _take(self, found: Sight) -> None:
        self.number += 1
        self.is_over, self.leader = found.is_over, found.leader
        for name, text in found.parts.items():
            if self.parts.get(name, (0, ""))[1] != text:
                self.parts[name] = self.number, text


class Live:
    """The runs that somebody looks at, or did a while ago."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._watched: dict[Path, Watched] = {}

    def watched(self, folder: Path) -> Watched:
        """The run in a folder."""
        found = self._watched.pop(folder, None) or Watched(self._desk, folder)
        self._watched[folder] = found
        for name in list(self._watched)[:-MOST_WATCHED]:
            del self._watched[name]
        return found

    async def leaders(self, folders: list[Path]) -> dict[Path, tuple[str, str]]:
        """Who leads in runs that are being played, as far as it is known by now."""
        found = {}
        for folder in folders[:MOST_LED]:
            run = self.watched(folder)
            with suppress(ArenaError):
                await run.look()
            found[folder] = run.leader
        return found

    async def events(self, folder: Path) -> AsyncIterator[str]:
        """What a reader of a run's page is sent: the parts that changed, until the run is over.

        A reader who is slow gets the newest of each part, and nothing is kept for anybody.
        """
        run, seen, said_s = self.watched(folder), 0, time.monotonic()
        while True:
            try:
                await run.look()
            except ArenaError as error:
                yield event("problem", str(error))
                return
            if run.number > seen:
                changed, seen = run.since(seen), run.number
                yield event("parts", changed)
                said_s = time.monotonic()
            if run.is_over:
                yield event("over", "")
                return
            if time.monotonic() - said_s > ALIVE_S:
                yield ALIVE
                said_s = time.monotonic()
            await asyncio.sleep(TICK_S)


def event(name: str, content: object) -> str:
    """A server-sent event, its content as JSON on one line."""
    return f"event: {name}\ndata: {msgspec.json.encode(content).decode()}\n\n"


def state_of(folder: Path) -> State:
    """What is different when there is something new to see."""
    state: list[object] = [is_quiet(folder)]
    for path in (journal_of(folder), folder / RUN_FILE, folder / STANDINGS):
        try:
            found = path.stat()
        except OSError:
            state.append(None)
        else:
            state += [path.name, found.st_ino, found.st_size, found.st_mtime_ns]
    return tuple(state)
