"""Players that use the protocol in unusual but allowed ways, for the steps of `arena check`."""

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
from arena.players.messages import Start, encode
from arena.players.player import Answer
from arena.players.sandbox.tiers import Sandbox
from arena.rules import State

EXTRA = {"since": 2, "mood": None, "weather": {"rain": [0.5, True, "später"], "type": "move"}}
"""The value of fields that no version of the protocol has."""
STRANGER = b'{"type":"weather","forecast":["rain",{"type":"turn"}],"id_of_nothing":7}'
"""A message of a type that no version of the protocol has."""
LARGEST_ID = 2**53 - 1
GAP = 1_000_003
"""The distance between the ids of two successive requests in the step with unusual ids."""
MAX_REQUESTS = 80
"""An upper bound on the requests that a process gets in a step with unusual ids."""
PAUSE_S = 0.3
"""The pause before the first request for a move, in seconds, in the step "a long pause before a
turn".
"""
PIECE = 5
"""The number of bytes sent at a time near the end of a line, if lines are sent in pieces."""
GAP_S = 0.0002
"""The pause between two pieces of a line, in seconds."""


class Unusual(BotPlayer):
    """A player that uses the protocol in unusual but allowed ways.

    ``change``      a function that makes of every message, a dict, the one to send
    ``separators``  the separators of items and of keys in the JSON
    ``stranger``    a message of an unknown type, sent after the start of a game and before each
                    public line; empty: none
    ``is_prompt``   each public line is sent as soon as it is known, instead of with the next
                    request
    ``pause_s``     the pause before the first request for a move, in seconds
    """

    def __init__(
        self,
        bot: Bot,
        startup_ms: int,
        sandbox: Sandbox,
        *,
        change: Callable[[dict[str, Any]], dict[str, Any]] = lambda message: message,
        separators: tuple[str, str] = (",", ":"),
        stranger: bytes = b"",
        is_prompt: bool = False,
        pause_s: float = 0.0,
    ) -> None:
        def changed(message: dict[str, Any]) -> bytes:
            return json.dumps(change(message), separators=separators, ensure_ascii=False).encode()

        self._changed = changed
        self._stranger = stranger
        self._is_prompt = is_prompt
        self._pause_s = pause_s
        speech = Speech(encode=lambda message: changed(msgspec.json.decode(encode(message))))
        super().__init__(bot, startup_ms, sandbox, speech=speech)

    def begin(self, start: Start) -> None:
        """Sends the start of a game and the message of an unknown type after it."""
        super().begin(start)
        self._send(self._stranger)

    def inform(self, line: bytes) -> None:
        """Sends a public line, and before it the message of an unknown type."""
        self._send(self._stranger, self._changed(json.loads(line)))

    def _send(self, *lines: bytes) -> None:
        """Queues the lines that are not empty, and sends them at once if ``is_prompt``."""
        for line in filter(None, lines):
            super().inform(line)
        if self._is_prompt:
            self.channel.flush()

    def choose(self, state: State, budget_ns: int) -> Answer:
        """Asks the bot for a move, for which it has ``budget_ns`` ns; the first time after a
        pause.
        """
        time.sleep(self._pause_s)
        self._pause_s = 0.0
        return super().choose(state, budget_ns)


def with_unknown_fields(message: dict[str, Any]) -> dict[str, Any]:
    """A copy of ``message`` with fields that no version of the protocol has, before and after its
    own.
    """
    return {"first": EXTRA, **message, "last": EXTRA}


def in_another_order(message: dict[str, Any]) -> dict[str, Any]:
    """A copy of ``message`` with its fields in reverse order."""
    return dict(reversed(message.items()))


def _write_piece(to_bot: int, lines: bytes) -> int:
    """Writes a first piece of ``lines`` to the file descriptor ``to_bot`` and returns its number of
    bytes: a few bytes near the end of a line, where readers make mistakes, more elsewhere. Pauses
    afterwards, so that the bot reads the piece by itself.
    """
    end = lines.find(b"\n")
    written = os.write(to_bot, lines[: PIECE if end < 2 * PIECE else min(end - PIECE, 997)])
    time.sleep(GAP_S)
    return written


JUMPING = Speech(numbers=lambda: count(LARGEST_ID - MAX_REQUESTS * GAP, GAP))
"""A way to speak to a bot in which the ids of requests have gaps, up to the largest id, anew for
each process.
"""
IN_PIECES = Speech(connect=partial(Channel, exchange=None, write=_write_piece))
"""A way to speak to a bot in which lines are sent in pieces; some pieces contain the end of one
line and the start of the next.
"""
