"""The rules in words for people: why a move is illegal, in the same words for both cores, and the
numbered rules of RULES.md as plain text.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena.errors import UserError, did_you_mean
from arena.rules.board_state import is_forbidden_join
from arena.rules.boards import COLOURS, squares_of
from arena.rules.notation import (
    KIND_SHIFT,
    PASS,
    TILE_OF_KIND,
    TILES,
    UNKNOWN,
    move_text,
    split_move,
)
from arena.rules.terms import MAJOR

if TYPE_CHECKING:
    from arena.rules.pure import State


CITED = r"\bR[1-9]\.[1-9]\b"
"""A regular expression for the number of a rule, such as R4.4."""
HOW_TO_ASK = "'arena rules' prints them all"

_SHOWN = r"!\[[^]]*\]\([^)]*\)(?:<br>\n\*[^*]*\*)?"
"""A regular expression for a picture in Markdown with its caption."""
_RULE = rf'(?s)<a id="r\d\d"></a>\*\*(R\d\.\d)\*\* (.*?)(?=\n\n)((?:\n\n{_SHOWN})*)'
_PICTURE = r"!\[([^]]*)\]\(pictures/([\w-]+)\.svg\)"


class Refusal(NamedTuple):
    """Why a move is illegal: the reason in the arena's words (``text``), without the numbers of the
    ``rules`` that forbid the move; and the ``colour`` of the provinces that it would join, if that
    is the reason.
    """

    text: str
    rules: tuple[str, ...]
    colour: int | None = None


def illegal_text(state: "State", move: int) -> str:
    """Says why the mover of ``state`` may not play ``move``, a placement or PASS, such as ``Rc4Yd4
    is illegal: ...``; an empty text if the move is legal.
    """
    if move != PASS and not 0 <= move >> KIND_SHIFT < len(TILE_OF_KIND):
        return f"{move} is illegal: it is not the number of a move"
    refusal = refusal_of(state, move)
    if refusal is None:
        return ""
    rules = ", ".join(refusal.rules)
    return f"{move_text(state.board, move)} is illegal: {refusal.text} ({rules})"


def refusal_of(state: "State", move: int) -> Refusal | None:
    """The reason why the mover of ``state`` may not play ``move``, a placement or PASS; None if the
    move is legal.
    """
    if state.end is not None:
        return Refusal(f"the game is over: {state.end}", ("R8.1",))
    if move == PASS:
        if state.must_pass() or UNKNOWN in state.hands[state.mover]:
            return None
        return Refusal("a player who can place a tile must place one", ("R3.1", "R3.2"))
    hand = state.hands[state.mover]
    tile = TILE_OF_KIND[move >> KIND_SHIFT]
    if tile not in hand and UNKNOWN not in hand:
        held_tiles = [TILES[held_tile] for held_tile in hand]
        held = " ".join(held_tiles) or "(empty)"
        return Refusal(f"the tile {TILES[tile]} is not in the hand {held}", ("R3.1",))
    first, square, second, other = split_move(state.board, move)
    halves = 1 << square | 1 << other
    if halves & ~state.free:
        name = _first_name(state, halves & ~state.free)
        return Refusal(f"{name} is not free grassland", ("R4.1",))
    if not state.board.around(halves) & (state.spaces(0) | state.spaces(1) | state.spaces(2)):
        return Refusal("neither half shares an edge with a province space", ("R4.2",))
    if first == second:
        return _join_refusal(state, first, halves)
    return _join_refusal(state, first, 1 << square) or _join_refusal(state, second, 1 << other)


def _join_refusal(state: "State", colour: int, halves: int) -> Refusal | None:
    """The reason why spaces of this colour on the squares of the mask ``halves`` may not join the
    provinces beside them; None if they may.
    """
    joined = []
    for other, province in state.provinces():
        if other == colour and province.halo & halves:
            joined.append(province)
    if not is_forbidden_join(joined):
        return None
    first_names = [_first_name(state, province.mask) for province in joined]
    names = " and ".join(first_names)
    if sum(province.size >= MAJOR for province in joined) > 1:
        which = f"major provinces of colour {COLOURS[colour]}, those from {names}"
        return Refusal(f"it would join {which}", ("R4.3",), colour)
    which = f"the provinces of colour {COLOURS[colour]} from {names}"
    equal = "to which two players bring equally many spaces"
    return Refusal(f"it would join {which}, {equal}", ("R4.4",), colour)


def _first_name(state: "State", mask: int) -> str:
    """The name of the first square of ``mask``. A square that is not on the board is named by its
    row and column, counted from 1.
    """
    square = next(squares_of(mask))
    row, column = divmod(square, state.board.stride)
    if column >= state.board.width or row >= state.board.height:
        return f"row {row + 1}, column {column + 1}"
    return state.board.name_of(square)


class Picture(NamedTuple):
    """A picture in the rules: the description ``says``, and the ``name`` of the test position from
    which the picture is drawn.
    """

    says: str
    name: str


class Rule(NamedTuple):
    """One rule: its number such as R4.4, its paragraphs without markup, and its pictures."""

    number: str
    paragraphs: tuple[str, ...]
    pictures: tuple[Picture, ...]

    @property
    def text(self) -> str:
        """The rule's paragraphs on one line."""
        return " ".join(self.paragraphs)


class Part(NamedTuple):
    """A part of the rules: its number such as R4, its title, its introduction (``preface``), and
    its rules.
    """

    number: str
    title: str
    preface: str
    rules: tuple[Rule, ...]


class Rulebook(NamedTuple):
    """The whole text of the rules: a summary in five sentences, the parts, and the check figures,
    which are counts to compare another implementation of the rules with.
    """

    summary: str
    parts: tuple[Part, ...]
    figures: str


@cache
def rulebook() -> Rulebook:
    """The rules as read from RULES.md in the package, cached."""
    text = Path(__file__).with_name("RULES.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))
    summary, *_ = sections["The game in five sentences"].strip().split("\n\n")
    parts = []
    for title, body in sections.items():
        if re.match(r"R\d ", title):
            introduction, *_ = body.split('<a id="', 1)
            part = Part(title[:2], title[3:], _plain(introduction), tuple(_rules(body)))
            parts.append(part)
    return Rulebook(_plain(summary), tuple(parts), _plain(sections["Check figures"]))


@cache
def every_rule() -> dict[str, Rule]:
    """All rules, each under its number such as R4.4."""
    rules = {}
    for part in rulebook().parts:
        for rule in part.rules:
            rules[rule.number] = rule
    return rules


def find_rules(asked: str) -> list[Rule]:
    """The rules that a user asks for: ``asked`` is the number of a rule (R4.4 or 4.4), the number
    of a part (R4 or 4), or a text that the wanted rules contain, in capitals or not. Raises
    UserError if no rule fits.
    """
    word = asked.strip().lower()
    if re.fullmatch(r"r?\d+(\.\d*)?", word):
        return _numbered("R" + word.removeprefix("r").rstrip("."))
    rules = [rule for rule in every_rule().values() if word and word in rule.text.lower()]
    if not rules:
        every_word = " ".join(rule.text.lower() for rule in every_rule().values())
        raise UserError(
            f"expected the number of a rule, or a word out of the rules, got {asked!r}",
            did_you_mean(word, re.findall("[a-z]+", every_word)) + HOW_TO_ASK,
        )
    return rules


def _numbered(number: str) -> list[Rule]:
    """The rule with this number, or all rules of the part with this number. Raises UserError if
    there is neither.
    """
    rules = every_rule()
    part = number.partition(".")[0]
    of_part = [each for each in rules if each.startswith(f"{part}.")]
    if number in rules:
        return [rules[number]]
    if number == part and of_part:
        return [rules[each] for each in of_part]
    near = of_part or [each.number for each in rulebook().parts]
    raise UserError(
        f"expected the number of a rule, got {number}",
        f"there are {near[0]} to {near[-1]}; {HOW_TO_ASK}",
    )


def cited(text: str) -> list[str]:
    """The numbers of existing rules that ``text`` mentions, without repetition, in the order in
    which they first occur.
    """
    named = re.findall(CITED, text)
    if not named:
        return []
    return [number for number in dict.fromkeys(named) if number in every_rule()]


def where_to_read(text: str) -> str:
    """The command that prints the first rule that ``text`` mentions, such as ``arena rules R4.4``;
    empty if the text mentions none.
    """
    numbers = cited(text)
    return f"arena rules {numbers[0]}" if numbers else ""


def explained(text: str) -> str:
    """``text``, followed by the command that prints the first rule it mentions; unchanged if it
    mentions none.
    """
    command = where_to_read(text)
    return f"{text}; '{command}' explains the rule" if command else text


def _rules(body: str) -> Iterator[Rule]:
    """Reads the rules out of ``body``, the Markdown text of one part."""
    for number, text, shown in re.findall(_RULE, body + "\n\n"):
        pictures = []
        for says, name in re.findall(_PICTURE, shown):
            pictures.append(Picture(says=says, name=name))
        paragraphs = map(_plain, re.split(r"\n(?=\*Our ruling\*)", text))
        yield Rule(number, tuple(paragraphs), tuple(pictures))


def _plain(text: str) -> str:
    """The Markdown ``text`` without its markup, on one line."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"<[^>]*>", "", text))
    return " ".join(re.sub(r"\*\*|\*|`", "", text).split())
