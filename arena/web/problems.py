"""The pages that say what went wrong: a page that is not there, and a run that cannot be read."""

from collections import deque
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena.commands.home import results_folder
from arena.errors import ArenaError, UserError
from arena.records.journal import read_records
from arena.tournament.run import Run
from arena.web import home as pages
from arena.web.places import run_name, without_folders
from arena.web.run_list import run_folders

MAX_READ = 2000
"""The most games of a damaged run that are read to say how many can be read."""


async def failed(request: Request, error: Exception) -> Response:
    """A page with an error and its hint, as a command would print them, without the folders of this
    machine. For a run that cannot be read the page also says what can be. A script that posts gets
    the error as JSON, with the key ``problem``.
    """
    home: Path = request.app.state.home
    values: dict[str, Any] = {"hint": "", "damage": None}
    if isinstance(error, HTTPException):
        status = error.status_code
        words = "there is no page at this address" if error.detail == "Not Found" else error.detail
    else:
        status = 404
        words = str(error)
        values["hint"] = without_folders(getattr(error, "hint", ""), home)
        if isinstance(error, ArenaError):
            values["damage"] = await run_in_threadpool(_damage, request)
    values["title"] = without_folders(words, home)
    if request.method == "POST":
        return JSONResponse({"problem": values["title"]}, status)
    return pages.page(request, "problem.html", values, status)


def _damage(request: Request) -> dict[str, Any] | None:
    """What the page says about the run that the address names, if that run cannot be read: its
    ``name``, the ``command`` that looks into it, and the number of ``games`` that can be read from
    the start of its journal. None if the address names no run, or if the run itself is in order.
    """
    named = request.path_params.get("run")
    folders = run_folders(results_folder(request.app.state.home))
    folder = next((one for one in folders if run_name(one) == named), None)
    if folder is None:
        return None
    is_whole = True
    try:
        Run(folder).secrecy()
        deque(islice(read_records(folder), MAX_READ), maxlen=0)
    except (ArenaError, OSError):
        is_whole = False
    if is_whole:
        return None
    name = run_name(folder)
    place = f"results/{name.replace(':', '/')}" if ":" in name else name
    return {"name": name, "command": f"arena verify {place}", "games": _readable(folder)}


def _readable(folder: Path) -> int:
    """How many games can be read from the start of the journal of the run in ``folder``; at most
    `MAX_READ` are counted.
    """
    games = 0
    with suppress(UserError, OSError):
        for _ in islice(read_records(folder), MAX_READ):
            games += 1
    return games
