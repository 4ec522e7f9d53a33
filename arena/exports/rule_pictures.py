"""The pictures of the rules, which the package has as SVG files."""

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from markupsafe import Markup

_FILE = r'(?s)<svg [^>]*viewBox="0 0 (\d+) (\d+)".*</defs>(.*)</svg>'
"""A regular expression for the text of a file: its size, and what it draws after its parts."""


class RulePicture(NamedTuple):
    """A picture of the rules.

    ``text``     the SVG file
    ``width``, ``height``  its size in pixels
    ``drawing``  what the file draws, without the ``<svg>`` element around it and without the shapes
                 (`arena.exports.parts`) and styles that it refers to: for a page that defines them
    """

    text: str
    width: int
    height: int
    drawing: Markup


@cache
def rule_pictures() -> dict[str, RulePicture]:
    """All pictures of the rules by their names, cached."""
    pictures = {}
    for file in files("arena.exports").joinpath("pictures").iterdir():
        text = file.read_text(encoding="utf-8")
        found = re.search(_FILE, text)
        if found:
            drawing = Markup(found[3])  # noqa: S704 - a file of the project
            name = file.name.removesuffix(".svg")
            pictures[name] = RulePicture(text, int(found[1]), int(found[2]), drawing)
    return pictures
