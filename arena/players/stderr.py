"""What a bot's process writes to its standard error, cut into parts by the turns of a game."""

import os
import time
from collections.abc import Callable

from arena.players.channel import Channel
from arena.players.process import BotProcess
from arena.records.stderr import GAME_BYTES, PART_BYTES, StderrPart, When

SETTLE_S = 1.0
"""How long a busy bot is waited for, so that what it still writes belongs to the right part; on a
machine with ten programs for each core, 20 ms of work took longer than 0.1 s.
"""
NAP_S, LONGEST_NAP_S = 0.00005, 0.005
PATIENCE = 2
FIRST_BYTES = 1024
"""A read of these is quicker than one of `PART_BYTES`, and most often enough."""
Raw = tuple[When, int | None, bytes, int]


class Stderr:
    """The stderr of one player in the game that is being played, or was the last.

    ``heard`` is told each part. ``at_once`` waits after each answer for what the bot writes about
    it, for people who watch.
    """

    # The bot holds the same file as its descriptor 2: it can cut, fill and overwrite it. What was
    # read is out of its reach, and the position kept here, not the file's, says what is new.

    def __init__(
        self, heard: Callable[[StderrPart], None] | None = None, *, at_once: bool = False
    ) -> None:
        self.at_once = at_once
        self._raw: list[Raw] = []
        self._heard = heard
        self._process: BotProcess | None = None
        self._file = -1
        self._at = self._room = self._seat = self._patience = 0
        self._when: When = "start"
        self._turn: int | None = None

    def parts(self) -> list[StderrPart]:
        """What was kept so far."""
        return list(map(self._part, self._raw))

    def open(self, process: BotProcess) -> None:
        """Listens to this process from its start."""
        self.close()
        self._process, self._file, self._at = process, process.stderr_copy(), 0
        self._patience = PATIENCE

    def close(self) -> None:
        """Keeps what is left, and lets go of the process; calling it again does nothing."""
        if self._file >= 0:
            self._catch_up()
            os.close(self._file)
        self._file, self._process = -1, None

    def begin(self, seat: int) -> None:
        """A game begins. What was written since the last one belongs to neither."""
        if self._file >= 0:
            # The arena may have cut the file meanwhile.
            there, self._at = self._at, os.fstat(self._file).st_size
            self._patience = PATIENCE if self._at > there else self._patience
        self._raw, self._room, self._seat = [], GAME_BYTES, seat
        self._when, self._turn = "start", None

    def turn(self, turn: int) -> None:
        """The bot is about to be asked: what comes from now on belongs to this turn."""
        # On every move, and most often in vain: one system call, 0.3 us.
        text = os.pread(self._file, FIRST_BYTES, self._at)
        if text:
            self._keep(text)
        self._when, self._turn = "turn", turn

    def end(self) -> None:
        """The game is over for the bot, which is about to be told."""
        self._catch_up()
        self._when, self._turn = "end", None

    def settle(self, channel: Channel) -> None:
        """Waits until the bot has read all lines and is idle, though not for long, and keeps what
        it wrote.
        """
        deadline, nap_s = time.monotonic() + SETTLE_S, NAP_S
        while self._process and time.monotonic() < deadline:
            if not channel.unread_by_bot() and not self._process.main_can_run():
                break
            # On a worker's one core the bot runs only while the worker sleeps.
            time.sleep(nap_s)
            nap_s = min(2 * nap_s, LONGEST_NAP_S)
        self._catch_up()

    def hear_out(self, channel: Channel) -> None:
        """After the end of a game, waits for what a bot writes about that. A process that wrote
        nothing then in its last two games, or nothing at all, is not waited for.
        """
        # That wait costs a game of a quick bot as much as twenty of its moves.
        if self._process and self._when == "end" and self._at and self._patience:
            there = self._at
            self.settle(channel)
            self._patience = PATIENCE if self._at > there else self._patience - 1

    def _catch_up(self) -> None:
        text = os.pread(self._file, FIRST_BYTES, self._at) if self._file >= 0 else b""
        if text:
            self._keep(text)

    def _keep(self, text: bytes) -> None:
        if len(text) == FIRST_BYTES:
            text += os.pread(self._file, PART_BYTES - FIRST_BYTES, self._at + FIRST_BYTES)
        is_full = len(text) == PART_BYTES
        # What may be the beginning of a value to hide waits for the rest, or is left out.
        text = text[: len(text) - self._process.begun(text)] if self._process else text
        size = len(text)
        if not size and not is_full:
            return
        self._at += size
        cut = max(0, size - self._room)
        if is_full:
            end = max(self._at, os.fstat(self._file).st_size)
            cut, self._at = cut + end - self._at, end
        text = self._process.hidden(text) if self._process else text
        self._raw.append((self._when, self._turn, text[: self._room], cut))
        self._room -= min(size, self._room)
        if self._heard:
            self._heard(self._part(self._raw[-1]))

    def _part(self, raw: Raw) -> StderrPart:
        when, turn, text, cut = raw
        return StderrPart(self._seat, text.decode(errors="backslashreplace"), when, turn, cut)
