"""Clients that take their time, or send too much."""

import http.client
import resource
import select
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from arena.web.guard import HEADER_BYTES
from arena.web.server import MAX_AT_ONCE


@pytest.mark.long
def test_requests_and_bodies_that_never_end_are_cut_off(served):
    with served.raw() as silent, served.raw() as slow, served.raw() as bodiless:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        bodiless.sendall(f"{head_of(served)}Content-Length: 9\r\n\r\n{{".encode())
        for connection in (silent, slow, bodiless):
            ready, _, _ = select.select([connection], [], [], 200)
            assert ready
        for connection in (silent, slow):
            with suppress(ConnectionError):
                assert connection.recv(1) == b""
    assert served.ask()[0] == 200


def test_a_body_without_a_length_is_limited(served):
    with served.raw() as connection:
        connection.sendall(f"{head_of(served)}Transfer-Encoding: chunked\r\n\r\n".encode())
        try:
            for _ in range(400):
                connection.sendall(b"2000\r\n" + b"x" * 0x2000 + b"\r\n")
            answer = connection.recv(64)
        except ConnectionError:
            answer = b""
        assert b" 200 " not in answer
    assert served.ask()[0] == 200


@pytest.mark.parametrize("size", [70_000, 128 << 10])
def test_a_body_in_chunks_that_is_too_large_is_refused_with_a_reason(served, size):
    with served.raw() as connection:
        head = f"{head_of(served)}Transfer-Encoding: chunked\r\n\r\n{size:x}\r\n"
        connection.sendall(head.encode() + bytes(size) + b"\r\n0\r\n\r\n")
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert answer.status == 413
        assert answer.read() == b'{"problem":"expected at most 65536 bytes"}'


@pytest.mark.parametrize("size", [HEADER_BYTES, 70_000])
def test_headers_that_are_too_large_are_refused_also_if_they_arrive_at_once(served, size):
    for path, value in (("/bots", "x" * size), (f"/bots?{'x' * size}", "x")):
        with served.raw() as connection:
            host = f"Host: 127.0.0.1:{served.port}\r\n"
            connection.sendall(f"GET {path} HTTP/1.1\r\n{host}X: {value}\r\n\r\n".encode())
            status = connection.recv(64).split()[1]
        # The server's HTTP library refuses headers that it gets in parts, and says 400.
        assert status in (b"400", b"431")


def test_connections_without_the_token_do_not_keep_others_out(served):
    host = f"Host: 127.0.0.1:{served.port}\r\n"
    with ExitStack() as open_connections:

        def begin(text):
            """A new connection on which this text has been sent."""
            connection = open_connections.enter_context(served.raw())
            connection.sendall(text.encode())
            return connection

        stream = f"GET /events HTTP/1.1\r\n{host}"
        owners = begin(f"{stream}Cookie: {served.cookie}\r\n\r\n")
        assert b" 200 " in owners.recv(64)
        for _ in range(MAX_AT_ONCE + 10):
            assert b" 200 " in begin(f"{stream}\r\n").recv(64)
        for text in ("", stream):
            for _ in range(MAX_AT_ONCE + 10):
                begin(text)
            assert served.ask()[0] == 200
            assert served.ask(cookie=served.cookie)[0] == 200
        owners.settimeout(0)
        with suppress(BlockingIOError):
            while True:
                assert owners.recv(1 << 16), "the stream with the token goes on"


def test_a_thousand_requests_leave_nothing_behind(served):
    before = resident(served.process.pid)
    for _ in range(1000):
        assert served.ask("/nowhere")[0] == 404
    assert resident(served.process.pid) < before + (30 << 20)


def head_of(served):
    """The head of a request that would change something, but for its end."""
    host = f"Host: 127.0.0.1:{served.port}\r\n"
    return f"POST /play HTTP/1.1\r\n{host}Cookie: {served.cookie}\r\n"


def resident(pid):
    """The memory of a process in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
