"""The colours of a terminal: how many it has, and text in them."""

import os
from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple, TextIO

BRIGHT = 8
RESET = "\x1b[0m"


class Depth(IntEnum):
    """How many colours there are: none, the 16 that a theme may change, 256, or all."""

    NONE = 0
    BASIC = 1
    INDEXED = 2
    FULL = 3


class Colour(NamedTuple):
    """A colour, and the numbers of those that stand for it among 256 and among the basic 16. They
    are chosen by eye: the nearest of 256 made villages and yellow tiles the same.
    """

    rgb: tuple[int, int, int]
    indexed: int
    basic: int

    def code(self, depth: Depth, *, is_ground: bool) -> str:
        """What selects it in an escape sequence, as the ground or as the text on it."""
        if depth == Depth.BASIC:
            bright = self.basic >= BRIGHT
            return str((90 if bright else 30) + self.basic % BRIGHT + 10 * is_ground)
        begin = "48" if is_ground else "38"
        if depth == Depth.INDEXED:
            return f"{begin};5;{self.indexed}"
        return ";".join((begin, "2", *map(str, self.rgb)))


def colours_wanted(environment: Mapping[str, str] = os.environ) -> bool | None:
    """Whether the user asks for colours everywhere, or for none; None leaves it to the terminal."""
    forced = environment.get("FORCE_COLOR") or environment.get("CLICOLOR_FORCE") or ""
    if environment.get("NO_COLOR") or forced == "0":
        return False
    if forced:
        return True
    return False if environment.get("TERM") == "dumb" else None


def depth_of(stream: TextIO, environment: Mapping[str, str] = os.environ) -> Depth:
    """How many colours a stream shows."""
    wanted = colours_wanted(environment)
    if wanted is False or (wanted is None and not stream.isatty()):
        return Depth.NONE
    asked = environment.get("FORCE_COLOR", "")
    if asked in {"2", "3"}:
        return Depth(int(asked))
    if environment.get("COLORTERM", "").lower() in {"truecolor", "24bit"}:
        return Depth.FULL
    term = environment.get("TERM", "")
    if term.endswith("-direct"):
        return Depth.FULL
    return Depth.INDEXED if "256" in term else Depth.BASIC


def painted(text: str, depth: Depth, ink: Colour, ground: Colour, *, is_bold: bool = False) -> str:
    """The text in a colour on another one."""
    if depth == Depth.NONE:
        return text
    codes = [ink.code(depth, is_ground=False), ground.code(depth, is_ground=True)]
    return f"\x1b[{';'.join(['1'] * is_bold + codes)}m{text}{RESET}"
