"""Unusual ways of speaking that the protocol allows and a bot must understand; each is a player
that speaks to the bot that way.
"""

import json
import os
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import msgspec

from arena.players.bot import BotPlayer
from arena.players.channel import Channel
from arena.players.folder import Bot
from arena.players.messages import FromArena, Start
from arena.players.player import Answer
from arena.players.sandbox.tiers import Sandbox
from arena.rules import State

EXTRA = {"since": 2, "mood": None, "weather": {"rain": [0.5, True, "später"], "type": "move"}}
STRANGER = b'{"type":"weather","forecast":["rain",{"type":"turn"}],"id_of_nothing":7}'
PAUSE_S = 0.3
PIECE = 5
GAP_S = 0.0002

Change = Callable[[dict[str, Any]], dict[str, Any]]


class Changed(BotPlayer):
    """Rewrites every message with a change."""

    def __init__(
        self,
        bot: Bot,
        startup_ms: int,
        sandbox: Sandbox,
        change: Change,
        separators: tuple[str, str] = (",", ":"),
    ) -> None:
        super().__init__(bot, startup_ms, sandbox)
        self._change = change
        self._separators = separators

    def encoded(self, message: FromArena) -> bytes:
        """The changed message."""
        return self._rewritten(msgspec.to_builtins(message))

    def inform(self, line: bytes) -> None:
        """Queues the changed line."""
        super().inform(self._rewritten(json.loads(line)))

    def _rewritten(self, message: dict[str, Any]) -> bytes:
        return json.dumps(
            self._change(message), separators=self._separators, ensure_ascii=False
        ).encode()


def with_unknown_fields(message: dict[str, Any]) -> dict[str, Any]:
    """The message with extra fields, which no version has, before and after its own."""
    return {"first": EXTRA, **message, "last": EXTRA}


def in_another_order(message: dict[str, Any]) -> dict[str, Any]:
    """The message with its fields in reverse order."""
    return dict(reversed(message.items()))


class WithStrangers(BotPlayer):
    """Sends extra messages, of a type that no version has, between all others."""

    def begin(self, start: Start) -> None:
        """Sends an unknown message before and after the start."""
        super().begin(start)
        super().inform(STRANGER)

    def inform(self, line: bytes) -> None:
        """Sends an unknown message before each public line."""
        super().inform(STRANGER)
        super().inform(line)


class WithJumpingIds(BotPlayer):
    """Numbers its requests with gaps, up to the largest id."""

    def open(self) -> None:
        """Counts from the beginning for each process."""
        super().open()
        self._ids = count(2**53 - 1 - 1_000_003 * 80, 1_000_003)

    def next_id(self) -> int:
        """The next id but a million."""
        return next(self._ids)


class Pieces(Channel):
    """Writes a few bytes at a time."""

    def __init__(self, to_bot: int, from_bot: int) -> None:
        super().__init__(to_bot, from_bot, exchange=None)

    def _write(self, deadline_ns: int) -> None:
        while self.accepts_input and self._outgoing and time.monotonic_ns() < deadline_ns:
            try:
                self._outgoing = self._outgoing[
                    os.write(self._to_bot, self._outgoing[: self._size()]) :
                ]
            except BlockingIOError:
                super()._write(deadline_ns)
            except BrokenPipeError:
                self.close_input()
            time.sleep(GAP_S)

    def _size(self) -> int:
        """Small pieces near the ends of lines, where readers make mistakes, and larger ones in
        between.
        """
        end = self._outgoing.find(b"\n")
        return PIECE if end < 2 * PIECE else min(end - PIECE, 997)


class InPieces(BotPlayer):
    """Sends every line in pieces; some pieces hold the end of one
    line and the start of the next.
    """

    def channel(self, to_bot: int, from_bot: int) -> Channel:
        """A channel that writes in pieces."""
        return Pieces(to_bot, from_bot)


class LineByLine(BotPlayer):
    """Sends each public line as soon as it is known, instead of with the next turn."""

    def begin(self, start: Start) -> None:
        """Sends the start at once."""
        super().begin(start)
        self._line().flush()

    def inform(self, line: bytes) -> None:
        """Sends the line at once."""
        super().inform(line)
        self._line().flush()


class WithPause(LineByLine):
    """Makes the bot wait between the start of its first game and its first turn."""

    _paused = False

    def choose(self, state: State, budget_ns: int) -> Answer:
        """Asks for a move, the first time after a pause."""
        if not self._paused:
            time.sleep(PAUSE_S)
        self._paused = True
        return super().choose(state, budget_ns)
