"""The page: filled templates, with style and script inline, and a policy that blocks everything
else. The rules that it names stand at its end, and every number of one is a link there with the
text as its tooltip.
"""

import re
import shlex
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from arena.exports.grid import (
    abridged,
    counted,
    figure,
    milliseconds,
    moment,
    signed,
    visible,
    with_error,
)
from arena.exports.parts import SEAT_NAMES_STYLE
from arena.exports.parts import style as drawing_style
from arena.exports.report.charts import axis, interval
from arena.rules.explain import CITED, Rule, cited, every_rule

PACKAGE = "arena.exports.report"
LINK = Markup('<a class="rule" href="#{}" title="{}">{}</a>')
SCRIPTS = (
    "page.js",
    "notation.js",
    "words.js",
    "board.js",
    "tables.js",
    "story.js",
    "seats.js",
    "curves.js",
    "deal.js",
    "viewer.js",
)
POLICY = (
    "default-src 'none'; img-src data:; style-src '{style}'; script-src '{script}'; base-uri"
    " 'none'; require-trusted-types-for 'script'; {further}"
)


class PageSetting(NamedTuple):
    """What a kind of pages has beyond those that are files of their own.

    ``package``  has more templates, in a folder of that name
    ``style``, ``scripts``  are added to those of the report
    ``policy``   the end of the policy: where forms may lead, and what else the pages may do
    ``links``    to the other pages, as (address, text)
    """

    package: str = PACKAGE
    style: str = ""
    scripts: tuple[str, ...] = ()
    policy: str = "form-action 'none'; trusted-types 'none'"
    links: tuple[tuple[str, str], ...] = ()


ALONE = PageSetting()


def render(template: str, values: Mapping[str, Any], setting: PageSetting = ALONE) -> str:
    """The page made from one of the templates."""
    style, script = _inlines(setting)
    page = {"policy": policy_of(setting), "style": style, "script": script, "links": setting.links}
    return fragment(template, {**page, **values}, setting)


def fragment(template: str, values: Mapping[str, Any], setting: PageSetting = ALONE) -> str:
    """The part of a page made from one of the templates."""
    text: str = _environment(setting.package).get_template(template).render(values)
    return text


@cache
def policy_of(setting: PageSetting) -> str:
    """What the pages may do: everything else is blocked. What stands in the page itself is known
    by its hash.
    """
    style, script = (
        f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}" for text in _inlines(setting)
    )
    return POLICY.format(style=style, script=script, further=setting.policy)


@cache
def _inlines(setting: PageSetting) -> tuple[Markup, Markup]:
    """The style and the scripts, which are our own files."""
    style = (read("style.css"), setting.style, drawing_style() + SEAT_NAMES_STYLE)
    scripts = (*map(read, SCRIPTS), *setting.scripts)
    return Markup("\n".join(style)), Markup("\n".join(scripts))  # noqa: S704


def data_text(value: Any) -> Markup:
    """The value as JSON that no browser can mistake for markup, for a data block in the page."""
    text = msgspec.json.encode(value).decode("utf-8", "replace")
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    # Nothing is left in it that could end the block.
    return Markup(text)  # noqa: S704


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, PACKAGE))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {
        "counted": counted,
        "data": data_text,
        "linked": linked,
        "anchor": anchor,
        "moment": moment,
        "ms": milliseconds,
        "number": figure,
        "shortened": abridged,
        "signed": signed,
        "with_error": with_error,
        "zipped": zip,
    }
    environment.globals |= {"axis": axis, "interval": interval}
    return environment


def _shown(value: Any) -> Any:
    """The output of an expression: invisible characters in foreign text are made visible here, and
    escaped afterwards.
    """
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def read(name: str, package: str = PACKAGE) -> str:
    """A file of the package."""
    return files(package).joinpath(name).read_text(encoding="utf-8").strip()


def rules_named(texts: Iterable[str]) -> list[Rule]:
    """The rules that any of the texts names, in the order of the rulebook."""
    named = {number for text in set(texts) for number in cited(text)}
    return [rule for number, rule in every_rule().items() if number in named]


def anchor(number: str) -> str:
    """The id at which a rule stands: R4.4 is r44, as in protocol/RULES.md."""
    return number.lower().replace(".", "")


def linked(text: str) -> Markup:
    """The text with every rule in it a link; the rest is escaped, and what is invisible in it made
    visible.
    """
    rules = every_rule()
    parts = []
    end = 0
    for found in re.finditer(CITED, text):
        if found[0] in rules:
            parts += [
                escape(visible(text[end : found.start()])),
                LINK.format(anchor(found[0]), rules[found[0]].text, found[0]),
            ]
            end = found.end()
    return Markup().join([*parts, escape(visible(text[end:]))])


SAFE = "/:=,@~"


class Around(NamedTuple):
    """The addresses of what a game belongs to, where it is a page among others: its run, the bots
    in its seats, and the games that ended before and after it, empty if there is none to be seen.
    """

    run: str
    bots: list[str]
    before: str
    after: str


class OnePage:
    """The addresses of a page, empty where there is nothing to go to: here those of a report, which
    is one file. `arena.web.home` has the same of a site.

    ``opponents`` are, for each bot that has a page, those of whose games it tells; ``games`` are on
    the page.
    """

    def __init__(
        self,
        run: str,
        bots: Iterable[str],
        opponents: Mapping[str, Collection[str]],
        games: Collection[str],
    ) -> None:
        self._run = run
        self._opponents = opponents
        self._games = set(games)
        self._ids = ids_of(bots)

    def id_of(self, name: str) -> str:
        """The id of the element that is a bot's page."""
        return f"bot/{self._ids[name]}"

    def id_of_meeting(self, name: str, other: str) -> str:
        """The id of the row there that tells of an opponent."""
        return f"{self.id_of(name)}/{self._ids[other]}"

    def bot(self, name: str) -> str:
        """The page of a bot."""
        return f"#{quote(self.id_of(name), SAFE)}" if name in self._opponents else ""

    def meeting(self, name: str, other: str) -> str:
        """The row of an opponent on the page of a bot, else the page."""
        if other in self._opponents.get(name, ()):
            return f"#{quote(self.id_of_meeting(name, other), SAFE)}"
        return self.bot(name)

    def more(self, name: str) -> str:
        """The command that shows all games of a bot and another one."""
        bots = f"{name}+OTHER"
        return shlex.join(["arena", "report", self._run, "--only", bots, "--to", "games.html"])

    def game(self, name: str, turn: int = 0) -> str:
        """A game that is on the page."""
        return f"#game={quote(name)}&turn={turn}" if name in self._games else ""


def ids_of(names: Iterable[str]) -> dict[str, str]:
    """A part of an id for each bot: its name where it can be; those that look alike are
    numbered.
    """
    found = dict[str, str]()
    taken = set[str]()
    for name in names:
        wanted = here = "_".join(visible(name).split()) or "_"
        number = 1
        while here in taken:
            number += 1
            here = f"{wanted}~{number}"
        taken.add(here)
        found[name] = here
    return found
