"""changes.jsonl: how a version in a league moves, beside the version before it, a line for each.

Both were asked for the moves of some games of the older one. The positions that are kept are as
their seat saw them.
"""

from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from arena.errors import RunError
from arena.records.journal import read_lines
from arena.records.linefile import LineFile

FILE = "changes.jsonl"
MOST_TEXT = 4096
MOST_EXAMPLES, MOST_MOVES = 4, 400
Deed = Literal["found", "expand", "absorb", "major", "connect", "conquer"]
DEEDS: tuple[Deed, ...] = get_args(Deed)
"""What a move can do for the seat that makes it, as `rules.terms.Event` names it."""
STAGES = 3
"""A game's beginning, middle and end, a third of its moves each."""
Text = Annotated[str, Meta(max_length=MOST_TEXT)]
MOST_COUNT = 1_000_000
Count = Annotated[int, Meta(ge=0, le=MOST_COUNT)]
Signed = Annotated[int, Meta(ge=-MOST_COUNT, le=MOST_COUNT)]
Counts = Annotated[list[Count], Meta(min_length=STAGES, max_length=STAGES)]
Both = tuple[Count, Count]


class Example(Struct, frozen=True, forbid_unknown_fields=True):
    """A decision in which the two differ, ``turn`` placements after the start of the game;
    ``moves`` are those before it, whose tiles the position does not tell.
    """

    game: Text
    seat: Count
    turn: Count
    position: Text
    moves: Annotated[list[Text], Meta(max_length=MOST_MOVES)]
    old: Text
    new: Text


class Changes(Struct, frozen=True, forbid_unknown_fields=True):
    """What came of asking a version, ``bot``, for the decisions of the one ``before`` it.

    ``asked``, ``other``  how many decisions, and how many otherwise, in each of a game's stages
    ``faults``     decisions in which the version forfeited
    ``again``      decisions of which the older one was asked anew, and how many it made otherwise
    ``moves``      decisions in which both named a move; only these count in what follows
    ``deeds``      in how many the move does this for its seat, old and new
    ``pagodas``    how many of its seat's pagodas the moves placed, old and new
    """

    v: Literal[1]
    bot: Text
    before: Text
    when: Text
    games: Count
    asked: Counts
    other: Counts
    faults: Count
    again: Both
    moves: Count
    deeds: dict[Deed, Both]
    pagodas: tuple[Signed, Signed]
    examples: Annotated[list[Example], Meta(max_length=MOST_EXAMPLES)]

    def __post_init__(self) -> None:
        shares = [*zip(self.other, self.asked, strict=True), self.again[::-1]]
        shares += [(count, self.moves) for both in self.deeds.values() for count in both]
        if odd := next((share for share in shares if share[0] > share[1]), None):
            raise ValueError("expected at most {1} decisions, got {0}".format(*odd))


_decode = msgspec.json.Decoder(Changes).decode
_encode = msgspec.json.Encoder().encode


def append_changes(run: Path, changes: Changes) -> None:
    """Writes a line and returns once it is on disk. Raises RunError."""
    with LineFile(run, FILE, "changes", waits=True) as file:
        file.append(_encode(changes) + b"\n")


def read_changes(run: Path) -> dict[str, Changes]:
    """What is known by version; the last line of each counts. Raises RunError with the number of a
    line that is not what the arena writes.
    """
    path = run / FILE
    if not path.exists() and not path.is_symlink():
        return {}
    found = {}
    for number, line in enumerate(read_lines(path), 1):
        try:
            changes = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise RunError(
                f"{path}, line {number}: expected how a version changed, got {error}",
                "remove the file: 'arena league run' makes it again",
            ) from None
        found[changes.bot] = changes
    return found
