"""The site of docs/ and protocol/ in a real browser, as `make docs` builds it."""

import subprocess
import sys

import pytest

from tests.support.browser import looks
from tests.support.commandline import ROOT

WIDTHS = (390, 1366)
PAGES = (
    "index",
    "overview",
    "first-bot",
    "playing-yourself",
    "sdk",
    "reading-the-table",
    "statistics",
    "protocol/RULES",
    "protocol/SPEC",
    "results/league-2/index",
)
"""Pages of every kind: with code, tables, pictures, signatures and formulas."""
IS_MENDED = """
    const boxes = [...document.querySelectorAll("pre > code, .md-typeset__scrollwrap")];
    const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth);
    return wide.every((box) => box.tabIndex === 0);
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_on_a_page_of_the_docs(browser, site, name):
    assert (site / f"{name}.html").exists()
    for width, scheme in looks(WIDTHS, PAGES.index(name)):
        browser.open(site / f"{name}.html", width=width, scheme=scheme)
        browser.wait(IS_MENDED)
        assert browser.log() == []
        wide = browser.js("return document.documentElement.scrollWidth - innerWidth")
        assert (width, scheme, max(wide, 0), browser.violations()) == (width, scheme, 0, [])
