"""Every exception of the arena, in one tree. Each class says whose fault it is.

    ArenaError
    ├── UserError                the user can fix it: a bad option, file or name (exit status 1)
    │   ├── BoardError           a board file breaks R1.5
    │   ├── NotationError        text that is not a square, tile, deck or position
    │   ├── BotFolderError       a bot's folder, bot.toml or command is not usable
    │   ├── ConfigError          settings that contradict each other or a run that exists
    │   ├── SandboxError         a sandbox is required, and none works here
    │   ├── RunError             a run's folder or journal is missing, damaged or in use
    │   ├── ClusterError         a cluster cannot be reached, or none of its workers may play
    │   └── NoAnswerError        the results have no maximum-likelihood rating
    ├── MoveError                the fault of the player who made the move
    │   ├── InvalidMoveError     not a move at all: unreadable, or not on this board
    │   └── IllegalMoveError     a move that RULES.md forbids in this position
    ├── Forfeit                  the bot's fault: it loses the game
    └── Void                     our fault: the game is played again, up to a limit

Messages are lower case, with no full stop: what was expected, what came, and where. ``hint`` is the
cure. Messages may quote text from bots and files, so all of them are made `printable`.
"""

from collections.abc import Iterable
from enum import StrEnum


def printable(text: str, keep: str = "") -> str:
    """The text with escapes in place of anything that could control a terminal or hide words,
    except the characters in ``keep``.
    """
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() or sign in keep else sign.encode("unicode_escape").decode()
        for sign in text
    )


def counted(count: int, noun: str) -> str:
    """``1 game``, ``2 games``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


MOST_NEAR = 3


def did_you_mean(text: str, known: Iterable[str]) -> str:
    """Asks whether one of the known words was meant that begin with a text, or the nearest one;
    with a blank at its end, or empty.
    """
    # Everything imports this module, and only a mistake needs difflib.
    from difflib import get_close_matches  # noqa: PLC0415

    by_lower = {word.lower(): word for word in known}
    begun = [word for word in by_lower if word.startswith(text.lower())][:MOST_NEAR]
    # the -python of greedy-python says little
    stems = {word.partition("-")[0]: own for word, own in by_lower.items()}
    words = stems | by_lower
    near = [words[word] for word in begun or get_close_matches(text.lower(), words, n=1)]
    return f"did you mean {' or '.join(repr(word) for word in near)}? " if near else ""


class ArenaError(Exception):
    """The root of the tree. ``hint`` is a sentence with the cure, or empty."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(printable(message, keep="\n\t"))
        self.hint = printable(hint, keep="\n\t")


class UserError(ArenaError):
    """The user can fix it; commands end with exit status 1."""


class BoardError(UserError):
    """A board breaks R1.5."""


class NotationError(UserError):
    """Text that is not a square, a tile, a deck or a position."""


class BotFolderError(UserError):
    """A bot's folder, its bot.toml or its command cannot be used."""


class ConfigError(UserError):
    """Settings that contradict each other, or that do not fit the run they are for."""


class RunError(UserError):
    """A run's folder or journal is missing, damaged or in use by another arena."""


class SandboxError(UserError):
    """A sandbox is required, and none works on this machine."""


class ClusterError(UserError):
    """A cluster cannot be reached, or has no worker that may play."""


class NoAnswerError(UserError):
    """The results have no maximum-likelihood rating."""


class MoveError(ArenaError):
    """A move that cannot be played; the player who made it is at fault."""


class InvalidMoveError(MoveError):
    """Not a move at all: unreadable, or not on this board."""


class IllegalMoveError(MoveError):
    """A move, but one that the rules forbid here."""


class FaultKind(StrEnum):
    """The fixed list of what a bot can do wrong; the value is what a record says."""

    STARTUP = "start-up"
    LATE = "late"
    SILENT = "silent"
    NOT_JSON = "not json"
    WRONG_SHAPE = "wrong shape"
    UNKNOWN_ID = "unknown id"
    ILLEGAL_MOVE = "illegal move"
    EXIT = "exit"
    KILLED = "killed"
    MEMORY = "memory"
    FLOOD = "flood"
    LONG_LINE = "line too long"
    CLOSED_OUTPUT = "closed output"
    NEVER_READS = "never reads"


# The established term, which the journal uses too.
class Forfeit(ArenaError):  # noqa: N818
    """A bot broke the protocol or the rules: it loses its game.

    ``kind`` is for programs; the message is a sentence for people.
    """

    def __init__(self, kind: FaultKind, detail: str) -> None:
        self.kind = kind
        self.detail = printable(detail)
        super().__init__(self.detail)


class Void(ArenaError):  # noqa: N818 - the established term
    """The arena or its machine failed in the middle of a game."""
