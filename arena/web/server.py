"""The server of `arena serve`: listens, serves the application, and ends."""

import asyncio
import errno
import logging
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.errors import ArenaError, UserError
from arena.web import pages, pictures, play, static_files
from arena.web.bot_list import BotList
from arena.web.guard import HEADER_BYTES, LOOPBACK, Gate, Guard
from arena.web.live import Live
from arena.web.opengames import OpenGames
from arena.web.page_cache import PageCache
from arena.web.page_worker import PageWorker
from arena.web.problems import Damages, cut_off, failed
from arena.web.run_list import RunList

MAX_PICTURES = 64
"""The most pictures of previews that are kept, of some 30 kB each."""
FIRST_PORT = 8400
"""The first port that is tried if the user names none."""
PORTS = 20
"""The number of ports that are tried."""
MAX_AT_ONCE = 200
"""The most connections at the same time. For a further one, the oldest connection without the token
is closed; if all have the token, the further one is closed at once.
"""
MAX_REQUESTS = 2 * MAX_AT_ONCE
"""The most requests at the same time. A further one gets the answer 503: come back later. The
number is above `MAX_AT_ONCE`, because a request ends some time after its connection was closed.
"""
QUEUE = 32
"""The most connections that wait to be accepted, and about as many are accepted at once. It is far
below `MAX_AT_ONCE`, so that the first bytes of a new connection, which may have the token, are read
before newer connections can take its place.
"""
MAX_FROM_ONE = 40
"""The most connections from one address of another machine. A further one is closed at once."""
HEADER_S = 10.0
"""In how many seconds the headers of a request have to arrive."""
DEAF_MS = 30_000
"""A connection is closed if its client takes nothing of an answer for this many ms."""
END_S = 1
"""For how many seconds the server lets requests finish when it ends."""
LOOK_S = 0.1
"""The pause in seconds between two checks whether the server is to end."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that end the server."""


def bind(host: str, port: int | None) -> socket.socket:
    """A socket that listens at this host and port. Raises UserError.

    ``port`` 0 takes any free port, and None the first free one of the `PORTS` ports from
    `FIRST_PORT` on.
    """
    ports = range(FIRST_PORT, FIRST_PORT + PORTS) if port is None else [port]
    for number in ports:
        try:
            return _listening(host, number)
        except OSError as error:
            if port is None and error.errno == errno.EADDRINUSE:
                continue
            raise UserError(
                f"cannot listen at {host}, port {number}: {error.strerror or error}",
                "--port 0 takes any free port",
            ) from None
    raise UserError(
        f"no port from {ports[0]} to {ports[-1]} is free", "--port 0 takes any free port"
    )


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens at this address and port. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Linux gives each connection the same timeout. Without it, what is written to a client that
        # never reads stays in memory until that client goes.
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
    """Serve a home until a signal arrives or ``is_done()`` is true. Return True in the latter case,
    and False after a signal.

    ``gate`` decides which requests are allowed. If ``games`` is None, nobody can play on pages.
    ``listener`` is a socket from `bind`.
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
    """The application for a home. Its ``state`` has what pages need.

    ``home``           the folder
    ``open_games``     the games that people play; None if nobody can
    ``run_list``       the list of runs
    ``bot_list``       the list of bots
    ``live``           the runs whose pages are open
    ``page_worker``    the process that reads runs
    ``lists``          makes lists of games and pages of bots, in that process
    ``report_worker``  a second process, so that reading a run does not wait for a report
    ``reports``        makes reports and pages of games, in the second process
    ``pictures``       makes the pictures of previews, in that process, too
    ``damages``        what is known of runs that cannot be read
    ``front_pages``    first pages that are kept, see `arena.web.pages.front`
    ``shown_pages``    pages of games of the published league that are kept
    """
    app = Starlette(
        routes=[
            *pages.ROUTES,
            *pictures.ROUTES,
            *static_files.ROUTES,
            *(play.ROUTES if games else ()),
        ],
        exception_handlers={HTTPException: failed, ArenaError: failed, ClientDisconnect: cut_off},
    )
    state = app.state
    state.home = home
    state.open_games = games
    state.page_worker = PageWorker()
    state.report_worker = PageWorker()
    state.lists = PageCache(state.page_worker)
    state.reports = PageCache(state.report_worker)
    state.pictures = PageCache(state.report_worker, MAX_PICTURES)
    state.live = Live(state.page_worker)
    state.run_list = RunList(home)
    state.bot_list = BotList(home)
    state.damages = Damages(home)
    state.front_pages = {}
    state.shown_pages = {}
    return app


async def _serve(
    app: Starlette, gate: Gate, listener: socket.socket, is_done: Callable[[], bool]
) -> bool:
    """Runs the server until a signal arrives or ``is_done()`` is true, and returns whether it was
    true.
    """
    closing = asyncio.Event()
    config = uvicorn.Config(
        Guard(app, gate, closing),
        http=_Impatient,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=logging.ERROR,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MAX_REQUESTS,
        backlog=QUEUE,
        timeout_graceful_shutdown=END_S,
        h11_max_incomplete_event_size=HEADER_BYTES,
    )
    server = uvicorn.Server(config)
    signal.signal(signal.SIGHUP, server.handle_exit)
    is_over = False
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(server.serve(sockets=[listener]))
        try:
            # A signal only sets `should_exit`.
            while not (  # noqa: ASYNC110
                server.should_exit or serving.done() or (is_over := is_done())
            ):
                await asyncio.sleep(LOOK_S)
            server.should_exit = True
        finally:
            # Uvicorn would log an error for each client that is cut off now.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            # Uvicorn waits for streams to end, and `closing` ends them.
            closing.set()
            app.state.page_worker.end()
            app.state.report_worker.end()
    return is_over


class _Impatient(H11Protocol):
    """A connection that is closed if its client sends no request within `HEADER_S` seconds, or if
    the client's address has more than `MAX_FROM_ONE` connections. The latter does not hold for this
    machine itself, because a proxy may stand there for many readers. The connection is also closed
    if the server needs room for a new one, see `_make_room`. ``began_s`` is the time at
    which it began, on the monotonic clock.

    Uvicorn itself waits without a limit for the end of a request's headers.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin the connection; close it at once if its address has too many others."""
        super().connection_made(transport)
        self.began_s = time.monotonic()
        address = self.client[0] if self.client else LOOPBACK[0]
        same = [one for one in self._all() if one.client and one.client[0] == address]
        # A client on this machine may be a proxy for many readers.
        if address not in LOOPBACK and len(same) > MAX_FROM_ONE:
            self.drop()
            return
        if len(self.connections) > MAX_AT_ONCE:
            self._make_room()
        self.loop.call_later(HEADER_S, self._look)

    def has_token(self) -> bool:
        """Whether a request with the token has arrived on this connection, see `Guard`."""
        return self.scope is not None and bool(self.scope["state"].get("may_change"))

    def drop(self) -> None:
        """Close the connection at once, without what is still to be sent."""
        # Uvicorn counts a connection until the event loop's next turn. Further ones may begin
        # before.
        self.connections.discard(self)
        self.transport.abort()

    def _all(self) -> list["_Impatient"]:
        """All connections of the server, this one included."""
        return [one for one in self.connections if isinstance(one, _Impatient)]

    def _make_room(self) -> None:
        """Closes the oldest other connection whose client has not shown the token; if there is
        none, this one.

        Anybody who reaches the port could keep all connections busy, with streams of events or with
        pages that are read slowly, and so keep the owner out. A browser that loses a stream in this
        way opens it again.
        """
        others = [one for one in self._all() if one is not self and not one.has_token()]
        oldest = min(others, key=lambda one: one.began_s, default=self)
        oldest.drop()

    def _look(self) -> None:
        """Closes the connection if no request has arrived."""
        if self.cycle is None and self.transport is not None:
            self.transport.abort()
