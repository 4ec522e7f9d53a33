"""Clients that take their time, or send too much."""

import resource
import select
from contextlib import suppress
from pathlib import Path

import pytest


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
