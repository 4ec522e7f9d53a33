"""A server that shows the runs to others."""

from urllib.request import urlopen

import pytest

from tests.web.conftest import HALF
from tests.web.serving import Served


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


def test_it_says_what_it_shows(tmp_path):
    server = Served(tmp_path, "--public")
    assert server.url.endswith(f":{server.port}/")
    with urlopen(server.url, timeout=120) as answer:
        assert answer.status == server.ask()[0] == 200
    assert server.stop()[1].startswith("anyone who reaches this address sees the runs, ")
