"""What a bot says about its move, cut to the limits of P5.6 in protocol/SPEC.md, and how a record
keeps it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

MOST_TEXT, MOST_NUMBERS, MOST_NAME = 160, 8, 24
"""Characters of the text, named numbers, and characters of their names; the rest is cut."""
LARGEST = 2**53 - 1
"""No named number is further from 0."""
VALUE_DECIMALS, DIGITS = 4, 6
"""What is kept of the value, and the significant digits of a number with a fraction."""
NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_]{{0,{MOST_NAME - 1}}}", re.ASCII)
TAKEN = frozenset(("turn", "seat", "value", "text"))
"""What no number can be called: they would be taken for what the arena says."""
HARMLESS = "no control characters, and none that hide or reorder"
MOST_SAID = f"at most {MOST_NUMBERS} numbers"
# Fixed ranges, not str.isprintable: what that says of new characters differs between versions of
# Python, and a record has to be the same for all.
HIDING = re.compile(
    "[\0-\x1f\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""What controls a terminal, hides words or turns them round, and what is no character."""

Entry = dict[str, int | float | str]
"""A note in a record: the turn, then what the bot said, as it named it."""


class Note(Struct, frozen=True):
    """What is ``kept`` of a note, by name and in the bot's order."""

    kept: dict[str, int | float | str]

    @property
    def value(self) -> float | None:
        """The expected share of the win, 0 to 1, if the bot said it."""
        value = self.kept.get("value")
        return value if isinstance(value, float) else None

    @property
    def text(self) -> str:
        """The text, or nothing."""
        return str(self.kept.get("text", ""))

    @property
    def numbers(self) -> dict[str, int | float]:
        """The numbers that have names of the bot's own."""
        items = self.kept.items()
        return {name: n for name, n in items if name != "value" and not isinstance(n, str)}

    def entry(self, turn: int) -> Entry:
        """The note of the move that was made after ``turn`` placements, for a record."""
        return {"turn": turn, **self.kept}

    def __str__(self) -> str:
        """One line for people."""
        said = [] if self.value is None else [f"value {self.value:g}"]
        said += [f"{name} {number}" for name, number in self.numbers.items()]
        return ": ".join(part for part in (", ".join(said), self.text) if part)


def note_of(said: object) -> Note | None:
    """What is kept of anything that a bot may have said; None if that is nothing. It never fails,
    since a note costs no bot its move.
    """
    parts = _parts(said) if isinstance(said, dict) else ()
    kept = {name: fitting for name, _, fitting, _ in parts if fitting is not None}
    return Note(kept) if kept else None


class Loss(NamedTuple):
    """A part of a note that is cut or dropped: what was expected of it, and what came."""

    part: str
    expected: str
    got: str


def losses(said: object) -> list[Loss]:
    """What `note_of` does not keep as it was said, for a bot's author."""
    if not isinstance(said, dict):
        return [] if said is None else [Loss("note", "an object", _shown(said, is_text=False))]
    return [
        Loss(name, expected, _shown(told, is_text=name == "text"))
        for name, told, _, expected in _parts(said)
        if expected
    ]


def _parts(said: dict[str, Any]) -> Iterator[tuple[str, Any, float | str | None, str]]:
    """The parts of a note: name, what was said, what is kept of it, and what was expected where
    that is less.
    """
    numbers = 0
    for name, told in said.items():
        fitting: float | str | None = None
        if name == "value":
            fitting = _value_of(told)
            expected = "a number from 0 to 1" if fitting is None else ""
        elif name == "text":
            fitting, expected = _text_of(told), "text"
            if isinstance(told, str):
                is_long, is_whole = len(told) > MOST_TEXT, (fitting or "") == told.strip()
                expected = (
                    f"at most {MOST_TEXT} characters" if is_long else "" if is_whole else HARMLESS
                )
        elif name in TAKEN:
            expected = "another name, because turn and seat are the arena's"
        elif not NAME.fullmatch(name):
            expected = f"a name of 1 to {MOST_NAME} letters, digits and _, with a letter first"
        elif (number := _number_of(told)) is None:
            expected = f"a number no further from 0 than {LARGEST:,}"
        else:
            numbers += 1
            fitting, expected = (number, "") if numbers <= MOST_NUMBERS else (None, MOST_SAID)
        yield name, told, fitting, expected


def _shown(told: object, *, is_text: bool) -> str:
    """A part of a note in a few characters; it may be of any size and depth."""
    if isinstance(told, str):
        return f"{len(told)} characters" if is_text else repr(told[:MOST_NAME])
    if isinstance(told, list | dict):
        return "a list" if isinstance(told, list) else "an object"
    return "a larger one" if isinstance(told, int) and abs(told) > LARGEST else str(told)


def _value_of(told: object) -> float | None:
    if type(told) is not float and type(told) is not int:
        return None
    # Nothing is rounded that is far out: a whole number may be too large for a float.
    value = round(told, VALUE_DECIMALS) + 0.0 if -1 < told < 2 else -1.0  # noqa: PLR2004
    return value if 0 <= value <= 1 else None


def _number_of(told: object) -> int | float | None:
    if type(told) is int:
        return told if -LARGEST <= told <= LARGEST else None
    if type(told) is float and -LARGEST <= told <= LARGEST:
        return float(f"{told:.{DIGITS}g}")
    return None


def _text_of(told: object) -> str | None:
    if type(told) is not str:
        return None
    text = told[:MOST_TEXT]
    if not (text.isascii() and text.isprintable()):
        text = HIDING.sub(" ", text)
    return text.strip() or None


def kept_notes(notes: Sequence[Entry] | None) -> dict[int, Note]:
    """The notes of a record by turn. They may come from a stranger's journal, so they are cut once
    more.
    """
    found = {}
    for entry in notes or ():
        turn, note = entry.get("turn"), note_of(entry)
        if type(turn) is int and note:
            found[turn] = note
    return found


def wrong_note(notes: Sequence[Mapping[str, Any]], turns: int) -> tuple[str, str] | None:
    """What was expected of the first note of a record that is not as the arena writes them, and
    what it is; ``turns`` is the number of placements.
    """
    before = -1
    for entry in notes:
        turn, note = entry.get("turn"), note_of(entry)
        if type(turn) is not int or not before < turn < turns:
            return f"a turn above {before} and below {turns}", str(turn)
        if note is None or note.entry(turn) != entry:
            return "a note within the limits of P5.6", str(dict(entry))
        before = turn
    return None
