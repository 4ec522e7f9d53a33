"""The pages of runs that change while somebody reads them.

All readers of a run share what was read of it, so many readers cost no more than one. A run is read
again when its files have changed, and only after a pause of twenty times the processor time that
the last reading took.
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
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from arena.commands.home import results_folder
from arena.commands.runs import NOTHING, JournalCount, Rated, count_games, glance, is_quiet
from arena.errors import ArenaError, RunError
from arena.records.journal import journal_of
from arena.records.runfile import RUN_FILE
from arena.tournament.crew import Crew
from arena.tournament.run import Run
from arena.tournament.workers import yield_to_games

PATIENCE_S = 60.0
NICENESS = 3
"""The niceness of the process that works for pages. With a higher one it would starve if every core
plays, and a page would wait for a minute.
"""

log = logging.getLogger(__name__)


class Desk:
    """One process, started when there is something to do, in which functions of `arena.web.views`
    are called: to load them takes long. What it does yields to games.
    """

    def __init__(self) -> None:
        self._crew: Crew | None = None
        self._turn = asyncio.Lock()
        self._is_ended = False

    async def ask(self, work: str, *given: Any) -> Any:
        """What the function of this name returns there. Raises ArenaErrors that it raises, and
        RunError if it takes too long, its process dies, or it fails otherwise.
        """
        async with self._turn:
            if self._is_ended:
                raise RunError("the server was ended")
            crew = self._crew = self._crew or Crew(1, yield_to_games, (NICENESS,))
            try:
                asked = crew.submit(_done, work, *given)
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
                got = type(error).__name__
                raise RunError(f"expected a run that can be read, got {got}") from error

    async def prepare(self) -> None:
        """Starts the process for what will be asked soon, and loads what that needs."""
        if self._crew is None:
            with suppress(RunError):
                await self.ask("nothing")

    def end(self) -> None:
        """Ends the process; nothing more is done."""
        self._is_ended = True
        self.close()

    def close(self) -> None:
        """Ends the process. The next thing to do has another."""
        crew = self._crew
        self._crew = None
        if crew:
            crew.kill()
            # It waits for the process, and the server must not.
            threading.Thread(target=crew.end, daemon=True).start()


def _done(work: str, *given: Any) -> Any:
    return getattr(import_module("arena.web.views"), work)(*given)

from arena.commands.runs import is_quiet
from arena.errors import ArenaError
from arena.web.desk import Desk

MIN_S = 2.0
PAUSES = 20
"""The pause after a look, in times of its CPU time: looks use at most a twentieth of a core."""
TICK_S = 0.5
ALIVE_S = 15.0
"""The longest time in which a stream sends nothing. Sending shows whether the reader is gone."""
ALIVE = ": nothing new\n\n"
MAX_WATCHED = 16
MAX_LED = 4
MAX_FILES = 200
Fingerprint = tuple[object, ...]


def state_of(folder: Path) -> Fingerprint:
    """A value that changes when a file of the run changes, and when the run stops being played.

    As long as the value stays the same, the page of the run does too.
    """
    found: list[tuple[object, ...]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, MAX_FILES):
                file = entry.stat(follow_symlinks=False)
                found.append((entry.name, file.st_ino, file.st_size, file.st_mtime_ns))
    except OSError:
        found.append((None,))
    return is_quiet(folder), *sorted(found, key=str)


class Sight(NamedTuple):
    """What `arena.web.views.look_at` found in a run.

    ``parts``    the parts of the run's page, by name
    ``is_over``  whether all games of the run are played
    ``leader``   the best bot and its rating; empty texts if nothing is known
    ``seconds``  the CPU time that the look took
    """

    parts: dict[str, str]
    is_over: bool
    leader: tuple[str, str]
    seconds: float


class Watched:
    """A run whose page somebody reads, with the parts of the page as they were at the last look.

    Looks are numbered from 1. ``parts`` has, for each part of the page, the number of the look in
    which the part changed last, and its text.
    """

    def __init__(self, desk: Desk, folder: Path) -> None:
        self.parts: dict[str, tuple[int, str]] = {}
        self.number = 0
        self.is_over = False
        self.leader = ("", "")
        self._desk = desk
        self._folder = folder
        self._state: Fingerprint = ()
        self._next_s = 0.0
        self._looking = asyncio.Lock()

    async def look(self) -> None:
        """Look at the run if its files have changed and the pause is over. Raises RunError."""
        async with self._looking:
            state = state_of(self._folder)
            if state == self._state or (self.parts and time.monotonic() < self._next_s):
                return
            found: Sight = await self._desk.ask("look_at", str(self._folder))
            self._next_s = time.monotonic() + max(MIN_S, PAUSES * found.seconds)
            self._state = state
            self.number = self.number + 1
            self.is_over = found.is_over
            self.leader = found.leader
            for name, text in found.parts.items():
                if self.parts.get(name, (0, ""))[1] != text:
                    self.parts[name] = self.number, text

    def since(self, number: int) -> dict[str, str]:
        """The parts that have changed since the look with this number, by name."""
        return {name: text for name, (changed, text) in self.parts.items() if changed > number}


class Live:
    """The runs whose pages were read last, at most `MAX_WATCHED`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._watched: dict[Path, Watched] = {}

    def watched(self, folder: Path) -> Watched:
        """The run in a folder, which becomes the one that was read last."""
        found = self._watched.pop(folder, None) or Watched(self._desk, folder)
        self._watched[folder] = found
        for name in list(self._watched)[:-MAX_WATCHED]:
            del self._watched[name]
        return found

    async def leaders(self, folders: list[Path]) -> dict[Path, tuple[str, str]]:
        """The leader of each run and its rating; empty texts where no rating is known yet.

        Only the first `MAX_LED` folders are looked at.
        """
        found = {}
        for folder in folders[:MAX_LED]:
            run = self.watched(folder)
            with suppress(ArenaError):
                await run.look()
            found[folder] = run.leader
        return found

    async def events(self, folder: Path) -> AsyncIterator[str]:
        """Server-sent events for one reader of a run's page, until the run is over.

        Each event has the parts that changed since the event before. A slow reader gets the newest
        text of each part: no older text is stored for any reader.
        """
        run = self.watched(folder)
        seen = 0
        said_s = time.monotonic()
        while True:
            try:
                await run.look()
            except ArenaError as error:
                yield event("problem", str(error))
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
    """A server-sent event, with its content as JSON on one line."""
    return f"event: {name}\ndata: {msgspec.json.encode(content).decode()}\n\n"


MAX_KEPT = 8
MAX_WAITING = 32
"""Readers. A reader who has gone still waits here, and each takes one of the server's places."""


class Press:
    """Makes pages of runs at a desk, each once as long as the run's files stay as they are."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._kept = dict[tuple[object, ...], tuple[Fingerprint, asyncio.Task[str]]]()
        self._waiting = 0

    async def page(self, work: str, folder: Path, *given: Any) -> str:
        """What the function of this name makes of a run's folder. Raises ArenaErrors that it
        raises, and HTTPException if too many wait.
        """
        if self._waiting >= MAX_WAITING:
            raise HTTPException(503, "too many pages are being made: come back in a minute")
        self._waiting += 1
        try:
            state = await asyncio.to_thread(state_of, folder)
            return await asyncio.shield(self._made((work, str(folder), *given), state))
        finally:
            self._waiting -= 1

    def _made(self, key: tuple[Any, ...], state: Fingerprint) -> asyncio.Task[str]:
        """The page that is being made, or that was made of these files, or else a new one."""
        before, making = self._kept.pop(key, ((), None))
        has_failed = making and making.done() and (making.cancelled() or making.exception())
        if making is None or has_failed or (making.done() and state != before):
            before = state
            making = asyncio.ensure_future(self._desk.ask(*key))
            # Nobody may be there any more to hear of it.
            making.add_done_callback(lambda made: made.cancelled() or made.exception())
        self._kept[key] = before, making
        for old in list(self._kept)[:-MAX_KEPT]:
            if self._kept[old][1].done():
                del self._kept[old]
        return making


MAX_RUNS = 100
"""The newest ones are listed."""
MAX_OWN = 12
"""Games of people, which are listed after the runs."""
MAX_FOLDERS = 1000
"""So many are looked at to find the newest runs."""
COUNTING = "counting"
LIST_S = 3.0
SURROGATE = re.compile("[\ud800-\udfff]")
"""Stands for a byte that is no UTF-8 in the name of a file."""


class Shelf:
    """The runs of a home as they are listed; what was counted once is not counted again. All who
    ask share one look, and the next one is a while later.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._known: dict[Path, tuple[Fingerprint, JournalCount, dict[str, Any]]] = {}
        self._looking = asyncio.Lock()
        self._rows: list[dict[str, Any]] = []
        self._until_s = 0.0

    async def rows(self) -> list[dict[str, Any]]:
        """A row for each run; games that a person played come after all other runs."""
        async with self._looking:
            if time.monotonic() >= self._until_s:
                self._rows = await run_in_threadpool(self._look)
                self._until_s = time.monotonic() + LIST_S / 2
        return [dict(row) for row in self._rows]

    def _look(self) -> list[dict[str, Any]]:
        # Each game that a person played is a run of its own: they would crowd the others out.
        before = self._known
        self._known = {}
        runs = list[dict[str, Any]]()
        own = list[dict[str, Any]]()
        for folder in run_folders(results_folder(self._home))[:MAX_FOLDERS]:
            state = state_of(folder)
            seen, counted, row = before.get(folder, ((), NOTHING, {}))
            if seen != state or not counted.is_whole:
                counted, row = _row_of(folder, counted)
            self._known[folder] = state, counted, row
            (own if row["is_game"] else runs).append(row)
            if len(runs) == MAX_RUNS:
                break
        return [*runs, *own[:MAX_OWN]]


def _row_of(folder: Path, counted: JournalCount) -> tuple[JournalCount, dict[str, Any]]:
    """The row of a run in the table of runs, and how far its journal has been counted; ``counted``
    is how far it had been before.
    """
    row = {"run": folder.name, "folder": folder, "is_game": False, "leader": None}
    try:
        counted = count_games(folder, counted)
        told = glance(Run(folder), counted)
    except ArenaError as error:
        return counted, {**row, "problem": str(error)}
    return counted, {
        **row,
        "problem": "",
        "when": when(told.info.started),
        "is_game": told.info.is_one_game,
        "state": (told.state or "") if counted.is_whole else COUNTING,
        "leader": (told.leader.bot, words_of(told.leader)) if told.leader else None,
        "games": told.games,
        "planned": told.planned,
        "bots": len(told.info.bots),
        "boards": ", ".join(told.info.boards),
        "players": told.info.counting.players,
    }


def run_folders(results: Path) -> list[Path]:
    """The folders of runs, by when they were last played, the latest first. No link is followed."""
    try:
        entries = [entry for entry in os.scandir(results) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    # What is no UTF-8 can stand on no page.
    folders = [Path(entry.path) for entry in entries if not SURROGATE.search(entry.name)]
    found = [(played_at(folder), folder) for folder in folders]
    return [folder for at, folder in sorted(found, reverse=True) if at]


def played_at(folder: Path) -> float:
    """When the journal of a run last grew, or when the run was begun; 0 for another folder."""
    try:
        begun = (folder / RUN_FILE).lstat().st_mtime
    except OSError:
        return 0.0
    try:
        return max(begun, journal_of(folder).lstat().st_mtime)
    except OSError:
        return begun


def words_of(rated: Rated) -> str:
    """A rating with its error bar, as pages have it."""
    return rated.text.replace("+/-", "±").replace("-", "\N{MINUS SIGN}")


def when(moment: str) -> str:
    """A moment of a record, as people here write it."""
    try:
        here = datetime.fromisoformat(moment).astimezone()
    except (ValueError, OverflowError):
        return moment
    is_recent = here.year == datetime.now(UTC).astimezone().year
    return f"{here.day} {here:%b %H:%M}" if is_recent else f"{here.day} {here:%b %Y}"
