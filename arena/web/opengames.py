"""The games that people play on one server."""

import multiprocessing
import secrets
import threading
import time
from pathlib import Path

from arena.commands.game import GameRequest, SingleGame
from arena.commands.home import results_folder
from arena.commands.playing import SandboxChoice
from arena.errors import UserError
from arena.web.opengame import OpenGame

MAX_IN_PLAY = 8
"""The most games that are played at the same time."""
MAX_OVER = 20
"""The number of finished games whose pages can still be opened."""
CLOSE_S = 2.0
"""When it ends, the server waits for each game for at most this many seconds."""
LEFT_S = 10.0
"""For how many seconds the page of a finished game may be closed before the reader
counts as gone.
"""


class OpenGames:
    """All games of one server, by names that nobody can guess. ``choice`` has the options for the
    bots' sandbox.
    """

    def __init__(self, home: Path, choice: SandboxChoice) -> None:
        self._home = home
        self._choice = choice
        self._games = dict[str, tuple[OpenGame, GameRequest]]()
        self._lock = threading.Lock()
        self._seen_s = time.monotonic()

    def begin(self, game_request: GameRequest) -> str:
        """Start the game that a person requests, and return its name. Raises UserError, also if too
        many games are being played.
        """
        planned = game_request.game
        sandbox = self._choice.sandbox_for(game_request.bots)
        single = SingleGame(game_request.bots, game_request.seat, game_request.timing, sandbox)
        game = OpenGame(single, planned, results_folder(self._home))
        with self._lock:
            self._make_room()
            name = secrets.token_urlsafe(9)
            self._games[name] = game, game_request
        game.start()
        return name

    def find(self, name: str) -> tuple[OpenGame, GameRequest] | None:
        """The game called ``name``, and the request that it was made from; None if there is no such
        game.
        """
        return self._games.get(name)

    def in_play(self) -> list[tuple[str, OpenGame]]:
        """The games that are not over, each with its name."""
        games = list(self._games.items())
        return [(name, game) for name, (game, _) in games if not game.is_over]

    def are_left(self) -> bool:
        """Whether all games are over, and no page of a game was open in the last `LEFT_S` seconds.

        Call it every now and then, because only a call notices that a page is open.
        """
        if any(game.is_watched or not game.is_over for game, _ in list(self._games.values())):
            self._seen_s = time.monotonic()
        return time.monotonic() - self._seen_s > LEFT_S

    def close(self) -> None:
        """Give all games up, and wait until they have ended, at most `CLOSE_S` seconds for each."""
        for game, _ in self._games.values():
            game.end()
        # A process that still runs is grading moves. Without a kill, it would finish its tasks.
        for grader in multiprocessing.active_children():
            grader.kill()
        for game, _ in self._games.values():
            game.wait(CLOSE_S)

    def _make_room(self) -> None:
        """Forget the oldest finished games, so that `MAX_OVER` are left. Raises UserError if too
        many games are being played.
        """
        over = [name for name, (game, _) in self._games.items() if game.is_over]
        if len(self._games) - len(over) >= MAX_IN_PLAY:
            raise UserError(
                f"this server is already playing {MAX_IN_PLAY} games, the most it allows",
                "finish one of them or leave it, then start this one again",
            )
        for name in over[:-MAX_OVER]:
            del self._games[name]
