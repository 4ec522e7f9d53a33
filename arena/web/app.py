"""The application: what a page may use, and which page is where."""

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.errors import ArenaError, UserError
from arena.web import home as pages
from arena.web import play
from arena.web.guard import Gate, Guard
from arena.web.live import Desk, Live, Press, Shelf
from arena.web.play import OpenGames


async def _failed(request: Request, error: Exception) -> Response:
    """What a command would print as an error and its hint."""
    if isinstance(error, HTTPException):
        title, hint, status = error.detail, "", error.status_code
    else:
        title, hint, status = str(error), getattr(error, "hint", ""), 404
    return pages.page(request, "problem.html", {"title": title, "hint": hint}, status)


FIRST_PORT, PORTS = 8400, 20
MOST_AT_ONCE = 200
"""Connections; one more is told to come back later."""
HEADER_BYTES = 16 << 10
HEADER_S = 10.0
"""A request must have arrived by then."""
DEAF_MS = 30_000
"""A reader that takes nothing of what it asked for is cut off after this."""
END_S = 1
LOOK_S = 0.1
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def bind(host: str, port: int | None) -> socket.socket:
    """A socket that listens at this address; without a port, at the first free one from 8400. Port
    0 is any. Raises UserError.
    """
    ports = range(FIRST_PORT, FIRST_PORT + PORTS) if port is None else [port]
    for number in ports:
        try:
            return _listening(host, number)
        except OSError as error:
            if port is None and error.errno == errno.EADDRINUSE:
                continue
            raise UserError(
                f"expected to listen at {host}, port {number}, got {error.strerror or error}",
                "--port 0 takes any free port",
            ) from None
    raise UserError(
        f"expected a free port from {ports[0]} to {ports[-1]}, got none",
        "--port 0 takes any free port",
    )


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Linux passes it on to each connection. Without it, whatever is written to a reader who
        # never reads stays in memory until that reader goes.
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAF_MS)
        listener.bind((host, port))
        listener.listen()
    except BaseException:
        listener.close()
        raise
    return listener


def serve(
    home: Path,
    gate: Gate,
    games: OpenGames | None,
    listener: socket.socket,
    is_done: Callable[[], bool] = lambda: False,
) -> bool:
    """Serves a home to those whom the gate lets in until a signal ends it, or until it ``is_done``,
    which is asked now and then and then returned. Without ``games`` nobody plays.
    """
    # Uvicorn raises the signal once more when it is done. A KeyboardInterrupt in the middle of
    # asyncio would leave threads that never end.
    before = {number: signal.signal(number, lambda *_: None) for number in ENDING}
    try:
        return asyncio.run(_serve(_application(home, games), gate, listener, is_done))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _application(home: Path, games: OpenGames | None) -> Starlette:
    """The application for a home. Pages find as ``request.app.state`` the ``home``, the
    ``open_games``, the ``live`` runs, the ``shelf`` that lists all, the ``desk`` where looks are
    taken, the ``lists`` made there, and the ``press`` for reports and games at a ``further`` one:
    no look waits for a report.
    """
    app = Starlette(
        routes=[*pages.ROUTES, *(play.ROUTES if games else ())],
        exception_handlers={HTTPException: _failed, ArenaError: _failed},
    )
    state = app.state
    state.home, state.open_games = home, games
    state.desk, state.further = Desk(), Desk()
    state.lists, state.press = Press(state.desk), Press(state.further)
    state.live, state.shelf = Live(state.desk), Shelf(home)
    return app


async def _serve(
    app: Starlette, gate: Gate, listener: socket.socket, is_done: Callable[[], bool]
) -> bool:
    closing = asyncio.Event()
    config = uvicorn.Config(
        Guard(app, gate, closing),
        http=_impatient,  # type: ignore[arg-type]
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=logging.ERROR,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MOST_AT_ONCE,
        timeout_graceful_shutdown=END_S,
        h11_max_incomplete_event_size=HEADER_BYTES,
    )
    server = uvicorn.Server(config)
    signal.signal(signal.SIGHUP, server.handle_exit)
    is_over = False
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(server.serve(sockets=[listener]))
        try:
            # A signal only sets this.
            while not (  # noqa: ASYNC110
                server.should_exit or serving.done() or (is_over := is_done())
            ):
                await asyncio.sleep(LOOK_S)
            server.should_exit = True
        finally:
            # Readers who take nothing are cut off now, and nobody wants to hear of each.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            # Uvicorn waits for streams to end: they must hear of it first.
            closing.set()
            app.state.desk.end()
            app.state.further.end()
    return is_over


def _impatient(**parts: Any) -> H11Protocol:
    """A connection that is cut off if no request has arrived in time: uvicorn itself waits for ever
    for the end of its headers.
    """
    connection = H11Protocol(**parts)

    def look() -> None:
        if connection.cycle is None and connection.transport is not None:
            connection.transport.abort()

    connection.loop.call_later(HEADER_S, look)
    return connection
