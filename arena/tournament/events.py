"""The events that a runner emits while it plays."""

from typing import NamedTuple

from arena.match.referee import Outcome
from arena.records.record import Fault


class GamePlayed(NamedTuple):
    """A game has ended and its record is in the journal."""

    outcome: Outcome


class Voided(NamedTuple):
    """A game broke off through no fault of a bot. It is played again unless it was ``given_up`` for
    this session. ``cure`` says what the user can do about the reason, empty if nothing is known.
    """

    game: str
    reason: str
    given_up: bool
    cure: str = ""


class BotBroken(NamedTuple):
    """A bot is excluded for the rest of this session, because each of its first ``games`` games
    ended with a fault like that of ``game``. ``stderr`` is the end of what it wrote to stderr
    there.
    """

    bot: str
    games: int
    game: str
    fault: Fault
    stderr: str


class Stopping(NamedTuple):
    """The run was asked to stop; ``games`` running games will still count."""

    running: int


class WorkersChanged(NamedTuple):
    """Workers or their machines came, went or failed; ``text`` is a sentence about it."""

    text: str


RunnerEvent = GamePlayed | Voided | BotBroken | Stopping | WorkersChanged
"""Any event of a runner."""
