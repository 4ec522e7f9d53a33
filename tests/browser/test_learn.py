"""The lessons in a real browser: right, wrong and barred squares, and what is kept."""

import pytest

from arena.web.tutorial import lesson_values, lessons
from tests.web.serving import Served

CLICK = """
    const [row, column] = arguments;
    const cells = [...document.querySelectorAll("#grid [role=gridcell]")];
    const cell = cells.find(({ square }) => square[0] === row && square[1] === column);
    cell.click();
"""
TICKS = "return [...document.querySelectorAll('.tick')].filter((one) => one.textContent).length"
TEXT = "return document.querySelector(arguments[0]).innerText"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learning")
    (folder / ".arena-home").touch()
    return folder


def square(move):
    """The row and the column of a move's first half."""
    return int(move[2]) - 1, ord(move[1]) - ord("a")


def aim_and_place(browser, move):
    """Aims at a square until the tile lies as in the move, and places it."""
    browser.js(CLICK, *square(move))
    lies = "return document.querySelector('.trial') && !document.querySelector('.trial.bad')"
    assert browser.js(lies)
    browser.click("place")


def test_all_lessons_can_be_done_and_ticks_stay(browser, server):
    base = f"http://127.0.0.1:{server.port}"
    browser.open(f"{base}/learn?token={server.token}", width=1366)
    for done, lesson in enumerate(lessons()):
        browser.open(f"{base}/learn/{lesson.key}", width=390 if done % 2 else 1366)
        data = lesson_values(lesson.key)["data"]
        assert browser.js(TICKS) == done
        if lesson.is_about_a_bar:
            browser.js(CLICK, 2, 3)
            assert "R4.4" in browser.js(TEXT, "#refused")
        else:
            rights = {square(move): move for move in data["after"]}
            browser.js(CLICK, *next(iter(rights)))
            for _ in range(4):
                if browser.js("return document.querySelectorAll('#does li').length"):
                    browser.click("place")
                if not browser.js("return document.getElementById('again').hidden"):
                    break
                browser.click("turn")
            assert lesson.done in browser.js(TEXT, "#said")
        assert browser.js(TICKS) == done + 1
        assert browser.log() == []
        assert browser.violations() == []
    browser.open(f"{base}/play", width=1366)
    assert browser.js(TICKS) == 6


def test_a_wrong_square_says_why(browser, server):
    browser.open(f"http://127.0.0.1:{server.port}/learn/found?token={server.token}", width=1366)
    browser.js(CLICK, 4, 0)
    assert "R4.2" in browser.js(TEXT, "#refused")
    aim_and_place(browser, "Be3Ye2")
    assert "makes no province" in browser.js(TEXT, "#refused")


def test_a_lesson_needs_no_token(browser, tmp_path):
    server = Served(tmp_path)
    try:
        browser.open(f"http://127.0.0.1:{server.port}/learn", width=390)
        assert browser.js("return document.querySelectorAll('.lights rect').length") > 5
    finally:
        server.close()
