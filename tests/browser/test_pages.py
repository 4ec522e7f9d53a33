"""Every page in a real browser, at three widths, light and dark. The list is in pages.py."""

from contextlib import ExitStack
from itertools import product
from urllib.parse import urlsplit

import pytest

from tests.browser.pages import PAGES, ten_bots
from tests.support.browser import SCHEMES, lacking, looks

WIDTHS = (390, 1366, 2560)
LEAST_STOPS = 5
FOCUS = """
    const node = document.activeElement, { outlineStyle, borderColor } = getComputedStyle(node);
    return [node !== document.body, node.checkVisibility(), outlineStyle !== "none"];
"""


@pytest.fixture(scope="module")
def busy_home(tmp_path_factory):
    """The server of a home with a run, for all pages that only look at it."""
    with ExitStack() as stack:
        yield ten_bots(tmp_path_factory.mktemp("home"), stack)


@pytest.fixture(scope="module", params=PAGES)
def page(request, tmp_path_factory):
    with ExitStack() as stack:
        asked = PAGES[request.param]
        if asked.make:
            address = asked.make(tmp_path_factory.mktemp("page"), stack)
        else:
            address = request.getfixturevalue("busy_home").address(asked.path)
        yield asked, address, looks(WIDTHS, [*PAGES].index(request.param))


def test_a_page_is_quiet_asks_nobody_else_shows_the_focus_and_fits_every_width(browser, page):
    """Nothing in the console, no request but to its own address, a visible focus wherever Tab
    leads, and at every width and in both schemes no fault that axe finds.
    """
    asked, address, examined = page
    browser.open(address)
    browser.js(asked.begin)
    assert browser.log() == []
    if isinstance(address, str):
        own = urlsplit(address).netloc
        assert {urlsplit(one).netloc for one in browser.requests()} <= {"", own}
    else:
        assert set(browser.requests()) <= {address.as_uri(), "data:,"}
    for stops in range(12):
        browser.keys("Tab")
        # After the last stop of a short page the focus leaves it.
        if stops > LEAST_STOPS and browser.js("return document.activeElement === document.body"):
            break
        assert browser.js(FOCUS) == [True, True, True]
    for width, scheme in product(WIDTHS, SCHEMES):
        browser.become(width, scheme)
        wide = browser.js("return document.documentElement.scrollWidth - innerWidth")
        found = browser.violations() if (width, scheme) in examined else []
        assert (width, scheme, max(wide, 0), found) == (width, scheme, 0, [])


def test_keys_and_a_finger_step(browser, page):
    asked, address, _ = page
    if not asked.board:
        return
    browser.open(address, width=390)
    browser.click("first")
    browser.js("document.getElementById(arguments[0]).focus({ preventScroll: true })", asked.board)
    steps = "return document.getElementById('step').value"
    browser.keys("ArrowRight", "ArrowRight", "ArrowLeft")
    assert browser.js(steps) == "1"
    browser.swipe(asked.board, -150)
    browser.swipe(asked.board, -150)
    browser.swipe(asked.board, 150)
    browser.swipe(asked.board, -10)
    assert browser.js(steps) == "2"


def test_what_is_not_installed_is_a_failure_in_ci_and_a_skip_elsewhere(monkeypatch):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"got no hen on this machine: buy one"):
        lacking("hen", "buy one")
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match="no hen on this machine: buy one"):
        lacking("hen", "buy one")
