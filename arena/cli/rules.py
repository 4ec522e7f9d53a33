"""arena rules: shows the rules of the game."""

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import click

from arena.cli.options import as_json, tell_json
from arena.cli.terminal import columns_of
from arena.rules.explain import Rule, every_rule, find_rules, rulebook

WIDTH = 80
"""The most columns of the text."""
RULE_INDENT = "      "
"""What stands before the lines of a rule after its number."""
LEGEND = (
    "R, Y and B are colours, V is a village, ~ a lake; the figure is the seat that owns it. Black"
    " is seat 0, white 1, purple 2."
)
"""Explains the boards in the examples."""


@click.command()
@click.argument("asked", required=False, metavar="[NUMBER|WORD]")
@as_json
def rules(asked: str | None, *, as_json: bool) -> None:
    """Read the rules of the game. You get all of them, one rule with its examples, one part, or
    every rule with a certain word.

    \b
    arena rules
    arena rules R4.4
    arena rules R6
    arena rules village
    """  # noqa: D301 - \b is click's mark for lines to keep
    if not as_json:
        show_rules(rules_text(asked))
        return
    rules = every_rule().values() if asked is None else find_rules(asked)
    tell_json([_rule_object(rule) for rule in rules])


def _rule_object(rule: Rule) -> dict[str, Any]:
    """A rule as an object for JSON."""
    return {
        "rule": rule.number,
        "text": "\n".join(rule.paragraphs),
        "pictures": [picture._asdict() for picture in rule.pictures],
    }


def rules_text(asked: str | None) -> str:
    """The rules that ``asked`` names by number or word, as `find_rules` finds them; None or empty
    for all rules. Raises UserError.
    """
    if not asked:
        return _whole_text()
    found = find_rules(asked)
    if len(found) > 1:
        return "\n\n".join(map(_rule_text, found))
    return "\n".join([_rule_text(found[0]), *_examples(found[0])])


def width() -> int:
    """The number of columns of the text of the rules: 80, or the width of a narrower terminal."""
    return min(WIDTH, columns_of(sys.stdout) or WIDTH)


def show_rules(text: str) -> None:
    """Prints a text, page by page if it has more lines than the terminal."""
    if text.count("\n") + 2 > shutil.get_terminal_size().lines:
        click.echo_via_pager(text)
    else:
        click.echo(text)


def _whole_text() -> str:
    """The text of all rules."""
    book = rulebook()
    blocks = ["The game in five sentences", _filled(book.summary)]
    for part in book.parts:
        blocks += [
            f"{part.number} {part.title}",
            *filter(None, [_filled(part.preface)]),
            *map(_rule_text, part.rules),
        ]
    return "\n\n".join([*blocks, "Check figures", _filled(book.figures)])


def _rule_text(rule: Rule) -> str:
    """The text of one rule with its number, without its examples."""
    first, *rest = rule.paragraphs
    head = _filled(first, f"{rule.number:<{len(RULE_INDENT)}}")
    paragraphs = [_filled(text, RULE_INDENT) for text in rest]
    return "\n".join([head, *paragraphs])


def _filled(text: str, head: str = "") -> str:
    """The text, wrapped; ``head`` stands before its first line, and blanks before the others."""
    later = " " * len(head)
    return textwrap.fill(
        text, width(), initial_indent=head, subsequent_indent=later, break_on_hyphens=False
    )


def _examples(rule: Rule) -> Iterator[str]:
    """The examples of a rule, as boards drawn in text with their captions."""
    # As protocol/vectors/README.md describes them.
    text = files("arena.rules").joinpath("positions.jsonl").read_text(encoding="utf-8")
    positions = {}
    for drawing in map(json.loads, text.splitlines()):
        positions[drawing["name"]] = drawing
    for picture in rule.pictures:
        line = positions[picture.name]
        is_allowed = "after" in line
        yield "\n" + _filled(f"{picture.says}.", RULE_INDENT) + "\n"
        left = _drawn("before" if is_allowed else f"not allowed: {line['move']}", line["position"])
        right = _drawn(f"after {line['move']}", line["after"]) if is_allowed else [""] * len(left)
        beside = max(map(len, left)) + 4
        if len(RULE_INDENT) + beside + max(map(len, right)) > width():
            lines = [*left, "", *right]
        else:
            pairs = zip(left, right, strict=True)
            lines = [f"{one:<{beside}}{other}" for one, other in pairs]
        for text_line in lines:
            yield f"{RULE_INDENT}{text_line}".rstrip()
    if rule.pictures:
        yield "\n" + _filled(LEGEND, RULE_INDENT)


def _drawn(head: str, position: dict[str, Any]) -> list[str]:
    """The lines of a drawn position, below the heading ``head``: what is on each square, and the
    seat that owns its province or village.
    """
    cells = [list(row) for row in position["rows"]]
    for area in position["provinces"] + position["villages"]:
        for square in area["squares"] if area["seat"] is not None else ():
            cells[int(square[1:]) - 1][ord(square[0]) - ord("a")] += str(area["seat"])
    letters = [chr(ord("a") + column) for column in range(len(cells[0]))]
    lines = [head]
    for row, row_cells in enumerate([letters, *cells]):
        padded_cells = " ".join(f"{cell:<2}" for cell in row_cells)
        lines.append(f"{row or '':>2} {padded_cells}")
    return lines
