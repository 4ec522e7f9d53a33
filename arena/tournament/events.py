"""The events that a runner emits while it plays."""

from typing import NamedTuple

from arena.match.referee import Outcome
from arena.records.record import Fault


class GamePlayed(NamedTuple):
    """A game has ended and its record is in the journal."""

    outcome: Outcome


class Voided(NamedTuple):
    """A game, given by its id, failed for a ``reason`` outside the bots. It is played again unless
    ``given_up`` says that this session does not try it again. ``cure`` says what the user can do
    about the reason; empty if the arena does not know.
    """

    game: str
    reason: str
    given_up: bool
    cure: str = ""


class BotBroken(NamedTuple):
    """A bot is excluded for the rest of this session, because each of its first ``games`` games
    ended with a fault of the same kind. ``game`` is the id of the last of them, ``fault`` the fault
    there, and ``stderr`` the end of what the bot wrote to stderr in that game.
    """

    bot: str
    games: int
    game: str
    fault: Fault
    stderr: str


class Stopping(NamedTuple):
    """The run was asked to stop. ``running`` is the number of games that are being played and will
    still count.
    """

    running: int


class WorkersChanged(NamedTuple):
    """Workers or their machines came, went or failed; ``text`` tells the user about that in one
    line.
    """

    text: str


RunnerEvent = GamePlayed | Voided | BotBroken | Stopping | WorkersChanged
"""Any event that a runner emits."""
