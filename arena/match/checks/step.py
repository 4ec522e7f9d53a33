"""One step of a check, and what its failure is called."""

from typing import NamedTuple

from arena.errors import FaultKind

SLOW = "answer before time_ms of the turn is over, with a reserve, or try a longer --move-ms"
CURES = {
    FaultKind.STARTUP: "run its command by hand in its folder and paste a hello; look at its stderr",
    FaultKind.LATE: f"{SLOW}; send whole lines",
    FaultKind.SILENT: f"{SLOW}; if none of its moves ever arrives, flush stdout after each line",
    FaultKind.NOT_JSON: "keep stdout for the protocol, one JSON object a line; log to stderr",
    FaultKind.WRONG_SHAPE: "compare the answer with protocol/schemas/",
    FaultKind.UNKNOWN_ID: "repeat the id of the request, and answer once",
    FaultKind.ILLEGAL_MOVE: 'ask for "view":"full" in ready and take one of "legal", or look up the rule that is named',
    FaultKind.EXIT: "catch the error that its stderr shows; stay until the line 'quit'",
    FaultKind.KILLED: "look for a crash, in its code or in a library",
    FaultKind.MEMORY: "use less memory, or raise memory_mb in bot.toml",
    FaultKind.FLOOD: "answer once per request",
    FaultKind.LONG_LINE: "send the move only",
    FaultKind.CLOSED_OUTPUT: "keep stdout open until the line 'quit'",
    FaultKind.NEVER_READS: "read stdin line by line while the game lasts",
}


class Step(NamedTuple):
    """One step: it passed when ``problem`` is empty; ``detail`` is worth knowing anyway, ``stderr`` are the bot's last words.

    ``left_out`` steps stand for those that were not tried.
    """

    name: str
    problem: str = ""
    cure: str = ""
    detail: str = ""
    stderr: tuple[str, ...] = ()
    left_out: int = 0


class Failed(Exception):  # noqa: N818 - the outcome of a step
    """A step failed: what is wrong, and the cure if the step knows a better one than the table; ``kind`` of a fault in a game."""

    def __init__(self, problem: str, cure: str = "", stderr: str = "", kind: FaultKind | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.cure = cure
        self.stderr = stderr
        self.kind = kind
