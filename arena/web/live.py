"""Pages of runs that change while somebody reads them.

The arena reads a run once for all its readers, so many readers cost no more than one. It reads the
run again when the run's files have changed, and only after a pause of twenty times the CPU time
that the last reading took. After the first reading the pause is short.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena.commands.runs import is_quiet
from arena.errors import ArenaError
from arena.web.page_worker import PageWorker
from arena.web.places import without_folders

MIN_S = 2.0
"""The shortest pause between two readings of a run, in seconds."""
PAUSES = 20
"""The pause after a reading, as a multiple of its CPU time: readings use at most a twentieth of a
core.
"""
TICK_S = 0.5
"""The pause in seconds between two checks whether a run is to be read again."""
ALIVE_S = 15.0
"""The longest time in seconds in which a stream sends nothing. Sending shows whether the reader is
gone.
"""
ALIVE = ": nothing new\n\n"
"""A comment in a stream, which readers ignore."""
MAX_WATCHED = 16
"""The most runs that are remembered."""
MAX_LED = 4
"""The most runs whose leader is found out for the list of runs."""
MAX_FILES = 200
"""The most files of a run that are checked for changes."""
Fingerprint = tuple[object, ...]
"""A value that is compared only with others of its kind; see `state_of`."""


def state_of(folder: Path) -> Fingerprint:
    """A value that changes when one of the first `MAX_FILES` files in the run's folder changes, and
    when the run stops being played.

    As long as the value stays the same, the page of the run does, too.
    """
    files: list[tuple[object, ...]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, MAX_FILES):
                file = entry.stat(follow_symlinks=False)
                files.append((entry.name, file.st_ino, file.st_size, file.st_mtime_ns))
    except OSError:
        files.append((None,))
    return is_quiet(folder), *sorted(files, key=str)


class Sight(NamedTuple):
    """What `arena.web.rendering.look_at` found in a run.

    ``parts``    the parts of the run's page as HTML, by name
    ``title``    the title of the page: the name of the run, and whether it is being played
    ``is_over``  whether all games of the run have been played
    ``leader``   the best bot and its rating, as texts
    ``seconds``  the CPU time that the reading took
    """

    parts: dict[str, str]
    title: str
    is_over: bool
    leader: tuple[str, str]
    seconds: float


class Watched:
    """A run whose page somebody reads, with the parts of the page as they were at the last reading.

    Readings are numbered from 1; ``number`` is that of the last one, 0 before the first. ``parts``
    has, for each part of the page, the number of the reading in which the part changed last, and
    its text. Until a reading has found them, ``title`` is empty and ``leader`` has two empty texts.
    """

    def __init__(self, page_worker: PageWorker, folder: Path) -> None:
        self.parts: dict[str, tuple[int, str]] = {}
        self.number = 0
        self.title = ""
        self.is_over = False
        self.leader = ("", "")
        self._page_worker = page_worker
        self._folder = folder
        self._state: Fingerprint = ()
        self._next_s = 0.0
        self._looking = asyncio.Lock()

    async def look(self) -> None:
        """Read the run if its files have changed and the pause after the last reading is over; the
        first reading is done at once. Raises RunError.
        """
        async with self._looking:
            state = state_of(self._folder)
            if state == self._state or (self.parts and time.monotonic() < self._next_s):
                return
            sight: Sight = await self._page_worker.ask("look_at", str(self._folder))
            # The first reading of the process also loads pandas, which says nothing about the run.
            pause_s = max(MIN_S, PAUSES * sight.seconds) if self.number else MIN_S
            self._next_s = time.monotonic() + pause_s
            self._state = state
            self.number = self.number + 1
            self.title = sight.title
            self.is_over = sight.is_over
            self.leader = sight.leader
            for name, text in sight.parts.items():
                if self.parts.get(name, (0, ""))[1] != text:
                    self.parts[name] = self.number, text

    def since(self, number: int) -> dict[str, str]:
        """The texts of the parts that have changed after the reading with this number, by name;
        with 0, all parts.
        """
        return {name: text for name, (changed, text) in self.parts.items() if changed > number}


class Live:
    """The runs whose pages were read last, at most `MAX_WATCHED`."""

    def __init__(self, page_worker: PageWorker) -> None:
        self._page_worker = page_worker
        self._watched: dict[Path, Watched] = {}

    def watched(self, folder: Path) -> Watched:
        """The run in ``folder``: the same object as before as long as it is remembered, otherwise a
        new one, which has not read anything yet. Beyond `MAX_WATCHED` runs, those asked for longest
        ago are forgotten.
        """
        watched = self._watched.pop(folder, None) or Watched(self._page_worker, folder)
        self._watched[folder] = watched
        for name in list(self._watched)[:-MAX_WATCHED]:
            del self._watched[name]
        return watched

    async def leaders(self, folders: list[Path]) -> dict[Path, tuple[str, str]]:
        """The leader of each run and its rating, by folder; empty texts where no rating is known
        yet.

        Only the first `MAX_LED` folders are read; the others are missing.
        """
        leaders = {}
        for folder in folders[:MAX_LED]:
            run = self.watched(folder)
            with suppress(ArenaError):
                await run.look()
            leaders[folder] = run.leader
        return leaders

    async def events(self, folder: Path) -> AsyncIterator[str]:
        """Server-sent events for one reader of a run's page, until the run is over.

        Each event ``parts`` has the parts that have changed since the event before. A slow reader
        gets the newest text of each part: no older text is stored for any reader. The last event is
        ``over`` or, if the run cannot be read, ``problem`` with the reason.
        """
        run = self.watched(folder)
        seen = 0
        said_s = time.monotonic()
        while True:
            try:
                await run.look()
            except ArenaError as error:
                yield event("problem", without_folders(str(error), folder.parent))
                return
            if run.number > seen:
                changed = run.since(seen)
                seen = run.number
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
    """A server-sent event called ``name``, with its content as JSON on one line."""
    return f"event: {name}\ndata: {msgspec.json.encode(content).decode()}\n\n"
