"""A server that shows the runs to others."""

import socket
import time
from contextlib import ExitStack
from urllib.request import urlopen

import pytest

from arena.web.server import HEADER_S
from tests.serve.serving import HALF, Served


@pytest.fixture(scope="module")
def public(home):
    server = Served(home, "--public", "127.0.0.1", "--host-name", "games.example")
    yield server
    server.close()


def test_it_has_no_token_and_nobody_plays(public):
    assert public.url == f"http://games.example:{public.port}/"
    text = public.ask()[2]
    assert "done" in text
    assert 'href="/play' not in text
    assert {public.ask(path)[0] for path in ("/play", "/play/x", "/play/x/events")} == {404}
    for cookie in ("", f"arena-{public.port}=", f"arena-{public.port}=x"):
        assert public.ask("/play", "POST", b"{}", cookie=cookie)[0] == 403
    assert public.ask("/?token=")[0] == 200
    assert public.ask("/?token=x")[0] == 403


def test_it_answers_to_its_address_and_the_names_that_were_said(public):
    for host in (f"games.example:{public.port}", f"127.0.0.1:{public.port}"):
        assert public.ask(host=host)[0] == 200
    assert public.ask(host=f"other.example:{public.port}")[0] == 421


def test_it_shows_no_game_of_an_open_deal(public):
    assert public.ask(f"/runs/half/games/{HALF[0].id}")[0] == 200
    assert public.ask(f"/runs/half/games/{HALF[7].id}")[0] == 404


def test_it_says_what_it_shows(tmp_path, snapshot):
    server = Served(tmp_path, "--public")
    assert server.url.endswith(f":{server.port}/")
    with urlopen(server.url, timeout=120) as answer:
        assert answer.status == server.ask()[0] == 200
    assert server.stop()[1] == snapshot


def slow_connection(port, own):
    """A reader at this address of its own that never sends the rest of its request."""
    made = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(own, 0))
    made.sendall(b"GET / HTTP/1.1\r\n")
    return made


def test_one_address_with_many_slow_connections_locks_nobody_out(public):
    with ExitStack() as stack:
        slow = [stack.enter_context(slow_connection(public.port, "127.0.0.2")) for _ in range(220)]
        for made in slow[-20:]:  # cut off at once, long before a request is due
            began = time.monotonic()
            try:
                assert made.recv(1) == b""
            except ConnectionResetError:
                pass
            assert time.monotonic() - began < HEADER_S / 2
        assert public.ask()[0] == 200
