"""The application: what a page may use, and which page is where."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from arena.errors import ArenaError
from arena.web import home, play
from arena.web.guard import Gate, Guard
from arena.web.pages import page
from arena.web.tables import Tables


class Site(NamedTuple):
    """What is served: a home, to those whom the gate lets in. A public one only shows; without
    ``tables`` nobody plays.
    """

    home: Path
    gate: Gate
    is_public: bool = False
    tables: Tables | None = None


def make_app(site: Site) -> ASGIApp:
    """The application for a home. Pages find the site as ``request.app.state.site``."""
    app = Starlette(
        routes=routes(site), exception_handlers={HTTPException: _missing, ArenaError: _failed}
    )
    app.state.site = site
    return Guard(app, site.gate)


def routes(site: Site) -> Sequence[BaseRoute]:
    """All pages."""
    return [*home.ROUTES, *(play.ROUTES if site.tables else ())]


async def _missing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return page(request, "problem.html", {"title": error.detail, "hint": ""}, error.status_code)


async def _failed(request: Request, error: Exception) -> Response:
    """What a command would print as an error and its hint."""
    assert isinstance(error, ArenaError)
    return page(request, "problem.html", {"title": str(error), "hint": error.hint}, 404)
