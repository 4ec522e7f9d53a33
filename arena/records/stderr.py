"""stderr/: what bots wrote to their standard error, by game and turn."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

PART_BYTES, GAME_BYTES = 16 << 10, 128 << 10
"""The most that is kept of a turn, and of a seat's whole game, in bytes."""

When = Literal["start", "turn", "end"]
"""Before a bot was first asked, from one request to the next, and after the end of the game."""
BEFORE_AND_AFTER = {"start": "before its first turn", "end": "after the end"}


class Part(Struct, frozen=True, omit_defaults=True):
    """What the bot at a seat wrote at a time of the game.

    ``turn`` is the number of placements before the answer that was due, None before the first and
    after the end. ``cut`` is the number of bytes left out at the end of the text.
    """

    seat: Annotated[int, Meta(ge=0, le=3)]
    text: str
    when: When = "turn"
    turn: Annotated[int, Meta(ge=0, le=72)] | None = None
    cut: Annotated[int, Meta(ge=0)] = 0

    def lines(self) -> list[str]:
        """The text by lines for people, without blank ones, with a last one about what is
        missing.
        """
        missing = [f"({self.cut:,} more bytes are not kept)"] if self.cut else []
        # Not splitlines(): to a bot only a newline ends a line, and a stranger's other breaks are
        # shown as escapes.
        return [line for line in self.text.split("\n") if line.strip()] + missing
