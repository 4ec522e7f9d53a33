"""The games of the person at the page: those that are being played, and the latest of those that
are over.
"""

import multiprocessing
import secrets
import threading
import time
from pathlib import Path

from arena.commands.allowing import SandboxChoice
from arena.commands.folders import results_folder
from arena.commands.played import Wish
from arena.commands.single import SingleGame
from arena.errors import UserError
from arena.web.opengame import OpenGame

MOST, MOST_OVER = 8, 20
CLOSE_S = 2.0
LEFT_S = 10.0
"""A reader who looks at the finished game's page may come back for another."""


class OpenGames:
    """All games of one server. ``begin`` raises UserError when there are too many."""

    def __init__(self, home: Path, choice: SandboxChoice) -> None:
        self._home, self._choice = home, choice
        self._games = dict[str, tuple[OpenGame, Wish]]()
        self._lock = threading.Lock()
        self._seen_s = time.monotonic()

    def begin(self, wish: Wish) -> str:
        """Starts a game; returns its name. Raises UserError."""
        planned = wish.game
        sandbox = self._choice.sandbox_for(wish.bots)
        single = SingleGame(wish.bots, wish.seat, wish.timing, sandbox)
        game = OpenGame(single, planned, results_folder(self._home))
        with self._lock:
            self._make_room()
            name = secrets.token_urlsafe(9)
            self._games[name] = game, wish
        game.begin()
        return name

    def find(self, name: str) -> tuple[OpenGame, Wish] | None:
        """A game by its name, and the wish for it."""
        return self._games.get(name)

    def in_play(self) -> list[tuple[str, OpenGame]]:
        """The games that are not over."""
        found = list(self._games.items())
        return [(name, game) for name, (game, _) in found if not game.is_over]

    def are_left(self) -> bool:
        """Whether all games are over, and nobody has looked at one for a while. To be asked now and
        then.
        """
        if any(game.is_watched or not game.is_over for game, _ in list(self._games.values())):
            self._seen_s = time.monotonic()
        return time.monotonic() - self._seen_s > LEFT_S

    def close(self) -> None:
        """Gives all games up."""
        for game, _ in self._games.values():
            game.end()
        # What still runs grades moves: it would first finish those it has begun.
        for grader in multiprocessing.active_children():
            grader.kill()
        for game, _ in self._games.values():
            game.wait(CLOSE_S)

    def _make_room(self) -> None:
        """Forgets the oldest games that are over. Raises UserError."""
        over = [name for name, (game, _) in self._games.items() if game.is_over]
        if len(self._games) - len(over) >= MOST:
            raise UserError(
                f"expected at most {MOST} games at once, and so many are being played",
                "finish one of them, or leave it",
            )
        for name in over[:-MOST_OVER]:
            del self._games[name]
