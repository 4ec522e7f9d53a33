"""A single game of bots, perhaps with a person, for the command and the page that show it. A game
with a person is planned like a game of a run and kept as a run of its own, so whatever reads runs
can read it.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from platform import node
from typing import NamedTuple, Self

import msgspec
from msgspec.structs import replace

from arena import __version__
from arena.errors import RunError
from arena.exports.text import seat_names
from arena.match.decisions import Recorded
from arena.match.referee import GamePlan, MoveListener, Outcome, Referee
from arena.match.replay import Resumed, retire_faulty
from arena.players.bot import BotPlayer, Stderr, logged_player
from arena.players.channel import WireLog
from arena.players.folder import Bot, labels_of
from arena.players.labels import timing_for
from arena.players.player import (
    PERSON,
    YOU,
    Evidence,
    InProcessPlayer,
    Player,
    built_in_player,
    is_built_in,
)
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import staged_for_a_while
from arena.records.config import OneGame, RunConfig
from arena.records.evidence import EvidenceWriter
from arena.records.grades import Grade, Judge, ReviewedGame, line_of, review_file
from arena.records.journal import Journal, read_records
from arena.records.notes import NoteEntry
from arena.records.ownership import mark_run
from arena.records.record import MAX_SEATS, Fault, GameRecord, placed_at, utc_now
from arena.records.runfile import RunInfo, read_run, write_run
from arena.records.timing import Timing
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import parse_move
from arena.rules.terms import REVISION
from arena.tournament.consistency import make_config
from arena.tournament.runs import describe_run
from arena.tournament.schedule import Schedule
from arena.tournament.session import new_seed

PREFIX = "played"
"""How the names of the folders of kept games begin."""
MakePerson = Callable[[Sequence[str]], Player]
"""A function that takes the names of all seats and returns the player for a person's seat."""


class Round(NamedTuple):
    """A game to play: its ``board``; ``plan_of``, a function that takes the bots' labels by seat
    and returns the plan; and ``past``, the recorded game from whose moves it continues, None for a
    game from the first move.
    """

    board: Board
    plan_of: Callable[[Sequence[str]], GamePlan]
    past: Resumed | None = None


class SingleGame(NamedTuple):
    """The players of a single game, and how it is played. ``human`` is the seat of a person, None
    without a person; the ``bots`` take the other seats in order. With ``has_stderr``, the players
    of bots collect what the bots write to stderr. ``is_staged`` says that the bots are copies made
    for this game, see `staged`.
    """

    bots: Sequence[Bot]
    human: int | None
    timing: Timing
    sandbox: Sandbox
    has_stderr: bool = False
    is_staged: bool = False

    @contextmanager
    def staged(self) -> Iterator[Self]:
        """A context manager that yields this game with copies of the bots that have processes, made
        in a temporary folder. Whoever seats the players several times stages the game first, so
        that bots are copied and built once. Raises UserError.
        """
        if self.is_staged:
            yield self
            return
        processes = [bot for bot in self.bots if not is_built_in(bot)]
        with staged_for_a_while(*processes, sandbox=self.sandbox) as staged:
            copies = iter(staged)
            bots = []
            for bot in self.bots:
                bots.append(bot if is_built_in(bot) else next(copies))
            yield self._replace(bots=bots, is_staged=True)

    @contextmanager
    def seated(
        self,
        past: Resumed | None = None,
        person: MakePerson | None = None,
        log: WireLog | None = None,
    ) -> Iterator[list[Player]]:
        """A context manager that yields the players by seat and stops them at its end. Bots with
        processes play from a temporary folder. ``past`` is the recorded game that is continued,
        ``person`` makes the person's player, and ``log`` gets the lines that bots exchange with the
        arena. Raises UserError.
        """
        with self.staged() as staged:
            seated = dict[int, Player]()
            if past:
                # Seats that had left the recorded game are never asked again.
                seated = {seat: Recorded(past.script.record, seat) for seat in past.absent}
            taken = {self.human, *seated}
            free = [seat for seat in range(MAX_SEATS) if seat not in taken]
            for bot, seat in zip(staged.bots, free, strict=False):
                seated[seat] = self._player(bot, seat, log)
            if self.human is not None and person is not None:
                by_seat = []
                for seat in sorted({self.human, *seated}):
                    by_seat.append(YOU if seat == self.human else seated[seat].name)
                seated[self.human] = person(seat_names(by_seat))
            try:
                yield [seated[seat] for seat in sorted(seated)]
            finally:
                for player in seated.values():
                    player.stop()

    def referee(
        self, game: Round, players: Sequence[Player], watch: MoveListener | None = None
    ) -> Referee:
        """The referee of a game with these players that is about to begin; ``watch`` is called
        after each move.
        """
        labels = [player.name for player in players]
        timings = [timing_for(label, self.timing) for label in labels]
        return Referee(game.plan_of(labels), game.board, players, timings, watch)

    def play(self, referee: Referee) -> Outcome:
        """Plays the game of this referee to its end, and returns its outcome. Raises Void, and any
        exception with which a person's player leaves the game.
        """
        return referee.play(sandbox=self.sandbox.text(referee.plan.bots), host=node())

    def _player(self, bot: Bot, seat: int, log: WireLog | None) -> BotPlayer | InProcessPlayer:
        """The player of a bot at a seat. If there is a ``log``, a bot with a process writes its
        exchange to it.
        """
        if is_built_in(bot):
            return built_in_player(bot)
        startup_ms = self.timing.startup_ms
        clock = self.timing.clock
        if log:
            return logged_player(bot, startup_ms, self.sandbox, log, seat, clock)
        stderr = Stderr() if self.has_stderr else None
        return BotPlayer(bot, startup_ms, self.sandbox, clock, stderr=stderr)


class Past(NamedTuple):
    """The part of a game from which it is played on: the ``moves``, including passes, their times
    in nanoseconds (``spent_ns``, None for a pass), the ``faults`` by which seats left and their
    ``evidence``, and the ``notes`` on the moves.
    """

    moves: Sequence[str] = ()
    spent_ns: Sequence[int | None] = ()
    faults: Sequence[Fault] = ()
    notes: Sequence[NoteEntry] = ()
    evidence: Sequence[Evidence] = ()

    @property
    def turn(self) -> int:
        """The number of tiles that the ``moves`` place."""
        return len(placed_at(self.moves))

    def steps(self, state: State) -> Iterator[tuple[int, int, State]]:
        """Plays the moves on ``state``, the position before the first one, and yields for each of
        them the seat, the move, and the state after it. That is ``state`` itself each time.
        """
        for text in self.moves:
            retire_faulty(state, self.faults)
            seat = state.mover
            move = parse_move(state.board, text)
            state.play(move)
            yield seat, move, state


class PlayedGame(NamedTuple):
    """A game between a person and bots. ``bots`` has the players by seat, including the person;
    ``started`` is a time in UTC.
    """

    config: RunConfig
    board: Board
    bots: Sequence[Bot]
    started: str

    @property
    def id(self) -> str:
        """The id of the game."""
        return self._plan().id

    @property
    def round(self) -> Round:
        """The board of this game and the function that makes its plan, in the form that
        `SingleGame` takes.
        """
        return Round(self.board, lambda _: self._plan())

    def round_from(self, past: Past) -> Round:
        """This game, played on from its ``past``, in the form that `SingleGame` takes."""
        plan = replace(self._plan(), past=tuple(past.moves), gone=tuple(past.faults))
        return Round(self.board, lambda _: plan)

    def _plan(self) -> GamePlan:
        """The plan of this game."""
        game = self.config.game
        assert game is not None, "a game"
        line_up = tuple(sorted(game.seats))
        return Schedule(self.config).game(self.board.name, line_up, game.deal, 0)

    def keep(self, results: Path, outcome: Outcome, sandbox: Sandbox) -> Path:
        """Writes the finished game, whose outcome is given, into a new folder of ``results``, and
        returns the folder. Raises RunError, OSError.
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
        EvidenceWriter(folder).write(plan.id, plan.seeds, outcome.evidence)
        mark_run(folder, info)
        # written last, because a folder counts as a run as soon as it has this file
        write_run(folder, info)
        return folder


def keep_grades(
    folder: Path,
    record: GameRecord,
    judge: Judge,
    seats: Sequence[int],
    grades: Mapping[int, Grade],
) -> None:
    """Writes the grades of the moves at ``seats`` in the game of ``record`` into the review file of
    the run in ``folder``, as a review by ``judge`` does. ``grades`` are by turn. Raises RunError.
    """
    in_order = [grades[turn] for turn in sorted(grades)]
    reviewed = ReviewedGame(1, record.id, judge, REVISION, __version__, list(seats), in_order)
    with review_file(folder) as file:
        file.append(line_of(reviewed))


class GameRequest(NamedTuple):
    """What a person asks to play: against which ``bots``, at which ``seat``, on which ``board``,
    and with the tiles of which ``seed`` and ``deal``. A game that goes on from a game of another
    run has that game's ``deck``, and its ``first`` moves are not the person's own; see `OneGame`.
    """

    bots: Sequence[Bot]
    seat: int
    board: Board
    seed: str
    deal: int = 0
    timing: Timing = Timing()
    deck: str = ""
    first: int = 0

    @property
    def game(self) -> PlayedGame:
        """The requested game, planned. Raises ConfigError, also if a bot has two seats."""
        seats = [*self.bots[: self.seat], PERSON, *self.bots[self.seat :]]
        labels = labels_of(seats)
        settings = {
            "bots": labels,
            "seed": self.seed,
            "players": len(labels),
            "boards": [self.board.name],
            "deals": 1,
            "game": OneGame(labels, self.deal, self.deck, self.first),
            **msgspec.structs.asdict(self.timing),
        }
        config = make_config(msgspec.to_builtins(settings))
        return PlayedGame(config, self.board, seats, utc_now())

    def again(self, how: str) -> Self:
        """A request for the person's next game. ``how`` is ``same`` for the same tiles, ``seat``
        for the same tiles from the next seat; any other text means new tiles.
        """
        # The next game begins with its first tile, so all moves of the person are their own.
        if how == "seat":
            return self._replace(seat=(self.seat + 1) % (len(self.bots) + 1), first=0)
        if how == "same":
            return self._replace(first=0)
        return self._replace(seed=new_seed(), deal=0, deck="", first=0)


class PastGame(NamedTuple):
    """A kept game between a person and bots: its ``run`` and ``game`` id, its board, the names of
    the other players, the person's rank (1 is best), when the game ``ended``, in UTC, whether the
    person shared their rank with a bot (``is_shared``), and whether a bot had begun the game in
    their place (``is_taken_over``).
    """

    run: str
    game: str
    board: str
    opponents: list[str]
    rank: int
    ended: str
    is_shared: bool = False
    is_taken_over: bool = False


def past_games(results: Path, most: int) -> list[PastGame]:
    """At most ``most`` games kept in ``results``, the newest first. Games that cannot be read are
    left out, and symbolic links are not followed.
    """
    games = list[PastGame]()
    for folder in _kept_folders(results):
        with suppress(RunError, OSError):
            record = next(read_records(folder), None)
            if record and YOU in record.bots:
                seat = record.bots.index(YOU)
                names = seat_names(record.bots)
                opponents = [name for other, name in enumerate(names) if other != seat]
                games.append(
                    PastGame(
                        run=folder.name,
                        game=record.id,
                        board=record.board,
                        opponents=opponents,
                        rank=record.ranks[seat],
                        ended=record.ended,
                        is_shared=record.ranks.count(record.ranks[seat]) > 1,
                        is_taken_over=own_moves_from(read_run(folder)) > 0,
                    )
                )
        if len(games) >= most:
            break
    return games


def own_moves_from(info: RunInfo) -> int:
    """The number of moves at the beginning of the kept game with this run.json that were not the
    person's own, because a bot had begun the game in their place.
    """
    return info.config.taken_over if info.config else 0


def _kept_folders(results: Path) -> list[Path]:
    """The folders of kept games in ``results``, the newest first; none if ``results`` cannot be
    read.
    """
    times = []
    try:
        with os.scandir(results) as entries:
            for entry in entries:
                is_named = entry.name.startswith(f"{PREFIX}-")
                if is_named and entry.is_dir(follow_symlinks=False):
                    times.append((entry.stat(follow_symlinks=False).st_mtime, entry.path))
    except OSError:
        return []
    return [Path(path) for _, path in sorted(times, reverse=True)]


def _new_folder(results: Path) -> Path:
    """Makes a new folder in ``results`` for a kept game, named by the date and a number, and
    returns it. Raises RunError.
    """
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
            f"cannot make a folder for the game in {results}: {error}",
            "free some disk space, or make the folder writable for you",
        ) from error
    raise AssertionError("numbers do not end")
