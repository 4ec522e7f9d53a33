"""What boards and pages look like, beside stored pictures."""

from contextlib import ExitStack
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image

from tests.browser.pages import PAGES, SWAP, hostile_games, hostile_report, pair_page
from tests.browser.pictures import (
    MAX_BYTES,
    MAX_DIFFERENT,
    NO_LETTERS,
    STORED,
    check_picture,
    difference,
)

BOARD = 300


@pytest.fixture(scope="module")
def shown(browser, tmp_path_factory):
    """Opens the report or the page of a game at an address, without letters."""
    pages = {
        "report": hostile_report(tmp_path_factory.mktemp("report")),
        "game": pair_page(tmp_path_factory.mktemp("game"), ("a", "b"))[0],
    }

    def show(name, fragment="", *, width=1280, scheme="light", script=""):
        browser.open(pages[name], fragment, width=width, scheme=scheme)
        browser.become(width, scheme, is_calm=True)
        browser.js(NO_LETTERS + script)
        return browser

    yield show
    browser.open("about:blank")


@pytest.mark.parametrize(
    ("name", "page", "fragment"),
    [
        ("board-at-rest", "game", "#turn=0"),
        ("board-of-two", "game", "#turn=24"),
        ("board-of-four", "report", "#game={}&turn=30"),
    ],
)
def test_a_board_looks_as_it_did(shown, name, page, fragment):
    four = hostile_games()[-2].id.replace("+", "%2B")
    check_picture(name, shown(page, fragment.format(four)).picture("#board svg", BOARD))


@pytest.mark.parametrize(
    ("name", "page", "selector", "width", "scheme", "script"),
    [
        ("game-on-a-phone", "game", "#replay", 390, "light", ""),
        ("game-in-the-dark", "game", "#replay", 1280, "dark", ""),
        ("deal", "game", ".boards", 1280, "light", SWAP),
        ("top-of-a-report", "report", ".lead", 1280, "light", ""),
    ],
)
def test_a_page_looks_as_it_did(shown, name, page, selector, width, scheme, script):
    pytest.importorskip("arena.rules.native._core", reason="no curve of who wins without it")
    opened = shown(page, "#turn=24", width=width, scheme=scheme, script=script)
    check_picture(name, opened.picture(selector, BOARD))


def test_the_board_of_a_game_in_play_looks_as_it_did(browser, tmp_path):
    with ExitStack() as stack:
        browser.open(PAGES["playing"].make(tmp_path, stack))
        browser.wait("return document.querySelectorAll('.lights rect').length")
        browser.become(1280, is_calm=True)
        browser.js(NO_LETTERS)
        check_picture("board-in-play", browser.picture("#ground svg", BOARD))
        browser.open("about:blank")


def test_one_tile_more_is_a_difference(shown):
    turns = [
        Image.open(BytesIO(shown("game", f"#turn={turn}").picture("#board svg", BOARD)))
        for turn in (24, 24, 25)
    ]
    shares = [
        difference(one.convert("RGBA"), other.convert("RGBA"))[0] for one, other in pairwise(turns)
    ]
    assert shares[0] == 0
    assert shares[1] > 2 * MAX_DIFFERENT


def test_a_stored_picture_is_small_and_belongs_to_a_test():
    for path in STORED.glob("*.png"):
        assert path.stat().st_size <= MAX_BYTES
        assert f'"{path.stem}"' in Path(__file__).read_text()
