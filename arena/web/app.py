"""The application: what a page may use, and which page is where."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from arena.errors import ArenaError
from arena.web import home, play, runs
from arena.web.desk import Desk
from arena.web.guard import Gate, Guard
from arena.web.live import Live
from arena.web.opengames import OpenGames
from arena.web.pages import page
from arena.web.press import Press


class Site(NamedTuple):
    """What is served: a home, to those whom the gate lets in. A public one only shows; without
    ``open_games`` nobody plays.
    """

    home: Path
    gate: Gate
    is_public: bool = False
    open_games: OpenGames | None = None


class Application:
    """The application for a home. Pages find as ``request.app.state`` the ``site``, the ``live``
    runs, the ``shelf`` that lists all, the ``desk`` where looks are taken, the ``lists`` made
    there, and the ``press`` for reports and games at another: no look waits for a report.
    """

    def __init__(self, site: Site) -> None:
        self._desk, self._further = Desk(), Desk()
        app = Starlette(
            routes=routes(site), exception_handlers={HTTPException: _missing, ArenaError: _failed}
        )
        app.state.site, app.state.desk = site, self._desk
        app.state.lists, app.state.press = Press(self._desk), Press(self._further)
        app.state.live, app.state.shelf = Live(self._desk), home.Shelf(site.home)
        self._closing = asyncio.Event()
        self.asgi = Guard(app, site.gate, self._closing)

    def close(self) -> None:
        """Ends what is still going on."""
        self._closing.set()
        self._desk.end()
        self._further.end()


def routes(site: Site) -> Sequence[BaseRoute]:
    """All pages."""
    return [*home.ROUTES, *runs.ROUTES, *(play.ROUTES if site.open_games else ())]


async def _missing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return page(request, "problem.html", {"title": error.detail, "hint": ""}, error.status_code)


async def _failed(request: Request, error: Exception) -> Response:
    """What a command would print as an error and its hint."""
    assert isinstance(error, ArenaError)
    return page(request, "problem.html", {"title": str(error), "hint": error.hint}, 404)
