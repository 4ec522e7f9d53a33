"""protocol/pictures/: what RULES.md shows is what the arena draws. ``make golden`` writes the files
anew.
"""

import gzip
import os
import xml.etree.ElementTree as ET

import pytest

from tests.protocol.pictures import DOCS, PICTURES, PROTOCOL, made, shown, write

SVG = "{http://www.w3.org/2000/svg}"
if os.environ.get("ARENA_GOLDEN") == "write":
    write()
MADE = made()
SMALL, LARGE = 3_000, 13_000
"""Bytes, compressed."""


@pytest.mark.parametrize(
    "path", sorted(MADE), ids=lambda path: f"{path.parent.parent.name}-{path.stem}"
)
def test_the_file_is_what_the_arena_draws(path):
    assert path.read_text(encoding="utf-8") == MADE[path]


def test_every_file_is_shown():
    assert {path.stem for path in PICTURES.iterdir()} == {*shown(), "game"}
    assert "](pictures/game.svg)" in (PROTOCOL / "RULES.md").read_text(encoding="utf-8")
    assert (DOCS / "game.svg").exists()


def test_every_picture_of_a_rule_says_below_it_what_it_shows():
    lines = (PROTOCOL / "RULES.md").read_text(encoding="utf-8").splitlines()
    found = [
        at for at, line in enumerate(lines) if line.startswith("![") and "/game.svg" not in line
    ]
    assert len(found) == len(shown())
    for at in found:
        assert lines[at + 1] == f"*{lines[at][2:].partition(']')[0]}.*"


@pytest.mark.parametrize(
    "path", sorted(MADE), ids=lambda path: f"{path.parent.parent.name}-{path.stem}"
)
def test_a_picture_is_small_and_needs_nothing_else(path):
    text = MADE[path]
    assert len(gzip.compress(text.encode())) < (LARGE if path.stem == "game" else SMALL)
    root = ET.fromstring(text)
    assert root.find(f"{SVG}title").text
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(ids) == len(set(ids))
    referred = {node.get("href") for node in root.iter() if node.get("href")}
    referred |= {
        f"#{value[5:-1]}"
        for node in root.iter()
        for value in node.attrib.values()
        if value.startswith("url(#")
    }
    assert referred <= {f"#{name}" for name in ids}
    assert not [
        node
        for node in root.iter()
        if node.tag in (f"{SVG}script", f"{SVG}image", f"{SVG}foreignObject")
    ]
