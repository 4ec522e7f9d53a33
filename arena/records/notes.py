"""Notes: what a bot sends about its moves (P5.6 in protocol/SPEC.md): the value of the position, a
text, and named numbers. The arena keeps the parts that are within the limits below, and cuts or
drops the others.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

NoteEntry = dict[str, int | float | str]
"""A note in a record: ``turn``, then the parts of the note under the names that the bot gave
them.
"""
Notes = list[NoteEntry] | None
MAX_TEXT = 160
"""The most characters of a note's text; the arena cuts off the rest."""
MAX_NUMBERS = 8
"""The most named numbers of a note; the arena drops the others."""
MAX_NAME = 24
"""The most characters in the name of a number."""
LARGEST = 2**53 - 1
"""The largest absolute value of a named number."""
VALUE_DECIMALS = 4
"""The number of decimals to which the arena rounds the value."""
DIGITS = 6
"""The number of significant digits to which the arena rounds a named number that is a float."""
NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_]{{0,{MAX_NAME - 1}}}", re.ASCII)
RESERVED_NAMES = frozenset(("turn", "seat", "value", "text"))
"""Names that a named number cannot have, because records use them."""
# Fixed ranges, not str.isprintable: its answer for new characters differs between versions of
# Python, and a record has to be equal on all.
HIDING = re.compile(
    "[\0-\x1f\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""A regular expression for characters that control a terminal, hide text or change its direction,
and for code points that are no characters.
"""


class Note(Struct, frozen=True):
    """A bot's note on one move: ``kept`` has the parts that the arena keeps, by name, in the order
    in which the bot sent them.
    """

    kept: dict[str, int | float | str]

    @property
    def value(self) -> float | None:
        """The share of the win, 0 to 1, that the bot expects; None if the note has no value."""
        value = self.kept.get("value")
        return value if isinstance(value, float) else None

    @property
    def text(self) -> str:
        """The text of the note; empty if the note has none."""
        return str(self.kept.get("text", ""))

    @property
    def numbers(self) -> dict[str, int | float]:
        """The named numbers of the note, by the names that the bot gave them; the value is not
        among them.
        """
        numbers: dict[str, int | float] = {}
        for name, part in self.kept.items():
            if name != "value" and not isinstance(part, str):
                numbers[name] = part
        return numbers

    def entry(self, turn: int) -> NoteEntry:
        """The note in the form of a record's ``notes``, for a move made after ``turn``
        placements.
        """
        return {"turn": turn, **self.kept}

    def __str__(self) -> str:
        """The note in one line, such as ``value 0.61, depth 7: the larger province``."""
        figures = [] if self.value is None else [f"value {self.value:g}"]
        figures += [f"{name} {number}" for name, number in self.numbers.items()]
        return ": ".join(filter(None, (", ".join(figures), self.text)))


class Loss(NamedTuple):
    """A part of a note that the arena cuts or drops: the name of the part, what the arena
    ``expected``, and what it ``got`` from the bot, in a few words.
    """

    part: str
    expected: str
    got: str


class _NotePart(NamedTuple):
    """A part of a note: its ``name``; the value that the bot ``sent``; the value that is ``kept``,
    None if the part is dropped; and what the arena ``expected``, empty unless the part is cut or
    dropped.
    """

    name: str
    sent: object
    kept: float | str | None
    expected: str


def note_of(sent: object) -> Note | None:
    """Makes a note from ``sent``, any JSON value that a bot sent as one; None if no part of it can
    be kept. Raises nothing, because a bad note must not cost a bot its move.
    """
    if not isinstance(sent, dict):
        return None
    kept = {part.name: part.kept for part in _parts(sent) if part.kept is not None}
    return Note(kept) if kept else None


def losses(sent: object) -> list[Loss]:
    """The parts of ``sent``, any JSON value that a bot sent as a note, that `note_of` cuts or
    drops, for the bot's author; empty if there are none, or if ``sent`` is None.
    """
    if sent is None:
        return []
    if not isinstance(sent, dict):
        return [Loss("note", "an object", _shown(sent, is_text=False))]
    lost = []
    for part in _parts(sent):
        if part.expected:
            got = _shown(part.sent, is_text=part.name == "text")
            lost.append(Loss(part.name, part.expected, got))
    return lost


def kept_notes(notes: Sequence[NoteEntry] | None) -> dict[int, Note]:
    """Reads the notes of a record, by turn, with the limits applied again, because the record may
    come from anybody. Entries without a turn or without a valid part are left out.
    """
    notes_by_turn = {}
    for entry in notes or ():
        turn = entry.get("turn")
        note = note_of(entry)
        if type(turn) is int and note:
            notes_by_turn[turn] = note
    return notes_by_turn


def wrong_note(notes: Sequence[Mapping[str, Any]], turns: int) -> tuple[str, str] | None:
    """Finds the first of a record's ``notes`` that the arena would not have written in this form;
    ``turns`` is the record's number of placements. Returns two texts, what was expected and what
    the record has, or None if all notes are right.
    """
    turn_before = -1
    for entry in notes:
        turn = entry.get("turn")
        if type(turn) is not int or not turn_before < turn < turns:
            return f"a turn above {turn_before} and below {turns}", str(turn)
        note = note_of(entry)
        if note is None or note.entry(turn) != entry:
            return "a note within the limits of P5.6", str(dict(entry))
        turn_before = turn
    return None


def _parts(sent: dict[str, Any]) -> Iterator[_NotePart]:
    """Checks each part of the note ``sent`` and yields it, in the order in which the bot sent the
    parts.
    """
    numbers = 0
    for name, part in sent.items():
        if name == "value":
            value = _value_of(part)
            yield _NotePart(name, part, value, "a number from 0 to 1" if value is None else "")
        elif name == "text":
            yield _text_part(part)
        elif name in RESERVED_NAMES:
            yield _NotePart(name, part, None, "another name, because turn and seat are the arena's")
        elif not NAME.fullmatch(name):
            expected = f"a name of 1 to {MAX_NAME} letters, digits and _, with a letter first"
            yield _NotePart(name, part, None, expected)
        elif (number := _number_of(part)) is None:
            yield _NotePart(name, part, None, f"a number no further from 0 than {LARGEST:,}")
        elif numbers == MAX_NUMBERS:
            yield _NotePart(name, part, None, f"at most {MAX_NUMBERS} numbers")
        else:
            numbers += 1
            yield _NotePart(name, part, number, "")


def _text_part(sent: object) -> _NotePart:
    """Checks ``sent``, the text of a note, cuts it to `MAX_TEXT` characters, and replaces
    characters that hide text by spaces.
    """
    if type(sent) is not str:
        return _NotePart("text", sent, None, "text")
    text = sent[:MAX_TEXT]
    if not (text.isascii() and text.isprintable()):
        text = HIDING.sub(" ", text)
    text = text.strip()
    expected = ""
    if len(sent) > MAX_TEXT:
        expected = f"at most {MAX_TEXT} characters"
    elif text != sent.strip():
        expected = "no control characters, and none that hide or reorder"
    return _NotePart("text", sent, text or None, expected)


def _value_of(sent: object) -> float | None:
    """Rounds the value of a note to `VALUE_DECIMALS` decimals; None if ``sent`` is no number, or
    the rounded number is not from 0 to 1.
    """
    if type(sent) is not float and type(sent) is not int:
        return None
    # A whole number may be too large for a float, so only one near the range is rounded.
    if not -1 < sent < 2:  # noqa: PLR2004
        return None
    value = round(sent, VALUE_DECIMALS) + 0.0
    return value if 0 <= value <= 1 else None


def _number_of(sent: object) -> int | float | None:
    """Rounds a named number of a note; None if ``sent`` is no number, or its absolute value is
    above `LARGEST`.
    """
    if type(sent) is int:
        return sent if -LARGEST <= sent <= LARGEST else None
    if type(sent) is float and -LARGEST <= sent <= LARGEST:
        return float(f"{sent:.{DIGITS}g}")
    return None


def _shown(sent: object, *, is_text: bool) -> str:
    """Describes ``sent``, which may have any size and depth, in a few characters. ``is_text`` means
    that it is the text of a note.
    """
    if isinstance(sent, str):
        return f"{len(sent)} characters" if is_text else repr(sent[:MAX_NAME])
    if isinstance(sent, list):
        return "a list"
    if isinstance(sent, dict):
        return "an object"
    if isinstance(sent, int) and abs(sent) > LARGEST:
        return "a larger one"
    return str(sent)
