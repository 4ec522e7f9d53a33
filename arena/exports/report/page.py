"""Makes pages from templates. A page contains its styles and scripts, or names the files of a
server that have them, and it has a security policy that blocks everything else.

The rules that a page names are listed at its end. Each number of a rule is a link to the rule's
text, with the text as its tooltip.
"""

import re
import shlex
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import chain
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
from arena.exports.rule_pictures import rule_pictures
from arena.rules.explain import CITED, Rule, cited, every_rule

PACKAGE = "arena.exports.report"
SAFE = "/:=,@~"
"""The characters that are not escaped in the fragment of an address."""
LINK = Markup('<a class="rule" href="#{}" title="{}">{}</a>')
GUIDE = "https://github.com/qin-arena/qin-arena/blob/main/docs/first-bot.md"
"""The address of the page of the documentation that shows how to write a bot."""
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
    "viewer_state.js",
    "viewer_tries.js",
    "viewer_words.js",
    "viewer_log.js",
    "viewer_curves.js",
    "viewer_pair.js",
    "viewer_steps.js",
    "viewer_keys.js",
    "viewer.js",
    "catalogue.js",
)
POLICY = (
    "default-src 'none'; img-src {images}; style-src {style}; script-src {script}; base-uri"
    " 'none'; require-trusted-types-for 'script'; {further}"
)


class PageSetting(NamedTuple):
    """What one kind of pages has in addition to what all pages have.

    ``package``  the package with further templates, in a folder called ``templates``
    ``sheets``   the addresses of the files with the styles; if there are none, the page contains
                 its styles and scripts
    ``scripts``  the addresses of the files with the scripts, in the order in which they run
    ``policy``   the end of the security policy: where forms may lead, and what else the pages may
                 do
    ``links``    links to other pages, as (address, text)
    ``images``   where pictures may come from, in the form in which a security policy says it
    """

    package: str = PACKAGE
    sheets: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    policy: str = "form-action 'none'; trusted-types 'none'"
    links: tuple[tuple[str, str], ...] = ()
    images: str = "data:"


ALONE = PageSetting()
PREVIEW = Markup("<!-- preview -->")
"""Where a page of a server has room for what the server alone knows of its preview: the address of
the page and of a picture.
"""


def render(template: str, values: Mapping[str, Any], setting: PageSetting = ALONE) -> str:
    """Makes a whole page from the template with this file name and ``values`` for it. ``setting``
    is the kind of page.
    """
    page = {
        "policy": policy_of(setting),
        "sheets": setting.sheets,
        "scripts": setting.scripts,
        "preview": PREVIEW,
        # Both come from the project, so they need no escaping.
        "style": Markup(every_style()),  # noqa: S704
        "script": Markup(every_script()),  # noqa: S704
        "links": setting.links,
        "guide": GUIDE,
    }
    return fragment(template, {**page, **values}, setting)


def fragment(template: str, values: Mapping[str, Any], setting: PageSetting = ALONE) -> str:
    """Makes a part of a page from the template with this file name and ``values`` for it.
    ``setting`` is the kind of page, which says in which package the template is.
    """
    text: str = _environment(setting.package).get_template(template).render(values)
    return text


def _hash_source(text: str) -> str:
    """The hash of a style or script, in the form in which a security policy names it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def policy_of(setting: PageSetting) -> str:
    """The security policy of the pages of the kind ``setting``, which says what a page may load and
    run.

    It names the styles and scripts that a page contains by their hashes.
    """
    if setting.sheets:
        style = script = "'self'"
    else:
        style = _hash_source(every_style())
        script = _hash_source(every_script())
    return POLICY.format(images=setting.images, style=style, script=script, further=setting.policy)


@cache
def every_style() -> str:
    """The text of all styles of a report."""
    return "\n".join((read("style.css"), drawing_style() + SEAT_NAMES_STYLE))


@cache
def every_script() -> str:
    """The text of all scripts of a report."""
    return "\n".join(map(read, SCRIPTS))


def data_text(value: Any) -> Markup:
    """``value`` as JSON for a data block of a page, without any character that could be markup."""
    text = msgspec.json.encode(value).decode("utf-8", "replace")
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    # The text has no character left that could end the block.
    return Markup(text)  # noqa: S704


@cache
def _environment(package: str) -> Environment:
    """The jinja2 environment with the templates of ``package`` and of the report, cached."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, PACKAGE))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {
        "breakable": breakable,
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
    environment.globals |= {"axis": axis, "interval": interval, "rule_pictures": rule_pictures}
    return environment


def _shown(value: Any) -> Any:
    """Makes invisible characters visible in ``value``, the value of a template's expression, if it
    is plain text.

    jinja2 escapes the value afterwards. Text that is markup already is returned unchanged.
    """
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def read(name: str, package: str = PACKAGE) -> str:
    """The text of the file ``name`` in ``package``, without blanks at its ends."""
    return files(package).joinpath(name).read_text(encoding="utf-8").strip()


def rules_named(texts: Iterable[str]) -> list[Rule]:
    """The rules whose numbers occur in any of the ``texts``, in the order of the rulebook."""
    named = set(chain.from_iterable(map(cited, set(texts))))
    return [rule for number, rule in every_rule().items() if number in named]


def anchor(number: str) -> str:
    """The id of the element with the rule of this number: R4.4 is r44, as in protocol/RULES.md."""
    return number.lower().replace(".", "")


def breakable(game: str) -> Markup:
    """The id of a game as markup that a narrow page breaks behind a slash or a plus sign, and not
    within the name of a bot that fits a line.
    """
    parts = re.split(r"(?<=[/+])", visible(game))
    return Markup().join(Markup("<span>{}</span>").format(part) for part in parts)


def linked(text: str) -> Markup:
    """``text`` as markup in which each number of a rule is a link to the rule.

    The rest of the text is escaped, and its invisible characters are made visible.
    """
    rules = every_rule()
    parts = []
    end = 0
    for citation in re.finditer(CITED, text):
        if citation[0] in rules:
            parts += [
                escape(visible(text[end : citation.start()])),
                LINK.format(anchor(citation[0]), rules[citation[0]].text, citation[0]),
            ]
            end = citation.end()
    return Markup().join([*parts, escape(visible(text[end:]))])


class Around(NamedTuple):
    """The addresses of the pages to which the page of a game leads.

    ``run``     the page of the run
    ``bots``    the page of the bot in each seat
    ``before``  the game that ended before this one; empty if there is none, or if it is secret
    ``after``   the game that ended after this one; empty if there is none, or if it is secret
    """

    run: str
    bots: list[str]
    before: str
    after: str


class OnePage:
    """The addresses inside a report, which is one file. (`arena.web.pages.SitePages` has the
    addresses of a web site.) An address is empty if the report does not contain its target.

    ``opponents``  for each bot that has a page, the opponents on that page
    ``games``      the ids of the games in the report
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
        """The id of the element with the page of the bot ``name``, a bot of the run."""
        return f"bot/{self._ids[name]}"

    def id_of_meeting(self, name: str, other: str) -> str:
        """The id of the row about the opponent ``other``, on the page of the bot ``name``."""
        return f"{self.id_of(name)}/{self._ids[other]}"

    def bot(self, name: str) -> str:
        """The address of the page of the bot ``name``; empty if it has no page."""
        return f"#{quote(self.id_of(name), SAFE)}" if name in self._opponents else ""

    def meeting(self, name: str, other: str) -> str:
        """The address of the row about the opponent ``other`` on the page of the bot ``name``, or
        of the bot's page if it has no such row; empty if the bot has no page.
        """
        if other in self._opponents.get(name, ()):
            return f"#{quote(self.id_of_meeting(name, other), SAFE)}"
        return self.bot(name)

    def games_of(self, name: str, other: str) -> str:
        """The address of the list of the games on this page in which the bots ``name`` and
        ``other`` both played.
        """
        return f"#games={quote(name)}&with={quote(other)}"

    def more(self, name: str) -> str:
        """The command that makes a report of all games of the bot ``name`` with another one, with
        OTHER in the place of the other bot's name.
        """
        bots = f"{name}+OTHER"
        return shlex.join(["arena", "report", self._run, "--only", bots, "--to", "games.html"])

    def game(self, name: str, turn: int = 0) -> str:
        """The address of the game with the id ``name`` after ``turn`` placements; empty if the
        report does not have the game.
        """
        return f"#game={quote(name)}&turn={turn}" if name in self._games else ""


def ids_of(names: Iterable[str]) -> dict[str, str]:
    """For each bot, a text without blanks that can be a part of an element's id: the bot's name
    with ``_`` for blanks.

    If two texts would be equal, the later one gets a number at its end.
    """
    ids = dict[str, str]()
    taken = set[str]()
    for name in names:
        wanted = here = "_".join(visible(name).split()) or "_"
        number = 1
        while here in taken:
            number += 1
            here = f"{wanted}~{number}"
        taken.add(here)
        ids[name] = here
    return ids
