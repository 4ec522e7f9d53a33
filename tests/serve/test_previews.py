"""What a chat reads from a page to show a preview beside a link to it."""

import re
from html import unescape
from urllib.parse import quote, urlsplit

import pytest

from arena.exports.raster import picture_of_position
from arena.rules.boards import built_in
from arena.web.rendering import run_picture
from tests.exports.runs import duels, write_run
from tests.serve.serving import HALF
from tests.support.png import pixels_of
from tests.support.waiting import wait_for

GAME = duels("abc", 2)[0]


def preview(served, path, **headers):
    """The tags of a page, by property."""
    status, _, body = served.fetch(path, **headers)
    text = body.decode()
    head = text[: text.index("</head>")]
    tags = re.findall('<meta (?:property|name)="([^"]+)" content="([^"]*)">', head)
    assert status == 200
    assert "<!-- preview -->" not in text
    return {name: unescape(content) for name, content in tags}


@pytest.mark.parametrize(
    ("path", "title", "picture"),
    [
        ("/", "qin-arena: bots play Qin", "/picture"),
        ("/learn", "Learn Qin in six tiles", "/picture"),
        ("/runs/done", "done: ", "/runs/done/picture"),
        ("/runs/done/report", "done: report of a run", "/runs/done/picture"),
        ("/runs/done/bots/a", "a: done", "/picture"),
        (f"/runs/done/games/{GAME.id}", "a against b", f"/runs/done/pictures/{quote(GAME.id)}"),
        ("/shown/close", " against ", "/shown/close/picture"),
    ],
)
def test_pages_have_a_title_a_description_and_a_picture(served, path, title, picture):
    # The title of a run's page says whether the run is played once the run has been read.
    wait_for(lambda: title in preview(served, path)["og:title"], f"the title {title!r}")
    tags = preview(served, path)
    home = f"http://127.0.0.1:{served.port}"
    assert title in tags["og:title"]
    assert tags["og:description"] == tags["description"]
    assert len(tags["og:description"]) > 15
    assert tags["og:image"] == f"{home}{picture}"
    assert tags["og:url"] == f"{home}{quote(path)}"
    status, headers, body = served.fetch(urlsplit(tags["og:image"]).path)
    assert (status, headers["content-type"]) == (200, "image/png")
    height, width, _ = pixels_of(body).shape
    assert [tags["og:image:width"], tags["og:image:height"]] == [str(width), str(height)]


def test_an_address_with_a_tile_has_the_picture_of_that_tile(served):
    path = f"/runs/done/games/{quote(GAME.id)}"
    tags = preview(served, f"{path}?t=5")
    assert tags["og:url"].endswith(f"{path}?t=5")
    assert tags["og:image"].endswith("?t=5")
    picture = urlsplit(tags["og:image"]).path
    first, second, end = (served.fetch(f"{picture}{query}")[2] for query in ("?t=5", "?t=6", ""))
    assert first != second != end
    assert served.fetch(f"{picture}?t=99")[2] == end
    assert served.fetch(f"{picture}?t=x")[2] == end
    assert f"{GAME.bots[GAME.ranks.index(1)]} won" in tags["og:description"]


def test_the_addresses_in_a_preview_name_the_host_that_was_asked(served):
    tags = preview(served, "/", host=f"localhost:{served.port}")
    assert tags["og:image"] == f"http://localhost:{served.port}/picture"
    assert preview(served, "/")["og:image"] == f"http://127.0.0.1:{served.port}/picture"


def test_a_game_that_must_stay_secret_has_no_picture(served):
    secret = HALF[-1].id
    assert served.fetch(f"/runs/half/games/{quote(secret)}")[0] == 404
    assert served.fetch(f"/runs/half/pictures/{quote(secret)}")[0] == 404
    assert served.fetch(f"/runs/half/pictures/{quote(HALF[0].id)}")[0] == 200
    assert served.fetch("/runs/half/picture")[0] == 200
    assert served.fetch("/runs/done/pictures/nothing")[0] == 404
    assert served.fetch("/shown/nothing/picture")[0] == 404


def test_a_run_without_games_has_the_picture_of_an_empty_board(tmp_path):
    run = write_run(tmp_path / "run", "ab", [])
    assert run_picture(str(run)) == picture_of_position(built_in("bird"))


def test_names_of_strangers_stay_text_in_a_preview(served):
    text = served.fetch("/runs/%3Cb%3Ex")[2].decode()
    head = text[: text.index("</head>")]
    assert "<b>" not in head
    assert "<img" not in head
