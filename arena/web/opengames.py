"""The games that people play on one server."""

import secrets
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from arena.commands.game import GameRequest, Past, SingleGame
from arena.commands.home import results_folder
from arena.commands.playing import SandboxChoice
from arena.errors import UserError
from arena.match.chances import JudgedStep
from arena.web.graded import Gradings
from arena.web.grading import GameGrades, Grader
from arena.web.help_used import HelpUsed
from arena.web.lessons import RefusedError
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

NamedGame = tuple[str, OpenGame]
"""The name of a game, and the game."""


class OpenGames:
    """All games of one server, by names that nobody can guess. ``choice`` has the options for the
    bots' sandbox.

    ``gradings``  the games of runs that readers have graded
    """

    def __init__(self, home: Path, choice: SandboxChoice) -> None:
        self._home = home
        self._choice = choice
        self._games = dict[str, tuple[OpenGame, GameRequest]]()
        # For each game that was left and then continued, the name of the game that goes on from it.
        self._continued = dict[str, str]()
        self._lock = threading.Lock()
        self._continuing = threading.Lock()
        self._grader = Grader()
        self.gradings = Gradings(self._grader)
        self._seen_s = time.monotonic()

    def begin(self, game_request: GameRequest) -> str:
        """Start the game that a person requests, and return its name. Raises UserError, also if too
        many games are being played.
        """
        return self._begin(game_request)

    def begin_from(self, name: str, step: int) -> str:
        """Start a game that goes on from the finished game ``name`` before the person's move number
        ``step`` (see `OpenGame.past`), and return its name. Raises UserError, RefusedError.
        """
        found = self.find(name)
        if found is None:
            raise RefusedError("this game is not here any more: newer ones took its place")
        game, game_request = found
        past, known = game.past(step)
        return self._begin(game_request, past, known, HelpUsed(undone=1))

    def begin_after(self, game_request: GameRequest, past: Past) -> str:
        """Start a game that goes on from ``past``, the part of a game of a run, and return its
        name. Raises UserError.
        """
        return self._begin(game_request, past, had=HelpUsed(undone=1))

    def continue_left(self, name: str) -> str:
        """Continue the game ``name``, which a person left, in a game with a name of its own, and
        return that name. A game that was continued before is not continued twice: then the name is
        that of the game from before. Raises UserError, RefusedError.
        """
        with self._continuing:
            found = self.find(name)
            if found is None:
                raise RefusedError("this game is not here any more: newer ones took its place")
            further = self._continued.get(name, "")
            if self.find(further):
                return further
            game, game_request = found
            past, known = game.unfinished()
            further = self._begin(game_request, past, known, game.help.carried_over())
            self._continued[name] = further
            return further

    def _begin(
        self,
        game_request: GameRequest,
        past: Past | None = None,
        known: Sequence[Future[JudgedStep]] = (),
        had: HelpUsed | None = None,
    ) -> str:
        """Start a game and return its name. ``past`` is the part of another game from which it goes
        on, None for a game from the first move, ``known`` are the judgements on the moves of that
        part, as far as there are any, and ``had`` is the help with them. Raises UserError.
        """
        planned = game_request.game
        sandbox = self._choice.sandbox_for(game_request.bots)
        single = SingleGame(game_request.bots, game_request.seat, game_request.timing, sandbox)
        self._grader.prepare()
        grades = GameGrades(self._grader, planned.id, game_request.seat, known)
        results = results_folder(self._home)
        game = OpenGame(single, planned, results, grades, past=past, had=had)
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

    def in_play(self) -> list[NamedGame]:
        """The games that are not over, each with its name."""
        with self._lock:
            games = list(self._games.items())
        return [(name, game) for name, (game, _) in games if not game.is_over]

    def left(self) -> list[NamedGame]:
        """The games that a person left and can continue, each with its name, the newest first."""
        with self._lock:
            games = [(name, game) for name, (game, _) in self._games.items() if game.is_left]
        return [(name, game) for name, game in reversed(games) if name not in self._continued]

    def are_left(self) -> bool:
        """Whether, for the last `LEFT_S` seconds, all games have been over and no page of a game
        has been open.

        Call it every now and then, because only a call notices that a page is open.
        """
        with self._lock:
            games = [game for game, _ in self._games.values()]
        if any(game.is_watched or not game.is_over for game in games):
            self._seen_s = time.monotonic()
        return time.monotonic() - self._seen_s > LEFT_S

    def close(self) -> None:
        """Give all games up, and wait until they have ended, at most `CLOSE_S` seconds for each."""
        # A request that is being answered may still add a game.
        with self._lock:
            games = [game for game, _ in self._games.values()]
        for game in games:
            game.end()
        self._grader.close()
        for game in games:
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
            self._continued.pop(name, None)
