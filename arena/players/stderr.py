"""What a bot's process writes to its standard error, cut into parts by the turns of a game."""

import os
import time
from collections.abc import Callable

from arena.players.channel import Channel
from arena.players.process import BotProcess
from arena.records.stderr import GAME_BYTES, PART_BYTES, Part, When

SETTLE_S = 0.1
"""How long a busy bot is waited for, so that what it still writes belongs to the right part."""
YIELDS, PAUSE_S = 20, 0.0002


class Stderr:
    """The stderr of one player; ``parts`` is that of the game that is being played or was the last.

    ``heard`` is told each part. ``at_once`` waits after each answer for what the bot writes about
    it, for people who watch.
    """

    # The bot holds the same file as its descriptor 2: it can cut, fill and overwrite it. What was
    # read is out of its reach, and the position kept here, not the file's, says what is new.

    def __init__(
        self, heard: Callable[[Part], None] | None = None, *, at_once: bool = False
    ) -> None:
        self.parts: list[Part] = []
        self.at_once = at_once
        self._heard = heard
        self._process: BotProcess | None = None
        self._file = -1
        self._at = self._room = self._seat = 0
        self._when: When = "start"
        self._turn: int | None = None

    def open(self, process: BotProcess) -> None:
        """Listens to this process from its start."""
        self.close()
        self._process, self._file, self._at = process, process.stderr_copy(), 0

    def close(self) -> None:
        """Keeps what is left, and lets go of the process; calling it again does nothing."""
        if self._file >= 0:
            self._catch_up()
            os.close(self._file)
        self._file, self._process = -1, None

    def begin(self, seat: int) -> None:
        """A game begins. What was written since the last one belongs to neither."""
        self.skip()
        self.parts, self._room, self._seat = [], GAME_BYTES, seat
        self._when, self._turn = "start", None

    def turn(self, turn: int) -> None:
        """The bot is about to be asked: what comes from now on belongs to this turn."""
        self._catch_up()
        self._when, self._turn = "turn", turn

    def end(self) -> None:
        """The game is over for the bot, which is about to be told."""
        self._catch_up()
        self._when, self._turn = "end", None

    def settle(self, channel: Channel) -> None:
        """Waits until the bot has read all lines and is idle, though not for long, and keeps what
        it wrote.
        """
        deadline, looks = time.monotonic() + SETTLE_S, 0
        while self._process and time.monotonic() < deadline:
            if not channel.unread_by_bot() and not self._process.main_can_run():
                break
            # On a worker's one core the bot runs when the worker yields, and is done much sooner
            # than a nap would end.
            looks += 1
            if looks < YIELDS:
                os.sched_yield()
            else:
                time.sleep(PAUSE_S)
        self._catch_up()

    def skip(self) -> None:
        """Leaves out what was written until now; also when the arena has cut the file."""
        if self._file >= 0:
            self._at = os.fstat(self._file).st_size

    def _catch_up(self) -> None:
        # On every move, and most often in vain: one system call, 0.3 us.
        text = os.pread(self._file, PART_BYTES, self._at)
        if text:
            self._keep(text)

    def _keep(self, text: bytes) -> None:
        self._at += len(text)
        cut = 0
        if len(text) == PART_BYTES:
            end = max(self._at, os.fstat(self._file).st_size)
            cut, self._at = end - self._at, end
        text = self._process.hidden(text) if self._process else text
        kept = text[: self._room]
        self._room -= len(kept)
        cut += len(text) - len(kept)
        shown = kept.decode(errors="backslashreplace")
        part = Part(self._seat, shown, self._when, self._turn, cut)
        self.parts.append(part)
        if self._heard:
            self._heard(part)
