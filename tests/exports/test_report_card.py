"""What chats show of a report: its tags and its picture."""

import re
import struct
import sys
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from arena.cli.report import report as command
from arena.errors import UserError
from arena.exports.report.card import WIDTH, png_of
from arena.exports.report.make import Publication, report_page
from arena.exports.report.preview import beside, checked_address
from tests.exports.runs import duels, write_run

NASTY = "<b>&\"'\u202e" + "w" * 60
HOME = "https://example.org/league/"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = write_run(
        tmp_path_factory.mktemp("runs") / "run", [NASTY, "b"], duels([NASTY, "b"], 9), deals=9
    )
    return report_page(folder, 3, published=Publication(f"{HOME}report.html", "report-card.png"))


def tags_of(page):
    found = re.findall(r'<meta (?:name|property)="((?:og|twitter):[^"]*)" content="([^"]*)">', page)
    return dict(found)


def test_the_page_says_what_chats_show_of_it(report):
    tags = tags_of(report.text)
    assert tags["og:url"] == f"{HOME}report.html"
    assert tags["og:title"] == "run: 2 bots, 18 games, 9 deals of Qin"
    assert tags["og:description"] == tags["twitter:description"]
    assert f'<link rel="canonical" href="{HOME}report.html">' in report.text
    assert ("og:image" in tags) == (report.png is not None)


def test_a_page_that_is_published_nowhere_says_nothing_of_the_kind(tmp_path):
    made = report_page(write_run(tmp_path / "run", "ab", duels("ab", 1)))
    assert "og:" not in made.text
    assert (made.card, made.png) == ("", None)


def test_the_card_names_the_best_and_shows_a_board(report):
    root = ET.fromstring(report.card)
    words = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "run" in words
    assert "2 bots, 18 games, 9 deals" in words
    assert {"1", "2"} <= set(words)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}use"))) > 50
    assert all(len(word) <= 42 for word in words)
    assert "\u202e" not in report.card


def test_the_picture_is_a_png_of_the_size_that_chats_want(report):
    pytest.importorskip("resvg_py")
    assert report.png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", report.png[16:24]) == (WIDTH, 630)
    assert len(report.png) < 600_000
    assert tags_of(report.text)["og:image"] == f"{HOME}report-card.png"


def test_without_the_library_there_is_no_picture(monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert png_of("<svg/>") is None


def test_without_the_library_the_command_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    write_run(tmp_path / "results" / "run", "ab", duels("ab", 1))
    page = tmp_path / "page.html"
    done = CliRunner().invoke(command, ["run", "--to", page, "--url", HOME], obj=tmp_path)
    assert "pip install 'qin-arena[card]'" in done.stderr
    assert (tmp_path / "page-card.svg").exists()
    assert not (tmp_path / "page-card.png").exists()
    assert "og:image" not in page.read_text()


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org",
        "http://localhost:8000/a/b.html?x=1",
        "https://xn--bcher-kva.example/%20",
    ],
)
def test_an_address_of_a_page_is_taken(address):
    assert checked_address(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "", "example.org/a", "javascript:alert(1)", "ftp://example.org/", "https://", "https:///a",
        "https://me:secret@example.org/", "https://example.org/#top", "https://example.org/a b",
        'https://example.org/"><script>', "https://example.org/\u202e", "https://example.org:0/",
        "https://example.org:99999/", "https://[::1/", "https://example.org/" + "a" * 2000,
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_page_is_refused(address):
    with pytest.raises(UserError, match="expected the address of a web page") as raised:
        checked_address(address)
    assert "--url https://example.org/" in raised.value.hint


@pytest.mark.parametrize("page", ["", "report.html", "index.html?v=2"])
def test_the_card_lies_beside_the_page(page):
    assert beside(HOME + page, "my report-card.png") == f"{HOME}my%20report-card.png"
