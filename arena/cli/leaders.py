"""The leaders of a run under its bar. Another process rates the games now and then, and yields to
those that are played.
"""

import os
import sys
import time
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from arena.exports.grid import grid_text
from arena.tournament.crew import Crew, starting_workers
from arena.tournament.workers import yield_to_games

if TYPE_CHECKING:
    from arena.exports.leaders import Leading

SHOWN = 3
FIRST_S = 10.0
"""A run that is over sooner shows no leaders."""
LEAST_S = 3.0
PAUSE = 50
"""The next look waits so many times as long as the last one took of a processor."""
LEAST_LINES = 10
YIELDING = 19
"""The niceness of that process: where every core plays, it gets a sixtieth of one."""
DESCRIPTION = "{desc}{bar:0}"
"""Nothing but the text, cut at the edge of the terminal as tqdm cuts only lines with a bar."""


class Leaders:
    """Lines under a bar on stderr's terminal. ``note`` is called whenever a game has ended, and
    never waits.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._next = time.monotonic() + FIRST_S
        self._crew: Crew | None = None
        self._asked: Future[Leading] | None = None
        self._lines = list[tqdm]()  # type: ignore[type-arg]

    def note(self) -> None:
        """Shows what has been found out, and asks again when it is time."""
        if self._asked is None:
            if time.monotonic() >= self._next:
                self._asked = self._ask()
        elif self._asked.done():
            self._show(self._asked)
            self._asked = None

    def close(self) -> None:
        """Erases the lines, and ends the process."""
        self._set([])
        self._next = float("inf")
        if self._crew is not None:
            self._crew.kill()
            self._crew.end()

    def redraw(self) -> None:
        """Draws the lines again on a cleared screen."""
        for line in self._lines:
            redraw(line)

    def _ask(self) -> "Future[Leading]":
        self._crew = self._crew or Crew(1, yield_to_games, (YIELDING,))
        with starting_workers():
            return self._crew.submit(look, self._folder)

    def _show(self, asked: "Future[Leading]") -> None:
        if asked.exception() is not None:
            # The run does without them; its tables will say what is wrong with the games.
            self._next = float("inf")
            return
        found = asked.result()
        self._next = time.monotonic() + max(LEAST_S, PAUSE * found.seconds)
        size = os.get_terminal_size(sys.stderr.fileno())
        is_high = size.lines >= LEAST_LINES
        self._set(grid_text(found.fields, size.columns).split("\n")[1:] if is_high else [])

    def _set(self, texts: list[str]) -> None:
        while len(self._lines) > len(texts):
            self._lines.pop().close()
        while len(self._lines) < len(texts):
            place = len(self._lines) + 1
            self._lines.append(
                tqdm(position=place, leave=False, dynamic_ncols=True, bar_format=DESCRIPTION)
            )
        for line, text in zip(self._lines, texts, strict=True):
            line.set_description_str(text)


def erasing(before: int, now: int) -> str:
    """What erases a line that was as wide as the terminal before it became narrower, and all below:
    the terminal has folded the line, and the cursor stands on its last part.
    """
    up = (before - 1) // now
    return f"\x1b[{up}A\r\x1b[J" if up else "\r\x1b[J"


def redraw(bar: "tqdm") -> None:  # type: ignore[type-arg]
    """Draws a bar where nothing is left of what it drew before."""
    # A printer pads with blanks as far as its last line went, which a narrower terminal wraps.
    bar.sp = bar.status_printer(bar.fp)
    bar.refresh()


def look(folder: str) -> "Leading":
    """What that process does."""
    # Pandas: the process that plays does without.
    from arena.exports.leaders import leading  # noqa: PLC0415

    return leading(folder, SHOWN)
