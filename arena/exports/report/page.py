"""The page: filled templates, with style and script inline, and a policy that blocks everything
else. The rules that it names stand at its end, and every number of one is a link there with the
text as its tooltip.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from arena.exports.pictures.animation import NAMES
from arena.exports.pictures.parts import style as drawing_style
from arena.exports.report.words import (
    counted,
    milliseconds,
    moment,
    number,
    shortened,
    signed,
    visible,
)
from arena.rules.rulebook import CITED, Rule, cited, every_rule

PACKAGE = "arena.exports.report"
LINK = Markup('<a class="rule" href="#{}" title="{}">{}</a>')
SCRIPTS = (
    "page.js",
    "tables.js",
    "courses.js",
    "board.js",
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


class Inline(NamedTuple):
    """Text that goes into the page unchanged, and the hash that lets the policy accept it."""

    text: Markup
    hash: str


class Setting(NamedTuple):
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


ALONE = Setting()


def render(template: str, values: Mapping[str, Any], setting: Setting = ALONE) -> str:
    """The page made from one of the templates."""
    style, script = _inlines(setting)
    return fragment(
        template,
        {
            "policy": policy_of(setting),
            "style": style.text,
            "script": script.text,
            "links": setting.links,
            **values,
        },
        setting,
    )


def fragment(template: str, values: Mapping[str, Any], setting: Setting = ALONE) -> str:
    """The part of a page made from one of the templates."""
    text: str = _environment(setting.package).get_template(template).render(values)
    return text


def policy_of(setting: Setting) -> str:
    """What the pages may do: everything else is blocked."""
    style, script = _inlines(setting)
    return POLICY.format(style=style.hash, script=script.hash, further=setting.policy)


@cache
def _inlines(setting: Setting) -> tuple[Inline, Inline]:
    return (
        _inline(read("style.css"), setting.style, drawing_style() + NAMES),
        _inline(*map(read, SCRIPTS), *setting.scripts),
    )


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
        "number": number,
        "shortened": shortened,
        "signed": signed,
        "zipped": zip,
    }
    return environment


def _shown(value: Any) -> Any:
    """The output of an expression: invisible characters in foreign text are made visible here, and
    escaped afterwards.
    """
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def read(name: str, package: str = PACKAGE) -> str:
    """A file of the package."""
    return files(package).joinpath(name).read_text(encoding="utf-8").strip()


def _inline(*texts: str) -> Inline:
    text = "\n".join(texts)
    # Our own files.
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return Inline(Markup(text), f"sha256-{digest}")  # noqa: S704


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
    rules, parts, end = every_rule(), [], 0
    for found in CITED.finditer(text):
        if found[0] in rules:
            parts += [
                escape(visible(text[end : found.start()])),
                LINK.format(anchor(found[0]), rules[found[0]].text, found[0]),
            ]
            end = found.end()
    return Markup().join([*parts, escape(visible(text[end:]))])
