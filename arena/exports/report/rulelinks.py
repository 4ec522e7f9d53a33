"""The rules that a page names: their texts stand at its end, and every number is a link there with
the text as its tooltip.
"""

from collections.abc import Iterable

from markupsafe import Markup, escape

from arena.exports.report.words import visible
from arena.rules.rulebook import CITED, Rule, cited, every_rule

LINK = Markup('<a class="rule" href="#{}" title="{}">{}</a>')


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
