"""The kinds of faults that a bot can commit: for each, what the bot should have done, and what its
author can do.

A bot that commits a fault forfeits its game (`arena.errors.Forfeit`). Most faults are found by
arena/players/failures.py, and their evidence is written by arena/records/evidence.py.
"""

from enum import StrEnum
from typing import Self

IN_TIME = "an answer within the time for a move"
TO_THE_END = "a bot that stays until the line 'quit'"
SOONER = "answer before time_ms of the turn is over, with a reserve, or try a longer --move-ms"


class FaultKind(StrEnum):
    """The fixed list of faults that a bot can commit. The value is the word in records.
    ``expected`` says what the bot should have done, as the end of a sentence that begins with
    "expected"; ``cure`` says what the bot's author can do.
    """

    expected: str
    cure: str

    def __new__(cls, value: str, expected: str = "", cure: str = "") -> Self:
        """Makes a kind of fault; the arguments are the three texts that the class describes."""
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.expected = expected
        kind.cure = cure
        return kind

    @property
    def is_crash(self) -> bool:
        """Whether the bot's program failed: it did not start, or it ended during a game. A bot
        whose first games all end with one such kind is excluded from the run.
        """
        return self in (FaultKind.STARTUP, FaultKind.EXIT, FaultKind.KILLED, FaultKind.MEMORY)

    @property
    def is_too_late(self) -> bool:
        """Whether no answer came in time. `arena check` then gives the bot more time in its short
        games.
        """
        return self in (FaultKind.LATE, FaultKind.SILENT)

    STARTUP = (
        "start-up",
        "an answer to hello within the time for start-up",
        "run its command by hand in its folder, paste a hello line, and look at its stderr",
    )
    LATE = "late", IN_TIME, f"{SOONER}; send whole lines"
    SILENT = (
        "silent",
        IN_TIME,
        f"{SOONER}; if none of its moves ever arrives, flush stdout after each line",
    )
    NOT_JSON = (
        "not json",
        "one JSON object a line on stdout",
        "keep stdout for the protocol, one JSON object a line; log to stderr",
    )
    WRONG_SHAPE = (
        "wrong shape",
        "a reply of the shape that the protocol describes",
        "compare the answer with protocol/schemas/",
    )
    UNKNOWN_ID = (
        "unknown id",
        "the id of the request",
        "repeat the id of the request, and answer once",
    )
    ILLEGAL_MOVE = (
        "illegal move",
        "a legal move",
        'ask for "view":"full" in ready and choose one of "legal"',
    )
    EXIT = ("exit", TO_THE_END, "fix the error that its stderr shows; stay until the line 'quit'")
    KILLED = "killed", TO_THE_END, "look for a crash in its code or in a library"
    MEMORY = (
        "memory",
        "no more memory than the bot has",
        "use less memory, or raise memory_mb in bot.toml",
    )
    FLOOD = "flood", "one answer to each request", "answer once per request"
    LONG_LINE = "line too long", "a line of at most 64 KiB", "send only the move"
    CLOSED_OUTPUT = (
        "closed output",
        "an open stdout until the line 'quit'",
        "keep stdout open until the line 'quit'",
    )
    NEVER_READS = (
        "never reads",
        "a bot that reads its stdin",
        "read stdin line by line while the game lasts",
    )
