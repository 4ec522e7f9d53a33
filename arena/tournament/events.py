"""The events that a runner emits while it plays."""

from typing import NamedTuple

from arena.match.referee import Outcome
from arena.records.record import Fault


class GamePlayed(NamedTuple):
    """A game has ended and is in the journal."""

    outcome: Outcome


class Voided(NamedTuple):
    """A game broke off through no fault of a bot. It is played again unless it is ``given_up`` for
    this session. ``cure`` is what the user can do about the reason, empty if nothing is known.
    """

    game: str
    reason: str
    given_up: bool
    cure: str = ""


class BotBroken(NamedTuple):
    """A bot plays no more in this session, because each of its first ``games`` games ended with a
    fault like the one of this ``game``. ``stderr`` is the end of what the bot wrote there.
    """

    bot: str
    games: int
    game: str
    fault: Fault
    stderr: str


class Stopping(NamedTuple):
    """The run was asked to stop. The games that are still running, as many as this, will count."""

    running: int


class WorkersChanged(NamedTuple):
    """Workers or their machines came, went or failed; ``text`` says so in a sentence for people."""

    text: str


RunnerEvent = GamePlayed | Voided | BotBroken | Stopping | WorkersChanged
"""Whatever can happen while a run is played."""
