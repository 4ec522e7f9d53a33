"""The games of the person at the page: those that are being played, and the latest of those that
are over.
"""

import secrets
import threading
import time
from pathlib import Path

from arena.commands.allowing import SandboxChoice
from arena.commands.folders import results_folder
from arena.commands.played import Wish
from arena.commands.single import SingleGame
from arena.errors import UserError
from arena.web.table import Table

MOST, MOST_OVER = 8, 20
CLOSE_S = 2.0
LEFT_S = 10.0
"""A reader who looks at the finished game's page may come back for another."""


class Tables:
    """All games of one server. ``begin`` raises UserError when there are too many."""

    def __init__(self, home: Path, choice: SandboxChoice) -> None:
        self._home, self._choice = home, choice
        self._tables = dict[str, tuple[Table, Wish]]()
        self._lock = threading.Lock()
        self._seen_s = time.monotonic()

    def begin(self, wish: Wish) -> str:
        """Starts a game; returns its name. Raises UserError."""
        game = wish.game
        sandbox = self._choice.sandbox_for(wish.bots)
        single = SingleGame(wish.bots, wish.seat, wish.timing, sandbox)
        table = Table(single, game, results_folder(self._home))
        with self._lock:
            self._make_room()
            name = secrets.token_urlsafe(9)
            self._tables[name] = table, wish
        table.begin()
        return name

    def find(self, name: str) -> tuple[Table, Wish] | None:
        """A game by its name, and the wish for it."""
        return self._tables.get(name)

    def in_play(self) -> list[tuple[str, Table]]:
        """The games that are not over."""
        found = list(self._tables.items())
        return [(name, table) for name, (table, _) in found if not table.is_over]

    def are_left(self) -> bool:
        """Whether all games are over, and nobody has looked at one for a while. To be asked now and
        then.
        """
        if any(table.is_watched or not table.is_over for table, _ in list(self._tables.values())):
            self._seen_s = time.monotonic()
        return time.monotonic() - self._seen_s > LEFT_S

    def close(self) -> None:
        """Gives all games up."""
        for table, _ in self._tables.values():
            table.end()
        for table, _ in self._tables.values():
            table.wait(CLOSE_S)

    def _make_room(self) -> None:
        """Forgets the oldest games that are over. Raises UserError."""
        over = [name for name, (table, _) in self._tables.items() if table.is_over]
        if len(self._tables) - len(over) >= MOST:
            raise UserError(
                f"expected at most {MOST} games at once, and so many are being played",
                "finish one of them, or leave it",
            )
        for name in over[:-MOST_OVER]:
            del self._tables[name]
