"""What the referee needs of anything that plays: a bot's process, a function in this process, later a person."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from arena.errors import Forfeit
from arena.players.messages import Start
from arena.rules import State

Words = list[tuple[Literal["to", "from"], float, str]]
"""Lines of a dialogue: to or from the bot, ms since the game began, text."""
KEPT_BYTES = 2000
"""What evidence keeps of a line."""


class Answer(Struct, frozen=True, gc=False):
    """A move in notation, when it was asked for on the monotonic clock, and how long it took to come."""

    move: str
    spent_ns: int
    asked_ns: int = 0


class Evidence(Struct, frozen=True):
    """What is kept of a fault.

    ``after_ms`` is when, from the start of the game on, as the times of ``lines``, the last ones both ways. ``ending`` says how the
    process ended, or is empty while it ran. ``asked_ms`` is the time for each answer of the game, the one that was due included.
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
    """One seat's player for one game after another: what most do not need is done here, by doing nothing.

    ``meanwhile`` is set by the referee, to be called now and then while an answer takes long. Every method may raise Forfeit.
    """

    name: str
    meanwhile: Callable[[], None] = staticmethod(lambda: None)

    def begin(self, start: Start) -> None:
        """A game begins."""

    def choose(self, state: State, budget_ns: int) -> Answer:
        """The move of the seat whose turn it is in ``state``, asked for with so much time."""
        raise NotImplementedError

    def overspent(self, budget_ns: int) -> Forfeit | None:  # noqa: ARG002 - most have no time of their own
        """The fault of a player that has used more time unasked than its next answer may take."""
        return None

    def inform(self, line: bytes) -> None:
        """A public line: a placement, a pass, the end."""

    def finish(self) -> None:
        """The game is over, and this seat played to the end."""

    def dismiss(self) -> None:
        """This seat has forfeited: the player is not asked again."""

    def evidence(self) -> tuple[str, Words, str]:
        """How the process ended, the last lines both ways, the end of its stderr; empty where there is none."""
        return "", [], ""
