"""The pages of a run: live while it is played, its games, its report."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from arena.commands.folders import results_folder
from arena.exports.report.drawing import parts
from arena.records.record import MOST_SEATS
from arena.records.runfile import read_run
from arena.web.home import find_run, when
from arena.web.pages import PARTS, answer, page, setting_of_pages, whole_number
from arena.web.work import bot_part, games_part, make_game, make_report

SOON_S = 1.5


async def run_page(request: Request) -> Response:
    """A run, with the script that keeps it up to date."""
    folder = run_named(request)
    watched = request.app.state.live.watched(folder)
    info = read_run(folder)
    # A long journal takes a while to read: the stream brings what is not there in time.
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.shield(watched.look()), SOON_S)
    shown = {
        "name": folder.name,
        "parts": dict.fromkeys(PARTS, "") | watched.since(0),
        "is_over": watched.is_over,
        "drawn": parts(),
        "bots": [bot.name for bot in info.bots],
        "started": when(info.started),
    }
    return page(request, "run.html", shown)


async def run_events(request: Request) -> Response:
    """The changes of a run's page, as they come."""
    events = request.app.state.live.events(run_named(request))
    return StreamingResponse(events, media_type="text/event-stream")


async def report(request: Request) -> Response:
    """The report of a run."""
    return await _made(request, make_report)


async def game(request: Request) -> Response:
    """The page of a game whose deal is over."""
    return await _made(request, make_game, request.path_params["game"])


async def _made(request: Request, work: Any, *given: str) -> Response:
    """A page that takes long to make."""
    has_play = request.app.state.site.open_games is not None
    setting, folder = setting_of_pages(has_play=has_play), run_named(request)
    text = await request.app.state.press.page(work, folder, setting, *given)
    return answer(text, setting)


async def games(request: Request) -> Response:
    """All games, or those of some bots, a screen at a time."""
    folder, asked = run_named(request), request.query_params
    bots = asked.getlist("bot")[:MOST_SEATS]
    number = whole_number(asked.get("page", "")) or 1
    main = await request.app.state.lists.page(games_part, folder, tuple(bots), number)
    return page(request, "part.html", {"name": folder.name, "title": "Games", "main": main})


async def bot(request: Request) -> Response:
    """What a run says of one of its bots."""
    folder, name = run_named(request), request.path_params["bot"]
    main = await request.app.state.lists.page(bot_part, folder, name)
    return page(request, "part.html", {"name": folder.name, "title": name, "main": main})


def run_named(request: Request) -> Path:
    """The folder of the run that an address names. Raises HTTPException."""
    results = results_folder(request.app.state.site.home)
    folder = find_run(results, request.path_params["run"])
    if folder is None:
        raise HTTPException(404, "no such run here")
    return folder


ROUTES = [
    Route("/runs/{run}", run_page),
    Route("/runs/{run}/events", run_events),
    Route("/runs/{run}/report", report),
    Route("/runs/{run}/games", games),
    Route("/runs/{run}/games/{game:path}", game),
    Route("/runs/{run}/bots/{bot}", bot),
]
