"""The pages that say what went wrong: a page that is not there, and a run that cannot be read."""

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena.commands.home import results_folder
from arena.errors import ArenaError, RunError
from arena.records.journal import journal_of, read_lines
from arena.records.record import decode_record
from arena.tournament.run import Run
from arena.web import pages
from arena.web.guard import BODY_S, MAX_BODY
from arena.web.live import Fingerprint, state_of
from arena.web.places import RESULTS, run_name, without_folders
from arena.web.run_list import run_folders

MAX_READ = 2000
"""The most games of a damaged run that are read to say how many can be read."""
MAX_BYTES = 32 << 20
"""The most bytes of a damaged run's journal that are read for that, but for the last line."""
MAX_KEPT = 16
"""The most damaged runs that are remembered."""


async def failed(request: Request, error: Exception) -> Response:
    """A page with an error and its hint, as a command would print them, without the folders of this
    machine. For a run that cannot be read, the page also says how much of it can be (see `Damage`).
    The answer to a POST is not a page but JSON, with the error under the key ``problem``.
    """
    home: Path = request.app.state.home
    values: dict[str, Any] = {"hint": "", "damage": None}
    if isinstance(error, HTTPException):
        status = error.status_code
        words = "There is no page at this address." if error.detail == "Not Found" else error.detail
    else:
        status = 404
        words = str(error)
        values["hint"] = without_folders(getattr(error, "hint", ""), home)
        if isinstance(error, ArenaError):
            damages = request.app.state.damages
            run = request.path_params.get("run")
            values["damage"] = run and await run_in_threadpool(damages.of, run, words)
    values["title"] = without_folders(words, home)
    if request.method == "POST":
        return JSONResponse({"problem": values["title"]}, status)
    return pages.page(request, "problem.html", values, status)


async def cut_off(request: Request, _: Exception) -> Response:
    """The answer to a request whose body the guard has cut off, because it was too large or came
    too slowly. A client that has disconnected gets no answer.
    """
    if request.state.is_too_large:
        return await failed(request, HTTPException(413, f"expected at most {MAX_BODY} bytes"))
    late = f"the next part of the request did not arrive within {BODY_S:g} s"
    return await failed(request, HTTPException(408, late))


class Damage(NamedTuple):
    """What the page says about a damaged run: its ``name``, the ``command`` that looks into it, how
    many ``games`` can be read from the start of its journal, and whether more of the journal was
    not read (``is_more``).
    """

    name: str
    command: str
    games: int
    is_more: bool


class Damages:
    """The damage found in the runs of a home so far. A run is looked into again only when its files
    have changed, because anybody may ask for its pages again and again.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._known: dict[tuple[Path, bool], tuple[Fingerprint, Damage | None]] = {}

    def of(self, name: str, error: str) -> Damage | None:
        """The damage of the run called ``name``, of which a page could not be made because of
        ``error``. None if there is no such run, or if the run itself is in order.
        """
        folders = run_folders(results_folder(self._home))
        folder = next((one for one in folders if run_name(one) == name), None)
        if folder is None:
            return None
        is_of_journal = f"{journal_of(folder)}, line " in error
        # Whoever asks at the same time waits, and finds what the first one has read.
        with self._lock:
            return self._looked_up(folder, is_of_journal=is_of_journal)

    def _looked_up(self, folder: Path, *, is_of_journal: bool) -> Damage | None:
        """The damage of the run in ``folder``, kept or found now; see `_damage_of`."""
        state = state_of(folder)
        kept = self._known.pop((folder, is_of_journal), None)
        if kept is None or kept[0] != state:
            kept = state, _damage_of(folder, is_of_journal=is_of_journal)
        self._known[folder, is_of_journal] = kept
        for old in list(self._known)[:-MAX_KEPT]:
            del self._known[old]
        return kept[1]


def _damage_of(folder: Path, *, is_of_journal: bool) -> Damage | None:
    """The damage of the run in ``folder``; None if its run.json and the start of its journal can be
    read. With ``is_of_journal``, the error is known to be in the journal, perhaps in a line that is
    not read here, and the result is never None.
    """
    is_whole = False
    with suppress(RunError):
        Run(folder)
        is_whole = not is_of_journal
    journal = journal_of(folder)
    games = size = 0
    is_more = False
    # A run without a journal has no games yet.
    if os.path.lexists(journal):
        try:
            for line in read_lines(journal):
                decode_record(line)
                games += 1
                size += len(line)
                is_more = games >= MAX_READ or size >= MAX_BYTES
                if is_more:
                    break
        except (msgspec.DecodeError, ValueError, RecursionError, RunError, OSError):
            is_whole = False
    if is_whole:
        return None
    name = run_name(folder)
    place = f"{RESULTS}/{name.replace(':', '/')}" if ":" in name else name
    return Damage(name, f"arena verify {place}", games, is_more)
