"""One game by itself: bots and a person at their seats, for whoever shows it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from platform import node
from typing import NamedTuple

from arena.exports.text import seat_names
from arena.match.clock import Timing
from arena.match.referee import GamePlan, Outcome, Referee, Watch
from arena.match.resume import Resumed
from arena.match.retrace import Recorded
from arena.players.bot import BotPlayer
from arena.players.builtin import built_in_player, is_built_in
from arena.players.folder import Bot
from arena.players.inprocess import InProcessPlayer
from arena.players.person import YOU
from arena.players.player import Player
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import staged_for_a_while
from arena.players.stderr import Stderr
from arena.players.wire import WireLog, logged_player
from arena.records.record import MOST_SEATS
from arena.rules import State
from arena.rules.boards import Board

HINT_GAMES = 4000
MOST_GAMES_A_MOVE = 200
MOST_HINTS = 3
MakePerson = Callable[[Sequence[str]], Player]
"""Makes the player for a person's seat, given the names of all seats."""


class Round(NamedTuple):
    """A game to play: its board, what makes its plan of the bots' labels by seat, and the recorded
    game that it goes on from, if any.
    """

    board: Board
    plan_of: Callable[[Sequence[str]], GamePlan]
    past: Resumed | None = None


class SingleGame(NamedTuple):
    """Who plays, and how. ``human`` is the seat of a person, the bots take the others;
    ``has_stderr`` keeps what bots write to stderr.
    """

    bots: Sequence[Bot]
    human: int | None
    timing: Timing
    sandbox: Sandbox
    has_stderr: bool = False

    @contextmanager
    def seated(
        self,
        past: Resumed | None = None,
        person: MakePerson | None = None,
        log: WireLog | None = None,
    ) -> Iterator[list[Player]]:
        """The players by seat, who are stopped when the block ends. Raises UserError."""
        with self._staged() as bots:
            players = self._players(bots, past, person, log)
            try:
                yield players
            finally:
                for player in players:
                    player.stop()

    def referee(
        self, game: Round, players: Sequence[Player], watch: Watch | None = None
    ) -> Referee:
        """The referee of a game that is about to begin."""
        labels = [player.name for player in players]
        timings = [self.timing.of(label) for label in labels]
        return Referee(game.plan_of(labels), game.board, players, timings, watch)

    def play(self, referee: Referee) -> Outcome:
        """Plays a game to its end. Raises Void, and what a person's player raises to leave."""
        return referee.play(sandbox=self.sandbox.text(referee.plan.bots), host=node())

    @contextmanager
    def _staged(self) -> Iterator[list[Bot]]:
        """The bots, with those that are processes copied to a temporary folder."""
        processes = [at for at, bot in enumerate(self.bots) if not is_built_in(bot)]
        with staged_for_a_while(
            *(self.bots[at] for at in processes), sandbox=self.sandbox
        ) as staged:
            there = dict(zip(processes, staged, strict=True))
            yield [there.get(at, bot) for at, bot in enumerate(self.bots)]

    def _players(
        self,
        bots: Sequence[Bot],
        past: Resumed | None,
        person: MakePerson | None,
        log: WireLog | None,
    ) -> list[Player]:
        """The players by seat."""
        seated = absent_players(past)
        free = [seat for seat in range(MOST_SEATS) if seat != self.human and seat not in seated]
        for bot, seat in zip(bots, free, strict=False):
            seated[seat] = self._player(bot, seat, log)
        if self.human is not None and person is not None:
            labels = {self.human: YOU, **{seat: player.name for seat, player in seated.items()}}
            seated[self.human] = person(seat_names([labels[seat] for seat in sorted(labels)]))
        return [seated[seat] for seat in sorted(seated)]

    def _player(self, bot: Bot, seat: int, log: WireLog | None) -> BotPlayer | InProcessPlayer:
        """A bot's player; a process is logged if there is a log."""
        if is_built_in(bot):
            return built_in_player(bot)
        startup_ms, clock = self.timing.startup_ms, self.timing.clock
        if log:
            return logged_player(bot, startup_ms, self.sandbox, log, seat, clock)
        stderr = Stderr(at_once=True) if self.has_stderr else None
        return BotPlayer(bot, startup_ms, self.sandbox, clock, stderr=stderr)


def absent_players(game: Resumed | None) -> dict[int, Player]:
    """The seats that had left the recorded game, as players whom nobody asks."""
    return {seat: Recorded(game.script.record, seat) for seat in game.absent} if game else {}


class Hint(NamedTuple):
    """A move, and the share of so many random games after it that the seat wins."""

    move: int
    share: float
    games: int


def best_moves(state: State, moves: Sequence[int], seed: int) -> list[Hint]:
    """Hints for a person: the moves after which random games end best for the mover, with what the
    seat cannot see shuffled each time.
    """
    times = max(1, min(MOST_GAMES_A_MOVE, HINT_GAMES // len(moves)))
    tried, wins, _, _ = state.rollouts(state.mover, times, seed, "uniform", list(moves))
    best = sorted(zip(wins, tried, strict=True), key=lambda pair: -pair[0])[:MOST_HINTS]
    return [Hint(move, won / times, times) for won, move in best]
