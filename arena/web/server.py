"""The server: one port, and uvicorn behind it in this process."""

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.errors import UserError
from arena.web.app import Application, Site

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


def serve(site: Site, listener: socket.socket, is_done: Callable[[], bool] = lambda: False) -> bool:
    """Serves until a signal ends it, or until it ``is_done``, which is asked now and then and then
    returned.
    """
    # Uvicorn raises the signal once more when it is done. A KeyboardInterrupt in the middle of
    # asyncio would leave threads that never end.
    before = {number: signal.signal(number, lambda *_: None) for number in ENDING}
    try:
        return asyncio.run(_serve(site, listener, is_done))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _serve(site: Site, listener: socket.socket, is_done: Callable[[], bool]) -> bool:
    app = Application(site)
    config = uvicorn.Config(
        app.asgi,
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
            app.close()
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
