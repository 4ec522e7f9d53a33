"""The lessons in a real browser: right, wrong and barred squares, and what is kept."""

import pytest

from arena.web.tutorial import lesson_values, lessons
from tests.serve.serving import Served

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
            assert "two players bring equally many squares" in browser.js(TEXT, "#refused")
        else:
            rights = {square(move): move for move in data["after"]}
            browser.js(CLICK, *next(iter(rights)))
            for _ in range(8):
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
    assert "beside a coloured square" in browser.js(TEXT, "#refused")
    browser.js("document.querySelector('#refused .rule').click()")
    assert browser.js("return document.activeElement.id") == "r42"
    browser.js("document.getElementById('rules').close()")
    aim_and_place(browser, "Be3Ye2")
    assert "makes no province" in browser.js(TEXT, "#refused")


def test_a_lesson_needs_no_token(browser, tmp_path):
    server = Served(tmp_path)
    try:
        browser.open(f"http://127.0.0.1:{server.port}/learn", width=390)
        assert browser.js("return document.querySelectorAll('.lights rect').length") > 5
    finally:
        server.close()


TRIAL = "return document.querySelector('.trial use')?.outerHTML"
FOCUS = "document.querySelector(arguments[0]).focus()"


def test_the_tile_turns_with_a_key_wherever_the_focus_is_in_the_lesson(browser, server):
    browser.open(f"http://127.0.0.1:{server.port}/learn/found?token={server.token}", width=1366)
    browser.js(CLICK, 1, 1)
    for place in ("#turn", "#tiles button", "#does .rule", "#on"):
        for _ in range(4):
            if browser.js("return document.querySelector('#does .rule') !== null"):
                break
            browser.click("turn")
        browser.js(FOCUS, place)
        before = browser.js(TRIAL)
        browser.keys("r")
        assert browser.js(TRIAL) != before, place
    browser.js("document.getElementById('theme').focus()")
    before = browser.js(TRIAL)
    browser.keys("r")
    assert browser.js(TRIAL) == before, "elsewhere the key does nothing"


def test_the_rules_open_over_the_lesson(browser, server):
    browser.open(f"http://127.0.0.1:{server.port}/learn/found?token={server.token}", width=390)
    browser.js(CLICK, 1, 3)
    browser.js("document.querySelector('#does .rule').click()")
    focused = "return document.activeElement.id"
    assert browser.js(focused) in ("r51", "r52")
    assert browser.js("return document.getElementById('rules').open")
    browser.js("document.getElementById('rules').close()")
    browser.js("document.querySelector('.topbar a[href=\"/rules\"]').click()")
    assert browser.js("return document.getElementById('rules').open")
    assert browser.driver.current_url.split("?")[0].endswith("/learn/found")
    assert browser.js("return document.querySelector('.trial') !== null"), "the aim is kept"


@pytest.mark.parametrize("width", [1366, 390])
def test_nothing_moves_from_one_lesson_to_the_next(browser, server, width):
    base = f"http://127.0.0.1:{server.port}"
    places = set()
    heights = set()
    for lesson in lessons():
        browser.open(f"{base}/learn/{lesson.key}?token={server.token}", width=width, height=768)
        places.add(
            browser.js(
                "return ['turn', 'place', 'on'].map((id) =>"
                " Math.round(document.getElementById(id).getBoundingClientRect().y)).join()"
            )
        )
        heights.add(browser.js("return document.querySelector('.lessons').clientHeight"))
        browser.js("learnt.add(arguments[0])", lesson.key)
        heights.add(browser.js("return document.querySelector('.lessons').clientHeight"))
    browser.js("localStorage.clear()")
    assert len(places) == 1, places
    assert len(heights) == 1, "a tick takes no line of its own"


@pytest.mark.parametrize("width", [1366, 390])
def test_what_a_move_does_fits_its_box(browser, server, width):
    base = f"http://127.0.0.1:{server.port}"
    browser.open(f"{base}/learn/swallow?token={server.token}", width=width)
    browser.js(CLICK, 1, 3)
    for _ in range(8):
        if "Joins" in browser.text("does"):
            break
        browser.click("turn")
    assert "White takes one pagoda back." in browser.text("does")
    slot = (
        "const slot = document.querySelector('.slot'); return slot.scrollHeight - slot.clientHeight"
    )
    assert browser.js(slot) <= 0
    browser.js("document.querySelector('.slot').style.height = '10.5rem'")
    for _ in range(8):
        browser.click("turn")
    assert "White takes one pagoda back." in browser.text("does")
    assert browser.js(slot) <= 0, "in a small box the reasons give way, and not the last line"
    assert browser.text("does").count("why?") == 3
