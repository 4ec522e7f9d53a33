"""One step of a check, and the cure for each kind of fault."""

from typing import NamedTuple

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


class StepResult(NamedTuple):
    """One step. It passed if ``problem`` is empty; ``detail`` is extra information; ``stderr`` is
    the end of the bot's stderr.

    ``left_out`` is the number of steps not tried, if this one stands for them.
    """

    name: str
    problem: str = ""
    cure: str = ""
    detail: str = ""
    stderr: tuple[str, ...] = ()
    left_out: int = 0


class Failed(Exception):  # noqa: N818 - the outcome of a step
    """A step failed: the problem, and the cure if the step knows a better one than the table.
    ``kind`` is that of a fault in a game.
    """

    def __init__(
        self, problem: str, cure: str = "", stderr: str = "", kind: FaultKind | None = None
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.cure = cure
        self.stderr = stderr
        self.kind = kind
