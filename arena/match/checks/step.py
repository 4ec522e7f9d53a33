"""One step of a check, and the cure for each kind of fault."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Self

from arena.errors import FaultKind

SLOW = "answer before time_ms of the turn is over, with a reserve, or try a longer --move-ms"
CURES = {
    FaultKind.STARTUP: (
        "run its command by hand in its folder, paste a hello line, and look at its stderr"
    ),
    FaultKind.LATE: f"{SLOW}; send whole lines",
    FaultKind.SILENT: f"{SLOW}; if none of its moves ever arrives, flush stdout after each line",
    FaultKind.NOT_JSON: "keep stdout for the protocol, one JSON object a line; log to stderr",
    FaultKind.WRONG_SHAPE: "compare the answer with protocol/schemas/",
    FaultKind.UNKNOWN_ID: "repeat the id of the request, and answer once",
    FaultKind.ILLEGAL_MOVE: 'ask for "view":"full" in ready and choose one of "legal"',
    FaultKind.EXIT: "fix the error that its stderr shows; stay until the line 'quit'",
    FaultKind.KILLED: "look for a crash in its code or in a library",
    FaultKind.MEMORY: "use less memory, or raise memory_mb in bot.toml",
    FaultKind.FLOOD: "answer once per request",
    FaultKind.LONG_LINE: "send only the move",
    FaultKind.CLOSED_OUTPUT: "keep stdout open until the line 'quit'",
    FaultKind.NEVER_READS: "read stdin line by line while the game lasts",
}


EXPECTED = {
    FaultKind.STARTUP: "an answer to hello within the time for start-up",
    FaultKind.LATE: "an answer within the time for a move",
    FaultKind.SILENT: "an answer within the time for a move",
    FaultKind.NOT_JSON: "one JSON object a line on stdout",
    FaultKind.WRONG_SHAPE: "a reply of the shape that the protocol describes",
    FaultKind.UNKNOWN_ID: "the id of the request",
    FaultKind.ILLEGAL_MOVE: "a legal move",
    FaultKind.EXIT: "a bot that stays until the line 'quit'",
    FaultKind.KILLED: "a bot that stays until the line 'quit'",
    FaultKind.MEMORY: "no more memory than the bot has",
    FaultKind.FLOOD: "one answer to each request",
    FaultKind.LONG_LINE: "a line of at most 64 KiB",
    FaultKind.CLOSED_OUTPUT: "an open stdout until the line 'quit'",
    FaultKind.NEVER_READS: "a bot that reads its stdin",
}
"""What a bot that is at fault did not do, for programs; people read it in the fault's sentence."""
Figures = Mapping[str, float]
"""What a step measured, by names with units: ``startup_ms``, ``memory_mb``."""

NO_FIGURES: Figures = MappingProxyType({})


class Found(NamedTuple):
    """What a step that passed has to say: extra information, and what it measured."""

    detail: str
    figures: Figures


class StepResult(NamedTuple):
    """One step of a check.

    ``problem``   what is wrong, a sentence; empty if the step passed or was left out
    ``cure``      what to do about it
    ``detail``    what else there is to say
    ``stderr``    the last lines of the bot's stderr, if it failed
    ``left_out``  the number of steps that were not tried, if this one stands for them
    ``expected``, ``got``  the two halves of the problem
    ``kind``      the kind of fault, if the bot forfeited a game
    ``figures``   what was measured; ``ms`` is how long the step took
    """

    name: str
    problem: str = ""
    cure: str = ""
    detail: str = ""
    stderr: tuple[str, ...] = ()
    left_out: int = 0
    expected: str = ""
    got: str = ""
    kind: str = ""
    figures: Figures = NO_FIGURES
    ms: float = 0.0

    @property
    def passed(self) -> bool | None:
        """Whether the bot passed; None if it was not tried."""
        return None if self.left_out else not self.problem


class Failed(Exception):  # noqa: N818 - the outcome of a step
    """A step failed: the problem, and the cure if the step knows a better one than the table.
    ``kind`` is that of a fault in a game. ``expected`` and ``got`` are the problem in two halves.
    """

    def __init__(
        self,
        problem: str,
        cure: str = "",
        stderr: str = "",
        kind: FaultKind | None = None,
        halves: tuple[str, str] = ("", ""),
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.cure = cure
        self.stderr = stderr
        self.kind = kind
        self.expected, self.got = halves

    @classmethod
    def unmet(cls, expected: str, got: str, stderr: str = "") -> Self:
        """What was expected, and what came instead."""
        problem = f"expected {expected}, got {got}"
        return cls(problem, stderr=stderr, halves=(expected, got))

    @classmethod
    def at_fault(cls, kind: FaultKind, detail: str, problem: str, stderr: str) -> Self:
        """The bot's fault of this kind, in a game or before it."""
        return cls(problem, CURES[kind], stderr, kind, (EXPECTED[kind], detail))
