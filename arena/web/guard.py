"""What every request must pass before a page sees it.

A browser sends requests for anybody: any web page can make it send one here, and with a name that
resolves to this machine (DNS rebinding) the page can also read the answer. Other users of the
machine reach the port as well. So the names that a request may be sent to are fixed, and its origin
must be one of this server's own pages. A request that changes something needs the token, which only
the reader of the first line of `arena serve` has.
"""

import asyncio
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from secrets import compare_digest, token_urlsafe
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.web.peer import may_hold_token

READS = ("GET", "HEAD")
"""The methods of requests that change nothing."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""The names of this machine that only this machine can use."""
HEADER_BYTES = 16 << 10
"""The most bytes of a request's address and headers."""
MAX_BODY = 1 << 16
"""The largest body of a request, in bytes."""
BODY_S = 10.0
"""In how many seconds each part of a request's body has to arrive."""
HEADERS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Each connection serves one request, so that the time a request may take to arrive can be
    # limited.
    "connection": "close",
}
"""The headers that every answer has."""
POLICY = "default-src 'none'; frame-ancestors 'none'"
"""The content security policy of an answer that sets none: nothing may be loaded."""
CACHING = "no-store"
"""How long an answer that does not say so may be kept: not at all."""


class Gate:
    """The host names that requests may be sent to, and the token that allows changes. ``names`` are
    the names of the server's host, and ``port`` is its port.

    ``token`` is a random text; on a public server (``is_public``), where no request may change
    anything, it is empty. ``cookie`` is the name of the cookie that holds the token.
    """

    def __init__(self, names: tuple[str, ...], port: int, *, is_public: bool = False) -> None:
        self.token = "" if is_public else token_urlsafe(32)
        # Cookies are shared by all ports of a host.
        self.cookie = f"arena-{port}"
        self._hosts = frozenset().union(*(_hosts(name.lower(), port) for name in names))

    def hosts_at(self, address: tuple[str, int | None] | None) -> frozenset[str]:
        """The hosts, with their ports, that a request to this server may name.

        ``address`` is the address of this server that the client has reached, None if unknown. It
        is always allowed: an address cannot be made to lead to another machine, as a name can.
        """
        if address is None or address[1] is None:
            return self._hosts
        name = f"[{address[0]}]" if ":" in address[0] else address[0]
        return self._hosts.union(_hosts(name, address[1]))

    def opens_with(self, token: str) -> bool:
        """Whether a text is the token of this server; False on a public server."""
        return bool(self.token) and compare_digest(token.encode(), self.token.encode())

    def has_token(self, headers: Headers) -> bool:
        """Whether the cookie in these headers of a request has the token."""
        try:
            kept = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return kept is not None and self.opens_with(kept.value)


class Guard:
    """Passes allowed requests on to an application, and refuses all others.

    The guard sets ``may_change`` in the state of each request: whether the request has the token,
    see `_has_token`, and ``is_too_large`` once the request's body has exceeded `MAX_BODY`. When
    ``closing`` is set, all streams end.
    """

    def __init__(self, app: ASGIApp, gate: Gate, closing: asyncio.Event) -> None:
        self._app = app
        self._gate = gate
        self._closing = closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request: refuse it, set the cookie, or pass it on to the application."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        answer = self._refusal(scope, headers) or self._entry(scope)
        scope["state"]["may_change"] = self._has_token(scope, headers)
        scope["state"]["is_too_large"] = False
        sealed = _Sealed(send, self._closing)
        if answer is not None:
            await answer(scope, receive, sealed)
        else:
            await self._app(scope, _limited(scope, receive, self._closing), sealed)
            await sealed.end()

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """The refusal of a request, or None if the request is allowed."""
        method = scope["method"]
        gate = self._gate
        # Uvicorn limits only headers that arrive in parts.
        if _header_bytes(scope) > HEADER_BYTES:
            return _refused(431, f"expected at most {HEADER_BYTES} bytes of address and headers")
        if method not in (*READS, "POST"):
            return _refused(405, f"expected GET or POST, got {method[:20]}")
        hosts = headers.getlist("host")
        own = gate.hosts_at(scope["server"])
        if len(hosts) != 1 or hosts[0].lower() not in own:
            return _refused(421, "the host in the request is not a name of this server")
        origins = [origin.removeprefix("http://") for origin in headers.getlist("origin")]
        if not own.issuperset(origins) or _is_foreign(method, headers):
            return _refused(403, "the request comes from a page of another server")
        if method == "POST" and not self._has_token(scope, headers):
            return _refused(
                403, "the token is missing: open the address that 'arena serve' printed"
            )
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 9 or int(length) > MAX_BODY:  # noqa: PLR2004
            return _refused(413, f"expected at most {MAX_BODY} bytes")
        return None

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        """Whether a request carries the token. False, too, if its client is known to be a user of
        this machine other than root and the user who runs the server.
        """
        ends = scope["client"], scope["server"]
        return self._gate.has_token(headers) and (None in ends or may_hold_token(*ends))

    def _entry(self, scope: Scope) -> Response | None:
        """The answer to an address with a token in it: a cookie with the token, and a redirection
        to the address without the token; or a refusal if the token is wrong. None for an address
        without a token.
        """
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if scope["method"] not in READS or given is None:
            return None
        if not self._gate.opens_with(given[0]):
            return _refused(
                403,
                "the token is not this server's: open the address that this 'arena serve' printed",
            )
        # Starlette quotes the path. Two slashes at its start would name another host.
        answer = RedirectResponse("/" + scope["path"].lstrip("/\\"), 303)
        answer.set_cookie(
            self._gate.cookie, self._gate.token, httponly=True, samesite="strict", path="/"
        )
        return answer


def _hosts(name: str, port: int) -> set[str]:
    """The texts by which a request may name a host: with the port, and also without
    it for port 80.
    """
    return {f"{name}:{port}", *([name] if port == 80 else [])}  # noqa: PLR2004


def _header_bytes(scope: Scope) -> int:
    """The bytes of the address and the headers of a request, without what separates them."""
    headers = sum(len(name) + len(value) for name, value in scope["headers"])
    return len(scope["path"]) + len(scope["query_string"]) + headers


def _is_foreign(method: str, headers: Headers) -> bool:
    """Whether a request comes from a page of another site. False for a reader who only followed a
    link from there.
    """
    site = headers.get("sec-fetch-site", "")
    mode = headers.get("sec-fetch-mode", "")
    # A page can make its frames navigate as often as it wants, so only whole documents count.
    is_followed = mode == "navigate" and headers.get("sec-fetch-dest", "document") == "document"
    return site in ("cross-site", "same-site") and not (method in READS and is_followed)


def _refused(status: int, text: str) -> Response:
    """An answer that refuses a request, with this status and text."""
    return PlainTextResponse(f"{text}\n", status)


class _Sealed:
    """Sends the messages of an answer, with the headers that every answer has."""

    def __init__(self, send: Send, closing: asyncio.Event) -> None:
        self._send = send
        self._closing = closing
        self._is_open = False

    async def __call__(self, message: Message) -> None:
        """Send one message of the answer.

        Once the server closes, no further part of a stream is sent. Such a part would only report
        an error, because the process that makes pages has ended.
        """
        is_start = message["type"] == "http.response.start"
        has_more = message.get("more_body")
        if self._closing.is_set() and has_more:
            return
        if is_start:
            headers = MutableHeaders(scope=message)
            headers.setdefault("content-security-policy", POLICY)
            headers.setdefault("cache-control", CACHING)
            headers.update(HEADERS)
        self._is_open = bool(is_start or has_more)
        await self._send(message)

    async def end(self) -> None:
        """End the answer, if the application has not ended it."""
        if self._is_open:
            await self({"type": "http.response.body", "body": b""})


def _limited(scope: Scope, receive: Receive, closing: asyncio.Event) -> Receive:
    """A function like ``receive`` that limits the size of the body of the request ``scope``, and
    the time in which each part has to arrive.

    If the body exceeds one of these limits, and also when the server closes, the application gets
    the message that the client has disconnected: otherwise open streams would keep the server from
    ending. Then ``is_too_large`` in the state of the request says whether the size was exceeded.
    """
    left = MAX_BODY
    is_whole = False

    async def limited() -> Message:
        """The next message of the request."""
        nonlocal left, is_whole
        coming = asyncio.ensure_future(receive())
        ending = asyncio.ensure_future(closing.wait())
        # After a whole request only a disconnection can follow, at any time.
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
                scope["state"]["is_too_large"] = True
            return {"type": "http.disconnect"}
        finally:
            coming.cancel()
            ending.cancel()

    return limited
