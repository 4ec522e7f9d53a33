"""The application: what a page may use, and which page is where."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from arena.errors import ArenaError
from arena.web import home, runs
from arena.web.desk import Desk
from arena.web.guard import Gate, Guard
from arena.web.live import Live
from arena.web.pages import page


class Site(NamedTuple):
    """What is served: a home, to those whom the gate lets in. A public one only shows."""

    home: Path
    gate: Gate
    is_public: bool = False


class Application:
    """The application for a home. Pages find as ``request.app.state`` the ``site``, the ``live``
    runs, and the desk for ``pages`` that take long to make.
    """

    def __init__(self, site: Site) -> None:
        self._desks = Desk(), Desk()
        app = Starlette(
            routes=routes(), exception_handlers={HTTPException: _missing, ArenaError: _failed}
        )
        app.state.site, app.state.pages = site, self._desks[0]
        app.state.live = self._live = Live(self._desks[1])
        self.asgi = Guard(app, site.gate)

    def close(self) -> None:
        """Ends what is still going on."""
        self._live.closing.set()
        for desk in self._desks:
            desk.close()


def routes() -> Sequence[BaseRoute]:
    """All pages."""
    return [*home.ROUTES, *runs.ROUTES]


async def _missing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return page(request, "problem.html", {"title": error.detail, "hint": ""}, error.status_code)


async def _failed(request: Request, error: Exception) -> Response:
    """What a command would print as an error and its hint."""
    assert isinstance(error, ArenaError)
    return page(request, "problem.html", {"title": str(error), "hint": error.hint}, 404)
