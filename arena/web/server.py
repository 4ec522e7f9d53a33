"""The server: what every request must pass before a page sees it, and which page is where.

A browser carries anybody's requests: any web page can send one here, and with a name that resolves
to this machine (DNS rebinding) also read the answer. Other users of the machine reach the port as
well. So the names that a request may be sent to are fixed, its origin must be ours, and whatever
changes something needs the token, which only the reader of our first line has.
"""

import asyncio
import errno
import logging
import os
import signal
import socket
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from pathlib import Path
from secrets import compare_digest, token_urlsafe
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.errors import ArenaError, UserError
from arena.web import home as pages
from arena.web import play
from arena.web.live import Desk, Live, Press, Shelf
from arena.web.play import OpenGames

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LOCAL, REMOTE, STATE, USER = 1, 2, 3, 7
"""Columns of these tables."""
ESTABLISHED = "01"
"""Any other may be closed already; then it is of no user, and shown as one of root's."""
LENGTH = len("0100007F:1F90")
Address = tuple[str, int]


def may_hold_token(client: Address, server: Address) -> bool:
    """Whether this may be the user of this process or root; so it is if nothing can be known of
    them.
    """
    uid = uid_of(client, server)
    if uid is None:
        return not (ip_address(client[0]).is_loopback and any(map(os.path.exists, TABLES)))
    return uid in (os.geteuid(), 0)


def uid_of(client: Address, server: Address) -> int | None:
    """The user that made a connection from this machine; None if it came from elsewhere or is
    closed, or this system does not tell.
    """
    try:
        wanted = [_written(client), _written(server)]
    except ValueError:
        return None
    for table in filter(os.path.exists, TABLES):
        for row in table.read_text(encoding="ascii").splitlines()[1:]:
            columns = row.split()
            # An IPv4 address may stand there as the end of an IPv6 one.
            ends = [columns[at][-LENGTH:] for at in (LOCAL, REMOTE)]
            if ends == wanted and columns[STATE] == ESTABLISHED:
                return int(columns[USER])
    return None


def _written(address: Address) -> str:
    """An address as the end of its entry in these tables: the last 32 bits, and the port. Raises
    ValueError for what is none.
    """
    last = ip_address(address[0]).packed[-4:]
    return f"{last[::-1].hex().upper()}:{address[1]:04X}"


READS = ("GET", "HEAD")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MAX_BODY = 1 << 16
BODY_S = 10.0
HEADERS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    # Each connection serves one request, so that the time a request may take to arrive can be
    # limited.
    "connection": "close",
}
POLICY = "default-src 'none'; frame-ancestors 'none'"


class Gate:
    """Decides which requests are allowed: by the host names under which they come and by their
    token. Only a request with the ``token`` may change something; if it is empty, none may.
    """

    def __init__(self, names: tuple[str, ...], port: int, *, is_public: bool = False) -> None:
        self.token = "" if is_public else token_urlsafe(32)
        # Cookies are shared by all ports of a host.
        self.cookie = f"arena-{port}"
        self._hosts = frozenset().union(*(_hosts(name.lower(), port) for name in names))

    def hosts_at(self, address: tuple[str, int | None] | None) -> frozenset[str]:
        """The hosts, with the port, by which we may be called at the address that was reached. That
        address itself cannot be made to lead to another machine, as a name can.
        """
        if address is None or address[1] is None:
            return self._hosts
        name = f"[{address[0]}]" if ":" in address[0] else address[0]
        return self._hosts.union(_hosts(name, address[1]))

    def opens_with(self, token: str) -> bool:
        """Whether this is the token."""
        return bool(self.token) and compare_digest(token.encode(), self.token.encode())

    def has_token(self, headers: Headers) -> bool:
        """Whether the request's cookie holds the token."""
        try:
            kept = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return kept is not None and self.opens_with(kept.value)


class Guard:
    """Lets those requests through to an application that may reach it; ``may_change`` of a
    request's state says whether it carries the token. ``closing`` ends all streams.
    """

    def __init__(self, app: ASGIApp, gate: Gate, closing: asyncio.Event) -> None:
        self._app = app
        self._gate = gate
        self._closing = closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        answer = self._refusal(scope, headers) or self._entry(scope)
        scope["state"]["may_change"] = self._has_token(scope, headers)
        sealed = _Sealed(send, self._closing)
        if answer is not None:
            await answer(scope, receive, sealed)
        else:
            await self._app(scope, _limited(receive, self._closing), sealed)
            await sealed.end()

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Why the request goes no further, if so."""
        method = scope["method"]
        gate = self._gate
        if method not in (*READS, "POST"):
            return _refused(405, f"expected GET or POST, got {method[:20]}")
        hosts = headers.getlist("host")
        own = gate.hosts_at(scope["server"])
        if len(hosts) != 1 or hosts[0].lower() not in own:
            return _refused(421, "expected one of this server's own names as the host")
        origins = [origin.removeprefix("http://") for origin in headers.getlist("origin")]
        if not own.issuperset(origins) or _is_foreign(method, headers):
            return _refused(403, "expected a request from one of this server's own pages")
        if method == "POST" and not self._has_token(scope, headers):
            return _refused(403, "expected the token: open the address that 'arena serve' printed")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 9 or int(length) > MAX_BODY:  # noqa: PLR2004
            return _refused(413, f"expected at most {MAX_BODY} bytes")
        return None

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        """Whether the request carries the token, and comes from somebody who may hold it."""
        ends = scope["client"], scope["server"]
        return self._gate.has_token(headers) and (None in ends or may_hold_token(*ends))

    def _entry(self, scope: Scope) -> Response | None:
        """The answer to an address that carries the token: a cookie, and the way to the address
        without it.
        """
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if scope["method"] not in READS or given is None:
            return None
        if not self._gate.opens_with(given[0]):
            return _refused(403, "expected the token of this server: it has a new one each time")
        # Starlette quotes the path. Two slashes at its start would name another host.
        answer = RedirectResponse("/" + scope["path"].lstrip("/\\"), 303)
        answer.set_cookie(
            self._gate.cookie, self._gate.token, httponly=True, samesite="strict", path="/"
        )
        return answer


def _hosts(name: str, port: int) -> set[str]:
    """A name as the host of a request; browsers leave port 80 out."""
    return {f"{name}:{port}", *([name] if port == 80 else [])}  # noqa: PLR2004


def _is_foreign(method: str, headers: Headers) -> bool:
    """Whether a page from elsewhere asks, other than by a link that the reader follows."""
    site = headers.get("sec-fetch-site", "")
    mode = headers.get("sec-fetch-mode", "")
    # A frame navigates, too, as often as its page wants.
    is_followed = mode == "navigate" and headers.get("sec-fetch-dest", "document") == "document"
    return site in ("cross-site", "same-site") and not (method in READS and is_followed)


def _refused(status: int, text: str) -> Response:
    return PlainTextResponse(f"{text}\n", status)


class _Sealed:
    """Sends an answer with the headers that all have."""

    def __init__(self, send: Send, closing: asyncio.Event) -> None:
        self._send = send
        self._closing = closing
        self._is_open = False

    async def __call__(self, message: Message) -> None:
        """Sends a part of it; no further part of a stream when the server closes, as it would only
        say that a look has failed.
        """
        is_start = message["type"] == "http.response.start"
        has_more = message.get("more_body")
        if self._closing.is_set() and has_more:
            return
        if is_start:
            headers = MutableHeaders(scope=message)
            headers.setdefault("content-security-policy", POLICY)
            headers.update(HEADERS)
        self._is_open = bool(is_start or has_more)
        await self._send(message)

    async def end(self) -> None:
        """Ends a stream that was broken off."""
        if self._is_open:
            await self({"type": "http.response.body", "body": b""})


def _limited(receive: Receive, closing: asyncio.Event) -> Receive:
    """Receives a body of limited size, within a limited time. What is more is as if the reader had
    gone, and so is the end of the server, which would wait for open streams.
    """
    left = MAX_BODY
    is_whole = False

    async def limited() -> Message:
        nonlocal left, is_whole
        coming = asyncio.ensure_future(receive())
        ending = asyncio.ensure_future(closing.wait())
        # Once the request is here, what comes is that the reader has gone, whenever that is.
        seconds = None if is_whole else BODY_S
        try:
            await asyncio.wait(
                {coming, ending}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if coming.done():
                message = coming.result()
                left -= len(message.get("body", b""))
                is_whole = not message.get("more_body", False)
                if left >= 0:
                    return message
            return {"type": "http.disconnect"}
        finally:
            coming.cancel()
            ending.cancel()

    return limited


async def _failed(request: Request, error: Exception) -> Response:
    """What a command would print as an error and its hint."""
    if isinstance(error, HTTPException):
        title = error.detail
        hint = ""
        status = error.status_code
    else:
        title = str(error)
        hint = getattr(error, "hint", "")
        status = 404
    return pages.page(request, "problem.html", {"title": title, "hint": hint}, status)


FIRST_PORT, PORTS = 8400, 20
MAX_AT_ONCE = 200
"""Connections; one more is told to come back later."""
MAX_FROM_ONE = 40
"""Connections from one address elsewhere; one more is cut off."""
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
    state.home = home
    state.open_games = games
    state.desk = Desk()
    state.further = Desk()
    state.lists, state.press = Press(state.desk), Press(state.further)
    state.live = Live(state.desk)
    state.shelf = Shelf(home)
    return app


async def _serve(
    app: Starlette, gate: Gate, listener: socket.socket, is_done: Callable[[], bool]
) -> bool:
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
        limit_concurrency=MAX_AT_ONCE,
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


class _Impatient(H11Protocol):
    """A connection that is cut off if its reader has too many others, or if no request has arrived
    in time: uvicorn itself waits for ever for the end of its headers.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins, and ends at once where the same address has too many."""
        super().connection_made(transport)
        address = self.client[0] if self.client else LOOPBACK[0]
        known = [one.client for one in self.connections if isinstance(one, H11Protocol)]
        same = [client for client in known if client and client[0] == address]
        # on this machine it may be a proxy for many readers
        if address not in LOOPBACK and len(same) > MAX_FROM_ONE:
            transport.abort()
        else:
            self.loop.call_later(HEADER_S, self._look)

    def _look(self) -> None:
        if self.cycle is None and self.transport is not None:
            self.transport.abort()
