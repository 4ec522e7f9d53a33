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
    │   ├── BusyMachineError     other programs leave too little time to judge bots fairly
    │   └── NoAnswerError        the results have no maximum-likelihood rating
    ├── MoveError                the fault of the player who made the move
    │   ├── InvalidMoveError     not a move at all: unreadable, or not on this board
    │   └── IllegalMoveError     a move that RULES.md forbids in this position
    ├── Forfeit                  the bot's fault: it loses the game
    └── Void                     our fault: the game is played again, up to a limit

Messages begin in lower case and have no full stop. A message about a value says what was expected,
what came, and where: ``expected a square such as c4, got 'z'``. A message about a state is a plain
sentence: ``my-bot already exists``. ``hint`` says what the user can do. Messages may quote text
from bots and files, so all of them are made `printable`.
"""

import errno
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.faults import FaultKind

MAX_NEAR = 3
"""The most words that a "did you mean" suggests."""
NO_ROOM = {errno.ENOSPC: "make room on the disk", errno.EDQUOT: "make room in your quota"}
"""The errors of a full disk, each with what to do about it."""
MACHINE_ERRORS = {
    **NO_ROOM,
    errno.EROFS: "name a folder that you can write to",
    errno.EMFILE: "allow more open files with 'ulimit -n', or ask for fewer --jobs",
    errno.ENFILE: "close other programs: this machine cannot open more files",
    errno.ENOMEM: "close other programs, or ask for fewer --jobs",
    errno.EIO: "look for a failing disk or terminal",
}
"""System errors for which no program is to blame, each with what to do about it."""
OTHER_HOME = "name a home that you can write to with --home DIR"
"""The hint of a command that cannot write in the home."""


def check_variable(name: str, value: str, choices: Sequence[str]) -> None:
    """Raises UserError if ``value``, that of the environment variable ``name``, is neither empty
    nor one of the two ``choices``.
    """
    if value and value not in choices:
        raise UserError(
            f"expected {name} to be {' or '.join(choices)}, got {value!r}",
            f"unset {name}, or set it to one of them",
        )


def printable(text: str, keep: str = "") -> str:
    """The text with escapes in place of characters that could control a terminal or hide words. The
    characters in ``keep`` stay as they are.
    """
    if text.isprintable():
        return text
    signs = []
    for sign in text:
        is_safe = sign.isprintable() or sign in keep
        signs.append(sign if is_safe else sign.encode("unicode_escape").decode())
    return "".join(signs)


def counted(count: int, noun: str) -> str:
    """The number ``count`` with its noun in the singular or the plural: ``1 game``, ``2 games``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def did_you_mean(text: str, known: Iterable[str]) -> str:
    """A question such as ``did you mean 'lion'? ``, with a blank at its end, for a word that a user
    typed wrong (``text``). It names up to `MAX_NEAR` ``known`` words that begin with the text, or
    else the most similar one. Empty if no word is similar.
    """
    # Imported here because every module imports this one, and only a mistake needs difflib.
    from difflib import get_close_matches  # noqa: PLC0415

    by_lower = {word.lower(): word for word in known}
    begun = [word for word in by_lower if word.startswith(text.lower())][:MAX_NEAR]
    # A name such as greedy-python is also known by its part before the first hyphen.
    stems = {word.partition("-")[0]: known_word for word, known_word in by_lower.items()}
    words = stems | by_lower
    near = begun or get_close_matches(text.lower(), words, n=1)
    if not near:
        return ""
    meant = [repr(words[word]) for word in near]
    return f"did you mean {' or '.join(meant)}? "


class ArenaError(Exception):
    """The root of all exceptions of the arena. ``hint`` is a sentence that says how to fix the
    problem; empty if there is none.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(printable(message, keep="\n\t"))
        self.hint = printable(hint, keep="\n\t")

    @property
    def with_hint(self) -> str:
        """The message and, after a semicolon, the hint: for a place that has one line for both."""
        return f"{self}; {self.hint}" if self.hint else str(self)


class UserError(ArenaError):
    """An error that the user can fix; commands end with exit status 1."""


def cannot_write(
    place: object, error: OSError, cure: str = "", kind: type[UserError] = UserError
) -> UserError:
    """Makes, and does not raise, the error for a file or folder ``place`` that could not be written
    because of the system's ``error``. Its class is ``kind``. If the disk is full, the hint says so;
    else it is ``cure``, or a general hint if ``cure`` is empty.
    """
    reason = error.strerror or str(error)
    message = f"cannot write {place}: {reason[:1].lower()}{reason[1:]}"
    hint = NO_ROOM.get(error.errno or 0) or cure or "name a place where you can write"
    return kind(message, hint)


class BoardError(UserError):
    """A board breaks the rules for boards (R1.5)."""


class NotationError(UserError):
    """A text is not a square, a tile, a deck or a position."""


class BotFolderError(UserError):
    """A bot's folder, its bot.toml or its command cannot be used."""


class ConfigError(UserError):
    """Settings contradict each other, or do not fit the run that they are for."""


class RunError(UserError):
    """A run's folder or journal is missing, damaged or in use by another arena."""


class SandboxError(UserError):
    """A sandbox is required, and none works on this machine."""


class ClusterError(UserError):
    """A cluster cannot be reached, or has no worker that may play."""


class BusyMachineError(UserError):
    """Other programs keep the machine so busy that nobody can tell whether a bot or the machine was
    late.
    """


class NoAnswerError(UserError):
    """The results have no finite maximum-likelihood rating."""


class MoveError(ArenaError):
    """A move cannot be played; the player who made it is at fault."""


class InvalidMoveError(MoveError):
    """A text or number is no move at all: it cannot be read, or names squares that the board does
    not have or that do not share an edge.
    """


class IllegalMoveError(MoveError):
    """A move is forbidden by the rules in this position."""


# The established term, which the journal uses too.
class Forfeit(ArenaError):  # noqa: N818
    """A bot broke the protocol or the rules, so it loses its game.

    ``kind`` is for programs; ``detail``, which is also the message, is a sentence for people.
    """

    def __init__(self, kind: "FaultKind", detail: str) -> None:
        self.kind = kind
        self.detail = printable(detail)
        super().__init__(self.detail)


class Void(ArenaError):  # noqa: N818 - the established term
    """A game failed for a reason outside the bots: the arena or its machine failed."""
