"""What the referee needs from anything that plays: a bot's process, a function in this process, or
a person.
"""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from arena.errors import Forfeit
from arena.players.messages import Start
from arena.records.note import Note
from arena.records.stderr import StderrPart
from arena.rules import State

Words = list[tuple[Literal["to", "from"], float, str]]
"""Lines of a dialogue: direction (to or from the bot), ms since the game began, text."""
KEPT_BYTES = 2000
"""How many bytes of a line the evidence keeps."""


class Answer(Struct, frozen=True, gc=False):
    """A move in notation, what it cost by the clock in force, when it was asked for and came, on
    the monotonic clock, and what the bot said of it.
    """

    move: str
    spent_ns: int
    asked_ns: int = 0
    answered_ns: int = 0
    note: Note | None = None


class Evidence(Struct, frozen=True):
    """The evidence of a fault.

    ``after_ms`` is the time of the fault. It counts from the start of the game, like the times in
    ``lines``, which are the last lines in each direction. ``ending`` says how the process ended,
    and is empty if it was still running. ``asked_ms`` is the time allowed for each answer of the
    game, including the one that was due.
    """

    bot: str
    seat: int
    turn: int
    after_ms: float
    kind: str
    detail: str
    ending: str
    lines: Words
    stderr: str
    asked_ms: list[int]


class Player:
    """The player at one seat, for one game after another. What most players do not need does
    nothing here.

    ``meanwhile`` is set by the referee and called now and then while an answer takes long. Every
    method may raise Forfeit.
    """

    name: str
    meanwhile: Callable[[], None] = staticmethod(lambda: None)

    def begin(self, start: Start) -> None:
        """A game begins."""

    def choose(self, state: State, budget_ns: int) -> Answer:
        """The move of the seat whose turn it is in ``state``; ``budget_ns`` is the time for the
        answer.
        """
        raise NotImplementedError

    def owed_ns(self) -> int:
        """The processor time that the player has used since its last answer."""
        return 0

    # Most have no time of their own.
    def overspent(self, budget_ns: int) -> Forfeit | None:  # noqa: ARG002
        """The fault of a player that has used more time unasked than its next answer may take."""
        return None

    def inform(self, line: bytes) -> None:
        """Passes on a public line: a placement, a pass, or the end."""

    def finish(self) -> None:
        """The game is over, and this seat played to the end."""

    def dismiss(self) -> None:
        """This seat has forfeited: the player will not be asked again."""

    def stop(self) -> None:
        """Releases what the player holds between games; calling it again does nothing."""

    def stderr(self) -> list[StderrPart]:
        """What the player wrote to stderr in the game that is being played or was the last, where
        that is kept.
        """
        return []

    def evidence(self) -> tuple[str, Words, str]:
        """How the process ended, the last lines in each direction, and the end of its stderr; empty
        if there is no process.
        """
        return "", [], ""


class Relay(Player):
    """A player in front of another, to which it hands on everything; a subclass changes a part."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.name = player.name

    def begin(self, start: Start) -> None:
        """Begins."""
        self.player.meanwhile = self.meanwhile
        self.player.begin(start)

    def choose(self, state: State, budget_ns: int) -> Answer:
        """The player's answer."""
        return self.player.choose(state, budget_ns)

    def owed_ns(self) -> int:
        """What the player owes."""
        return self.player.owed_ns()

    def overspent(self, budget_ns: int) -> Forfeit | None:
        """The player's fault."""
        return self.player.overspent(budget_ns)

    def inform(self, line: bytes) -> None:
        """Informs the player."""
        self.player.inform(line)

    def finish(self) -> None:
        """Ends the game for the player."""
        self.player.finish()

    def dismiss(self) -> None:
        """Dismisses the player."""
        self.player.dismiss()

    def stop(self) -> None:
        """Stops the player."""
        self.player.stop()

    def stderr(self) -> list[StderrPart]:
        """The player's."""
        return self.player.stderr()

    def evidence(self) -> tuple[str, Words, str]:
        """The player's."""
        return self.player.evidence()
