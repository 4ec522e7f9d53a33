"""The rules as people read them: the numbered rules of RULES.md, as plain text."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from arena.errors import UserError, did_you_mean

CITED = re.compile(r"\bR[1-9]\.[1-9]\b")
"""A rule named in a text."""
HOW_TO_ASK = "'arena rules' prints them all"

_SHOWN = r"!\[[^]]*\]\([^)]*\)(?:<br>\n\*[^*]*\*)?"
"""A picture and its caption."""
_RULE = re.compile(
    rf'<a id="r\d\d"></a>\*\*(R\d\.\d)\*\* (.*?)(?=\n\n)((?:\n\n{_SHOWN})*)', re.DOTALL
)
_PICTURE = re.compile(r"!\[([^]]*)\]\(pictures/([\w-]+)\.svg\)")
_WORD = re.compile(r"[a-z]+")


class Picture(NamedTuple):
    """What a picture shows, and the name of the test position that it is drawn from."""

    says: str
    name: str


class Rule(NamedTuple):
    """One rule: its number such as R4.4, its paragraphs without markup, and its pictures."""

    number: str
    paragraphs: tuple[str, ...]
    pictures: tuple[Picture, ...]

    @property
    def text(self) -> str:
        """All of it on one line."""
        return " ".join(self.paragraphs)


class Part(NamedTuple):
    """Rules that belong together: a number such as R4, a title, what is said of all of them, and
    the rules.
    """

    number: str
    title: str
    preface: str
    rules: tuple[Rule, ...]


class Rulebook(NamedTuple):
    """The whole text: the game in five sentences, the parts, and figures to check an implementation
    against.
    """

    summary: str
    parts: tuple[Part, ...]
    figures: str


@cache
def rulebook() -> Rulebook:
    """RULES.md, which travels with the package."""
    text = Path(__file__).with_name("RULES.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))
    parts = [
        (title.split(" ", 1), body) for title, body in sections.items() if re.match(r"R\d ", title)
    ]
    return Rulebook(
        _plain(_paragraphs(sections["The game in five sentences"])[0]),
        tuple(
            Part(number, title, _preface(body), tuple(_rules(body)))
            for (number, title), body in parts
        ),
        _plain(sections["Check figures"]),
    )


@cache
def every_rule() -> dict[str, Rule]:
    """Each rule by its number."""
    return {rule.number: rule for part in rulebook().parts for rule in part.rules}


def find_rules(asked: str) -> list[Rule]:
    """The rule of that number, those of a part such as R4, or those with a word in them. Raises
    UserError.
    """
    name = asked.strip().upper()
    if re.fullmatch(r"R?\d+(\.\d*)?", name):
        return _numbered("R" + name.removeprefix("R").rstrip("."))
    word = asked.strip().lower()
    found = [rule for rule in every_rule().values() if word and word in rule.text.lower()]
    if not found:
        words = {
            word for rule in every_rule().values() for word in _WORD.findall(rule.text.lower())
        }
        raise UserError(
            f"expected the number of a rule, or a word out of the rules, got {asked!r}",
            did_you_mean(word, words) + HOW_TO_ASK,
        )
    return found


def cited(text: str) -> list[str]:
    """The numbers of the rules that a text names, each once, in its order."""
    named = CITED.findall(text)
    return [number for number in dict.fromkeys(named) if number in every_rule()] if named else []


def where_to_read(text: str) -> str:
    """The command that explains the first rule that a text names; empty when it names none."""
    numbers = cited(text)
    return f"arena rules {numbers[0]}" if numbers else ""


def explained(text: str) -> str:
    """The text, followed by the command that explains the first rule it names."""
    command = where_to_read(text)
    return f"{text}; '{command}' explains the rule" if command else text


def _numbered(number: str) -> list[Rule]:
    parts = {part.number: part for part in rulebook().parts}
    part = parts.get(number.partition(".")[0])
    found = [
        rule
        for rule in (part.rules if part else ())
        if number in (rule.number, rule.number.partition(".")[0])
    ]
    if not found:
        near = [rule.number for rule in part.rules] if part else list(parts)
        raise UserError(
            f"expected the number of a rule, got {number}",
            f"there are {near[0]} to {near[-1]}; {HOW_TO_ASK}",
        )
    return found


def _rules(body: str) -> Iterable[Rule]:
    for number, text, pictures in _RULE.findall(body + "\n\n"):
        paragraphs = tuple(_plain(part) for part in re.split(r"\n(?=\*Our ruling\*)", text))
        yield Rule(
            number, paragraphs, tuple(Picture(*found) for found in _PICTURE.findall(pictures))
        )


def _preface(body: str) -> str:
    """What stands before the first rule of a part."""
    return " ".join(_plain(part) for part in _paragraphs(body.split('<a id="', 1)[0]))


def _paragraphs(text: str) -> list[str]:
    return [part for part in text.strip().split("\n\n") if part]


def _plain(text: str) -> str:
    """Markdown without its marks, on one line."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"<[^>]*>", "", text))
    return " ".join(re.sub(r"\*\*|\*|`", "", text).split())
