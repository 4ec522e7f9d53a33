"""One game by itself, for whoever shows it: bots and a person at their seats. One that a person
plays is planned like a game of a run, and kept as a run of its own that whatever reads runs reads.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from platform import node
from typing import NamedTuple, Self

import msgspec

from arena.errors import RunError
from arena.exports.text import seat_names
from arena.match.decisions import Recorded
from arena.match.referee import GamePlan, MoveListener, Outcome, Referee
from arena.match.replay import Resumed
from arena.players.bot import BotPlayer, Stderr, logged_player
from arena.players.channel import WireLog
from arena.players.folder import Bot
from arena.players.labels import timing_for
from arena.players.player import PERSON, YOU, InProcessPlayer, Player, built_in_player, is_built_in
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import staged_for_a_while
from arena.records.config import OneGame, RunConfig
from arena.records.faults import Faults
from arena.records.journal import Journal, read_records
from arena.records.ownership import mark_run
from arena.records.record import MOST_SEATS, utc_now
from arena.records.runfile import write_run
from arena.records.timing import Timing
from arena.rules import State
from arena.rules.boards import Board
from arena.tournament.consistency import make_config
from arena.tournament.runs import describe_run
from arena.tournament.schedule import Schedule
from arena.tournament.session import new_seed

PREFIX = "played"
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
    """The bots of a game, and how it is played. ``human`` is the seat of a person, None without
    one; the bots take the other seats in order. With ``has_stderr`` what the bots write to stderr
    is kept.
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
        """The players by seat, who are stopped when the block ends. Bots that are processes play
        from a temporary folder. Raises UserError.
        """
        processes = [bot for bot in self.bots if not is_built_in(bot)]
        with staged_for_a_while(*processes, sandbox=self.sandbox) as staged:
            copies = iter(staged)
            bots = [bot if is_built_in(bot) else next(copies) for bot in self.bots]
            seated = dict[int, Player]()
            if past:
                # Those who had left the recorded game: nobody asks them.
                seated = {seat: Recorded(past.script.record, seat) for seat in past.absent}
            free = [seat for seat in range(MOST_SEATS) if seat != self.human and seat not in seated]
            for bot, seat in zip(bots, free, strict=False):
                seated[seat] = self._player(bot, seat, log)
            if self.human is not None and person is not None:
                labels = {self.human: YOU, **{at: player.name for at, player in seated.items()}}
                seated[self.human] = person(seat_names([labels[at] for at in sorted(labels)]))
            try:
                yield [seated[seat] for seat in sorted(seated)]
            finally:
                for player in seated.values():
                    player.stop()

    def referee(
        self, game: Round, players: Sequence[Player], watch: MoveListener | None = None
    ) -> Referee:
        """The referee of a game that is about to begin."""
        labels = [player.name for player in players]
        timings = [timing_for(label, self.timing) for label in labels]
        return Referee(game.plan_of(labels), game.board, players, timings, watch)

    def play(self, referee: Referee) -> Outcome:
        """Plays a game to its end. Raises Void, and what a person's player raises to leave."""
        return referee.play(sandbox=self.sandbox.text(referee.plan.bots), host=node())

    def _player(self, bot: Bot, seat: int, log: WireLog | None) -> BotPlayer | InProcessPlayer:
        """A bot's player; a process is logged if there is a log."""
        if is_built_in(bot):
            return built_in_player(bot)
        startup_ms = self.timing.startup_ms
        clock = self.timing.clock
        if log:
            return logged_player(bot, startup_ms, self.sandbox, log, seat, clock)
        stderr = Stderr() if self.has_stderr else None
        return BotPlayer(bot, startup_ms, self.sandbox, clock, stderr=stderr)


def best_moves(state: State, moves: Sequence[int], seed: int) -> list[tuple[int, float, int]]:
    """Hints for a person: the moves after which random games end best for the mover, each with the
    share of the games that the mover wins. Whatever the seat cannot see is shuffled anew for each
    game.
    """
    times = max(1, min(MOST_GAMES_A_MOVE, HINT_GAMES // len(moves)))
    tried, wins, _, _ = state.rollouts(state.mover, times, seed, "uniform", list(moves))
    best = sorted(zip(wins, tried, strict=True), key=lambda pair: -pair[0])[:MOST_HINTS]
    return [(move, won / times, times) for won, move in best]


class PlayedGame(NamedTuple):
    """A game with its ``bots`` by seat, of whom one is a person. ``started`` is UTC."""

    config: RunConfig
    board: Board
    bots: Sequence[Bot]
    started: str

    @property
    def round(self) -> Round:
        """The game to play."""
        return Round(self.board, lambda _: self._plan())

    def _plan(self) -> GamePlan:
        game = self.config.game
        assert game is not None, "a game"
        line_up = tuple(sorted(game.seats))
        return Schedule(self.config).game(self.board.name, line_up, game.deal, 0)

    def keep(self, results: Path, outcome: Outcome, sandbox: Sandbox) -> Path:
        """Writes the finished game into a new folder of ``results``, which is returned. Raises
        RunError, OSError.
        """
        folder = _new_folder(results)
        info = describe_run(
            self.config,
            {self.board.name: self.board},
            self.bots,
            sandbox=sandbox.tier,
            started=self.started,
            grants={base: grants.words for base, grants in sandbox.grants.items()},
        )
        with Journal(folder) as journal:
            journal.append([outcome.record])
        plan = self._plan()
        Faults(folder).write(plan.id, plan.seeds, outcome.evidence)
        mark_run(folder, info)
        # last: a folder is a run as soon as it has this
        write_run(folder, info)
        return folder


class Wish(NamedTuple):
    """A game that somebody wants to play: against which bots, at which seat, on which tiles."""

    bots: Sequence[Bot]
    seat: int
    board: Board
    seed: str
    deal: int = 0
    timing: Timing = Timing()

    @property
    def game(self) -> PlayedGame:
        """The game. Raises ConfigError, also when a bot has two seats."""
        seats = [*self.bots[: self.seat], PERSON, *self.bots[self.seat :]]
        labels = [bot.label for bot in seats]
        settings = {
            "bots": labels,
            "seed": self.seed,
            "players": len(labels),
            "boards": [self.board.name],
            "deals": 1,
            "game": OneGame(labels, self.deal),
            **msgspec.structs.asdict(self.timing),
        }
        config = make_config(msgspec.to_builtins(settings))
        return PlayedGame(config, self.board, seats, utc_now())

    def again(self, how: str) -> Self:
        """The next game of a person: with the ``same`` tiles, with the same tiles at the next
        ``seat``, or with new tiles.
        """
        if how == "seat":
            return self._replace(seat=(self.seat + 1) % (len(self.bots) + 1))
        return self if how == "same" else self._replace(seed=new_seed(), deal=0)


class PastGame(NamedTuple):
    """A kept game: its run and id, who else played, the person's rank, and when it ended in UTC."""

    run: str
    game: str
    board: str
    opponents: list[str]
    rank: int
    ended: str


def past_games(results: Path, most: int) -> list[PastGame]:
    """The latest kept games, the newest first. Games that cannot be read are left out, and no link
    is followed.
    """
    found = list[PastGame]()
    for folder in _kept_folders(results):
        with suppress(RunError, OSError):
            record = next(read_records(folder), None)
            if record and YOU in record.bots:
                seat = record.bots.index(YOU)
                others = [name for at, name in enumerate(seat_names(record.bots)) if at != seat]
                found.append(
                    PastGame(
                        run=folder.name,
                        game=record.id,
                        board=record.board,
                        opponents=others,
                        rank=record.ranks[seat],
                        ended=record.ended,
                    )
                )
        if len(found) >= most:
            break
    return found


def _kept_folders(results: Path) -> list[Path]:
    """The folders of kept games, the newest first."""
    try:
        with os.scandir(results) as entries:
            times = [
                (entry.stat(follow_symlinks=False).st_mtime, entry.path)
                for entry in entries
                if entry.name.startswith(f"{PREFIX}-") and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []
    return [Path(path) for _, path in sorted(times, reverse=True)]


def _new_folder(results: Path) -> Path:
    """A new folder, named by date. Raises RunError."""
    day = datetime.now(UTC).strftime(f"{PREFIX}-%Y-%m-%d")
    try:
        results.mkdir(parents=True, exist_ok=True)
        for number in count(1):
            folder = results / f"{day}-{number}"
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
    except OSError as error:
        raise RunError(
            f"expected to make a folder for the game in {results}, got {error}",
            "make room there, or let you write to it",
        ) from error
    raise AssertionError("numbers do not end")
