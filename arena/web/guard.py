"""What every request must pass before a page sees it.

A browser carries anybody's requests: any web page can send one here, and with a name that resolves
to this machine (DNS rebinding) also read the answer. Other users of the machine reach the port as
well. So the names that a request may be sent to are fixed, its origin must be ours, and whatever
changes something needs the token, which only the reader of our first line has.
"""

import asyncio
import os
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from pathlib import Path
from secrets import compare_digest, token_urlsafe
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
CHANGES = ("POST",)
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
DOCUMENT = "document"
MOST_BODY = 1 << 16
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
    """Who may ask for what: under which names, and with which token. ``token`` lets its holder
    change something; without one nobody can.
    """

    def __init__(self, names: tuple[str, ...], port: int, *, is_public: bool = False) -> None:
        self.token = "" if is_public else token_urlsafe(32)
        # Cookies are shared by all ports of a host.
        self.cookie = f"arena-{port}"
        self._hosts = frozenset(host for name in names for host in _hosts(name.lower(), port))

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
        self._app, self._gate, self._closing = app, gate, closing

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
        method, gate = scope["method"], self._gate
        if method not in (*READS, *CHANGES):
            return _refused(405, f"expected GET or POST, got {method[:20]}")
        hosts = headers.getlist("host")
        own = gate.hosts_at(scope["server"])
        if len(hosts) != 1 or hosts[0].lower() not in own:
            return _refused(421, "expected one of this server's own names as the host")
        origins = [origin.removeprefix("http://") for origin in headers.getlist("origin")]
        if not own.issuperset(origins) or _is_foreign(method, headers):
            return _refused(403, "expected a request from one of this server's own pages")
        if method in CHANGES and not self._has_token(scope, headers):
            return _refused(403, "expected the token: open the address that 'arena serve' printed")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 9 or int(length) > MOST_BODY:  # noqa: PLR2004
            return _refused(413, f"expected at most {MOST_BODY} bytes")
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


def _hosts(name: str, port: int) -> list[str]:
    """A name as the host of a request."""
    bare = [name] if port == 80 else []  # noqa: PLR2004 - the port that browsers leave out
    return [f"{name}:{port}", *bare]


def _is_foreign(method: str, headers: Headers) -> bool:
    """Whether a page from elsewhere asks, other than by a link that the reader follows."""
    site, mode = headers.get("sec-fetch-site", ""), headers.get("sec-fetch-mode", "")
    # A frame navigates, too, as often as its page wants.
    is_followed = mode == "navigate" and headers.get("sec-fetch-dest", DOCUMENT) == DOCUMENT
    return site in ("cross-site", "same-site") and not (method in READS and is_followed)


def _refused(status: int, text: str) -> Response:
    return PlainTextResponse(f"{text}\n", status)


class _Sealed:
    """Sends an answer with the headers that all have."""

    def __init__(self, send: Send, closing: asyncio.Event) -> None:
        self._send, self._closing, self._is_open = send, closing, False

    async def __call__(self, message: Message) -> None:
        """Sends a part of it; no further part of a stream when the server closes, as it would only
        say that a look has failed.
        """
        is_start, has_more = message["type"] == "http.response.start", message.get("more_body")
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
    left, is_whole = MOST_BODY, False

    async def limited() -> Message:
        nonlocal left, is_whole
        coming, ending = asyncio.ensure_future(receive()), asyncio.ensure_future(closing.wait())
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
