"""Unusual ways of speaking that the protocol allows and a bot must understand; each is a player
that speaks to the bot that way.
"""

import json
import os
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import msgspec

from arena.players.bot import BotPlayer, Speech
from arena.players.channel import Channel
from arena.players.folder import Bot
from arena.players.messages import FromArena, Start
from arena.players.player import Answer, Relay
from arena.players.sandbox.tiers import Sandbox
from arena.rules import State

EXTRA = {"since": 2, "mood": None, "weather": {"rain": [0.5, True, "später"], "type": "move"}}
STRANGER = b'{"type":"weather","forecast":["rain",{"type":"turn"}],"id_of_nothing":7}'
LARGEST_ID, GAP, MOST_REQUESTS = 2**53 - 1, 1_000_003, 80
PAUSE_S = 0.3
PIECE = 5
GAP_S = 0.0002

Change = Callable[[dict[str, Any]], dict[str, Any]]


class Changed(Relay):
    """Rewrites every message with a change."""

    def __init__(
        self,
        bot: Bot,
        startup_ms: int,
        sandbox: Sandbox,
        change: Change,
        separators: tuple[str, str] = (",", ":"),
    ) -> None:
        super().__init__(BotPlayer(bot, startup_ms, sandbox, speech=Speech(encode=self._changed)))
        self._change = change
        self._separators = separators

    def inform(self, line: bytes) -> None:
        """Hands on the changed line."""
        self.player.inform(self._rewritten(json.loads(line)))

    def _changed(self, message: FromArena) -> bytes:
        return self._rewritten(msgspec.to_builtins(message))

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


class WithStrangers(Relay):
    """Sends extra messages, of a type that no version has, between all others."""

    def __init__(self, bot: Bot, startup_ms: int, sandbox: Sandbox) -> None:
        super().__init__(BotPlayer(bot, startup_ms, sandbox))

    def begin(self, start: Start) -> None:
        """Sends an unknown message after the start."""
        super().begin(start)
        self.player.inform(STRANGER)

    def inform(self, line: bytes) -> None:
        """Sends an unknown message before each public line."""
        self.player.inform(STRANGER)
        self.player.inform(line)


class LineByLine(Relay):
    """Sends each public line as soon as it is known, instead of with the next turn."""

    def __init__(self, bot: Bot, startup_ms: int, sandbox: Sandbox) -> None:
        self._bot = BotPlayer(bot, startup_ms, sandbox)
        super().__init__(self._bot)

    def begin(self, start: Start) -> None:
        """Sends the start at once."""
        super().begin(start)
        self._bot.channel.flush()

    def inform(self, line: bytes) -> None:
        """Sends the line at once."""
        super().inform(line)
        self._bot.channel.flush()


class WithPause(LineByLine):
    """Makes the bot wait between the start of its first game and its first turn."""

    _paused = False

    def choose(self, state: State, budget_ns: int) -> Answer:
        """Asks for a move, the first time after a pause."""
        if not self._paused:
            time.sleep(PAUSE_S)
        self._paused = True
        return super().choose(state, budget_ns)


def with_jumping_ids(bot: Bot, startup_ms: int, sandbox: Sandbox) -> BotPlayer:
    """Numbers its requests with gaps, up to the largest id, from the beginning for each process."""
    first = LARGEST_ID - MOST_REQUESTS * GAP
    return BotPlayer(bot, startup_ms, sandbox, speech=Speech(numbers=lambda: count(first, GAP)))


def in_pieces(bot: Bot, startup_ms: int, sandbox: Sandbox) -> BotPlayer:
    """Sends every line in pieces; some pieces hold the end of one line and the start of the
    next.
    """
    connect = partial(Channel, exchange=None, write=write_piece)
    return BotPlayer(bot, startup_ms, sandbox, speech=Speech(connect=connect))


def write_piece(to_bot: int, lines: bytes) -> int:
    """Writes a few bytes near the end of a line, where readers make mistakes, and more in between;
    then pauses, so that the bot reads them by themselves.
    """
    end = lines.find(b"\n")
    written = os.write(to_bot, lines[: PIECE if end < 2 * PIECE else min(end - PIECE, 997)])
    time.sleep(GAP_S)
    return written
