"""The pictures of the rules, on the page of the rules and in the rules beside a game."""

import pytest

from arena.rules.explain import every_rule
from tests.serve.games import begin
from tests.serve.serving import Served

PICTURES = [picture.name for rule in every_rule().values() for picture in rule.pictures]
UNSEEN = """
    const images = [...document.querySelectorAll(".rule-picture img")];
    for (const image of images) image.loading = "eager";
    return Promise.all(images.map((image) => image.decode().then(() => image.naturalWidth)));
"""


@pytest.fixture
def server(tmp_path):
    (tmp_path / ".arena-home").touch()
    started = Served(tmp_path)
    yield started
    started.close()


def test_the_rules_show_each_picture_of_the_docs(browser, server):
    own, token = server.url.split("?")
    game = begin(server, bot="careful-16", seed="rules")
    for page in ("rules", f"{game.address[1:]}?{token}"):
        browser.open(f"{own}{page}")
        assert PICTURES
        if page != "rules":
            browser.js("document.getElementById('rules').showModal()")
        assert len(browser.js(UNSEEN)) == len(PICTURES)
        assert all(browser.js(UNSEEN))
        assert browser.log() == []


def test_there_is_no_other_picture(server):
    assert server.ask(f"/rules/pictures/{PICTURES[0]}")[0] == 200
    for name in ("nothing", "..%2Fhome", "%2e%2e/home.py"):
        assert server.ask(f"/rules/pictures/{name}")[0] == 404
