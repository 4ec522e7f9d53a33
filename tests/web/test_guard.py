"""Who gets in: names of the host, origins, the token, methods and sizes."""

import asyncio

import pytest

from arena.web import guard
from arena.web.guard import Gate, Guard


def test_the_printed_address_gives_the_browser_a_cookie_and_leaves_the_address(served):
    status, headers, _ = served.ask(f"/?token={served.token}")
    assert (status, headers["location"]) == (303, "/")
    assert headers["set-cookie"] == f"{served.cookie}; HttpOnly; Path=/; SameSite=strict"
    status, _, text = served.ask("/?token=another")
    assert status == 403
    assert served.token not in text


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example", "///evil.example"])
def test_the_way_back_never_leads_to_another_host(served, path):
    status, headers, _ = served.ask(f"{path}?token={served.token}")
    assert status == 303
    assert headers["location"].startswith("/evil.example")


@pytest.mark.parametrize(
    "host", ["evil.example:{}", "127.0.0.1", "127.0.0.1:1", "", "evil.example"]
)
def test_a_name_that_leads_here_is_not_enough(served, host):
    status, _, text = served.ask(host=host.format(served.port))
    assert status in (400, 421)
    assert "done" not in text


def test_our_own_names_do(served):
    for name in ("127.0.0.1", "localhost", "LocalHost", "[::1]"):
        status, _, text = served.ask(host=f"{name}:{served.port}")
        assert (status, "done" in text) == (200, True)


def test_two_hosts_are_refused(served):
    with served.raw() as connection:
        own = f"Host: 127.0.0.1:{served.port}\r\n"
        connection.sendall(f"GET / HTTP/1.1\r\n{own}{own}\r\n".encode())
        assert b" 400 " in connection.recv(64) or b" 421 " in connection.recv(64)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{}"])
def test_other_peoples_pages_get_nothing(served, origin):
    origin = origin.format(served.port)
    for cookie in ("", served.cookie):
        status, headers, _ = served.ask(origin=origin, cookie=cookie)
        assert status == 403
        assert not [name for name in headers if name.startswith("access-control")]


def test_a_link_from_elsewhere_may_be_followed_but_nothing_else_is_asked_for(served):
    mode = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    assert served.ask(**mode)[0] == 200
    assert served.ask(**mode, sec_fetch_dest="document")[0] == 200
    assert served.ask(**mode, sec_fetch_dest="iframe")[0] == 403
    assert served.ask(**{**mode, "sec_fetch_mode": "no-cors"})[0] == 403
    assert served.ask(**{**mode, "sec_fetch_site": "same-site", "sec_fetch_mode": "cors"})[0] == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH"])
def test_other_methods_are_refused(served, method):
    assert served.ask(method=method, cookie=served.cookie)[0] == 405


def test_nothing_is_changed_without_the_token(served):
    for cookie in (
        "",
        f"arena-{served.port}=",
        f"arena-{served.port}=x",
        "arena-1=" + served.token,
    ):
        assert served.ask(method="POST", body=b"", cookie=cookie)[0] == 403
    assert served.ask(method="POST", body=b"", cookie=served.cookie)[0] == 405


def test_what_is_too_large_is_refused(served):
    assert served.ask(method="POST", body=b"x" * 70_000, cookie=served.cookie)[0] == 413
    for path, headers in (("/", {"x_long": "x" * 600_000}), ("/" + "x" * 600_000, {})):
        try:
            assert served.ask(path, **headers)[0] == 400
        except ConnectionError:
            pass  # cut off while it was still being sent
    assert served.ask()[0] == 200


def test_every_answer_is_sealed(served):
    for path, method in (("/", "GET"), ("/nowhere", "GET"), ("/", "PUT"), ("/?token=x", "GET")):
        _, headers, _ = served.ask(path, method)
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_a_stream_says_no_more_once_the_server_closes_and_is_ended():
    closing, sent = asyncio.Event(), []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"parts", "more_body": True})
        closing.set()
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.body", "body": b"problem", "more_body": True})

    async def receive():
        await asyncio.Event().wait()

    async def send(message):
        sent.append(message.get("body"))

    ends = {"client": None, "server": ("127.0.0.1", 1), "query_string": b"", "state": {}}
    headers = [(b"host", b"127.0.0.1:1")]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers, **ends}

    async def serve():
        await Guard(app, Gate(("127.0.0.1",), 1), closing)(scope, receive, send)

    asyncio.run(asyncio.wait_for(serve(), 60))
    assert sent == [None, b"parts", b""]


def test_the_token_counts_only_if_the_user_at_the_clients_end_may_hold_it(monkeypatch):
    client, server, asked, states = ("127.0.0.1", 2), ("127.0.0.1", 1), [], []

    def refuse(*ends):
        asked.append(ends)
        return False

    async def app(scope, receive, send):
        states.append(scope["state"]["may_change"])

    monkeypatch.setattr(guard, "may_hold_token", refuse)
    gate = Gate(("127.0.0.1",), 1)
    ends = {"client": client, "server": server, "query_string": b"", "state": {}}
    headers = [(b"host", b"127.0.0.1:1"), (b"cookie", f"{gate.cookie}={gate.token}".encode())]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers, **ends}
    asyncio.run(Guard(app, gate, asyncio.Event())(scope, None, None))
    assert asked == [(client, server)]
    assert states == [False]
